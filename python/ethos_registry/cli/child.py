"""The program of `ethos-registry run`: its output read until it ends or is asked to."""

from __future__ import annotations

import contextlib
import os
import subprocess
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ethos_registry import SupervisedProcess, SupervisorUnavailableError, start_supervised
from ethos_registry.cli.captured_output import READ_BYTES, CapturedOutput
from ethos_registry.cli.signals import SignalGuard, StoppedError, signals_raise

__all__ = ["ProgramEnd", "run_program"]

QUIET_SECONDS = 0.25
"""How long more output is awaited after the program's exit, if other processes hold the pipe."""
LATE_SECONDS = 2.0
"""The longest time that it is awaited."""
STOP_SECONDS = 5.0
"""How long a program that was asked to end may take before it is killed."""


@dataclass(frozen=True, slots=True)
class ProgramEnd:
    """How a program ended, and its output."""

    status: int
    """Its exit code; negative for a signal."""
    output: bytes
    """Standard output and error, or as much as can be held, with a marker."""
    omitted_bytes: int
    """What is too much to hold."""


def run_program(argv: Sequence[str], on_output: Callable[[bytes], None]) -> ProgramEnd:
    """Run a program and capture its output; `on_output` gets each piece, on another thread.

    Background processes that the program leaves run on, and what they write later is lost. A
    signal that asks this process to end is passed on to everything that the program started; what
    is left after 5 s is killed. After the terminal's keys (Ctrl-C) the program may take as long as
    it likes; a second signal kills it. On Linux nothing survives a `kill -9` of this process.

    Raises:
        OSError: The program cannot be started.

    """
    # Held: a signal that arrives while the program is started finds it and its reader there.
    with signals_raise(held=True) as signals:
        process = _started(argv)
        captured = CapturedOutput()
        reader = threading.Thread(target=_read, args=(process, captured, on_output), daemon=True)
        reader.start()
        status = _status(process, signals)
    latest = time.monotonic() + LATE_SECONDS
    before = -1
    while reader.is_alive() and before != captured.total_bytes and time.monotonic() < latest:
        before = captured.total_bytes
        reader.join(QUIET_SECONDS)
    return ProgramEnd(status, *captured.snapshot())


def _started(argv: Sequence[str]) -> SupervisedProcess:
    def start() -> SupervisedProcess:
        process = start_supervised(
            argv,
            stdin=None,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            new_session=False,  # the keys of the terminal, and its input
            close_fds=False,  # what a shell opened for the program, as for `diff <(a) <(b)`
            when_ended="leave",
        )
        try:
            process.wait_started()
        except OSError:
            assert process.stdout is not None
            process.stdout.close()
            process.detach()
            raise
        return process

    try:
        return start()
    except SupervisorUnavailableError:
        return start()


def _read(
    process: SupervisedProcess, captured: CapturedOutput, on_output: Callable[[bytes], None]
) -> None:
    assert process.stdout is not None
    with contextlib.suppress(OSError), process.stdout as pipe:
        while piece := os.read(pipe.fileno(), READ_BYTES):
            captured.add(piece)
            on_output(piece)


def _status(process: SupervisedProcess, signals: SignalGuard) -> int:
    """The status of a program that exited by itself, or because this process was asked to end."""
    try:
        signals.release()
        return process.wait()
    except StoppedError as stopped:
        number = stopped.number
    try:
        process.stop(number, STOP_SECONDS)
        process.wait_ended()
    except StoppedError:
        process.kill()
        process.wait_ended()
    return process.wait() or -number
