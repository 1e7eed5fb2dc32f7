"""How many calls of one tool run at once, and how many start in a second."""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from contextvars import ContextVar
from time import monotonic
from typing import TypeAlias

_Waiter: TypeAlias = "tuple[asyncio.AbstractEventLoop, asyncio.Future[None]]"

_HELD: ContextVar[tuple[Throttle, ...]] = ContextVar("ethos_registry_throttles", default=())
"""The throttles whose slots the running call holds: what it calls itself runs inside them."""


class Throttle:
    """The limits of one registered tool, over all batches, views and event loops of the process.

    Calls that find no slot wait in their order. Safe from threads.
    """

    __slots__ = ("_free", "_lock", "_queues", "_starts", "_waiting", "_window_seconds")

    def __init__(self, max_concurrency: int | None, calls_per_second: float | None) -> None:
        self._free = max_concurrency
        self._lock = threading.Lock()
        self._waiting: deque[_Waiter] = deque()
        burst = max(1, int(calls_per_second or 1))
        self._starts: deque[float] = deque(maxlen=burst)
        """When the last calls started (monotonic seconds)."""
        self._queues: dict[asyncio.AbstractEventLoop, tuple[asyncio.Lock, set[object]]] = {}
        """By event loop: what the first call that waits for a place holds, and all that wait."""
        self._window_seconds = 0.0 if calls_per_second is None else burst / calls_per_second

    async def enter(self) -> bool:
        """Wait until a call may start; whether it must `leave` at its end."""
        if self in _HELD.get():
            return False
        await self._slot()
        try:
            await self._turn()
        except BaseException:
            self.leave()
            raise
        _HELD.set((*_HELD.get(), self))
        return True

    def leave(self) -> None:
        """Give the slot of a call that has ended to the one that waits longest."""
        if self._free is None:
            return
        with self._lock:
            while self._waiting:
                loop, waiter = self._waiting.popleft()
                try:
                    loop.call_soon_threadsafe(self._grant, waiter)
                except RuntimeError:  # its loop is closed
                    continue
                return
            self._free += 1

    def _grant(self, waiter: asyncio.Future[None]) -> None:
        if waiter.done():  # cancelled meanwhile
            self.leave()
        else:
            waiter.set_result(None)

    async def _slot(self) -> None:
        if self._free is None:
            return
        with self._lock:
            if self._free:
                self._free -= 1
                return
            loop = asyncio.get_running_loop()
            waiter = loop.create_future()
            self._waiting.append((loop, waiter))
        try:
            await waiter
        except asyncio.CancelledError:
            if not waiter.cancelled():  # it has the slot already
                self.leave()
            raise

    async def _turn(self) -> None:
        """Wait for a place in the second: at most `calls_per_second` calls start in each."""
        if not self._window_seconds:
            return
        loop, call = asyncio.get_running_loop(), object()
        with self._lock:
            first, calls = self._queues.setdefault(loop, (asyncio.Lock(), set()))
            calls.add(call)
        try:
            async with first:
                while (seconds := self._take_place()) > 0:  # noqa: ASYNC110 - it is known when
                    await asyncio.sleep(seconds)
        finally:
            with self._lock:
                calls.discard(call)
                if not calls:  # a lock keeps its loop
                    del self._queues[loop]

    def _take_place(self) -> float:
        """In how many seconds a place is free; 0 if it is taken now.

        Only a call that starts takes one: a loop that was blocked resumes its calls late.
        """
        with self._lock:
            moment = monotonic()
            if len(self._starts) == self._starts.maxlen:
                seconds = self._starts[0] + self._window_seconds - moment
                if seconds > 0:
                    return seconds
            self._starts.append(moment)
            return 0.0
