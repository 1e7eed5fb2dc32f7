"""Calls that start while the reply that asks for them is still being streamed."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterable, AsyncIterator, Callable, Mapping, Sequence
from contextvars import Context
from dataclasses import replace
from types import TracebackType
from typing import Any, Generic, Literal, Self, TypeAlias, TypeVar, get_args

import pydantic_core

from ethos_registry.execution._batch_run import BatchRun
from ethos_registry.execution._call import BatchRequest
from ethos_registry.execution._options import BatchOptions, OnStart
from ethos_registry.execution._results import CallResults
from ethos_registry.providers._by_name import provider as provider_named
from ethos_registry.providers._by_name import reply_parser
from ethos_registry.providers._sse import EventDecoder
from ethos_registry.providers._stream_parser import (
    ArgumentsGrew,
    CallClosed,
    CallOpened,
    CallProven,
    Fact,
    ReplyBroken,
    StreamedCall,
)
from ethos_registry.types import _checks
from ethos_registry.types._call import MalformedCall, ToolCall
from ethos_registry.types._checks import check_callback
from ethos_registry.types._errors import ConfigError, EthosRegistryError
from ethos_registry.types._loop_thread import LoopThread

_logger = logging.getLogger("ethos_registry")

BrokenStreamPolicy: TypeAlias = Literal["await", "cancel"]
"""What happens to calls that run when the stream fails: `await` lets them end, `cancel` stops them
with their grace period."""
OnArguments: TypeAlias = Callable[[str, Any], object]


class DispatchOptions(BatchOptions, total=False):
    """The options of `View.dispatch`."""

    turn_attachments: Sequence[Any] | None
    on_start: OnStart | None
    on_arguments: OnArguments | None
    on_broken_stream: BrokenStreamPolicy


_DONE = "[DONE]"
_NOT_EVENTS = (int, float, complex, list, tuple, set, frozenset, type(None))


class StreamDispatcher:
    """One streamed reply: feed it events, and its calls run while the rest arrives.

    Created by `View.dispatch`; use it with `async with`. A call starts when the reply has gone on
    after it or has ended well (`dispatch="confirmed"`), or when it is closed and its arguments
    parse (`dispatch="eager"`). Leaving the block waits for every call, so none outlives it.

    >>> async def run_turn(view, stream):
    ...     async with view.dispatch(provider="anthropic") as turn:
    ...         async for event in stream:
    ...             turn.feed(event)
    ...     return turn.messages()
    """

    def __init__(
        self,
        provider: str,
        request: BatchRequest,
        on_start: OnStart | None,
        on_arguments: OnArguments | None,
        on_broken_stream: BrokenStreamPolicy,
        task_context: Context | None,
    ) -> None:
        if on_start is not None:
            check_callback(on_start, "on_start", "call")
            request.options = replace(request.options, on_start=on_start)
        if on_arguments is not None:
            check_callback(on_arguments, "on_arguments", "call_id", "partial")
        self._parser = parser = reply_parser(provider)
        _checks.one_of(on_broken_stream, get_args(BrokenStreamPolicy), "on_broken_stream")
        self._request = request
        self._snapshot = snapshot = request.admission.snapshot
        self._on_arguments = on_arguments
        self._on_broken_stream = on_broken_stream
        self._decoder = EventDecoder()
        self._batch: BatchRun | None = None
        self._collecting = asyncio.Lock()
        self._results: CallResults | None = None
        self._in_context: Callable[..., Any] = _call if task_context is None else task_context.run
        parser.reports_arguments = on_arguments is not None
        parser.is_tool = lambda name: snapshot.get(name) is not None

    def __repr__(self) -> str:
        state = "not started" if self._batch is None else self._state()
        return f"<StreamDispatcher of {self._parser.provider}, {state}>"

    def _state(self) -> str:
        end = self._parser.end
        count = len(self._parser.calls)
        calls = f"{count} call{'' if count == 1 else 's'}"
        if end is None:
            return f"streaming, {calls}"
        return f"{'broken' if type(end) is ReplyBroken else 'ended'}, {calls}"

    async def __aenter__(self) -> Self:
        if self._batch is not None:
            raise EthosRegistryError(
                "a dispatcher serves one reply; make another with `view.dispatch(...)`"
            )
        self._batch = BatchRun(self._request)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if error is not None:
            self._apply(self._parser.fail(f"the stream failed: {type(error).__name__}"))
            if self._on_broken_stream == "cancel":
                self._running().stop()
        await self.results()

    def _running(self) -> BatchRun:
        if self._batch is None:
            raise EthosRegistryError("enter the dispatcher first: `async with view.dispatch(...)`")
        return self._batch

    # Events

    def feed(self, event: Any) -> None:
        """Read one event, and start the calls that it proves.

        `event` is a parsed event as a dict, an object of the provider's SDK, or a chunk of the raw
        body as bytes or str (server-sent events or JSON lines, cut anywhere). What it means nothing
        to the calls is kept for `reply()` or ignored. `ConfigError` for anything else.
        """
        self._running()
        if self._results is not None:
            raise EthosRegistryError("the results were collected; the reply takes no more events")
        if type(event) is dict:
            self._take(event)
        elif isinstance(event, bytes | bytearray | memoryview):
            self._decode(bytes(event))
        elif isinstance(event, str):
            if event.strip() == _DONE:
                self._take(_DONE)
            else:
                self._decode(event.encode("utf-8", "replace"))
        elif isinstance(event, _NOT_EVENTS):
            raise ConfigError(
                "an event is a dict, an object of the provider's SDK, or a chunk of bytes, "
                f"got {type(event).__name__}"
            )
        else:
            self._take(dict(event) if isinstance(event, Mapping) else event)

    def _decode(self, chunk: bytes) -> None:
        for payload in self._decoder.feed(chunk):
            self._take_payload(payload)

    def _take_payload(self, payload: bytes) -> None:
        if not payload.startswith(b"{"):
            bare = payload.strip()
            if not bare:  # sent to keep the connection open
                return
            if bare == b"[DONE]":
                self._take(_DONE)
                return
        try:
            try:
                event = pydantic_core.from_json(payload, cache_strings="keys")
            except ValueError:  # an escaped lone surrogate, which is JSON by its grammar
                event = json.loads(payload)
        except (ValueError, RecursionError):
            self._apply(self._parser.fail("an event is not valid JSON"))
            return
        if isinstance(event, dict):
            self._take(event)

    def _take(self, event: Any) -> None:
        try:
            facts = self._parser.feed(event)
        except Exception:  # events come from outside: none of them may end the turn
            _logger.warning(
                "an event of %s could not be read", self._parser.provider, exc_info=True
            )
            facts = self._parser.fail("an event could not be read")
        if facts:
            self._apply(facts)

    def _apply(self, facts: Sequence[Fact]) -> None:
        ready: dict[int, StreamedCall] = {}  # a call may be closed and proven by one event
        for fact in facts:
            if isinstance(fact, ArgumentsGrew):
                self._show_arguments(fact.call)
            elif isinstance(fact, CallOpened):
                self._running().reserve()
            elif isinstance(fact, CallProven):
                ready[fact.call.position] = fact.call
            elif isinstance(fact, CallClosed):
                if self._starts_eagerly(fact.call):
                    ready[fact.call.position] = fact.call
            else:  # the end: the other calls can never run
                ready |= {call.position: call for call in self._parser.calls}
        self._start(list(ready.values()))
        if self._on_broken_stream == "cancel" and any(type(fact) is ReplyBroken for fact in facts):
            self._running().stop()

    def _starts_eagerly(self, call: StreamedCall) -> bool:
        """Whether a closed call may start before its proof: its arguments must parse."""
        if call.problem is not None:
            return False
        entry = self._snapshot.get(call.name)
        if entry is None or not entry.starts_eagerly:
            return False
        return call.arguments.is_blank or call.arguments.is_object

    def _start(self, calls: Sequence[StreamedCall]) -> None:
        starting = [call for call in calls if not call.is_started]
        if not starting:
            return
        given = []
        for call in starting:
            call.is_started = True
            given.append(self._given(call))
        self._in_context(self._running().start, given, [call.position for call in starting])

    def _given(self, call: StreamedCall) -> ToolCall | MalformedCall:
        """What the batch gets: the call with its parsed arguments, or why it cannot run."""
        parser = self._parser
        is_eager = call.is_closed and not call.is_proven and parser.end is None
        if call.problem is not None or not (call.is_proven or is_eager):
            return MalformedCall(call.tool_call_id, call.name, parser.problem_of(call))
        value = call.arguments.for_call()
        if not isinstance(value, dict | str):
            problem = f"the arguments must be a JSON object, got {_json_kind(value)}"
            return MalformedCall(call.tool_call_id, call.name, problem)
        if self._on_arguments is not None and isinstance(value, dict):
            self._show_arguments(call, is_end=True)
        return ToolCall(call.tool_call_id, call.name, value)

    def _show_arguments(self, call: StreamedCall, *, is_end: bool = False) -> None:
        callback = self._on_arguments
        if callback is None:
            return
        partial = call.arguments.partial(is_end=is_end)
        if partial is not None:
            runtime = self._running().runtime
            runtime.guard("`on_arguments`", callback, call.tool_call_id, partial)

    # The end

    def collected(self) -> CallResults:
        """The results that `results()` gave before."""
        if self._results is None:
            raise EthosRegistryError("the calls may still run; `await turn.results()` first")
        return self._results

    async def results(self) -> CallResults:
        """One result for each call of the reply, in the reply's order, when all have ended.

        The stream is over then: a call that is not proven by now is answered `input_invalid`, as is
        one that was cut off. The results share `result_budget_chars` over all calls of the reply.
        Calling it again gives the same results.
        """
        batch = self._running()
        async with self._collecting:
            if self._results is None:
                self._end_stream()
                try:
                    results = await batch.finish()
                except asyncio.CancelledError:
                    self._results = batch.results()
                    raise
                self._results = results
            return self._results

    def _end_stream(self) -> None:
        for payload in self._decoder.end():
            self._take_payload(payload)
        parser = self._parser
        if parser.end is None and not parser.has_known_event:
            _logger.warning(
                "the stream had no event of provider `%s`: pass the provider that sent it, and its "
                "events unchanged",
                parser.given_name,
            )
        self._apply(parser.finish())

    def reply(self) -> dict[str, Any]:
        """The assistant message as far as it has come, in the provider's own shape.

        It may be sent back: arguments that are not valid JSON are under the key `INVALID_JSON`, and
        what the provider would refuse in a reply that was cut off is left out.
        """
        return self._parser.reply()

    def messages(self) -> list[Any]:
        """The assistant message and the results of its calls, ready to be added to the history.

        Valid for every end of the stream. Raises `EthosRegistryError` while calls may still run:
        await `results()` or leave the block first.
        """
        answers = provider_named(self._parser.provider).messages(self.collected())
        return [*self._parser.reply_messages(), *self._parser.answers(answers)]

    @property
    def is_complete(self) -> bool:
        """Whether the reply ended on its own account, with no call cut off."""
        return not self._parser.is_cut

    @property
    def late_arguments(self) -> dict[str, str]:
        """Text that came for calls that had already started, by call id; it was not run."""
        return {call.tool_call_id: call.late_text for call in self._parser.calls if call.late_text}


def _call(function: Callable[..., Any], *arguments: Any) -> Any:
    return function(*arguments)


def _json_kind(value: Any) -> str:
    if isinstance(value, bool):
        return "a boolean"
    return "an array" if isinstance(value, list) else "a number"


# The forms of a dispatcher: around a stream that is passed on, and for code without `await`.

Event = TypeVar("Event")


class _OverDispatcher:
    """What both show of their dispatcher."""

    _dispatcher: StreamDispatcher

    def reply(self) -> dict[str, Any]:
        """See `StreamDispatcher.reply`."""
        return self._dispatcher.reply()

    def messages(self) -> list[Any]:
        """See `StreamDispatcher.messages`."""
        return self._dispatcher.messages()

    @property
    def is_complete(self) -> bool:
        """See `StreamDispatcher.is_complete`."""
        return self._dispatcher.is_complete

    @property
    def late_arguments(self) -> dict[str, str]:
        """See `StreamDispatcher.late_arguments`."""
        return self._dispatcher.late_arguments


class DispatchedStream(_OverDispatcher, Generic[Event]):
    """Passes every event through unchanged, after its calls were started.

    The loop ends when all calls have ended; leaving it early ends them as
    `on_broken_stream` states.

    >>> async def show(view, stream):
    ...     turn = view.dispatching(stream, provider="openai")
    ...     async for chunk in turn:
    ...         print(chunk)
    ...     return turn.messages()
    """

    def __init__(self, stream: AsyncIterable[Event], dispatcher: StreamDispatcher) -> None:
        if not hasattr(stream, "__aiter__"):
            raise ConfigError(
                f"`stream` must be an async iterable of events, got {type(stream).__name__}; "
                "feed a plain one to `view.dispatch_sync(...)` event by event"
            )
        self._stream = stream
        self._dispatcher = dispatcher

    async def __aiter__(self) -> AsyncIterator[Event]:
        async with self._dispatcher as turn:
            async for event in self._stream:
                turn.feed(event)
                yield event

    async def results(self) -> CallResults:
        """See `StreamDispatcher.results`."""
        return await self._dispatcher.results()


class SyncStreamDispatcher(_OverDispatcher):
    """A `StreamDispatcher` for code that does not await: its calls run on a thread of their own.

    Created by `View.dispatch_sync`; use it with `with` and `feed`. Tools start while the stream is
    read, and callbacks are called on that thread. Leaving the block waits for every call.

    >>> def run_turn(view, stream):
    ...     with view.dispatch_sync(provider="anthropic") as turn:
    ...         for event in stream:
    ...             turn.feed(event)
    ...     return turn.messages()
    """

    def __init__(self, dispatcher: StreamDispatcher) -> None:
        self._dispatcher = dispatcher
        self._thread: LoopThread | None = None

    def __repr__(self) -> str:
        return f"<Sync{repr(self._dispatcher)[1:]}"

    def __enter__(self) -> Self:
        thread = LoopThread()
        try:
            thread.wait(self._dispatcher.__aenter__)
        except BaseException:
            thread.close()
            raise
        self._thread = thread
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        thread, self._thread = self._running(), None
        try:
            thread.wait(lambda: self._dispatcher.__aexit__(kind, error, traceback))
        finally:
            thread.close()

    def _running(self) -> LoopThread:
        if self._thread is None:
            raise EthosRegistryError(
                "a dispatcher takes events inside its block: `with view.dispatch_sync(...)`"
            )
        return self._thread

    def feed(self, event: Any) -> None:
        """See `StreamDispatcher.feed`."""
        self._running().call(self._dispatcher.feed, event)

    def results(self) -> CallResults:
        """See `StreamDispatcher.results`."""
        if self._thread is None:
            return self._dispatcher.collected()
        return self._thread.wait(self._dispatcher.results)
