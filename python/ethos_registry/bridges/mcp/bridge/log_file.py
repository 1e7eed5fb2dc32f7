"""The standard error of a server: a file of bounded size, and its end in memory."""

from __future__ import annotations

import contextlib
import os

__all__ = ["MAX_LOG_BYTES", "TAIL_BYTES", "LogFile"]

MAX_LOG_BYTES = 1024 * 1024
TAIL_BYTES = 4096


class LogFile:
    """Keeps the end of what is written: the older half goes when the file has its full size."""

    __slots__ = ("_path", "_size", "_tail", "lines_dropped")

    def __init__(self, path: str | None) -> None:
        self._path = path
        self._tail = b""
        self._size = 0
        self.lines_dropped = 0
        """Lines of standard output that were not messages."""
        if path is not None:
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            os.close(descriptor)

    @property
    def tail(self) -> str:
        """The last 4 KB as text."""
        return self._tail.decode("utf-8", "replace")

    def write(self, data: bytes) -> None:
        """Append; a file that cannot be written is given up, the tail is not."""
        self._tail = (self._tail + data[-TAIL_BYTES:])[-TAIL_BYTES:]
        if self._path is None:
            return
        try:
            data = data[-MAX_LOG_BYTES // 2 :]
            if self._size + len(data) > MAX_LOG_BYTES:
                self._drop_half()
            with open(self._path, "ab", buffering=0) as file:
                file.write(data)
            self._size += len(data)
        except OSError:
            self._path = None

    def _drop_half(self) -> None:
        assert self._path is not None
        with open(self._path, "r+b") as file:
            file.seek(-(MAX_LOG_BYTES // 2) if self._size > MAX_LOG_BYTES // 2 else 0, os.SEEK_END)
            end = file.read()
            file.seek(0)
            file.write(end)
            file.truncate()
        self._size = len(end)

    def remove(self) -> None:
        """Delete the file."""
        if self._path is not None:
            with contextlib.suppress(OSError):
                os.unlink(self._path)
