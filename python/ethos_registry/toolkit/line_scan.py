"""Lines out of a stream of bytes, in memory that does not grow with the file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

__all__ = ["BinaryContentError", "LineScan", "TooLargeError", "scan_lines"]

_CHUNK_BYTES = 256 * 1024
_BINARY_CHECK_BYTES = 8_192
_UTF_16_BYTE_ORDER_MARKS = (b"\xff\xfe", b"\xfe\xff")
_COUNT_UP_TO_BYTES = 1 << 30
"""A larger file is not read to its end just to count its lines."""


class TooLargeError(Exception):
    """The requested lines have more bytes than the limit."""


class BinaryContentError(Exception):
    """The content has NUL bytes, so it is not text."""

    def __init__(self, *, looks_like_utf_16: bool) -> None:
        super().__init__()
        self.looks_like_utf_16 = looks_like_utf_16


@dataclass(frozen=True, slots=True)
class LineScan:
    """Lines `first` to `last`, unchanged, and facts about the whole file."""

    data: bytes
    first: int
    last: int
    """The last line that exists; less than `first` if none of them does."""
    lines: int | None
    """All lines of the file, with or without a newline at its end; `None` = not counted."""
    file_bytes: int


def scan_lines(
    read: Callable[[int], bytes],
    expected_bytes: int,
    first: int,
    last: int | None,
    max_bytes: int,
) -> LineScan:
    r"""Lines `first` to `last` (from 1, both included; `None` = to the end) of what `read` gives.

    `read(size)` returns at most `size` bytes, none at the end. A line ends with `\n` and with
    nothing else. Holds at most `max_bytes` and a chunk.

    Raises:
        TooLargeError: The lines have more than `max_bytes`.
        BinaryContentError: There are NUL bytes at the start of the file or in the lines.

    """
    collected = bytearray()
    line, seen_bytes, ends_open = 1, 0, False
    while chunk := read(_CHUNK_BYTES):
        if seen_bytes == 0 and b"\0" in chunk[:_BINARY_CHECK_BYTES]:
            raise BinaryContentError(looks_like_utf_16=chunk[:2] in _UTF_16_BYTE_ORDER_MARKS)
        newlines = chunk.count(b"\n")
        if line + newlines >= first and (last is None or line <= last):
            start = _after_newlines(chunk, first - line)
            end = len(chunk)
            if last is not None and newlines > last - line:
                end = _after_newlines(chunk, last - line + 1)
            collected += memoryview(chunk)[start:end]
            if len(collected) > max_bytes:
                raise TooLargeError
        line += newlines
        seen_bytes += len(chunk)
        ends_open = not chunk.endswith(b"\n")
        if last is not None and line > last and expected_bytes > _COUNT_UP_TO_BYTES:
            return LineScan(_text_bytes(collected), first, last, None, expected_bytes)
    lines = line if ends_open else line - 1
    shown_last = lines if last is None else min(last, lines)
    return LineScan(_text_bytes(collected), first, shown_last, lines, seen_bytes)


def _after_newlines(chunk: bytes, count: int) -> int:
    """The position after the first `count` newlines."""
    return len(chunk) - len(chunk.split(b"\n", count)[count]) if count > 0 else 0


def _text_bytes(collected: bytearray) -> bytes:
    if b"\0" in collected:
        raise BinaryContentError(looks_like_utf_16=False)
    return bytes(collected)
