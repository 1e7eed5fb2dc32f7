"""The place in a text that is most like one that was looked for in vain."""

from __future__ import annotations

import difflib
from collections.abc import Sequence

__all__ = ["nearest_line"]

_LINES_LOOKED_AT = 20_000
_LINES_COMPARED = 2_000
_CHARS_COMPARED = 200
_LEAST_LIKENESS = 0.6


def nearest_line(text: str, wanted: str) -> tuple[int, str, str] | None:
    """`(number, line, wanted line)`: a line of `text` that differs from one of `wanted`, or `None`.

    Lines are counted from 1. Where the first line of `wanted` stands in the text, this is the
    first later line that differs; else it is the line most like the first of `wanted` that
    is not blank. Looks at a bounded number of lines.
    """
    lines = text.split("\n", _LINES_LOOKED_AT)[:_LINES_LOOKED_AT]
    wanted_lines = wanted.split("\n")
    offset = next((at for at, line in enumerate(wanted_lines) if line.strip()), None)
    if offset is None:
        return None
    first = wanted_lines[offset]
    if len(wanted_lines) > offset + 1:
        starts = [at for at, line in enumerate(lines) if line.endswith(first)]
        if starts:
            return _first_difference(lines, starts, wanted_lines[offset:])
    at = _most_like(lines, first)
    return None if at is None else (at + 1, lines[at], first)


def _first_difference(
    lines: Sequence[str], starts: Sequence[int], wanted: Sequence[str]
) -> tuple[int, str, str] | None:
    """The end of the longest run of equal lines; what stands at `starts` is equal."""
    longest, start = max(
        ((_equal_lines(lines, start, wanted), -start) for start in starts[:_LINES_COMPARED]),
    )
    at = longest - start
    if at >= len(lines) or longest >= len(wanted):
        return None
    return at + 1, lines[at], wanted[longest]


def _equal_lines(lines: Sequence[str], start: int, wanted: Sequence[str]) -> int:
    later = zip(lines[start + 1 : start + len(wanted)], wanted[1:], strict=False)
    equal = 1
    for line, other in later:
        if line != other:
            break
        equal += 1
    return equal


def _most_like(lines: Sequence[str], wanted: str) -> int | None:
    squeezed = "".join(wanted.split())
    for at, line in enumerate(lines):
        if squeezed in "".join(line.split()):
            return at
    matcher = difflib.SequenceMatcher(autojunk=False, b=wanted.strip()[:_CHARS_COMPARED])
    best, likeness = None, _LEAST_LIKENESS
    compared = 0
    for at, line in enumerate(lines):
        matcher.set_seq1(line.strip()[:_CHARS_COMPARED])
        if matcher.real_quick_ratio() <= likeness or matcher.quick_ratio() <= likeness:
            continue
        compared += 1
        if compared > _LINES_COMPARED:
            break
        if (found := matcher.ratio()) > likeness:
            best, likeness = at, found
    return best
