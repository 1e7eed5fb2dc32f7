"""What happened in a batch of a Ray worker and was not sent yet."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

from ethos_registry.contract.finish_elsewhere import FinishFacts
from ethos_registry.contract.progress import ToolProgressEvent
from ethos_registry.contract.result import ToolResult
from ethos_registry.contract.transport import TransportReply
from ethos_registry.transports.json_lines import json_bytes
from ethos_registry.transports.replies import bounded_result, reply_line, written_mtimes

__all__ = ["RayItems"]


class RayItems:
    """The items of a batch, as JSON."""

    def __init__(self, mtimes: list[Any], max_result_bytes: int) -> None:
        self.count = len(mtimes)
        self._mtimes = mtimes
        self._open = len(mtimes)
        self._max_result_bytes = max_result_bytes
        self._started: dict[int, None] = {}
        self._out: list[bytes] = []
        self._facts: FinishFacts | None = None
        self._arrived = asyncio.Event()
        self._closed = asyncio.Event()

    @property
    def is_open(self) -> bool:
        """Whether a request has no reply."""
        return self._open > 0

    def started(self, index: int) -> None:
        """A tool is about to run; not sent by itself if its reply follows at once."""
        self._started[index] = None
        self._arrived.set()

    def event(self, index: int, event: ToolProgressEvent) -> None:
        """A tool emitted an event."""
        self._put_started()
        self._put(json_bytes(["event", index, event.to_wire()]))

    def finished(self, index: int, facts: FinishFacts) -> None:
        """How the result was finished that follows."""
        self._facts = facts

    def reply(self, index: int, result: ToolResult, was_started: bool) -> None:
        """A call has its result."""
        self._started.pop(index, None)
        facts, self._facts = self._facts, None
        reply = TransportReply(
            index,
            bounded_result(result, self._max_result_bytes),
            was_started,
            None,
            written_mtimes(self._mtimes[index]),
            facts,
        )
        self._open -= 1
        self._put(reply_line(index, reply))
        if not self._open:
            self._closed.set()

    def _put_started(self) -> None:
        self._out += [json_bytes(["started", index]) for index in self._started]
        self._started.clear()

    def _put(self, data: bytes) -> None:
        self._out.append(data)
        self._arrived.set()

    async def wait_closed(self, seconds: float | None) -> None:
        """Wait until every request has its reply, or for that time."""
        if self._open:
            try:
                async with asyncio.timeout(seconds):
                    await self._closed.wait()
            except TimeoutError:
                return

    def take(self) -> bytes:
        """A JSON list of what was not taken yet."""
        self._put_started()
        if self._open:
            self._arrived.clear()
        out, self._out = self._out, []
        return b"[%b]" % b",".join(out)

    async def taken(self) -> AsyncIterator[bytes]:
        """JSON lists of the items of each turn of the loop, until every request has its reply."""
        while self._open or self._out:
            await self._arrived.wait()
            seen = 0
            while self._open and seen != len(self._out):  # what follows at once goes along
                seen = len(self._out)
                await asyncio.sleep(0)
            yield self.take()
