"""Running requests in this process, against a registry."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from functools import partial
from typing import Any

from ethos_registry.contract.abort import AbortController, AbortSignal
from ethos_registry.contract.call import ToolCall
from ethos_registry.contract.errors import ConfigError
from ethos_registry.contract.execute_request import ToolExecuteRequest, context_for_call
from ethos_registry.contract.progress import ToolProgressEvent
from ethos_registry.contract.result import ToolResult
from ethos_registry.contract.transport import (
    LiveContext,
    ToolTransport,
    TransportItem,
    TransportProgress,
    TransportReply,
    TransportStarted,
    TransportTraits,
    may_have_run,
    not_started,
)
from ethos_registry.execution.options import CheckedOptions
from ethos_registry.execution.refusals import exception_text
from ethos_registry.execution.session import Session
from ethos_registry.execution.tool_digest import tool_digest
from ethos_registry.registry.reader import RegistryReader
from ethos_registry.table.admission import Admission

__all__ = ["LocalTransport"]


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
        self._digests: dict[str, str] = {}
        self._traits = TransportTraits(
            "local",
            remote=False,
            in_place=registry is None,
            cancels_running=False,
            reports_start=True,
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
        run = LocalRun(self._registry, requests, signal, live)
        run.start()
        try:
            while run.open:
                yield await run.items.get()
            # The last reply is not awaited: the loop ends when it was taken.
        finally:
            await run.aclose()


class LocalRun:
    """The requests of one `execute_many`, in one session for each context that they share."""

    def __init__(
        self,
        registry: RegistryReader | None,
        requests: Sequence[ToolExecuteRequest],
        signal: AbortSignal,
        live: LiveContext | None,
    ) -> None:
        self._registry = registry
        self._requests = list(requests)
        self._signal = signal
        self._signals = () if live is None else live.signals
        self._controller = AbortController()
        self._loop = asyncio.get_running_loop()
        self._groups: list[_Group] = []
        self._unlinks: list[Callable[[], None]] = []
        self.items = _Items(len(self._requests))

    @property
    def open(self) -> bool:
        """Whether items are still to come."""
        return self.items.is_open

    def start(self) -> None:
        """Start every request, or answer it."""
        for key, indexes in _grouped(self._requests).items():
            self._start_group(key, indexes)
        self._unlinks.append(self._signal.add_listener(self._controller.abort))
        for index, signal in enumerate(self._signals):
            self._unlinks.append(signal.add_listener(partial(self._soon, self.stop, index)))

    def stop(self, index: int) -> None:
        """Stop one call; the others go on."""
        for group in self._groups:
            if index in group.indexes:
                group.session.stop_call(group.indexes.index(index))

    async def aclose(self) -> None:
        """Stop what runs and wait for its end, which is bounded."""
        for unlink in self._unlinks:
            unlink()
        for group in self._groups:
            if not group.task.done():
                group.task.cancel()
        await asyncio.gather(*(group.task for group in self._groups), return_exceptions=True)

    def _soon(self, callback: Callable[..., object], *arguments: Any) -> None:
        try:
            self._loop.call_soon_threadsafe(callback, *arguments)
        except RuntimeError:  # the loop is closed: nothing runs any more
            return

    def _refuse(self, index: int, problem: str) -> None:
        name = self._requests[index].name
        self.items.reply(TransportReply(index, not_started(name, problem), was_started=False))

    def _start_group(self, key: Any, indexes: list[int]) -> None:
        registry = self._registry
        if registry is None:
            for index in indexes:
                self._refuse(index, "this transport has no registry")
            return
        known = [index for index in indexes if self._is_same_tool(registry, index)]
        if not known:
            return
        request = self._requests[known[0]]
        try:
            session = Session(
                _admission(registry, request),
                registry._settings(),
                context_for_call(request.context, "", self._controller.signal),
                CheckedOptions(turn_attachments=request.attachments, sink=_Sink(self.items, known)),
                personality=request.personality,
                turn=registry._turn(),
                call_count=len(known),
            )
        except Exception as error:  # a policy that this registry cannot compile
            for index in known:
                self._refuse(index, exception_text(error))
            return
        calls = [
            ToolCall(
                self._requests[index].tool_call_id,
                self._requests[index].name,
                self._requests[index].args,
            )
            for index in known
        ]
        group = _Group(known, session)
        self._groups.append(group)
        session.start(calls)
        group.task = self._loop.create_task(self._finish(group))

    def _is_same_tool(self, registry: RegistryReader, index: int) -> bool:
        """Whether the caller's tool is the one of this registry; the call is refused if not."""
        request = self._requests[index]
        if not request.tool_digest:
            return True
        entry = registry._snapshot().get(request.name)
        if entry is None or tool_digest(entry) == request.tool_digest:
            return True
        self._refuse(index, f"the worker has another version of `{request.name}`")
        return False

    async def _finish(self, group: _Group) -> None:
        try:
            await group.session.finish()
        finally:
            for index in group.indexes:
                if self.items.lacks(index):
                    name = self._requests[index].name
                    result = may_have_run(name, "it was cancelled")
                    self.items.reply(TransportReply(index, result))


class _Group:
    """The requests that share a context and a policy."""

    task: asyncio.Task[None]

    def __init__(self, indexes: list[int], session: Session) -> None:
        self.indexes = indexes
        self.session = session


class _Items:
    """What happened and was not yielded yet; open until every reply was taken."""

    def __init__(self, count: int) -> None:
        self._missing = set(range(count))
        self._untaken = count
        self._queue: asyncio.Queue[TransportItem] = asyncio.Queue()

    @property
    def is_open(self) -> bool:
        return self._untaken > 0

    def lacks(self, index: int) -> bool:
        return index in self._missing

    def put(self, item: TransportItem) -> None:
        self._queue.put_nowait(item)

    def reply(self, reply: TransportReply) -> None:
        if reply.index in self._missing:
            self._missing.discard(reply.index)
            self._queue.put_nowait(reply)

    async def get(self) -> TransportItem:
        item = await self._queue.get()
        if type(item) is TransportReply:
            self._untaken -= 1
        return item

    def get_nowait(self) -> TransportItem | None:
        """The next item, or `None` if there is none now."""
        return None if self._queue.empty() else self._queue.get_nowait()


class _Sink:
    """From the places of a session to the positions of requests."""

    def __init__(self, items: _Items, indexes: list[int]) -> None:
        self._items = items
        self._indexes = indexes

    def on_started(self, index: int) -> None:
        self._items.put(TransportStarted(self._indexes[index]))

    def on_event(self, index: int, event: ToolProgressEvent) -> None:
        self._items.put(TransportProgress(self._indexes[index], event))

    def on_result(self, index: int, result: ToolResult, *, was_started: bool) -> None:
        self._items.reply(TransportReply(self._indexes[index], result, was_started=was_started))


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
