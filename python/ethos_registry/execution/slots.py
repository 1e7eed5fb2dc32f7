"""How many calls of a batch run at once; the others wait, in order."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from ethos_registry.execution.call import Call

__all__ = ["Slots"]


class Slots:
    """The slots of one batch with `max_concurrency`.

    `start` is passed to each method, not stored: it belongs to the session, which owns the slots.
    """

    __slots__ = ("_free", "_is_starting", "_waiting")

    def __init__(self, count: int) -> None:
        self._free = count
        self._is_starting = False
        self._waiting: deque[Call] = deque()

    def run(self, call: Call, start: Callable[[Call], None]) -> None:
        """Start a call now, or when a slot is free."""
        if self._free == 0:
            self._waiting.append(call)
            return
        self._free -= 1
        call.has_slot = True
        start(call)

    def call_ended(self, call: Call, start: Callable[[Call], None]) -> None:
        """Give the slot of a call to the next one."""
        if call.has_slot:
            self._free += 1
        if self._is_starting:  # a task ended in its first step; the loop below continues
            return
        self._is_starting = True
        try:
            while self._waiting and self._free:
                waiting = self._waiting.popleft()
                if not waiting.has_ended:
                    self.run(waiting, start)
        finally:
            self._is_starting = False

    def waiting(self) -> list[Call]:
        """The calls that have no slot yet."""
        return list(self._waiting)
