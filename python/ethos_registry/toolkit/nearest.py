"""The line of a file that is most similar to one that was not found."""

from __future__ import annotations

import difflib
from collections.abc import Sequence

__all__ = ["nearest_line"]

_MAX_LINES = 20_000
_MAX_COMPARED_LINES = 2_000
_MAX_COMPARED_CHARS = 200
_MIN_SIMILARITY = 0.6


def nearest_line(text: str, wanted: str) -> tuple[int, str, str] | None:
    """`(number, line, wanted line)`: a line of `text` that differs from one of `wanted`, or `None`.

    Lines are counted from 1. If the first line of `wanted` occurs in the text, this is the
    first later line that differs; else it is the line most similar to the first one of `wanted`
    that is not blank. Compares a bounded number of lines.
    """
    lines = text.split("\n", _MAX_LINES)[:_MAX_LINES]
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
    """The end of the longest run of equal lines; the lines at `starts` are equal."""
    longest, start = max(
        ((_equal_lines(lines, start, wanted), -start) for start in starts[:_MAX_COMPARED_LINES]),
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
    matcher = difflib.SequenceMatcher(autojunk=False, b=wanted.strip()[:_MAX_COMPARED_CHARS])
    best, similarity = None, _MIN_SIMILARITY
    compared = 0
    for at, line in enumerate(lines):
        matcher.set_seq1(line.strip()[:_MAX_COMPARED_CHARS])
        if matcher.real_quick_ratio() <= similarity or matcher.quick_ratio() <= similarity:
            continue
        compared += 1
        if compared > _MAX_COMPARED_LINES:
            break
        if (found := matcher.ratio()) > similarity:
            best, similarity = at, found
    return best
