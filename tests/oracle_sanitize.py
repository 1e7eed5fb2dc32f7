"""Plain-Python twins of `sanitize` and `wrap`: the rules once more, as patterns.

What is not seen goes and every other character becomes the one that it looks like, so that a plain
pattern finds what is spelled in any way; what it finds is replaced in the text itself. `regex` and
the standard library only.
"""

from __future__ import annotations

import bisect
import unicodedata

import regex

import oracle

PLACEHOLDER = "[STRIPPED-TEMPLATE-TOKEN]"

LOOK_ALIKES = {
    "<": "\ufe64\u2039\u3008\u27e8\u276c\u276e\u2329\u29fc\u02c2\u1438",
    ">": "\ufe65\u203a\u3009\u27e9\u276d\u276f\u232a\u29fd\u02c3\u1433",
    "|": "\u2223\u2502\u2758\uffe8\u01c0",
    "/": "\u2044\u2215\u29f8\u2571\u27cb",
    "s": "\u017f",
    "K": "\u212a",
}
LOOKS_LIKE = {alike: plain for plain, alikes in LOOK_ALIKES.items() for alike in alikes}
NOT_SEEN = regex.compile(r"[\p{Cc}\p{Z}\p{Default_Ignorable_Code_Point}\u2800]")
STRANGE = "\x01"

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
TAG = regex.compile(r"<[/\\]*untrusted", regex.IGNORECASE | regex.ASCII)
TOKEN = regex.compile(
    "|".join(
        [
            r"(?P<start><\|(?i:im_start)\|>)",
            r"<\|(?=\|*[^|\n<>\[])[^\n<>\[]{1,62}\|>",
            r"(?P<unspaced><(?:\|[A-Za-z0-9_]{1,63}|[A-Za-z0-9_]{1,63}\|)>)",
            r"<</?(?i:sys)>>",
            rf"</?(?:(?i:{ANGLE_NAMES})|{EXACT_ANGLE_NAMES})>",
            rf"\[/?(?:(?i:{SQUARE_NAMES})|{EXACT_SQUARE_NAMES})\]",
        ]
    ),
    regex.ASCII,
)


def look(character: str) -> str:
    """The ASCII character that `character` looks like; nothing if it is not seen."""
    if character == "\n" or "!" <= character <= "~":
        return character
    if "\uff01" <= character <= "\uff5e":
        return unicodedata.normalize("NFKC", character)
    if character in LOOKS_LIKE:
        return LOOKS_LIKE[character]
    return "" if NOT_SEEN.match(character) else STRANGE


def seen_in(text: str) -> tuple[str, list[int]]:
    """What is seen of `text`, and where each character of it stands."""
    places = [at for at, character in enumerate(text) if look(character)]
    return "".join(look(text[at]) for at in places), places


def sanitize(text: str) -> str:
    """`text` without template tokens."""
    text = TURN.sub(PLACEHOLDER, text)
    seen, places = seen_in(text)
    kept, done, at = "", 0, 0
    while at < len(seen):
        found = TOKEN.match(seen, at) if seen[at] in "<[" else None
        if found is None:
            at += 1
            continue
        start, end = places[at], places[found.end() - 1] + 1
        if found["unspaced"] and end - start > len(found[0]):
            at += 1
            continue
        if found["start"] and (role := ROLE.match(text, end)):
            end = role.end()
        kept += text[done:start] + PLACEHOLDER
        done = end
        at = bisect.bisect_left(places, end)
    return kept + text[done:]


def defuse(text: str) -> str:
    """`text` in which nothing reads as a tag of the fence, whatever may follow the text."""
    seen, places = seen_in(text.replace("\n", " "))
    tags = {
        places[at]
        for at in range(len(seen))
        if seen[at] == "<" and TAG.match(seen, at, partial=True)
    }
    return "".join("&lt;" if at in tags else character for at, character in enumerate(text))


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
