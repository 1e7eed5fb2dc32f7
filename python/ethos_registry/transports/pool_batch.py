"""The calls of a pool, and the way of their answers back to the loops that wait for them."""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from collections.abc import Iterable, Sequence
from typing import Any

from ethos_registry.contract.execute_request import ToolExecuteRequest, batch_to_wire
from ethos_registry.contract.transport import TransportItem
from ethos_registry.transports.json_lines import exact_json_bytes

__all__ = ["PoolBatch", "PoolCall", "cancel_line", "request_line"]


class PoolCall:
    """One request in the pool."""

    __slots__ = (
        "attempts",
        "batch",
        "index",
        "is_accepted",
        "is_reported",
        "is_stopped",
        "number",
        "request",
    )

    def __init__(self, batch: PoolBatch, index: int, request: ToolExecuteRequest) -> None:
        self.batch = batch
        self.index = index
        self.request = request
        self.number = 0
        self.is_accepted = False
        """The worker was about to run it."""
        self.is_reported = False
        """Its caller knows that it began."""
        self.is_stopped = False
        self.attempts = 0


class PoolBatch:
    """The requests of one `execute_many`, and the way back to its loop."""

    def __init__(self, requests: Iterable[ToolExecuteRequest]) -> None:
        self.calls = [PoolCall(self, index, request) for index, request in enumerate(requests)]
        self.missing = set(range(len(self.calls)))
        self.arrived: deque[TransportItem] = deque()
        self.waiter: asyncio.Future[None] | None = None
        self._loop = asyncio.get_running_loop()
        self._outbox: list[TransportItem] = []

    def put(self, item: TransportItem) -> bool:
        """On the pool's thread; returns whether the batch has to be flushed."""
        self._outbox.append(item)
        return len(self._outbox) == 1

    def flush(self) -> None:
        """Send what was put to the loop of the batch."""
        items, self._outbox = self._outbox, []
        with contextlib.suppress(RuntimeError):  # that loop is closed
            self._loop.call_soon_threadsafe(self._deliver, items)

    def _deliver(self, items: list[TransportItem]) -> None:
        self.arrived.extend(items)
        if self.waiter is not None and not self.waiter.done():
            self.waiter.set_result(None)


def request_line(calls: Sequence[PoolCall]) -> bytes:
    """The message that gives calls to a worker. Raises if arguments have no JSON form."""
    batch = batch_to_wire([call.request for call in calls])
    return _line(
        {
            "tickets": [call.number for call in calls],
            "shared": batch.shared,
            "requests": batch.requests,
        }
    )


def cancel_line(call: PoolCall) -> bytes:
    """The message that stops a call."""
    return _line({"cancel": [call.number]})


def _line(value: Any) -> bytes:
    return exact_json_bytes(value) + b"\n"
