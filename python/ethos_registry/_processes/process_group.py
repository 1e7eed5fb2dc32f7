"""A program in a process group of its own: what can be ended where there is no supervisor."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Sequence

from ethos_registry._processes.supervised_process import (
    DEFAULT_GRACE_SECONDS,
    StartOptions,
    SupervisedProcess,
)

UNKNOWN_STATUS = 255
_POLL_SECONDS = 0.02
_KILL_SECONDS = 3.0


class GroupProcess(SupervisedProcess):
    """A program that is a child of this process; see `start_supervised` for the arguments."""

    def __init__(self, argv: Sequence[str | bytes], options: StartOptions) -> None:
        super().__init__()
        self.containment = (
            "process" if sys.platform == "win32" or not options.new_session else "group"
        )
        environment = None if options.environment is None else dict(options.environment)
        self._owns(options.popen(argv, cwd=options.directory, env=environment))
        self._when_ended = options.when_ended
        self._grace_seconds = options.grace_seconds
        self._is_ending = False
        self._lock = threading.Lock()
        self._started.set_result(self._process.pid)
        try:
            self._thread(self._wait)
        except RuntimeError:  # no more threads: a program without a waiting thread must not run
            self.destroy()
            raise

    def send_signal(self, number: int) -> None:
        """Send a signal to the process group; on Windows, to the program."""
        if sys.platform != "win32" and self.containment == "group":
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, number)
        elif not self._exited.done():
            self._process.send_signal(number)

    def stop(self, number: int, seconds: float) -> None:
        self.send_signal(number)
        self._thread(lambda: self._kill_after(seconds))

    def terminate(self, grace_seconds: float = DEFAULT_GRACE_SECONDS) -> None:
        with self._lock:
            is_first, self._is_ending = not self._is_ending, True
        if grace_seconds <= 0:
            self.destroy()
        elif is_first and self.containment == "group":
            self.send_signal(signal.SIGTERM)
        if is_first or grace_seconds <= 0:
            self._thread(lambda: self._kill_after(grace_seconds))

    def destroy(self) -> None:
        if self.containment == "group":
            self.send_signal(getattr(signal, "SIGKILL", signal.SIGTERM))
        elif not self._exited.done():
            self._process.kill()

    def detach(self) -> None:
        """Stop watching: without a supervisor, what is left lives on."""
        self._finish(0)

    def _thread(self, run: Callable[[], None]) -> None:
        threading.Thread(target=run, name="ethos-registry-wait", daemon=True).start()

    def _wait(self) -> None:
        if sys.platform == "win32":
            status = self._process.wait()
        else:
            status = self._process.returncode = _exit_status(self._process.pid)
        self._exited.set_result(status)
        if self._when_ended == "leave" or self.containment == "process":
            self._finish(0)
        elif self._when_ended == "end":
            self.terminate(self._grace_seconds)

    def _kill_after(self, grace_seconds: float) -> None:
        if not self._all_ended_within(grace_seconds):
            self.destroy()
            self._all_ended_within(_KILL_SECONDS)
        # Where only the group is known, what left it may still be running.
        self._finish(0 if self._ended_all() else None)

    def _all_ended_within(self, seconds: float) -> bool:
        deadline = time.monotonic() + seconds
        while not (ended := self._ended_all()) and time.monotonic() < deadline:
            time.sleep(_POLL_SECONDS)
        return ended

    def _ended_all(self) -> bool:
        if sys.platform != "win32" and self._exited.done() and self.containment == "group":
            try:
                os.killpg(self._process.pid, 0)
            except (ProcessLookupError, PermissionError):
                return True
            return False
        return self._exited.done()


def _exit_status(pid: int) -> int:
    """The status, awaited; unknown for a child that somebody else has waited for.

    `Popen.wait` would call that a success, and every child where SIGCHLD is ignored.
    """
    try:
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    except ChildProcessError:
        return UNKNOWN_STATUS
