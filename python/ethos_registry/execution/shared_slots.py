"""How many calls of a registry run at once on one loop, over all its batches."""

from __future__ import annotations

from collections import deque
from contextvars import ContextVar
from typing import Any, Protocol

__all__ = ["HELD", "SharedSlots", "Starter"]


class Waiting(Protocol):
    """A call, which may have its answer before it gets a slot."""

    has_ended: bool


class Starter(Protocol):
    """What starts the calls of one batch."""

    def begin(self, call: Any) -> None:
        """Start the task of a call."""


class SharedSlots:
    """The slots of one registry on one loop; calls that find none wait, in order."""

    __slots__ = ("_free", "_held", "_is_starting", "_waiting")

    def __init__(self, count: int) -> None:
        self._free = count
        self._is_starting = False
        self._waiting: deque[tuple[Waiting, Starter]] = deque()
        self._held: dict[int, tuple[Waiting, Starter]] = {}

    def run(self, call: Waiting, starter: Starter) -> None:
        """Start a call now, or when a slot is free."""
        if self._free == 0 or self._is_starting:
            self._waiting.append((call, starter))
            return
        self._start(call, starter)

    def _start(self, call: Waiting, starter: Starter) -> None:
        self._free -= 1
        self._held[id(call)] = call, starter
        starter.begin(call)

    def call_ended(self, call: Waiting) -> None:
        """Give the slot of a call to the one that waits longest."""
        if self._held.pop(id(call), None) is None:
            return
        self._free += 1
        if self._is_starting:  # a task ended in its first step; the loop below continues
            return
        self._is_starting = True
        try:
            while self._waiting and self._free:
                waiting, starter = self._waiting.popleft()
                if not waiting.has_ended:
                    self._start(waiting, starter)
        finally:
            self._is_starting = False

    def waiting_of(self, starter: Starter) -> list[Any]:
        """The calls of one batch that have no slot yet."""
        return [call for call, its in self._waiting if its is starter]

    def forget(self, starter: Starter) -> None:
        """A batch has ended: no call of it waits or holds a slot any more."""
        if any(its is starter for _, its in self._waiting):
            self._waiting = deque(each for each in self._waiting if each[1] is not starter)
        for call, its in list(self._held.values()):
            if its is starter:
                self.call_ended(call)


HELD: ContextVar[tuple[SharedSlots, ...]] = ContextVar("HELD", default=())
"""The slots that the running call holds: what it calls itself runs inside them, else calls that
wait for each other could never end."""
