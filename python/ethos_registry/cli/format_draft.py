"""A first format from a recorded output, to be read and changed by a person."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

__all__ = ["FormatDraft", "draft_format"]

MIN_REPEATED = 4
"""Fewer lines of one shape do not repeat."""
MIN_PREFIX_CHARS = 3
MAX_PATTERNS = 12
MAX_FACTS = 20
MAX_FACT_CHARS = 160
_FAILURE = re.compile(r"(?i)\b(error|failed|failure|fatal|panic|exception|cannot|aborted)")
_WARNING = re.compile(r"(?i)\b(warning|deprecated|skipped)")
_COUNT = re.compile(r"\b\d+ [a-z]+", re.IGNORECASE)
_VERDICT = re.compile(r"(?i)\b(total|finished|done|passed|built|completed|summary|result)\b")
_META = re.compile(r"[\\.+*?()|\[\]{}^$]")
_NUMBER = re.compile(r"\d+(?:\.\d+)*")


@dataclass(frozen=True, slots=True)
class FormatDraft:
    """The content of `format.toml` and `samples.toml`."""

    format_toml: str
    samples_toml: str


def draft_format(
    name: str, command: str, words: Sequence[str], text: str, exit_code: int | None, file: str
) -> FormatDraft:
    """Lines that repeat go or are counted; what looks like a failure, a warning or a total stays.

    `words` are the program and its subcommand; `file` is the sample's name beside `samples.toml`.
    """
    lines = [line.rstrip() for line in text.splitlines() if line.strip()]
    failures = _words(_FAILURE, lines)
    warnings = _words(_WARNING, lines)
    plain = [line for line in lines if not (_FAILURE.search(line) or _WARNING.search(line))]
    counted, dropped = _repeated(plain)
    repeated = [re.compile(pattern) for pattern in [*counted, *dropped]]
    single = [line for line in plain if not any(pattern.search(line) for pattern in repeated)]
    totals = [line for line in single if _COUNT.search(line) and _VERDICT.search(line)]
    facts = [line for line in lines if _FAILURE.search(line) or _WARNING.search(line)]
    known = list(dict.fromkeys(fact.strip() for fact in [*facts, *totals]))
    rules = [
        ("# Lines that go.", "drop", dropped),
        ("# Lines of one shape: one stays, with their number.", "count", counted),
        ("# Lines that stay, and state that the command failed.", "failure", failures),
        ("# Lines that stay.", "fact", [*warnings, *map(_shape, totals[:MAX_PATTERNS])]),
    ]
    format_toml = [
        f"# {name}: a draft from one output; read it, and test it with other outputs.",
        f"name = {_string(name)}",
        f"commands = [{_string(' '.join(words))}]",
    ]
    for comment, key, patterns in rules:
        if patterns:
            format_toml += ["", comment, f"{key} = ["]
            format_toml += [f"    {_string(pattern)}," for pattern in dict.fromkeys(patterns)]
            format_toml.append("]")
    format_toml += [
        "",
        "# What no pattern knows stays: keep; a few lines of it: fold; only what is bad: drop.",
        'rest = "keep"',
        "verdict_lines = 3",
    ]
    samples_toml = ["[[sample]]", f"file = {_string(file)}", f"command = {_string(command)}"]
    if exit_code is not None:
        samples_toml.append(f"exit_code = {exit_code}")
    samples_toml += ["# What must stay, as it is in the output.", "facts = ["]
    samples_toml += [f"    {_string(fact[:MAX_FACT_CHARS])}," for fact in known[:MAX_FACTS]]
    samples_toml.append("]")
    return FormatDraft("\n".join(format_toml) + "\n", "\n".join(samples_toml) + "\n")


def _words(pattern: re.Pattern[str], lines: Iterable[str]) -> list[str]:
    """A pattern for each word of `pattern` that is in the lines, the most frequent first."""
    found = Counter(match[1].lower() for line in lines if (match := pattern.search(line)))
    return [rf"(?i)\b{word}" for word, _ in found.most_common()]


def _repeated(lines: Sequence[str]) -> tuple[list[str], list[str]]:
    """Patterns of lines that differ in numbers only, and of those that only begin alike."""
    beginnings: dict[str, list[str]] = {}
    for line in lines:
        indent = len(line) - len(line.lstrip())
        first = line.split(maxsplit=1)[0]
        beginnings.setdefault(line[:indent] + first, []).append(line)
    dropped = []
    left = []
    for beginning, same in beginnings.items():
        # Lines of one shape are counted, and a number is not a word that others begin with.
        is_one = len(set(map(_shape, same))) == 1 or _NUMBER.search(beginning) is not None
        if is_one or len(same) < MIN_REPEATED or len(beginning.strip()) < MIN_PREFIX_CHARS:
            left += same
        else:
            word_end = r"\b" if beginning[-1].isalnum() else ""
            dropped.append(f"^{_escaped(beginning)}{word_end}")
    shapes = Counter(map(_shape, left)).most_common(MAX_PATTERNS)
    counted = [shape for shape, count in shapes if count >= MIN_REPEATED]
    return counted, dropped[:MAX_PATTERNS]


def _shape(line: str) -> str:
    """A pattern of the line with any numbers."""
    return "^" + r"\d+(?:\.\d+)*".join(map(_escaped, _NUMBER.split(line))) + "$"


def _escaped(text: str) -> str:
    return re.sub(r"\t", r"\\t", _META.sub(lambda found: "\\" + found[0], text))


def _string(text: str) -> str:
    """A string of TOML, literal where that is possible."""
    if "'" not in text and text.isprintable():
        return f"'{text}'"
    return json.dumps(text)
