"""One shell command as a child process: started, listened to, ended for certain."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence

from ethos_registry.toolkit.pipe import OutputPipe
from ethos_registry.toolkit.process_tree import ProcessTree

__all__ = ["run_process"]

_PIPE_GRACE_SECONDS = 0.25
"""How long after the end of the process its output is awaited, if others hold the pipe."""
_TERMINATE_GRACE_SECONDS = 0.5
"""From SIGTERM to SIGKILL."""
_KILL_GRACE_SECONDS = 0.5
"""How long the end of a killed process is awaited: one in uninterruptible sleep stays."""
_POLL_SECONDS = 0.02
_UNKNOWN_STATUS = 255


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
    # Not by asyncio's own transport: cancelled while it connects its pipes, as by the end of
    # `asyncio.run`, that waits for the program without end. Here nothing is awaited before there
    # is a child that can be stopped.
    child = _Child(asyncio.get_running_loop(), argv, directory, environment, on_output)
    return await child.outcome(timeout_seconds)


class _Child:
    """A process that was started and runs, until `_close`."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        argv: Sequence[str | bytes],
        directory: str,
        environment: Mapping[str, str],
        on_output: Callable[[bytes], None],
    ) -> None:
        self._process = subprocess.Popen(
            argv,
            bufsize=0,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            cwd=directory,
            env=dict(environment),
            start_new_session=True,
        )
        assert self._process.stdout is not None
        self._tree = ProcessTree(self._process.pid)
        self._pipe = OutputPipe(loop, self._process.stdout, on_output)
        self._ended: asyncio.Future[None] = loop.create_future()
        self._loop = loop
        self._is_open = True
        waiting = threading.Thread(target=self._wait, name="ethos-registry-wait", daemon=True)
        try:
            waiting.start()
        except RuntimeError:  # no more threads: a program nobody waits for must not run
            self._close(kill=True)
            raise

    def _wait(self) -> None:
        """On a thread of its own: not every system tells a loop that a process has ended."""
        if sys.platform == "win32":
            self._process.wait()
        else:
            self._process.returncode = _exit_status(self._process.pid)
        with contextlib.suppress(RuntimeError):  # the loop is closed
            self._loop.call_soon_threadsafe(_resolve, self._ended)

    async def outcome(self, timeout_seconds: float | None) -> int | None:
        """The exit status, or `None` when it was stopped after the timeout."""
        try:
            await asyncio.wait({self._ended}, timeout=timeout_seconds)
            if not self._ended.done():
                await self.stop()
                return None
            await asyncio.wait({self._pipe.ended}, timeout=_PIPE_GRACE_SECONDS)
            self._close(kill=False)
        except asyncio.CancelledError:
            await self.stop()
            raise
        finally:
            self._close(kill=True)
        return self._process.returncode

    async def stop(self) -> None:
        """End everything that was started, at the latest with SIGKILL, and let go of it."""
        try:
            self._tree.send(signal.SIGTERM)
            await self._everything_ended(_TERMINATE_GRACE_SECONDS)
            self._send_sigkill()
            await self._everything_ended(_KILL_GRACE_SECONDS)
        finally:
            self._close(kill=True)

    async def _everything_ended(self, grace_seconds: float) -> None:
        """Return when nothing runs any more, at the latest after the grace."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + grace_seconds
        await asyncio.wait({self._ended}, timeout=_POLL_SECONDS)
        while loop.time() < deadline:
            if self._ended.done() and not self._tree.is_running():
                return
            await asyncio.sleep(_POLL_SECONDS)

    def _send_sigkill(self) -> None:
        self._tree.kill()
        if sys.platform == "win32":
            self._process.kill()

    def _close(self, *, kill: bool) -> None:
        """Let go of the pipe; awaits nothing, as a coroutine that is being closed may not."""
        if not self._is_open:
            return
        self._is_open = False
        if kill:
            self._send_sigkill()
        self._pipe.close()


def _exit_status(pid: int) -> int:
    """The status, awaited; of a child that somebody else has waited for, as asyncio says it.

    `Popen.wait` would call that a success, and every child where SIGCHLD is ignored.
    """
    try:
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    except ChildProcessError:
        return _UNKNOWN_STATUS


def _resolve(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)
