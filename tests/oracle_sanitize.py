"""Plain-Python twins of `sanitize` and `wrap`: the rules once more, as patterns.

What is not seen goes and every other character becomes the one that it looks like, so that a plain
pattern finds what is spelled in any way; what it finds is replaced in the text itself. `regex` and
the standard library only.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path

import regex

import oracle

PLACEHOLDER = "[STRIPPED-TEMPLATE-TOKEN]"

LOOK_ALIKES = Path(__file__).parent / "data" / "look_alikes.json"
LOOKS_LIKE = {
    similar: plain
    for plain, alikes in json.loads(LOOK_ALIKES.read_text(encoding="ascii")).items()
    for similar in alikes
}
"""What each character is read as: from Unicode's normalisation and its list of confusables."""
NOT_SEEN = regex.compile(r"[\p{Cc}\p{Z}\p{M}\p{Default_Ignorable_Code_Point}\u2800]")
STRANGE = "\x01"
SEQUENCE = regex.compile(
    r"(?:\x1b\[|\x9b)[ -?]*+(?:[@-~]|\Z)"
    r"|\x1b[\]PX^_][^\x07\x1b]*+(?:\x07|\x1b\\|\x1b?\Z)"
    r"|\x1b[ -/]++(?:[0-~]|\Z)|\x1b(?![\[\]PX^_])[0-~]|\x1b\Z"
)
MAX_SEQUENCE_BYTES = 64
ENDED = regex.compile(r"[<\[]")
"""No token or tag goes on behind another opening bracket, but for a second one at its start."""

ANGLE_NAMES = (
    "s|bos|eos|pad|unk|eot|suf|mid|sop|eop|eoh|eoa|bos_token|eos_token|pad_token|unk_token|eot_token"
    "|start_of_turn|end_of_turn|start_of_image|end_of_image|image_soft_token|audio_soft_token"
    "|start_of_audio|end_of_audio|start_function_call|end_function_call|start_function_response"
    "|end_function_response|start_function_declaration|end_function_declaration"
    "|fim_prefix|fim_middle|fim_suffix|fim_pad|fim-prefix|fim-middle|fim-suffix|file_sep|repo_name"
    "|think|tool_call|tool_calls|tool_response|tool_result|function_call|function_calls"
    "|function_response|function_results|minimax:tool_call|seed:think|seed:tool_call"
)
SQUARE_NAMES = (
    "inst|tool_calls|available_tools|tool_results|system_prompt|tool_content|model_settings|call_id"
    "|gmask"
)
EXACT_ANGLE_NAMES = "PRE"
EXACT_SQUARE_NAMES = "ARGS|THINK|PREFIX|SUFFIX|MIDDLE|IMG|IMG_END|IMG_BREAK"

ROLE = regex.compile("(?i:system|user|assistant|tool)", regex.ASCII)
TURN = regex.compile(r"(?:\A|\r?\n)\r?\n(?:Human|Assistant):")
BAR_NAME = regex.compile(
    r"(?i:endoftext|endofprompt|start|end|eot|channel|message|return|call|constrain|system|user"
    r"|assistant|tool)|(?=[^_]*_)[A-Za-z0-9_]+"
)
TAG = regex.compile(r"<[/\\]*untrusted", regex.IGNORECASE | regex.ASCII)
TOKEN = regex.compile(
    "|".join(
        [
            r"(?P<start><\|(?i:im_start)\|>)",
            r"(?P<barred><\|(?=\|*[^|<>\[])(?P<name>[^<>\[]{1,62})\|>)",
            r"(?P<unspaced><(?:\|[A-Za-z0-9_]{1,63}|[A-Za-z0-9_]{1,63}\|)>)",
            r"<</?(?i:sys)>>",
            rf"</?(?:(?i:{ANGLE_NAMES})|{EXACT_ANGLE_NAMES})>",
            rf"\[/?(?:(?i:{SQUARE_NAMES})|{EXACT_SQUARE_NAMES})\]",
        ]
    ),
    regex.ASCII,
)


def look(character: str) -> str:
    """The ASCII characters that `character` looks like; nothing if it is not seen."""
    if character == "\n" or "!" <= character <= "~":
        return character
    if character in LOOKS_LIKE:
        return LOOKS_LIKE[character]
    return "" if NOT_SEEN.match(character) else STRANGE


def sequence_at(text: str, at: int) -> int:
    """How long the escape sequence at `at` is; 0 if there is none, or it is too long."""
    found = SEQUENCE.match(text, at)
    if found is None:
        return 0
    size = len(found[0].removesuffix("\\").encode())
    return len(found[0]) if size <= MAX_SEQUENCE_BYTES else 0


@dataclass
class Seen:
    """What is seen of a text: each glyph, where it starts and ends, what is not seen before it."""

    glyphs: str = ""
    starts: list[int] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)
    spaced: list[bool] = field(default_factory=list)
    broken: list[bool] = field(default_factory=list)


def seen_from(text: str, at: int, *, as_terminal: bool) -> Seen:
    """What is seen of `text` from the character at `at` on, which is seen itself."""
    seen, first = Seen(), at
    spaced = broken = False
    while at < len(text) and not ENDED.search(seen.glyphs, 2):
        length = sequence_at(text, at) if as_terminal and at > first else 0
        shown = "" if length else look(text[at])
        if not shown:
            spaced = True
        elif shown == "\n":
            broken = True
        else:
            for glyph in shown:
                seen.glyphs += glyph
                seen.starts.append(at)
                seen.ends.append(at + 1)
                seen.spaced.append(spaced)
                seen.broken.append(broken)
                spaced = broken = False
        at += length or 1
    return seen


def readings(text: str, at: int) -> list[Seen]:
    """Both ways in which what follows `at` may be read; they differ in escape sequences."""
    return [seen_from(text, at, as_terminal=as_terminal) for as_terminal in (True, False)]


def token_end(text: str, seen: Seen) -> int | None:
    """Where the token ends that begins `seen`, if one does."""
    found = TOKEN.match(seen.glyphs)
    if found is None:
        return None
    spaced = any(seen.spaced[1 : found.end()])
    broken = any(seen.broken[1 : found.end()])
    if found["unspaced"] and (spaced or broken):
        return None
    if found["barred"] and broken and not BAR_NAME.fullmatch(found["name"]):
        return None
    end = seen.ends[found.end() - 1]
    if found["start"] and (role := ROLE.match(text, end)):
        end = role.end()
    return end


def sanitize(text: str) -> str:
    """`text` without template tokens."""
    text = TURN.sub(PLACEHOLDER, text)
    remaining, done, at = "", 0, 0
    while at < len(text):
        end = None
        if look(text[at]) in ("<", "["):
            ends = (token_end(text, seen) for seen in readings(text, at))
            end = next((end for end in ends if end is not None), None)
        if end is not None:
            remaining += text[done:at] + PLACEHOLDER
            done = end
        at = at + 1 if end is None else end
    return remaining + text[done:]


def is_tag(text: str, at: int) -> bool:
    """Whether a tag of the fence begins at `at`, or would if the text went on."""
    if look(text[at]) != "<":
        return False
    return any(TAG.match(seen.glyphs, partial=True) for seen in readings(text, at))


def defuse(text: str) -> str:
    """`text` in which nothing reads as a tag of the fence, whatever may follow the text."""
    return "".join("&lt;" if is_tag(text, at) else character for at, character in enumerate(text))


def attribute(text: str, max_chars: int) -> str:
    """`text` on one line, without what could end an attribute or a tag."""
    text = regex.sub(r"[\r\n]+", " ", text)
    text = "".join(character for character in text if look(character) not in {"<", ">"})
    return sanitize(text.replace('"', "'"))[:max_chars]


def wrap(body: str, tool: str, source: str) -> str:
    """`body`, defused, in its fence."""
    source, tool = attribute(source, 256), attribute(tool, 64)
    return f'<untrusted source="{source}" tool="{tool}">\n{defuse(body)}\n</untrusted>'


def finish(text: str, cap: int, tool: str, source: str) -> tuple[str, int, int | None]:
    """Made safe, trimmed, fenced; how much entered the trim; how much was cut from."""
    safe = defuse(sanitize(oracle.replace_surrogates(text)))
    sent, truncated_from = oracle.trim(safe, cap)
    return wrap(sent, tool, source), len(safe), truncated_from
