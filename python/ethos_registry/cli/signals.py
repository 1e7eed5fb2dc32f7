"""Signals that ask this process to end, raised as an exception, so that it can finish in order."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from types import FrameType

__all__ = ["SignalGuard", "StoppedError", "signals_raise"]

_NAMES = ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT")
_SIGNALS = [getattr(signal, name) for name in _NAMES if hasattr(signal, name)]


class StoppedError(Exception):
    """A signal asked this process to end."""

    def __init__(self, number: int) -> None:
        name = signal.Signals(number).name
        super().__init__("interrupted" if number == signal.SIGINT else f"ended by {name}")
        self.number = number
        self.exit_code = 128 + number
        """What a shell reports for a program that the signal ended."""


class SignalGuard:
    """The signals of a `signals_raise` block: held back, or raised as they arrive."""

    def __init__(self, held: bool) -> None:
        self._held = held
        self._waiting: int | None = None

    @property
    def is_waiting(self) -> bool:
        """Whether a signal is held back."""
        return self._waiting is not None

    def release(self) -> None:
        """Hold no signals back from now on.

        Raises:
            StoppedError: A signal arrived before.

        """
        self._held = False
        if self._waiting is not None:
            raise StoppedError(self._waiting)

    def handle(self, number: int, frame: FrameType | None) -> None:
        """The handler of a signal."""
        if not self._held:
            raise StoppedError(number)
        self._waiting = number


@contextlib.contextmanager
def signals_raise(*, held: bool = False) -> Iterator[SignalGuard]:
    """Within the block, signals that ask this process to end raise `StoppedError`.

    Ignored signals stay ignored. With `held`, signals raise from `SignalGuard.release` on. Outside
    the main thread nothing changes: Python runs signal handlers in the main thread only.
    """
    guard = SignalGuard(held)
    if threading.current_thread() is not threading.main_thread():
        yield guard
        return
    before = {number: signal.getsignal(number) for number in _SIGNALS}
    # A handler that Python did not install is `None`, and could not be put back.
    handled = [number for number in _SIGNALS if before[number] not in (signal.SIG_IGN, None)]
    for number in handled:
        signal.signal(number, guard.handle)
    try:
        yield guard
    finally:
        for number in handled:
            signal.signal(number, before[number])
