"""A program that `ethos-registry run` runs: listened to until it ends or is told to stop."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ethos_registry.cli.heard import READ_BYTES, Heard
from ethos_registry.cli.told import KEYS, Signals, StoppedError, signals_raise

__all__ = ["Ended", "listen"]

QUIET_SECONDS = 0.25
"""How long more output is awaited after the end of a program, where others hold the pipe."""
LATE_SECONDS = 2.0
"""How long it is awaited at most."""
STOP_SECONDS = 5.0
"""How long a program that was told to end may take before it is killed."""


@dataclass(frozen=True, slots=True)
class Ended:
    """What came of a program."""

    status: int
    """Its exit code; negative for a signal."""
    output: bytes
    """What it wrote to both its outputs, or as much as can be held, with a mark."""
    omitted_bytes: int
    """What is too much to hold."""


def listen(argv: Sequence[str], on_more: Callable[[int], None]) -> Ended:
    """Run a program and hear what it writes to both its outputs.

    Background programs that it leaves live on, and what they write later is not heard. A signal
    that asks this process to end goes on to the program; what it wrote until its end is answered,
    and a status other than 0. `on_more` is told the number of bytes so far, on another thread.
    """
    # Held: one that comes while the program is started finds it and its listener there.
    with signals_raise(held=True) as signals:
        process = subprocess.Popen(
            argv,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            # What a shell opened for the program, as for `diff <(a) <(b)`; ours are not inherited.
            close_fds=False,
        )
        heard = Heard()
        listener = threading.Thread(target=_hear, args=(process, heard, on_more), daemon=True)
        listener.start()
        status = _status(process, signals)
    latest = time.monotonic() + LATE_SECONDS
    before = -1
    while listener.is_alive() and before != heard.total_bytes and time.monotonic() < latest:
        before = heard.total_bytes
        listener.join(QUIET_SECONDS)
    return Ended(status, *heard.taken())


def _hear(process: subprocess.Popen[bytes], heard: Heard, on_more: Callable[[int], None]) -> None:
    assert process.stdout is not None
    with contextlib.suppress(OSError), process.stdout as pipe:
        while piece := os.read(pipe.fileno(), READ_BYTES):
            heard.add(piece)
            on_more(heard.total_bytes)


def _status(process: subprocess.Popen[bytes], signals: Signals) -> int:
    """The status of a program that has ended, by itself or because this process was told to."""
    try:
        signals.release()
        return process.wait()
    except StoppedError as stopped:
        told = stopped.number
    try:
        # Who presses keys at a terminal has told the program already.
        if told not in KEYS or not _is_at_terminal():
            process.send_signal(told)
        process.wait(STOP_SECONDS if told != signal.SIGINT else None)
    except (StoppedError, subprocess.TimeoutExpired):
        process.kill()
    return process.wait() or -told


def _is_at_terminal() -> bool:
    """Whether keys pressed at the terminal reach this process and those that it started."""
    if sys.platform == "win32":
        return True
    try:
        terminal = os.open("/dev/tty", os.O_RDONLY | os.O_NOCTTY)
    except OSError:
        return False
    try:
        return os.tcgetpgrp(terminal) == os.getpgrp()
    except OSError:
        return False
    finally:
        os.close(terminal)
