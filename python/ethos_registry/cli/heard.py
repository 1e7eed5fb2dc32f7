"""What a program wrote, however much it was."""

from __future__ import annotations

import threading
from collections import deque

__all__ = ["READ_BYTES", "Heard"]

READ_BYTES = 64 * 1024
KEPT_BYTES = 128 * 1024 * 1024
"""So much of the beginning and so much of the end of an output is held."""


class Heard:
    """What a program wrote, with a mark for what is too much to hold; safe from threads."""

    def __init__(self, kept_bytes: int = KEPT_BYTES) -> None:
        self.total_bytes = 0
        self._kept_bytes = kept_bytes
        self._beginning = bytearray()
        self._end: deque[bytes] = deque()
        self._end_bytes = 0
        self._lock = threading.Lock()

    def add(self, piece: bytes) -> None:
        """Take what came next."""
        with self._lock:
            self.total_bytes += len(piece)
            room = self._kept_bytes - len(self._beginning)
            self._beginning += piece[:room]
            if len(piece) <= room:
                return
            self._end.append(piece[room:])
            self._end_bytes += len(piece) - room
            while self._end_bytes - len(self._end[0]) >= self._kept_bytes:
                self._end_bytes -= len(self._end.popleft())

    def output(self) -> bytes:
        """All of it, or its beginning and its end around `[... 12 bytes omitted ...]`."""
        return self.taken()[0]

    def taken(self) -> tuple[bytes, int]:
        """The output, and how many bytes it lacks."""
        with self._lock:
            end = b"".join(self._end)
            omitted = self.total_bytes - len(self._beginning) - len(end)
            mark = f"\n[... {omitted} bytes omitted ...]\n".encode() if omitted else b""
            return bytes(self._beginning) + mark + end, omitted
