"""The one timer of a batch."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from time import monotonic

__all__ = ["BatchTimer"]


LATE_SECONDS = 0.05
"""A timer that fires later than that was kept from it by code that blocked the loop."""
TURNS = 3
"""A task may need several turns to get from its event to its end."""


class BatchTimer:
    """Calls one function when one of many moments has come; never a timer object per call."""

    __slots__ = ("_callback", "_handle", "_loop", "_moment")

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._callback: Callable[[], object] | None = None
        self._handle: asyncio.TimerHandle | None = None
        self._moment = 0.0

    def start(self, callback: Callable[[], object]) -> None:
        """Call `callback` at the moments that are asked for from now on."""
        self._callback = callback

    def wake_at(self, moment: float) -> None:
        """Call the function no later than at `moment` (monotonic seconds)."""
        if self._callback is None:
            return
        if self._handle is not None:
            if self._moment <= moment:
                return
            self._handle.cancel()
        self._moment = moment
        self._handle = self._loop.call_later(max(moment - monotonic(), 0.0), self._fire)

    def _fire(self) -> None:
        self._handle = None
        if monotonic() - self._moment > LATE_SECONDS:
            self._after_turns(TURNS)
        elif self._callback is not None:
            self._callback()

    def _after_turns(self, turns: int) -> None:
        """Let what became ready while the loop was blocked go first."""
        if turns:
            self._loop.call_soon(self._after_turns, turns - 1)
        elif self._callback is not None:
            self._callback()

    def stop(self) -> None:
        """Call nothing any more."""
        self._callback = None
        if self._handle is not None:
            self._handle.cancel()
            self._handle = None
