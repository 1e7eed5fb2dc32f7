"""What a thread of a transport sends to the loop of a caller."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import AsyncIterator, Sequence

from ethos_registry.types._result import ToolError
from ethos_registry.types._transport import (
    ToolExecuteRequest,
    TransportItem,
    TransportReply,
    TransportStarted,
    not_started,
)


class CallerQueue:
    """The items of one `execute_many`; `put` is for any thread, the rest for the caller's loop.

    The first reply of each request counts.
    """

    def __init__(self, requests: Sequence[ToolExecuteRequest]) -> None:
        self.requests = list(requests)
        self.missing = set(range(len(self.requests)))
        """The positions of the requests without a reply."""
        self.started: set[int] = set()
        """The positions of the requests that were sent, or whose tools began."""
        self._loop = asyncio.get_running_loop()
        self._thread = threading.get_ident()
        self._queue: asyncio.Queue[TransportItem] = asyncio.Queue()

    def put(self, item: TransportItem) -> None:
        """Send an item to the caller; on any thread."""
        if threading.get_ident() == self._thread:  # without a wake-up of the loop for each item
            self._queue.put_nowait(item)
            return
        with contextlib.suppress(RuntimeError):  # the caller's loop is closed
            self._loop.call_soon_threadsafe(self._queue.put_nowait, item)

    def start(self, index: int) -> None:
        """Report, once, that a call is about to run; on any thread."""
        if index not in self.started:
            self.started.add(index)
            self.put(TransportStarted(index))

    def refuse(self, index: int, problem: str) -> None:
        """Answer a request that was not sent; on any thread."""
        result = not_started(self.requests[index].name, problem)
        self.put(TransportReply(index, result, was_started=False))

    def stop(self, index: int) -> None:
        """Answer a request that was sent and stopped; on any thread."""
        name = self.requests[index].name
        text = f"Tool {name} was stopped; it may have run"
        self.put(TransportReply(index, ToolError(text, "execution_failed", "cancelled")))

    async def items(self) -> AsyncIterator[TransportItem]:
        """What was put, until every request has its reply."""
        while self.missing:
            item = await self._queue.get()
            if item.index not in self.missing:
                continue
            if isinstance(item, TransportReply):
                self.missing.discard(item.index)
            yield item
