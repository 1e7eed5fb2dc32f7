"""Signals that ask this process to end, as an exception: there is something to leave in order."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from types import FrameType

__all__ = ["KEYS", "Signals", "StoppedError", "signals_raise"]

_NAMES = ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT")
_TOLD = [getattr(signal, name) for name in _NAMES if hasattr(signal, name)]
KEYS = frozenset(getattr(signal, name) for name in ("SIGINT", "SIGQUIT") if hasattr(signal, name))
"""Those that keys at a terminal send, to all who run there."""


class StoppedError(Exception):
    """A signal came that asks this process to end."""

    def __init__(self, number: int) -> None:
        name = signal.Signals(number).name
        super().__init__("interrupted" if number == signal.SIGINT else f"ended by {name}")
        self.number = number
        self.exit_code = 128 + number
        """What a shell reports of a program that the signal ended."""


class Signals:
    """The signals of a `signals_raise` block: held back, or raised as they come."""

    def __init__(self, held: bool) -> None:
        self._held = held
        self._waiting: int | None = None

    def release(self) -> None:
        """Hold none back from now on; `StoppedError` for one that came before."""
        self._held = False
        if self._waiting is not None:
            raise StoppedError(self._waiting)

    def come(self, number: int, frame: FrameType | None) -> None:
        """The handler of a signal."""
        if not self._held:
            raise StoppedError(number)
        self._waiting = number


@contextlib.contextmanager
def signals_raise(*, held: bool = False) -> Iterator[Signals]:
    """Signals that ask this process to end raise here instead; those ignored stay ignored.

    With `held` they raise from `Signals.release` on. On another thread than the main one nothing
    changes: Python gives signals to the main one only.
    """
    signals = Signals(held)
    if threading.current_thread() is not threading.main_thread():
        yield signals
        return
    before = {number: signal.getsignal(number) for number in _TOLD}
    # A handler that Python did not install is `None`, and could not be put back.
    listened = [number for number in _TOLD if before[number] not in (signal.SIG_IGN, None)]
    for number in listened:
        signal.signal(number, signals.come)
    try:
        yield signals
    finally:
        for number in listened:
            signal.signal(number, before[number])
