"""What a thread of a transport sends to the loop of a caller."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from functools import partial

from ethos_registry.types._abort import NEVER_ABORTED, AbortSignal
from ethos_registry.types._result import ToolError
from ethos_registry.types._transport import (
    LiveContext,
    ToolExecuteRequest,
    TransportItem,
    TransportReply,
    TransportStarted,
    not_started,
)


@contextlib.contextmanager
def stopping(
    signal: AbortSignal,
    live: LiveContext | None,
    stop_all: Callable[[], object],
    stop: Callable[[int], object],
) -> Iterator[None]:
    """Within the block, stop all requests, or the one at a position, when a signal asks for it.

    The functions are called on any thread.
    """
    unlinks = [signal.add_listener(stop_all)]
    for index, one in enumerate(() if live is None else live.signals):
        if one is not NEVER_ABORTED:
            unlinks.append(one.add_listener(partial(stop, index)))
    try:
        yield
    finally:
        for unlink in unlinks:
            unlink()


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
        self._arrived: deque[TransportItem] = deque()
        self._waiter: asyncio.Future[None] | None = None

    def put(self, *items: TransportItem) -> None:
        """Send items to the caller; on any thread."""
        if threading.get_ident() == self._thread:  # without a wake-up of the loop for each item
            self._deliver(items)
            return
        with contextlib.suppress(RuntimeError):  # the caller's loop is closed
            self._loop.call_soon_threadsafe(self._deliver, items)

    def _deliver(self, items: tuple[TransportItem, ...]) -> None:
        self._arrived.extend(items)
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

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
            while not self._arrived:
                self._waiter = self._loop.create_future()
                await self._waiter
            item = self._arrived.popleft()
            if item.index not in self.missing:
                continue
            if isinstance(item, TransportReply):
                self.missing.discard(item.index)
            yield item
