"""One program run to its end on an event loop: started, read from, and ended for certain."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Protocol

__all__ = ["BoundedOutput", "OutputProgress"]


# The output of a command: bounded in memory, and reported in pieces while it runs.

_CUT_SEARCH_BYTES = 4_096
"""How far a cut moves to fall between two lines."""

_REPORT_EVERY_SECONDS = 0.1
_REPORT_CHARS = 2_000
_REPORT_BYTES = 4 * _REPORT_CHARS
_REPORTS_BEFORE_PARTIAL = 5
"""A line without its end is reported after this many silent intervals."""


class ByteStream(Protocol):
    """Changes output that comes in pieces."""

    def add(self, piece: bytes) -> bytes:
        """What can pass on."""

    def flush(self) -> bytes:
        """What was waiting; nothing follows it."""


class BoundedOutput:
    """The first and the last bytes of a stream of any length, at most `max_bytes`.

    Holds at most 1.5 times as much, and one piece. Never strips: what fits is returned unchanged.
    """

    def __init__(self, max_bytes: int) -> None:
        self._head_limit = max_bytes // 2
        self._tail_limit = max_bytes - self._head_limit
        self._head = bytearray()
        self._tail = bytearray()
        self._newlines = 0
        self.total_bytes = 0

    def add(self, piece: bytes) -> None:
        """Add the next bytes of the stream."""
        self.total_bytes += len(piece)
        self._newlines += piece.count(b"\n")
        if room := self._head_limit - len(self._head):
            self._head += piece[:room]
            piece = piece[room:]
        self._tail += piece
        if len(self._tail) > 2 * self._tail_limit:
            del self._tail[: -self._tail_limit]

    def text(self) -> tuple[str, int]:
        """The output as text, and how many bytes in its middle were dropped.

        UTF-8, with U+FFFD for invalid bytes. If bytes were dropped one line gives their number,
        between two lines of the output, or between two characters if lines are very long.
        """
        if self.total_bytes <= self._head_limit + self._tail_limit:
            return (self._head + self._tail).decode(errors="replace"), 0
        head = self._head[: _end_of_head(self._head)]
        tail = self._tail[-self._tail_limit :]
        tail = tail[_start_of_tail(tail) :]
        dropped = self.total_bytes - len(head) - len(tail)
        lines = self._newlines - head.count(b"\n") - tail.count(b"\n")
        before = "" if not head or head.endswith(b"\n") else "\n"
        note = f"{before}[... {dropped:,} bytes ({lines:,} line ends) of output are left out ...]\n"
        return head.decode(errors="replace") + note + tail.decode(errors="replace"), dropped


class OutputProgress:
    """Reports output while it is written: whole lines, at most about ten times a second.

    Each report holds at most 2,000 characters, the newest; the line end before the next report
    is not part of it. A line that stays unfinished is reported after half a second. A `stream`
    takes secrets out before anything is cut.
    """

    def __init__(self, report: Callable[[str], None], stream: ByteStream | None = None) -> None:
        self._report = report
        self._stream = stream
        self._pending = bytearray()
        self._timer: asyncio.TimerHandle | None = None
        self._silent_intervals = 0

    def add(self, piece: bytes) -> None:
        """Add the next bytes of the stream; on the loop's thread."""
        if self._stream is not None:
            piece = self._stream.add(piece)
        self._pending += piece[-_REPORT_BYTES:]
        del self._pending[:-_REPORT_BYTES]
        if self._timer is None and self._pending:
            self._start_timer()

    def finish(self) -> None:
        """Report the rest, and nothing after that."""
        if self._stream is not None:
            self._pending += self._stream.flush()
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._report_up_to(len(self._pending))

    def _start_timer(self) -> None:
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(_REPORT_EVERY_SECONDS, self._interval_over)

    def _interval_over(self) -> None:
        self._timer = None
        end = self._pending.rfind(b"\n") + 1
        self._silent_intervals += 1
        if not end and self._silent_intervals > _REPORTS_BEFORE_PARTIAL:
            end = _end_of_characters(self._pending)
        if end:
            self._silent_intervals = 0
        if self._pending:
            self._start_timer()
        self._report_up_to(end)

    def _report_up_to(self, end: int) -> None:
        text = self._pending[:end].decode(errors="replace")
        del self._pending[:end]
        text = text[-_REPORT_CHARS:].removesuffix("\n").removesuffix("\r")
        if text:
            self._report(text)


def _end_of_head(head: bytearray) -> int:
    """Where to cut: after a line that ends near, else after a whole character."""
    newline = head.rfind(b"\n", max(0, len(head) - _CUT_SEARCH_BYTES))
    return newline + 1 if newline >= 0 else _end_of_characters(head)


def _start_of_tail(tail: bytearray) -> int:
    """Where to continue: at a line that starts near, else at a whole character."""
    newline = tail.find(b"\n", 0, _CUT_SEARCH_BYTES)
    if newline >= 0:
        return newline + 1
    start = 0
    while start < min(3, len(tail)) and tail[start] & 0xC0 == 0x80:
        start += 1
    return start


def _end_of_characters(data: bytearray) -> int:
    """The length of `data` without a UTF-8 character that is cut at its end."""
    for back in range(1, min(4, len(data)) + 1):
        byte = data[-back]
        if byte & 0xC0 != 0x80:
            needed = 1 + (byte >= 0xC0) + (byte >= 0xE0) + (byte >= 0xF0)
            return len(data) - back if needed > back else len(data)
    return len(data)
