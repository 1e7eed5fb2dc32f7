"""Running the calls of a session one after another."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from ethos_registry.contract.execute_request import ToolExecuteRequest
from ethos_registry.contract.finish_elsewhere import FinishFacts
from ethos_registry.contract.progress import ToolProgressEvent
from ethos_registry.contract.result import ToolResult
from ethos_registry.contract.transport import not_started
from ethos_registry.registry.local_transport import FinishingItems, LocalRun
from ethos_registry.registry.reader import RegistryReader

__all__ = ["SerialRun"]


class SerialRun:
    """A `LocalRun` for each request, in their order, under a lock that batches share."""

    def __init__(
        self,
        registry: RegistryReader | None,
        requests: Sequence[ToolExecuteRequest],
        items: FinishingItems,
        lock: asyncio.Lock,
    ) -> None:
        self._registry = registry
        self._requests = list(requests)
        self._items = items
        self._lock = lock
        self._stopped: set[int] = set()
        self._missing = set(range(len(self._requests)))
        self._current: tuple[int, LocalRun] | None = None
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Start the first request as soon as no other call of the session runs."""
        self._task = asyncio.get_running_loop().create_task(self._run())

    async def _run(self) -> None:
        for index in range(len(self._requests)):
            async with self._lock:
                if index in self._stopped:
                    self._refuse(index)
                    continue
                one = _One(self, index)
                run = LocalRun(self._registry, [self._requests[index]], one)
                self._current = (index, run)
                try:
                    run.start()
                    await one.replied.wait()
                finally:
                    self._current = None
                    await run.aclose()

    def _refuse(self, index: int) -> None:
        name = self._requests[index].name
        self.reply(index, not_started(name, "it was stopped before it began"), False)

    def started(self, index: int) -> None:
        """A tool is about to run."""
        self._items.started(index)

    def event(self, index: int, event: ToolProgressEvent) -> None:
        """A tool emitted an event."""
        self._items.event(index, event)

    def finished(self, index: int, facts: FinishFacts) -> None:
        """How the result was finished that follows."""
        self._items.finished(index, facts)

    def reply(self, index: int, result: ToolResult, was_started: bool) -> None:
        """Pass on the reply of a call."""
        self._missing.discard(index)
        self._items.reply(index, result, was_started)

    def stop(self, index: int) -> None:
        """Stop one call; the others go on."""
        self._stopped.add(index)
        if self._current is not None and self._current[0] == index:
            self._current[1].stop(0)

    async def aclose(self) -> None:
        """Stop what runs and wait for its end, which is bounded."""
        if self._task is not None and not self._task.done():
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        for index in sorted(self._missing):
            self._refuse(index)


class _One:
    """The items of a single request, under its position in the batch."""

    def __init__(self, items: FinishingItems, index: int) -> None:
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
