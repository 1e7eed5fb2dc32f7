"""The lines of a file that contain a string or match a regular expression."""

from __future__ import annotations

from collections.abc import Iterator

from ethos_registry import _core

__all__ = ["matching_lines", "regex_lines"]

_MAX_LINE_BYTES = 400
_BEFORE_MATCH_BYTES = 120


def matching_lines(content: bytes, pattern: bytes) -> Iterator[tuple[int, str]]:
    r"""`(number, text)` of each line in which a match starts; numbers from 1, each line once.

    A line ends with `\n`; a `\r` before it is not shown. Of a long line about 400 bytes around
    its first match are shown, with a note on each side of how much is left out. Bytes that are not
    UTF-8 become U+FFFD. Takes time in proportion to the content.
    """
    number, counted_to = 1, 0
    at = content.find(pattern)
    while at >= 0:
        number += content.count(b"\n", counted_to, at)
        start = content.rfind(b"\n", counted_to, at) + 1 or counted_to
        end = content.find(b"\n", at)
        end = len(content) if end < 0 else end
        yield number, _shown_line(content, start, at, end)
        counted_to = end
        at = content.find(pattern, end + 1)


def regex_lines(content: bytes, search: _core.Grep) -> Iterator[tuple[int, str]]:
    """The same for each line that matches the pattern of `search`, which stays as it is."""
    found = search.again()
    found.feed(content)
    for line in found.text.split("\n") if found.text else ():
        number, _, text = line.partition(":")
        yield int(number), text


def _shown_line(content: bytes, start: int, match: int, end: int) -> str:
    if end > start and content[end - 1] == 0x0D:
        end -= 1
    if end - start <= _MAX_LINE_BYTES:
        return content[start:end].decode(errors="replace")
    first = max(start, min(match - _BEFORE_MATCH_BYTES, end - _MAX_LINE_BYTES))
    last = min(end, first + _MAX_LINE_BYTES)
    first, last = _character_start(content, first), _character_start(content, last)
    before = f"[... {first - start:,} bytes ...]" if first > start else ""
    after = f"[... {end - last:,} bytes ...]" if last < end else ""
    return before + content[first:last].decode(errors="replace") + after


def _character_start(content: bytes, at: int) -> int:
    """The next position where a UTF-8 character starts."""
    for place in range(at, min(at + 4, len(content))):
        if content[place] & 0xC0 != 0x80:
            return place
    return at
