"""What a program writes, heard on the loop's thread."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable
from typing import IO

__all__ = ["OutputPipe"]

_READ_BYTES = 256 * 1024
_LOOK_SECONDS = 1.0
"""How often a reading thread looks whether its loop is still there."""


class OutputPipe:
    """A pipe that is read until its end or until `close`; each piece goes to `on_output`.

    `on_output` is called on the loop's thread, and while it runs nothing more is read: what nobody
    takes waits in the pipe. A loop that cannot watch pipes (that of Windows) gets a daemon thread,
    which after `close` lives until the last program has let go of the pipe.
    """

    __slots__ = ("_is_watched", "_loop", "_on_output", "_stream", "ended")

    ended: asyncio.Future[None]
    """Done when nothing is heard any more."""

    def __init__(
        self, loop: asyncio.AbstractEventLoop, stream: IO[bytes], on_output: Callable[[bytes], None]
    ) -> None:
        self.ended = loop.create_future()
        self._loop = loop
        self._stream = stream
        self._on_output: Callable[[bytes], None] | None = on_output
        try:
            loop.add_reader(stream.fileno(), self._read_some)
        except NotImplementedError:
            self._is_watched = False
            threading.Thread(target=self._read_all, name="ethos-registry-pipe", daemon=True).start()
        else:
            self._is_watched = True
            os.set_blocking(stream.fileno(), False)

    def close(self) -> None:
        """Hear nothing more; awaits nothing, and may be called twice."""
        if self._on_output is None:
            return
        self._on_output = None
        if self._is_watched:
            self._loop.remove_reader(self._stream.fileno())
            self._stream.close()
        if not self.ended.done() and not self._loop.is_closed():
            self.ended.set_result(None)

    def _read_some(self) -> None:
        try:
            data = os.read(self._stream.fileno(), _READ_BYTES)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        self._hear(data)

    def _hear(self, data: bytes) -> None:
        if not data:
            self.close()
        elif self._on_output is not None:
            self._on_output(data)

    def _read_all(self) -> None:
        """The thread of a loop that cannot watch pipes: one piece at a time is on its way."""
        with self._stream:
            data = b"nothing yet"
            while data:
                try:
                    data = os.read(self._stream.fileno(), _READ_BYTES)
                except OSError:
                    data = b""
                heard = threading.Event()
                try:
                    self._loop.call_soon_threadsafe(self._hear_from_thread, data, heard)
                except RuntimeError:  # the loop is closed
                    return
                while not heard.wait(_LOOK_SECONDS):
                    if self._loop.is_closed():
                        return

    def _hear_from_thread(self, data: bytes, heard: threading.Event) -> None:
        try:
            self._hear(data)
        finally:
            heard.set()
