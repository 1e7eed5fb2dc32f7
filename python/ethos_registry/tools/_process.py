"""One program run to its end on an event loop: started, read from, and ended for certain."""

from __future__ import annotations

import asyncio
import contextlib
import os
import subprocess
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import IO, Protocol

from ethos_registry._processes.supervised_process import (
    ResourceLimits,
    SupervisorUnavailableError,
)
from ethos_registry.capabilities._sandbox import PreparedCommand

__all__ = ["BoundedOutput", "OutputPipe", "OutputProgress", "ProcessEnd", "run_process"]


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


# The output of a program, read on the event loop.

_READ_BYTES = 64 * 1024
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


_PIPE_GRACE_SECONDS = 0.25
"""How long output is awaited after the program's exit, if other processes hold the pipe."""
_TERMINATE_GRACE_SECONDS = 0.5
"""From SIGTERM to SIGKILL."""
_KILL_GRACE_SECONDS = 0.5
"""How long the end of killed processes is awaited: one in uninterruptible sleep stays."""


@dataclass(frozen=True, slots=True)
class ProcessEnd:
    """How a program ended."""

    status: int | None
    """Its exit status, negative for a signal; `None` if it was ended at the timeout."""
    is_all_ended: bool = True
    """After a timeout: whether certainly nothing that it started is running."""
    exceeded: str = ""
    """The limit that ended it; empty if none did."""


async def run_process(
    command: PreparedCommand,
    *,
    directory: str,
    timeout_seconds: float | None,
    on_output: Callable[[bytes], None],
    limits: Callable[[], ResourceLimits] | None = None,
    output_bytes: int | None = None,
) -> ProcessEnd:
    """Run a program to its end.

    Its standard input is empty; standard output and error are one stream that goes to
    `on_output` on the loop's thread, piece by piece, never after the return. Returns when the
    program has exited: background processes that it left run on until this process ends, and what
    they write later is lost.

    On timeout and on cancellation everything that the program started is ended, with SIGTERM and
    0.5 s later with SIGKILL. Beyond a limit, of `limits` or on the bytes of its output, it is ended
    at once with SIGKILL. `limits` is asked at each start: what can be limited may change. See
    `containment` for what "everything" is on this system.

    Raises:
        OSError: The program cannot be started.
        ValueError: The program, an argument or a variable contains a NUL character.

    """
    # Not asyncio's own transport: cancelled while it connects its pipes, as by the end of
    # `asyncio.run`, it waits for the program without end. Here nothing is awaited before there is
    # a child that can be stopped.
    loop = asyncio.get_running_loop()
    arguments = (loop, command, directory, on_output, limits, output_bytes)
    try:
        return await _Child(*arguments).end(timeout_seconds)
    except SupervisorUnavailableError:
        return await _Child(*arguments).end(timeout_seconds)


class _Child:
    """A program that was started and runs, until `_close`."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        command: PreparedCommand,
        directory: str,
        on_output: Callable[[bytes], None],
        limits: Callable[[], ResourceLimits] | None,
        output_bytes: int | None,
    ) -> None:
        self._loop = loop
        self._on_output = on_output
        self._room = output_bytes
        self._exceeded = ""
        self._process = command.start(
            directory=directory,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            when_ended="keep",
            grace_seconds=_TERMINATE_GRACE_SECONDS,
            limits=None if limits is None else limits(),
        )
        assert self._process.stdout is not None
        self._pipe = OutputPipe(loop, self._process.stdout, self._receive)
        self._exited: asyncio.Future[None] = loop.create_future()
        self._ended: asyncio.Future[None] = loop.create_future()
        self._is_open = True
        self._process.on_exit(lambda: self._resolve(self._exited))
        self._process.on_end(lambda: self._resolve(self._ended))

    def _receive(self, piece: bytes) -> None:
        if self._room is not None:
            piece = piece[: self._room + 1]
            self._room -= len(piece)
            if self._room < 0:
                piece = piece[:-1]
                self._exceeded = "output_bytes"
                self._process.kill()
                self._pipe.close()
        self._on_output(piece)

    def _resolve(self, future: asyncio.Future[None]) -> None:
        """Called on a thread of the process."""
        with contextlib.suppress(RuntimeError):  # the loop is closed
            self._loop.call_soon_threadsafe(_set_done, future)

    async def end(self, timeout_seconds: float | None) -> ProcessEnd:
        """Wait for the exit of the program, or for the timeout and the end of everything."""
        try:
            await asyncio.wait({self._exited}, timeout=timeout_seconds)
            if not self._exited.done():
                await self._stop()
                return ProcessEnd(None, self._is_all_ended())
            status = self._process.wait(0)
            await asyncio.wait({self._pipe.ended}, timeout=_PIPE_GRACE_SECONDS)
            self._close(kill=False)
        except asyncio.CancelledError:
            await self._stop()
            raise
        finally:
            self._close(kill=True)
        return ProcessEnd(status, exceeded=self._exceeded or self._process.exceeded)

    async def _stop(self) -> None:
        """End everything that was started, at the latest with SIGKILL."""
        try:
            self._process.terminate(_TERMINATE_GRACE_SECONDS)
            await asyncio.wait(
                {self._ended}, timeout=_TERMINATE_GRACE_SECONDS + _KILL_GRACE_SECONDS
            )
            if not self._ended.done():
                self._process.destroy()
                await asyncio.wait({self._ended}, timeout=_KILL_GRACE_SECONDS)
        finally:
            self._close(kill=True)

    def _is_all_ended(self) -> bool:
        return (
            self._process.containment == "tree"
            and self._ended.done()
            and self._process.wait_ended(0) == 0
        )

    def _close(self, *, kill: bool) -> None:
        """Release the pipes; awaits nothing, as a coroutine that is being closed may not."""
        if not self._is_open:
            return
        self._is_open = False
        if kill:
            self._process.kill()
        self._process.detach()
        self._pipe.close()


def _set_done(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)
