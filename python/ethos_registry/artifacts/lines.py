"""The offsets of lines, without storing one for each line."""

from __future__ import annotations

from array import array
from bisect import bisect_left

from ethos_registry.artifacts.content import Content

__all__ = ["LineIndex"]

_BLOCK_BYTES = 64 * 1024


class LineIndex:
    r"""The number of line ends before each block of 64 KiB: a line is found within one block.

    Lines are POSIX lines: each ends with `\n`, except that the last one may be open.
    """

    __slots__ = ("_before", "_size_bytes", "count")

    count: int
    """The number of lines."""

    def __init__(self, data: bytes) -> None:
        self._size_bytes = len(data)
        self._before = array("Q")
        line_ends = 0
        for start in range(0, len(data), _BLOCK_BYTES):
            self._before.append(line_ends)
            line_ends += data.count(b"\n", start, start + _BLOCK_BYTES)
        self.count = line_ends + (bool(data) and not data.endswith(b"\n"))

    def offset(self, content: Content, line: int) -> int:
        """The offset of a line in bytes; the end of the content for a line after the last."""
        if line <= 0:
            return 0
        if line >= self.count:
            return self._size_bytes
        number = bisect_left(self._before, line) - 1
        start = number * _BLOCK_BYTES
        block = content.read(start, min(start + _BLOCK_BYTES, self._size_bytes))
        line_ends = line - self._before[number]
        return start + len(block) - len(block.split(b"\n", line_ends)[line_ends])
