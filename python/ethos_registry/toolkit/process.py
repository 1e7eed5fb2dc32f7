"""One program run to its end on an event loop: started, read from, and ended for certain."""

from __future__ import annotations

import asyncio
import contextlib
import subprocess
from collections.abc import Callable
from dataclasses import dataclass

from ethos_registry.capabilities.sandbox.policy import PreparedCommand
from ethos_registry.processes.supervised_process import SupervisorUnavailableError
from ethos_registry.toolkit.pipe import OutputPipe

__all__ = ["ProcessEnd", "run_process"]

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


async def run_process(
    command: PreparedCommand,
    *,
    directory: str,
    timeout_seconds: float | None,
    on_output: Callable[[bytes], None],
) -> ProcessEnd:
    """Run a program to its end.

    Its standard input is empty; standard output and error are one stream that goes to
    `on_output` on the loop's thread, piece by piece, never after the return. Returns when the
    program has exited: background processes that it left run on until this process ends, and what
    they write later is lost.

    On timeout and on cancellation everything that the program started is ended, with SIGTERM and
    0.5 s later with SIGKILL. See `containment` for what "everything" is on this system.

    Raises:
        OSError: The program cannot be started.
        ValueError: The program, an argument or a variable contains a NUL character.

    """
    # Not asyncio's own transport: cancelled while it connects its pipes, as by the end of
    # `asyncio.run`, it waits for the program without end. Here nothing is awaited before there is
    # a child that can be stopped.
    loop = asyncio.get_running_loop()
    try:
        return await _Child(loop, command, directory, on_output).end(timeout_seconds)
    except SupervisorUnavailableError:
        return await _Child(loop, command, directory, on_output).end(timeout_seconds)


class _Child:
    """A program that was started and runs, until `_close`."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        command: PreparedCommand,
        directory: str,
        on_output: Callable[[bytes], None],
    ) -> None:
        self._loop = loop
        self._process = command.start(
            directory=directory,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            when_ended="keep",
            grace_seconds=_TERMINATE_GRACE_SECONDS,
        )
        assert self._process.stdout is not None
        self._pipe = OutputPipe(loop, self._process.stdout, on_output)
        self._exited: asyncio.Future[None] = loop.create_future()
        self._ended: asyncio.Future[None] = loop.create_future()
        self._is_open = True
        self._process.on_exit(lambda: self._resolve(self._exited))
        self._process.on_end(lambda: self._resolve(self._ended))

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
        return ProcessEnd(status)

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
