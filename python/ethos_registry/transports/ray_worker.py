"""The actor of a Ray pool: runs batches against a registry that it imports."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Sequence
from typing import Any

from ethos_registry.contract.execute_request import PROTOCOL_VERSION, batch_from_wire
from ethos_registry.contract.progress import ToolProgressEvent
from ethos_registry.contract.result import ToolResult
from ethos_registry.contract.transport import TransportReply
from ethos_registry.registry.local_transport import LocalRun
from ethos_registry.registry.reader import RegistryReader
from ethos_registry.transports.json_lines import json_bytes, read_line
from ethos_registry.transports.replies import (
    bounded_result,
    reply_line,
    tracked_mtimes,
    written_mtimes,
)
from ethos_registry.transports.tool_source import load_tools, offered_tools

__all__ = ["RayWorker"]


class RayWorker:
    """An async actor; what it gets and yields is JSON, so that nothing of a caller is unpickled.

    `run` is in the default concurrency group, `hello` and `cancel` in the group `control`, which
    has a loop of its own: they are answered while every place for batches is taken.
    """

    def __init__(self, tools: Sequence[str], path: Sequence[str], max_result_bytes: int) -> None:
        sys.path += [entry for entry in path if entry not in sys.path and os.path.exists(entry)]
        self._max_result_bytes = max_result_bytes
        self._registry: RegistryReader | None = None
        self._batches: dict[str, tuple[asyncio.AbstractEventLoop, LocalRun]] = {}
        self._early: dict[str, list[int]] = {}
        self._failure = ""
        try:
            self._registry = load_tools(tools)
        except BaseException as error:
            self._failure = f"{type(error).__name__}: {error}"

    async def hello(self) -> bytes:
        """The protocol and the digests of the tools, or why they could not be loaded."""
        if self._registry is None:
            return json_bytes({"failed": self._failure})
        return json_bytes({"version": PROTOCOL_VERSION, "tools": offered_tools(self._registry)})

    async def run(self, batch: str, payload: bytes) -> AsyncIterator[bytes]:
        """Run the requests of a message; yields lists of items, as they happen."""
        message = read_line(payload)
        requests = batch_from_wire(message["shared"], message["requests"])
        items = _Items([tracked_mtimes(request) for request in requests], self._max_result_bytes)
        run = LocalRun(self._registry, requests, items)
        self._batches[batch] = (asyncio.get_running_loop(), run)
        try:
            run.start()
            for index in self._early.pop(batch, ()):
                run.stop(index)
            async for data in items.taken():
                yield data
        finally:
            self._batches.pop(batch, None)
            await run.aclose()

    async def cancel(self, batch: str, index: int) -> None:
        """Stop one call of a batch; the others go on."""
        found = self._batches.get(batch)
        if found is None:
            self._early.setdefault(batch, []).append(index)
            if len(self._early) > _MAX_EARLY:  # those whose batch had ended already
                del self._early[next(iter(self._early))]
            return
        loop, run = found
        loop.call_soon_threadsafe(run.stop, index)


_MAX_EARLY = 1024


class _Items:
    """What happened in a batch since it was last sent."""

    def __init__(self, mtimes: list[Any], max_result_bytes: int) -> None:
        self._mtimes = mtimes
        self._open = len(mtimes)
        self._max_result_bytes = max_result_bytes
        self._out: list[bytes] = []
        self._arrived = asyncio.Event()

    def _put(self, data: bytes) -> None:
        self._out.append(data)
        self._arrived.set()

    def started(self, index: int) -> None:
        self._put(json_bytes(["started", index]))

    def event(self, index: int, event: ToolProgressEvent) -> None:
        self._put(json_bytes(["event", index, event.to_wire()]))

    def reply(self, index: int, result: ToolResult, was_started: bool) -> None:
        reply = TransportReply(
            index,
            bounded_result(result, self._max_result_bytes),
            was_started,
            None,
            written_mtimes(self._mtimes[index]),
        )
        self._open -= 1
        self._put(reply_line(index, reply))

    async def taken(self) -> AsyncIterator[bytes]:
        """JSON lists of the items of each turn of the loop, until every request has its reply."""
        while self._open or self._out:
            await self._arrived.wait()
            seen = 0
            while self._open and seen != len(self._out):  # what follows at once goes along
                seen = len(self._out)
                await asyncio.sleep(0)
            self._arrived.clear()
            out, self._out = self._out, []
            yield b"[%b]" % b",".join(out)
