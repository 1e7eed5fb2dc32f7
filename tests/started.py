"""Programs that a test starts: waited for by what they did, and ended whatever the test did."""

from __future__ import annotations

import contextlib
import gc
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any, TypeVar

T = TypeVar("T")

PATIENCE_SECONDS = 120.0
"""The longest wait for something that happens at once on a quiet machine."""


def wait_until(condition: Callable[[], T], seconds: float = PATIENCE_SECONDS) -> T:
    """The first true value of `condition`, asked every few milliseconds."""
    deadline = time.monotonic() + seconds
    while not (value := condition()):
        assert time.monotonic() < deadline, f"no condition was met in {seconds:g} seconds"
        time.sleep(0.01)
    return value


def wait_for_file(path: Path, process: subprocess.Popen[Any]) -> None:
    """Wait until a program has made a file; fails at once when the program ends without it."""
    wait_until(lambda: path.exists() or process.poll() is not None)
    assert path.exists(), f"the program ended with {process.returncode} before {path.name} existed"


def _descriptors() -> set[tuple[str, str]]:
    found = set()
    for name in os.listdir("/proc/self/fd"):
        with contextlib.suppress(OSError):  # closed by another thread
            found.add((name, os.readlink(f"/proc/self/fd/{name}")))
    return found


@contextlib.contextmanager
def no_descriptor_left() -> Iterator[None]:
    """What the block opens is closed soon after; what other tests left open may close meanwhile."""
    gc.collect()
    before = _descriptors()
    yield
    gc.collect()
    wait_until(lambda: not _descriptors() - before)


@contextlib.contextmanager
def ended_with_test(*processes: subprocess.Popen[Any]) -> Iterator[None]:
    """After the block the processes are gone and their pipes closed, also when the block failed.

    Without this, the failure of one test reaches a later one: as a warning about a process or a
    pipe that was collected open.
    """
    try:
        yield
    finally:
        for process in processes:
            if process.poll() is None:
                process.kill()
        for process in processes:
            process.wait()
            for pipe in (process.stdin, process.stdout, process.stderr):
                close(pipe)


def close(pipe: IO[Any] | None) -> None:
    """Close a pipe of which nobody may read any more."""
    if pipe is not None:
        with contextlib.suppress(OSError):
            pipe.close()


@contextlib.contextmanager
def started(argv: Sequence[str], **options: Any) -> Iterator[subprocess.Popen[Any]]:
    """A program that is killed, if it still runs, at the end of the block."""
    process = subprocess.Popen(argv, **options)
    with ended_with_test(process):
        yield process


class OnTerminal:
    """A program whose input and output are a terminal of its own."""

    def __init__(self, pid: int, terminal: int) -> None:
        self.pid = pid
        self.terminal = terminal
        self.exit_code: int | None = None

    def read(self) -> bytes:
        """The next output; empty when the program has closed the terminal."""
        try:
            return os.read(self.terminal, 4096)
        except OSError:
            return b""

    def poll(self) -> int | None:
        """The exit code, or `None` while the program runs."""
        if self.exit_code is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.exit_code = os.waitstatus_to_exitcode(status)
        return self.exit_code

    def wait(self) -> int:
        wait_until(lambda: self.poll() is not None)
        assert self.exit_code is not None
        return self.exit_code


@contextlib.contextmanager
def on_terminal(
    argv: Sequence[str], cwd: Path, environment: Mapping[str, str]
) -> Iterator[OnTerminal]:
    """A program on a terminal of its own; killed, if it still runs, at the end of the block."""
    import pty  # not on Windows

    pid, terminal = pty.fork()
    if pid == 0:
        try:
            os.chdir(cwd)
            os.execve(argv[0], list(argv), dict(environment))
        finally:
            os._exit(127)
    program = OnTerminal(pid, terminal)
    try:
        yield program
    finally:
        os.close(terminal)
        if program.poll() is None:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
