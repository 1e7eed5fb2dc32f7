"""The actor of a Ray pool: runs batches against a registry that it imports."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
import threading
import time
from collections.abc import AsyncIterator, Sequence
from concurrent.futures import Future

from ethos_registry.registry._local_transport import LocalRun
from ethos_registry.registry._reader import RegistryReader
from ethos_registry.transports._protocol import (
    Replies,
    json_bytes,
    load_tools,
    offered_tools,
    read_line,
    registry_digest,
    reply_line,
)
from ethos_registry.types._context import ToolProgressEvent
from ethos_registry.types._remote_finish import FinishFacts
from ethos_registry.types._result import ToolResult
from ethos_registry.types._transport import (
    PROTOCOL_VERSION,
    ToolExecuteRequest,
    batch_from_wire,
    not_started,
)

# What happened in a batch of a Ray worker and was not sent yet.


class RayItems(Replies):
    """The items of a batch, as JSON."""

    def __init__(self, requests: Sequence[ToolExecuteRequest], max_result_bytes: int) -> None:
        super().__init__(requests, max_result_bytes)
        self.begun: set[int] = set()
        """The requests whose tools have started."""
        self.open = set(range(len(requests)))
        """The requests without a reply."""
        self._started: dict[int, None] = {}
        self._out: list[bytes] = []
        self._arrived = asyncio.Event()
        self._closed = asyncio.Event()

    def started(self, index: int) -> None:
        """A tool is about to run; not sent by itself if its reply follows at once."""
        self.begun.add(index)
        self._started[index] = None
        self._arrived.set()

    def event(self, index: int, event: ToolProgressEvent) -> None:
        self._put_started()
        self._put(json_bytes(["event", index, event.to_wire()]))

    def reply(self, index: int, result: ToolResult, was_started: bool) -> None:
        self._started.pop(index, None)
        self.open.discard(index)
        self._put(reply_line(index, self.reply_with(index, result, was_started)))
        if not self.open:
            self._closed.set()

    def _put_started(self) -> None:
        self._out += [json_bytes(["started", index]) for index in self._started]
        self._started.clear()

    def _put(self, data: bytes) -> None:
        self._out.append(data)
        self._arrived.set()

    async def wait_closed(self, seconds: float | None) -> None:
        """Wait until every request has its reply, or for that time."""
        if self.open:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await self._closed.wait()

    def take(self) -> bytes:
        """A JSON list of what was not taken yet."""
        self._put_started()
        if self.open:
            self._arrived.clear()
        out, self._out = self._out, []
        return b"[%b]" % b",".join(out)

    async def taken(self) -> AsyncIterator[bytes]:
        """JSON lists of the items of each turn of the loop, until every request has its reply."""
        while self.open or self._out:
            await self._arrived.wait()
            seen = 0
            while self.open and seen != len(self._out):  # what follows at once goes along
                seen = len(self._out)
                await asyncio.sleep(0)
            yield self.take()


# Running the calls of a session one after another.


class SerialRun:
    """A `LocalRun` for each request, in their order, under a lock that batches share."""

    def __init__(
        self,
        registry: RegistryReader | None,
        requests: Sequence[ToolExecuteRequest],
        items: RayItems,
        lock: asyncio.Lock,
    ) -> None:
        self._registry = registry
        self._requests = requests
        self._items = items
        self._lock = lock
        self._stopped: set[int] = set()
        self._current: tuple[int, LocalRun] | None = None
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Start the first request as soon as no other call of the session runs."""
        self._task = asyncio.get_running_loop().create_task(self._run())

    async def _run(self) -> None:
        for index, request in enumerate(self._requests):
            async with self._lock:
                if index in self._stopped:
                    self._refuse(index)
                    continue
                one = _One(self._items, index)
                run = LocalRun(self._registry, [request], one)
                self._current = (index, run)
                try:
                    run.start()
                    await one.replied.wait()
                finally:
                    self._current = None
                    await run.aclose()

    def _refuse(self, index: int) -> None:
        name = self._requests[index].name
        self._items.reply(index, not_started(name, "it was stopped before it began"), False)

    def stop(self, index: int) -> None:
        self._stopped.add(index)
        if self._current is not None and self._current[0] == index:
            self._current[1].stop(0)

    async def aclose(self) -> None:
        """Stop what runs and wait for its end, which is bounded."""
        if self._task is not None and not self._task.done():
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        for index in sorted(self._items.open):
            self._refuse(index)


class _One:
    """The items of a single request, under its position in the batch."""

    def __init__(self, items: RayItems, index: int) -> None:
        self._items = items
        self._index = index
        self.replied = asyncio.Event()

    def started(self, index: int) -> None:
        self._items.started(self._index)

    def event(self, index: int, event: ToolProgressEvent) -> None:
        self._items.event(self._index, event)

    def finished(self, index: int, facts: FinishFacts) -> None:
        self._items.finished(self._index, facts)

    def reply(self, index: int, result: ToolResult, was_started: bool) -> None:
        self.replied.set()
        self._items.reply(self._index, result, was_started)


_WINDOW_SECONDS = 0.005
"""What happens in that time travels in one message; a stream costs more than the message."""
_FOLLOW_SECONDS = 60.0
"""A batch whose caller does not follow it for that time has lost its caller."""
_MAX_EARLY = 1024


class RayWorker:
    """An async actor; what it gets and yields is JSON, so that nothing of a caller is unpickled.

    `run` and `follow` are in the default concurrency group, the others in the group `control`,
    which has a loop of its own: they are answered while every place for batches is taken, and while
    a tool blocks the loop of the batches.
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
        self._loop: asyncio.AbstractEventLoop | None = None
        """Where batches run, from the first one on."""
        self._batches: dict[str, _Batch] = {}
        self._early: dict[str, list[int | None]] = {}
        self._started: dict[str, None] = {}
        """The batches that were not refused, until they have ended."""
        self._starting = threading.Lock()
        self._failure = ""
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
        return len(self._started)

    async def run(self, batch: str, payload: bytes) -> bytes:
        """Start the requests of a message; a list of the items of the first few milliseconds."""
        self._loop = asyncio.get_running_loop()
        await self._places.acquire()
        with self._starting:
            if self._is_draining:
                self._places.release()
                return b'[["draining"]]'
            self._started[batch] = None
        try:
            found = self._start(batch, payload)
            await found.items.wait_closed(_WINDOW_SECONDS)
        except BaseException:
            await self._end(batch)
            raise
        if found.items.open:
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
        items = RayItems(requests, self._max_result_bytes)
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
            self._release(batch)
            if not found.is_followed:
                asyncio.get_running_loop().call_later(
                    _FOLLOW_SECONDS, self._batches.pop, batch, None
                )

    async def _end(self, batch: str) -> None:
        found = self._batches.pop(batch, None)
        self._release(batch)
        if found is not None:
            await found.run.aclose()

    def _release(self, batch: str) -> None:
        self._started.pop(batch, None)
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

    async def begun(self, batch: str) -> bytes:
        """The requests of a batch whose tools have started."""
        self._end_without_loop()
        found = self._batches.get(batch)
        return json_bytes([] if found is None else sorted(found.items.begun.copy()))

    async def responds(self, seconds: float) -> bytes:
        """`null` if the loop of the batches takes a turn within some seconds.

        Otherwise the batches that have started: from then on no other one does.
        """
        self._end_without_loop()
        if self._loop is not None:
            turn: Future[None] = Future()
            turn.set_running_or_notify_cancel()
            self._loop.call_soon_threadsafe(turn.set_result, None)
            if not (await asyncio.wait([asyncio.wrap_future(turn)], timeout=seconds))[0]:
                with self._starting:
                    self._is_draining = True
                    return json_bytes(list(self._started))
        return b"null"

    def _end_without_loop(self) -> None:
        """An interrupt in code of the host ends the loop of the batches: Ray starts another."""
        if self._loop is not None and not self._loop.is_running():
            os._exit(1)

    def _end_when_idle(self, seconds: float) -> None:
        import ray

        actor = ray.get_runtime_context().current_actor

        def watch() -> None:
            while True:
                time.sleep(min(max(seconds / 4, 0.05), 5.0))
                if not self._started and time.monotonic() - self._used_at >= seconds:
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
        for each in sorted(self.items.open) if index is None else (index,):
            self.run.stop(each)
