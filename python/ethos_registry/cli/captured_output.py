"""The output of a program, bounded in memory."""

from __future__ import annotations

import threading
from collections import deque

__all__ = ["READ_BYTES", "CapturedOutput"]

READ_BYTES = 64 * 1024
MAX_PART_BYTES = 128 * 1024 * 1024
"""The most that is held of the start of an output, and of its end."""


class CapturedOutput:
    """The start and the end of an output, with a marker between them; safe from threads."""

    def __init__(self, max_part_bytes: int = MAX_PART_BYTES) -> None:
        self.total_bytes = 0
        self._max_part_bytes = max_part_bytes
        self._start = bytearray()
        self._end: deque[bytes] = deque()
        self._end_bytes = 0
        self._lock = threading.Lock()

    def add(self, piece: bytes) -> None:
        """Add the next bytes."""
        with self._lock:
            self.total_bytes += len(piece)
            room = self._max_part_bytes - len(self._start)
            self._start += piece[:room]
            if len(piece) <= room:
                return
            self._end.append(piece[room:])
            self._end_bytes += len(piece) - room
            while self._end_bytes - len(self._end[0]) >= self._max_part_bytes:
                self._end_bytes -= len(self._end.popleft())

    def output(self) -> bytes:
        """All of it, or its start and its end around `[... 12 bytes omitted ...]`."""
        return self.snapshot()[0]

    def snapshot(self) -> tuple[bytes, int]:
        """The output so far, and how many bytes of it are omitted."""
        with self._lock:
            end = b"".join(self._end)
            omitted = self.total_bytes - len(self._start) - len(end)
            marker = f"\n[... {omitted} bytes omitted ...]\n".encode() if omitted else b""
            return bytes(self._start) + marker + end, omitted
