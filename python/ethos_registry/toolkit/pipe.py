"""The output of a program, read on the event loop."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable
from typing import IO

__all__ = ["OutputPipe"]

_READ_BYTES = 256 * 1024
_LOOP_CHECK_SECONDS = 1.0
"""How often a reading thread checks that its loop is still open."""


class OutputPipe:
    """A pipe that is read until its end or until `close`; each piece goes to `on_output`.

    `on_output` is called on the loop's thread, and while it runs nothing more is read. A loop that
    cannot watch pipes (Windows) gets a daemon thread, which after `close` lives until the last
    program has closed the pipe.
    """

    __slots__ = ("_is_watched", "_loop", "_on_output", "_stream", "ended")

    ended: asyncio.Future[None]
    """Done when nothing more is read."""

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
        """Read nothing more; awaits nothing, and can be called twice."""
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
        self._deliver(data)

    def _deliver(self, data: bytes) -> None:
        if not data:
            self.close()
        elif self._on_output is not None:
            self._on_output(data)

    def _read_all(self) -> None:
        """The thread of a loop that cannot watch pipes; delivers one piece at a time."""
        with self._stream:
            data = b"nothing yet"
            while data:
                try:
                    data = os.read(self._stream.fileno(), _READ_BYTES)
                except OSError:
                    data = b""
                delivered = threading.Event()
                try:
                    self._loop.call_soon_threadsafe(self._deliver_from_thread, data, delivered)
                except RuntimeError:  # the loop is closed
                    return
                while not delivered.wait(_LOOP_CHECK_SECONDS):
                    if self._loop.is_closed():
                        return

    def _deliver_from_thread(self, data: bytes, delivered: threading.Event) -> None:
        try:
            self._deliver(data)
        finally:
            delivered.set()
