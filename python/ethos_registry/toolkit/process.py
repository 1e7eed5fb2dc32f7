"""One shell command as a child process: started, listened to, ended for certain."""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias, cast

from ethos_registry.toolkit.process_tree import ProcessTree

__all__ = ["run_process"]

_PIPE_GRACE_SECONDS = 0.25
"""How long after the end of the process its output is awaited, if others hold the pipe."""
_TERMINATE_GRACE_SECONDS = 0.5
"""From SIGTERM to SIGKILL."""
_KILL_GRACE_SECONDS = 0.5
"""How long the end of a killed process is awaited: one in uninterruptible sleep stays."""
_POLL_SECONDS = 0.02


async def run_process(
    argv: Sequence[str | bytes],
    *,
    directory: str,
    environment: Mapping[str, str],
    timeout_seconds: float | None,
    on_output: Callable[[bytes], None],
) -> int | None:
    """The exit status of a program (negative: the signal that ended it); `None` = timed out.

    Its standard input is empty; standard output and error are one stream that goes to
    `on_output` on the loop's thread, piece by piece, and never after the return. Returns when
    the process has ended: background processes live on, and what they write later is not heard.

    On timeout and on cancellation everything that the program started is ended, first with
    SIGTERM, 0.5 s later with SIGKILL (see `ProcessTree` for its reach). On Windows there are no
    process groups: there only the program itself is ended, and what it started stays.

    `OSError` or `ValueError` when it cannot be started.
    """
    loop = asyncio.get_running_loop()
    starting = asyncio.ensure_future(
        loop.subprocess_exec(
            lambda: _Listener(loop, on_output),
            *argv,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            cwd=directory,
            env=dict(environment),
            start_new_session=True,
        )
    )
    # Cancelled in the middle of its start, asyncio would end the program but not its children.
    is_abandoned = True
    try:
        await asyncio.wait({starting})
        is_abandoned = False
    except asyncio.CancelledError:
        await asyncio.wait({starting})
        is_abandoned = False
        if _has_started(starting):
            await _Child(*starting.result()).stop()
        raise
    finally:
        if is_abandoned:
            starting.add_done_callback(_end_at_once)
    return await _Child(*starting.result()).outcome(timeout_seconds)


class _Listener(asyncio.SubprocessProtocol):
    """Tells by futures what has happened to the process.

    A protocol, not `asyncio.create_subprocess_exec`: the wait of the latter ends, in some versions
    of Python, only when everybody has let go of the pipe.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, on_output: Callable[[bytes], None]) -> None:
        self.on_output: Callable[[bytes], None] | None = on_output
        self.ended: asyncio.Future[None] = loop.create_future()
        self.pipe_closed: asyncio.Future[None] = loop.create_future()
        self.closed: asyncio.Future[None] = loop.create_future()

    def pipe_data_received(self, fd: int, data: bytes | str) -> None:
        if self.on_output is not None:
            self.on_output(cast("bytes", data))

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        _resolve(self.pipe_closed)

    def process_exited(self) -> None:
        _resolve(self.ended)

    def connection_lost(self, exc: Exception | None) -> None:
        _resolve(self.closed)


def _resolve(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)


class _Child:
    """A process that runs, until `_close`."""

    def __init__(self, transport: asyncio.SubprocessTransport, listener: _Listener) -> None:
        self._transport = transport
        self._listener = listener
        self._tree = ProcessTree(self._transport.get_pid())
        self._is_open = True

    async def outcome(self, timeout_seconds: float | None) -> int | None:
        """The exit status, or `None` when it was stopped after the timeout."""
        try:
            await asyncio.wait({self._listener.ended}, timeout=timeout_seconds)
            if not self._listener.ended.done():
                await self.stop()
                return None
            await asyncio.wait({self._listener.pipe_closed}, timeout=_PIPE_GRACE_SECONDS)
            self._close(kill=False)
        except asyncio.CancelledError:
            await self.stop()
            raise
        finally:
            self._close(kill=True)
        await self._let_go()
        return self._transport.get_returncode()

    async def stop(self) -> None:
        """End everything that was started, at the latest with SIGKILL, and let go of it."""
        try:
            self._tree.send(signal.SIGTERM)
            await self._everything_ended(_TERMINATE_GRACE_SECONDS)
            self._send_sigkill()
            await self._everything_ended(_KILL_GRACE_SECONDS)
        finally:
            self._close(kill=True)
        await self._let_go()

    def kill(self) -> None:
        """SIGKILL to everything, and let go of it; awaits nothing."""
        self._close(kill=True)

    async def _everything_ended(self, grace_seconds: float) -> None:
        """Return when nothing runs any more, at the latest after the grace."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + grace_seconds
        await asyncio.wait({self._listener.ended}, timeout=_POLL_SECONDS)
        while loop.time() < deadline:
            if self._listener.ended.done() and not self._tree.is_running():
                return
            await asyncio.sleep(_POLL_SECONDS)

    async def _let_go(self) -> None:
        await asyncio.wait({self._listener.closed}, timeout=_KILL_GRACE_SECONDS)

    def _send_sigkill(self) -> None:
        self._tree.kill()
        # Elsewhere the transport would look for the exit status that asyncio's watcher waits for.
        if sys.platform == "win32" and not self._listener.ended.done():
            self._transport.kill()

    def _close(self, *, kill: bool) -> None:
        """Let go of the pipe; awaits nothing, as a coroutine that is being closed may not."""
        if not self._is_open:
            return
        self._is_open = False
        self._listener.on_output = None
        if kill:
            self._send_sigkill()
        self._transport.close()


_Start: TypeAlias = asyncio.Task[tuple[asyncio.SubprocessTransport, _Listener]]


def _has_started(starting: _Start) -> bool:
    return not starting.cancelled() and starting.exception() is None


def _end_at_once(starting: _Start) -> None:
    """For a start that nobody waits for any more: the coroutine was closed."""
    if _has_started(starting):
        _Child(*starting.result()).kill()
