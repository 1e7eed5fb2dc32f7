"""Signals that ask this process to end, as an exception: there is something to leave in order."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from types import FrameType

__all__ = ["StoppedError", "signals_raise"]

_TOLD = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]


class StoppedError(Exception):
    """A signal came that asks this process to end."""

    def __init__(self, number: int) -> None:
        name = signal.Signals(number).name
        super().__init__("interrupted" if number == signal.SIGINT else f"ended by {name}")
        self.number = number
        self.exit_code = 128 + number
        """What a shell reports of a program that the signal ended."""


@contextlib.contextmanager
def signals_raise() -> Iterator[None]:
    """Signals that ask this process to end raise here instead; those ignored stay ignored.

    On another thread than the main one nothing changes: Python gives signals to the main one only.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(number: int, frame: FrameType | None) -> None:
        raise StoppedError(number)

    before = {number: signal.getsignal(number) for number in _TOLD}
    listened = [number for number in _TOLD if before[number] is not signal.SIG_IGN]
    for number in listened:
        signal.signal(number, stop)
    try:
        yield
    finally:
        for number in listened:
            signal.signal(number, before[number])
