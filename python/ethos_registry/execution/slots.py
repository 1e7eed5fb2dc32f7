"""How many calls of a batch run at once; the others wait, in order."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from ethos_registry.execution.running import RunningCall

__all__ = ["Slots"]


class Slots:
    """The slots of one batch with `max_concurrency`.

    `start` is given to each method, not kept: it belongs to the batch, which keeps the slots.
    """

    __slots__ = ("_free", "_starting", "_waiting")

    def __init__(self, count: int) -> None:
        self._free = count
        self._starting = False
        self._waiting: deque[RunningCall] = deque()

    def run(self, running: RunningCall, start: Callable[[RunningCall], None]) -> None:
        """Start a call now, or when a slot is free."""
        if self._free == 0:
            self._waiting.append(running)
            return
        self._free -= 1
        running.has_slot = True
        start(running)

    def call_ended(self, start: Callable[[RunningCall], None], *, had_slot: bool) -> None:
        """Give the slot of a call to the next."""
        if had_slot:
            self._free += 1
        if self._starting:  # an eagerly started task ended at once; the loop below goes on
            return
        self._starting = True
        while self._waiting and self._free:
            running = self._waiting.popleft()
            if not running.ended:
                self.run(running, start)
        self._starting = False
