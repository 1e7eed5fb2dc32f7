"""The actor of a Ray pool: runs batches against a registry that it imports."""

from __future__ import annotations

import asyncio
import os
import sys
import threading
import time
from collections.abc import AsyncIterator, Sequence

from ethos_registry.contract.execute_request import PROTOCOL_VERSION, batch_from_wire
from ethos_registry.registry.local_transport import LocalRun
from ethos_registry.registry.reader import RegistryReader
from ethos_registry.transports.json_lines import json_bytes, read_line
from ethos_registry.transports.ray_items import RayItems
from ethos_registry.transports.replies import tracked_mtimes
from ethos_registry.transports.serial_run import SerialRun
from ethos_registry.transports.tool_source import load_tools, offered_tools, registry_digest

__all__ = ["RayWorker"]

_WINDOW_SECONDS = 0.005
"""What happens in that time travels in one message; a stream costs more than the message."""
_FOLLOW_SECONDS = 60.0
"""A batch whose caller does not follow it for that time has lost its caller."""
_MAX_EARLY = 1024


class RayWorker:
    """An async actor; what it gets and yields is JSON, so that nothing of a caller is unpickled.

    `run` and `follow` are in the default concurrency group, the others in the group `control`,
    which has a loop of its own: they are answered while every place for batches is taken.
    """

    def __init__(
        self,
        tools: Sequence[str],
        path: Sequence[str],
        max_result_bytes: int,
        calls: int,
        idle_seconds: float | None = None,
        is_serial: bool = False,
    ) -> None:
        sys.path += [entry for entry in path if entry not in sys.path and os.path.exists(entry)]
        self._max_result_bytes = max_result_bytes
        self._registry: RegistryReader | None = None
        self._places = asyncio.Semaphore(calls)
        self._turns = asyncio.Lock() if is_serial else None
        self._batches: dict[str, _Batch] = {}
        self._early: dict[str, list[int | None]] = {}
        self._failure = ""
        self._running = 0
        self._is_draining = False
        self._used_at = time.monotonic()
        try:
            self._registry = load_tools(tools)
        except BaseException as error:
            self._failure = f"{type(error).__name__}: {error}"
        if idle_seconds is not None:
            self._end_when_idle(idle_seconds)

    async def hello(self) -> bytes:
        """The protocol and the digests of the tools, or why they could not be loaded."""
        import ray

        self._used_at = time.monotonic()
        if self._registry is None:
            return json_bytes({"failed": self._failure})
        offered = offered_tools(self._registry)
        return json_bytes(
            {
                "version": PROTOCOL_VERSION,
                "tools": offered,
                "digest": registry_digest(offered),
                "node": ray.get_runtime_context().get_node_id(),
            }
        )

    async def drain(self) -> int:
        """Take no more batches; how many run."""
        self._is_draining = True
        return self._running

    async def run(self, batch: str, payload: bytes) -> bytes:
        """Start the requests of a message; a list of the items of the first few milliseconds."""
        await self._places.acquire()
        if self._is_draining:
            self._places.release()
            return b'[["draining"]]'
        self._running += 1
        try:
            found = self._start(batch, payload)
            await found.items.wait_closed(_WINDOW_SECONDS)
        except BaseException:
            await self._end(batch)
            raise
        if found.items.is_open:
            found.ending = asyncio.get_running_loop().create_task(self._watch(batch, found))
        else:
            await self._end(batch)
        return found.items.take()

    async def follow(self, batch: str) -> AsyncIterator[bytes]:
        """Lists of the further items of a batch, as they happen."""
        found = self._batches.get(batch)
        if found is None:
            return
        found.is_followed = True
        try:
            async for data in found.items.taken():
                yield data
        finally:
            self._batches.pop(batch, None)
            await found.run.aclose()

    def _start(self, batch: str, payload: bytes) -> _Batch:
        message = read_line(payload)
        requests = batch_from_wire(message["shared"], message["requests"])
        items = RayItems([tracked_mtimes(request) for request in requests], self._max_result_bytes)
        run: LocalRun | SerialRun
        if self._turns is None:
            run = LocalRun(self._registry, requests, items)
        else:
            run = SerialRun(self._registry, requests, items, self._turns)
        found = self._batches[batch] = _Batch(run, items)
        run.start()
        for index in self._early.pop(batch, ()):
            found.stop(index)
        return found

    async def _watch(self, batch: str, found: _Batch) -> None:
        """Give the place back when the calls have ended, or when no one follows them."""
        try:
            await found.items.wait_closed(_FOLLOW_SECONDS)
            if not found.is_followed:
                found.stop(None)
            await found.items.wait_closed(None)
        finally:
            self._release()
            if not found.is_followed:
                asyncio.get_running_loop().call_later(
                    _FOLLOW_SECONDS, self._batches.pop, batch, None
                )

    async def _end(self, batch: str) -> None:
        found = self._batches.pop(batch, None)
        self._release()
        if found is not None:
            await found.run.aclose()

    def _release(self) -> None:
        self._running -= 1
        self._used_at = time.monotonic()
        self._places.release()

    async def cancel(self, batch: str, index: int | None) -> None:
        """Stop one call of a batch, or all."""
        found = self._batches.get(batch)
        if found is None:
            self._early.setdefault(batch, []).append(index)
            if len(self._early) > _MAX_EARLY:  # those whose batch had ended already
                del self._early[next(iter(self._early))]
            return
        found.loop.call_soon_threadsafe(found.stop, index)

    def _end_when_idle(self, seconds: float) -> None:
        import ray

        actor = ray.get_runtime_context().current_actor

        def watch() -> None:
            while True:
                time.sleep(min(max(seconds / 4, 0.05), 5.0))
                if not self._running and time.monotonic() - self._used_at >= seconds:
                    ray.kill(actor)
                    return

        threading.Thread(target=watch, daemon=True, name="ethos-registry-idle").start()


class _Batch:
    """A batch that runs."""

    ending: asyncio.Task[None]

    def __init__(self, run: LocalRun | SerialRun, items: RayItems) -> None:
        self.run = run
        self.items = items
        self.loop = asyncio.get_running_loop()
        self.is_followed = False

    def stop(self, index: int | None) -> None:
        """Stop one call, or all; on the loop of the batch."""
        for each in range(self.items.count) if index is None else (index,):
            self.run.stop(each)
