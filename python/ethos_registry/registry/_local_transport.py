"""Running requests in this process, against a registry."""

from __future__ import annotations

import asyncio
import contextlib
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from contextvars import Context
from dataclasses import replace
from functools import partial
from typing import Any, Protocol, cast, runtime_checkable

from ethos_registry._table.admission import Admission
from ethos_registry.execution._batch_run import BatchRun
from ethos_registry.execution._call import BatchRequest
from ethos_registry.execution._options import CheckedOptions
from ethos_registry.execution._refusals import exception_text
from ethos_registry.execution._remote_batch import tool_digest
from ethos_registry.execution._runtime import Counters, Runtime
from ethos_registry.registry._reader import RegistryReader
from ethos_registry.types._abort import NEVER_ABORTED, AbortController, AbortSignal
from ethos_registry.types._call import ToolCall
from ethos_registry.types._context import ToolProgressEvent
from ethos_registry.types._errors import ConfigError
from ethos_registry.types._remote_finish import FinishFacts, FinishOrder
from ethos_registry.types._result import ToolResult
from ethos_registry.types._transport import (
    LiveContext,
    ToolExecuteRequest,
    ToolTransport,
    TransportItem,
    TransportProgress,
    TransportReply,
    TransportStarted,
    TransportTraits,
    context_for_call,
    may_have_run,
    not_started,
)


class LocalTransport(ToolTransport):
    """Runs tools in this process.

    Without a registry it names the usual way in `transports=`: the registry calls the tool's own
    function, at no cost. With a registry it runs requests against it, as the workers of other
    transports do: gates are judged again, capabilities come from that registry's backends, and
    results are neither reduced nor trimmed.

    >>> from ethos_registry import ToolRegistry
    >>> registry = ToolRegistry(transports={"*": LocalTransport()})
    """

    def __init__(self, registry: RegistryReader | None = None) -> None:
        if registry is not None and not isinstance(registry, RegistryReader):
            raise ConfigError(f"`registry` must be a registry, got {type(registry).__name__}")
        self._registry = registry
        self._traits = TransportTraits(
            "local",
            remote=False,
            in_place=registry is None,
            cancels_running=False,
            reports_start=True,
            start_seconds=None,
        )

    @property
    def traits(self) -> TransportTraits:
        """Local, and a plain function that was stopped may run on."""
        return self._traits

    def __repr__(self) -> str:
        shown = "" if self._registry is None else repr(self._registry)
        return f"LocalTransport({shown})"

    async def execute_many(
        self,
        requests: Sequence[ToolExecuteRequest],
        signal: AbortSignal,
        *,
        live: LiveContext | None = None,
    ) -> AsyncIterator[TransportItem]:
        """Run the requests; see `ToolTransport.execute_many`."""
        items = _Items()
        run = items.run = LocalRun(self._registry, requests, items)
        run.start(signal, live)
        missing = len(requests)
        try:
            while missing:
                item = await items.queue.get()
                missing -= isinstance(item, TransportReply)
                yield item
        finally:
            await run.aclose()


class RunItems(Protocol):
    """Where what happens in a run goes, by the position of the request."""

    def started(self, index: int) -> None:
        """A tool is about to run."""

    def event(self, index: int, event: ToolProgressEvent) -> None:
        """A tool emitted an event."""

    def reply(self, index: int, result: ToolResult, was_started: bool) -> None:
        """A call has its result; called once for each."""


@runtime_checkable
class FinishingItems(RunItems, Protocol):
    """Items that pass on what was done with a result; without it no result is shortened."""

    def finished(self, index: int, facts: FinishFacts) -> None:
        """The reply that follows at once has a result that was finished as its request asks."""


class LocalRun:
    """The requests of one `execute_many`, in one batch for each context that they share.

    With `is_serial` the calls of a batch run one after another.
    """

    def __init__(
        self,
        registry: RegistryReader | None,
        requests: Sequence[ToolExecuteRequest],
        items: RunItems,
        *,
        is_serial: bool = False,
    ) -> None:
        self._registry = registry
        self._max_concurrency = 1 if is_serial else None
        self.requests = list(requests)
        self._controller = AbortController()
        self._loop = asyncio.get_running_loop()
        self._groups: list[_Group] = []
        self._unlinks: list[Callable[[], None]] = []
        self._missing = set(range(len(self.requests)))
        self.items = items
        self._callers: Sequence[Context] = ()
        self.is_worker = isinstance(items, FinishingItems)
        """Whether this process runs the calls of another one."""
        self.blocked_seconds: dict[int, float] = {}
        """By request, how long its tool kept the loop from running anything else."""
        self.finished: dict[int, tuple[ToolResult, FinishFacts]] = {}
        """By request, a result that was finished, from any thread, before its reply."""

    def start(self, signal: AbortSignal = NEVER_ABORTED, live: LiveContext | None = None) -> None:
        """Start every request, or answer it."""
        live = live or LiveContext()
        self._callers = live.callers
        self._unlinks.append(signal.add_listener(self._controller.abort))
        for indexes in _grouped(self.requests).values():
            self._start_group(indexes)
        for index, one in enumerate(live.signals):
            if one is not NEVER_ABORTED:
                self._unlinks.append(one.add_listener(partial(self._stop_soon, index)))

    def stop(self, index: int) -> None:
        """Stop one call; the others go on."""
        for group in self._groups:
            if index in group.indexes:
                group.batch.stop_call(group.indexes.index(index))

    def task_of(self, index: int) -> asyncio.Task[None] | None:
        """The task of a call that took its first step; from any thread."""
        for group in self._groups:
            if index in group.indexes:
                return group.batch.task_of(group.indexes.index(index))
        return None

    async def aclose(self) -> None:
        """Stop what runs and wait for its end, which is bounded."""
        for unlink in self._unlinks:
            unlink()
        for group in self._groups:
            if not group.task.done():
                group.task.cancel()
        await asyncio.gather(*(group.task for group in self._groups), return_exceptions=True)

    def _stop_soon(self, index: int) -> None:
        with contextlib.suppress(RuntimeError):  # the loop is closed: nothing runs any more
            self._loop.call_soon_threadsafe(self.stop, index)

    def _refuse(self, index: int, problem: str) -> None:
        result = not_started(self.requests[index].name, problem)
        self.reply(index, result, was_started=False)

    def reply(self, index: int, result: ToolResult, *, was_started: bool) -> None:
        """Pass on the first reply of a call."""
        if index in self._missing:
            self._missing.discard(index)
            done = self.finished.pop(index, None)
            if done is not None and done[0] is result:
                cast("FinishingItems", self.items).finished(index, done[1])
            self.items.reply(index, result, was_started)

    def _start_group(self, indexes: list[int]) -> None:
        registry = self._registry
        if registry is None:
            for index in indexes:
                self._refuse(index, "this transport has no registry")
            return
        known = [index for index in indexes if self._is_same_tool(registry, index)]
        if not known:
            return
        requests = [self.requests[index] for index in known]
        calls = [ToolCall(each.tool_call_id, each.name, each.args) for each in requests]
        request, group = requests[0], _Group(self, known)
        try:
            group.batch = BatchRun(
                BatchRequest(
                    calls,
                    context_for_call(request.context, "", self._controller.signal),
                    CheckedOptions(
                        turn_attachments=request.attachments,
                        sink=group,
                        callers=tuple(self._callers[index] for index in known)
                        if self._callers
                        else None,
                        max_concurrency=self._max_concurrency,
                    ),
                    _admission(registry, request),
                    _here(registry._settings()),
                    request.personality,
                    registry._turn(),
                )
            )
        except Exception as error:  # a policy that this registry cannot compile
            for index in known:
                self._refuse(index, exception_text(error))
            return
        self._groups.append(group)
        group.batch.start(calls)
        group.task = self._loop.create_task(self._finish(group))

    def _is_same_tool(self, registry: RegistryReader, index: int) -> bool:
        """Whether the caller's tool is the one of this registry; the call is refused if not."""
        request = self.requests[index]
        if not request.tool_digest:
            return True
        entry = registry._snapshot().get(request.name)
        if entry is None or tool_digest(entry) == request.tool_digest:
            return True
        self._refuse(index, f"the worker has another version of `{request.name}`")
        return False

    async def _finish(self, group: _Group) -> None:
        try:
            await group.batch.finish()
        finally:
            for index in group.indexes:
                lost = may_have_run(self.requests[index].name, "it was cancelled")
                self.reply(index, lost, was_started=True)


class _Group:
    """Requests that share a context and a policy: the sink of their batch.

    It gets the positions of the batch, and passes on those of the requests.
    """

    batch: BatchRun
    task: asyncio.Task[None]

    def __init__(self, run: LocalRun, indexes: list[int]) -> None:
        self._run = run
        self.indexes = indexes
        self._orders = [run.requests[index].finish if run.is_worker else None for index in indexes]
        self.answers_interrupts = run.is_worker
        self.fast_path_chars = min(map(_plain_chars, self._orders), default=sys.maxsize)

    def on_started(self, index: int) -> None:
        self._run.items.started(self.indexes[index])

    def on_blocked(self, index: int, seconds: float) -> None:
        self._run.blocked_seconds[self.indexes[index]] = seconds

    def on_event(self, index: int, event: ToolProgressEvent) -> None:
        self._run.items.event(self.indexes[index], event)

    def on_result(self, index: int, result: ToolResult, *, was_started: bool) -> None:
        self._run.reply(self.indexes[index], result, was_started=was_started)

    def finish_order(self, index: int) -> FinishOrder | None:
        return self._orders[index]

    def on_finished(self, index: int, result: ToolResult, facts: FinishFacts) -> None:
        self._run.finished[self.indexes[index]] = (result, facts)


class _Items:
    """What happened and was not yielded yet."""

    run: LocalRun

    def __init__(self) -> None:
        self.queue: asyncio.Queue[TransportItem] = asyncio.Queue()

    def started(self, index: int) -> None:
        self.queue.put_nowait(TransportStarted(index))

    def event(self, index: int, event: ToolProgressEvent) -> None:
        self.queue.put_nowait(TransportProgress(index, event))

    def reply(self, index: int, result: ToolResult, was_started: bool) -> None:
        blocked_seconds = self.run.blocked_seconds.get(index, 0.0)
        self.queue.put_nowait(
            TransportReply(index, result, was_started, blocked_seconds=blocked_seconds)
        )


def _plain_chars(order: FinishOrder | None) -> int:
    if order is None:
        return sys.maxsize
    return -1 if order.fences else order.cap if order.trims else sys.maxsize


def _here(runtime: Runtime) -> Runtime:
    """The settings of a registry whose tools run here, whatever transports it has."""
    if runtime.transports is None:
        return runtime
    return replace(runtime, transports=None, counters=Counters())


def _grouped(requests: Sequence[ToolExecuteRequest]) -> dict[Any, list[int]]:
    groups: dict[Any, list[int]] = {}
    for index, request in enumerate(requests):
        context = request.context
        key = (
            id(context._facts),
            context.result_budget_chars,
            id(request.personality),
            id(request.allowed_tools),
            id(request.filter_opts),
            id(request.attachments) if request.attachments else 0,
        )
        groups.setdefault(key, []).append(index)
    return groups


def _admission(registry: RegistryReader, request: ToolExecuteRequest) -> Admission:
    """The caller's gate over the tools of this registry."""
    if request.personality is not None:
        return registry._personality_admission(request.personality)
    return registry._admission(request.allowed_tools, request.filter_opts)
