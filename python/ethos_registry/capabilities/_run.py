"""One program, run to its end: `context.scoped_process`, and the tools that run commands."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import IO, Any, Literal

from ethos_registry._processes.supervised_process import (
    ResourceLimits,
    SupervisorUnavailableError,
)
from ethos_registry.capabilities._sandbox import PreparedCommand
from ethos_registry.types._abort import AbortSignal
from ethos_registry.types._loop_thread import on_own_thread

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
    """Its exit status, negative for a signal; `None` if it was still running after a timeout."""
    timed_out: bool = False
    is_all_ended: bool = True
    """After a timeout: whether certainly nothing that it started is running."""
    exceeded: str = ""
    """The limit that ended it; empty if none did."""
    restored: Sequence[str] = ()
    """Protected files that it changed, and that are as they were before."""


async def run_program(
    prepare: Callable[[], PreparedCommand],
    *,
    directory: str,
    timeout_seconds: float | None,
    on_output: Callable[[bytes], None],
    on_error_output: Callable[[bytes], None] | None = None,
    stdin: bytes | None = None,
    when_ended: Literal["end", "keep"] = "keep",
    limits: Callable[[], ResourceLimits],
    output_bytes: int | None = None,
    abort_signal: AbortSignal | None = None,
) -> ProcessEnd:
    """Run a program to its end.

    `prepare` is called on a thread of its own: confining a command searches directories. Standard
    output goes to `on_output` on the loop's thread, piece by piece, never after the return; so
    does standard error unless `on_error_output` gets it. Returns when the program has exited:
    background processes that it left are ended, or with `when_ended="keep"` run on until this
    process ends, and what they write later is lost.

    On timeout, abort and cancellation everything that the program started is ended, with SIGTERM
    and 0.5 s later with SIGKILL. Beyond a limit, of `limits` or on the bytes of its output, it is
    ended at once with SIGKILL. `limits` is asked at each start: what can be limited may change.
    See `containment` for what "everything" is on this system.

    Raises:
        OSError: The program cannot be started.
        ValueError: The program, an argument or a variable contains a NUL character.

    """
    preparing = on_own_thread(prepare)
    try:
        command = await asyncio.shield(preparing)
    except asyncio.CancelledError:
        preparing.add_done_callback(_clean_up)
        raise

    # Not asyncio's own transport: cancelled while it connects its pipes, as by the end of
    # `asyncio.run`, it waits for the program without end. Here nothing is awaited before there is
    # a child that can be stopped.
    def start() -> _Child:
        return _Child(
            command,
            [on_output] if on_error_output is None else [on_output, on_error_output],
            stdin,
            output_bytes,
            directory=directory,
            when_ended=when_ended,
            limits=limits(),
        )

    try:
        try:
            end = await start().end(timeout_seconds, abort_signal)
        except SupervisorUnavailableError:
            end = await start().end(timeout_seconds, abort_signal)
    except BaseException:  # a coroutine that is being closed may not await
        command.clean_up()
        raise
    return replace(end, restored=await on_own_thread(command.clean_up))


def _clean_up(preparing: asyncio.Future[PreparedCommand]) -> None:
    if not preparing.cancelled() and preparing.exception() is None:
        preparing.result().clean_up()


class _Child:
    """A program that runs, until `_close`."""

    def __init__(
        self,
        command: PreparedCommand,
        receivers: Sequence[Callable[[bytes], None]],
        stdin: bytes | None,
        output_bytes: int | None,
        **options: Any,
    ) -> None:
        self._loop = asyncio.get_running_loop()
        self._room = output_bytes
        self._exceeded = ""
        self._exited: asyncio.Future[None] = self._loop.create_future()
        self._ended: asyncio.Future[None] = self._loop.create_future()
        self._is_open = True
        self._process = command.start(
            stdin=subprocess.DEVNULL if stdin is None else subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE if receivers[1:] else subprocess.STDOUT,
            grace_seconds=_TERMINATE_GRACE_SECONDS,
            **options,
        )
        streams = (self._process.stdout, self._process.stderr)
        self._pipes = [
            OutputPipe(self._loop, stream, self._counted(receive))
            for stream, receive in zip(streams, receivers, strict=False)
            if stream is not None
        ]
        self._process.on_exit(lambda: self._resolve(self._exited))
        self._process.on_end(lambda: self._resolve(self._ended))
        if stdin is not None:
            threading.Thread(target=_feed, args=(self._process.stdin, stdin), daemon=True).start()

    def _counted(self, receive: Callable[[bytes], None]) -> Callable[[bytes], None]:
        """`receive`, for no more bytes of all streams together than may be written."""

        def count(piece: bytes) -> None:
            if self._room is not None:
                if len(piece) > self._room and not self._exceeded:
                    # Read on until it is dead: a closed pipe would let a shell go on.
                    self._exceeded = "output_bytes"
                    self._process.kill()
                piece = piece[: self._room]
                self._room -= len(piece)
            receive(piece)

        return count

    def _resolve(self, future: asyncio.Future[None]) -> None:
        """Called on a thread of the process."""
        with contextlib.suppress(RuntimeError):  # the loop is closed
            self._loop.call_soon_threadsafe(future.set_result, None)

    async def end(
        self, timeout_seconds: float | None, abort_signal: AbortSignal | None
    ) -> ProcessEnd:
        """Wait for the exit of the program, or for the timeout and the end of everything."""
        ignore = None if abort_signal is None else abort_signal.add_listener(self._terminate)
        try:
            await asyncio.wait({self._exited}, timeout=timeout_seconds)
            if not self._exited.done():
                await self._stop()
                status = self._process.wait(0) if self._exited.done() else None
                return ProcessEnd(status, True, self._is_all_ended())
            status = self._process.wait(0)
            await asyncio.wait({pipe.ended for pipe in self._pipes}, timeout=_PIPE_GRACE_SECONDS)
            self._close(kill=False)
        except asyncio.CancelledError:
            await self._stop()
            raise
        finally:
            self._close(kill=True)
            if ignore is not None:
                ignore()
        return ProcessEnd(status, exceeded=self._exceeded or self._process.exceeded)

    def _terminate(self) -> None:
        self._process.terminate(_TERMINATE_GRACE_SECONDS)

    async def _stop(self) -> None:
        """End everything that was started, at the latest with SIGKILL."""
        self._terminate()
        await asyncio.wait({self._ended}, timeout=_TERMINATE_GRACE_SECONDS + _KILL_GRACE_SECONDS)
        if not self._ended.done():
            self._process.destroy()
            await asyncio.wait({self._ended}, timeout=_KILL_GRACE_SECONDS)

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
        for pipe in self._pipes:
            pipe.close()


def _feed(pipe: IO[bytes], data: bytes) -> None:
    with contextlib.suppress(OSError), pipe:
        view = memoryview(data)
        while view:
            view = view[pipe.write(view) :]


def signal_name(number: int, unnamed: str) -> str:
    """As `SIGKILL`; `unnamed` for a number without a name."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return unnamed
