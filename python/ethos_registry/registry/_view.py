"""What one agent sees and may run, as of one moment."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
from collections.abc import AsyncIterable, AsyncIterator, Callable, Coroutine, Sequence
from typing import TYPE_CHECKING, Any, Final, Literal, NoReturn, TypeVar, Unpack, overload

from ethos_registry.execution._options import BatchOptions, OnResult, OnStart, StreamOptions
from ethos_registry.execution._results import CallResults
from ethos_registry.execution._usage_limits import reported_usage
from ethos_registry.providers._by_name import ChatName
from ethos_registry.providers._prefix import Prefix
from ethos_registry.providers._reply import reply_calls
from ethos_registry.providers._wire_format import DefinitionOrder, SchemaNote
from ethos_registry.providers._wire_types import (
    AnthropicTool,
    BedrockTool,
    CohereTool,
    OllamaTool,
    OpenAIChatTool,
    OpenAIResponsesTool,
    PlainDefinition,
)
from ethos_registry.registry._caller import Caller, checked_tool_context
from ethos_registry.registry._definitions import ViewDefinitions, tools_table
from ethos_registry.registry._search import FoundTools
from ethos_registry.registry._stream import (
    BrokenStreamPolicy,
    DispatchedStream,
    DispatchOptions,
    OnArguments,
    StreamDispatcher,
    SyncStreamDispatcher,
)
from ethos_registry.types import _checks
from ethos_registry.types._call import CallResult
from ethos_registry.types._context import ToolContext
from ethos_registry.types._errors import ConfigError
from ethos_registry.types._loop_thread import run_sync

# The results of a batch one by one, as they are ready.


async def stream_results(
    execute: Callable[[OnResult], Coroutine[Any, Any, CallResults]],
) -> AsyncIterator[CallResult]:
    """Run `execute(on_result)` and yield each result when it is ready.

    Leaving the iteration early cancels the calls that still run, with their grace.
    """
    results: asyncio.Queue[CallResult | None] = asyncio.Queue()
    batch = asyncio.create_task(execute(results.put_nowait))
    batch.add_done_callback(lambda _: results.put_nowait(None))
    try:
        while (result := await results.get()) is not None:
            yield result
        await batch
    finally:
        if not batch.done():
            batch.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await batch


class ResumeOptions(BatchOptions, total=False):
    """The options of `View.resume`."""

    edited_args: Any
    reason: str | None
    context: ToolContext | None
    turn_attachments: Sequence[Any] | None


Event = TypeVar("Event")

_RUN = "calls run by `view.execute(reply)`, without `await` by `view.execute_sync(reply)`"
_CHANGE = "register tools with the registry, then make a new view"
_WAYS_OUT = {
    **dict.fromkeys(("call", "execute_parallel", "invoke", "run"), _RUN),
    **dict.fromkeys(("register", "tool", "add"), f"a view is a snapshot; {_CHANGE}"),
    **dict.fromkeys(("schemas", "to_definitions", "tools"), "it is `view.definitions(provider)`"),
}
"""What other packages call it."""

_SEGMENTS: Final[DefinitionOrder] = "segments"
_ONE: Final = 1


class View:
    """The tools that one policy permits, over the entries of the moment it was made.

    What `definitions` shows is what `execute` runs. Tools registered later are not in it;
    availability is asked each time, unless `freeze_availability` was given.
    """

    __slots__ = ("_caller", "_definitions", "_search")

    if not TYPE_CHECKING:  # a type checker would accept every name

        def __getattr__(self, name: str) -> NoReturn:
            raise _checks.no_attribute(self, "a view", name, _WAYS_OUT)

    def __init__(
        self, definitions: ViewDefinitions, caller: Caller, search: FoundTools | None = None
    ) -> None:
        self._definitions = definitions
        self._caller = caller
        self._search = search

    def __repr__(self) -> str:
        return f"<View of {len(self._definitions.admission.visible())} tools>"

    def _repr_html_(self) -> str:
        personality = self._caller.personality
        named = "" if personality is None else f" for {personality.id}"
        return tools_table(f"{type(self).__name__}{named}", self._definitions.admission.visible())

    @property
    def search(self) -> FoundTools | None:
        """What the conversation has found; `None` for a view made without `search=True`."""
        return self._search

    @overload
    def definitions(
        self, provider: None = None, *, order: DefinitionOrder = ..., breakpoints: int = ...
    ) -> list[PlainDefinition]: ...
    @overload
    def definitions(
        self,
        provider: Literal["anthropic"],
        *,
        order: DefinitionOrder = ...,
        breakpoints: int = ...,
    ) -> list[AnthropicTool]: ...
    @overload
    def definitions(
        self, provider: ChatName, *, order: DefinitionOrder = ..., breakpoints: int = ...
    ) -> list[OpenAIChatTool]: ...
    @overload
    def definitions(
        self,
        provider: Literal["openai_responses"],
        *,
        order: DefinitionOrder = ...,
        breakpoints: int = ...,
    ) -> list[OpenAIResponsesTool]: ...
    @overload
    def definitions(
        self, provider: Literal["ollama"], *, order: DefinitionOrder = ..., breakpoints: int = ...
    ) -> list[OllamaTool]: ...
    @overload
    def definitions(
        self,
        provider: Literal["bedrock"],
        *,
        order: DefinitionOrder = ...,
        breakpoints: int = ...,
    ) -> list[BedrockTool]: ...
    @overload
    def definitions(
        self, provider: Literal["cohere"], *, order: DefinitionOrder = ..., breakpoints: int = ...
    ) -> list[CohereTool]: ...
    @overload
    def definitions(
        self, provider: str | None, *, order: DefinitionOrder = ..., breakpoints: int = ...
    ) -> list[Any]: ...
    @_checks.checked_signature
    def definitions(
        self,
        provider: str | None = None,
        *,
        order: DefinitionOrder = _SEGMENTS,
        breakpoints: int = _ONE,
    ) -> list[Any]:
        """What the model is shown: a fresh list of read-only values.

        Without a provider: `{name, description, parameters}` in registration order. With one
        (`"anthropic"`, `"openai"`, `"openai_responses"`, `"gemini"`, `"ollama"`, `"bedrock"`,
        `"cohere"`): that provider's shape, by name within the segments built-in, plugin, MCP
        (`order="name"`: one list by name; `"registration"`). `breakpoints` is the number of cache
        markers for providers that have them (Anthropic): 1 marks the last tool, 2 the end of the
        built-in tools too, 0 none.
        """
        is_default = order is _SEGMENTS and breakpoints is _ONE
        if is_default:
            recent = self._definitions.recent.get(provider)
            if recent is not None:
                return recent[:]
        return self._definitions.values(provider, order, breakpoints, is_default=is_default)[:]

    def definitions_bytes(
        self,
        provider: str,
        *,
        order: DefinitionOrder = _SEGMENTS,
        breakpoints: int = _ONE,
    ) -> bytes:
        """The `tools` of a request as compact JSON in UTF-8; the parameters of `definitions`.

        The same tools give the same bytes in every process, whatever the order of registration.
        They are the bytes that the SDKs of Anthropic and OpenAI send for `definitions`.
        """
        return self._definitions.text(provider, order, breakpoints)

    def bytes_digest(
        self,
        provider: str,
        *,
        order: DefinitionOrder = _SEGMENTS,
        breakpoints: int = _ONE,
    ) -> str:
        """SHA-256 hex over `definitions_bytes`: equal if a provider's prompt cache can hold."""
        return hashlib.sha256(self._definitions.text(provider, order, breakpoints)).hexdigest()

    def prefix(
        self,
        provider: str,
        *,
        order: DefinitionOrder = _SEGMENTS,
        breakpoints: int = _ONE,
    ) -> Prefix:
        """The `tools` of a request as a value to keep as JSON and compare by `prefix_diff`."""
        return self._definitions.prefix(provider, order, breakpoints)

    def check_schemas(
        self, provider: str | None = None, *, order: DefinitionOrder = _SEGMENTS
    ) -> list[SchemaNote]:
        """What a provider is sent of these tools in other words than their authors'.

        Properties that are renamed, keywords that are described, strict tools that are sent plain,
        and tools that are left out because the provider takes no form of their schema. Without a
        provider, for each set of rules.
        """
        return self._definitions.schema_notes(provider, order)

    async def execute(
        self,
        reply: Any,
        context: ToolContext | None = None,
        turn_attachments: Sequence[Any] | None = None,
        **options: Unpack[BatchOptions],
    ) -> CallResults:
        """Run the calls that the view permits; one result per call, in order.

        `reply` is a model's whole reply, of any provider, as a dict or as an object of its SDK; its
        content blocks; calls; or one call. A call that cannot be read is answered `input_invalid`;
        text, reasoning and what the provider runs itself are skipped. Without calls the results
        are empty. `context`, `turn_attachments` and the options are those of
        `ToolRegistry.execute_parallel`. Tools read the id of the personality in
        `context.personality_id`, unless the caller's context names another.

        Raises:
            ConfigError: `reply` is nothing of that, or an argument is of the wrong kind; no tool
                was started.

        """
        caller = self._caller

        def on_unknown(kind: str) -> None:
            caller.runtime.log_message(f"a reply holds an element of unknown type {kind!r}")

        calls = reply_calls(reply, on_unknown)
        return await caller.run(caller.request(calls, context, turn_attachments, options))

    def execute_sync(
        self,
        reply: Any,
        context: ToolContext | None = None,
        turn_attachments: Sequence[Any] | None = None,
        **options: Unpack[BatchOptions],
    ) -> CallResults:
        """`execute` for code that does not await; it takes the same parameters.

        It can be called while this thread runs a loop, as in a notebook: the calls then run on the
        loop of another thread, and this one is blocked until they have ended.
        """
        return run_sync(lambda: self.execute(reply, context, turn_attachments, **options))

    async def resume(
        self,
        token: str,
        *,
        approved: bool,
        edited_args: Any = None,
        reason: str | None = None,
        context: ToolContext | None = None,
        turn_attachments: Sequence[Any] | None = None,
        **options: Unpack[BatchOptions],
    ) -> CallResult:
        """Continue a call that waits for approval, in any process that has the key.

        Gates, availability, arguments and filters are judged again, as they are now. Filters of the
        registry run again; pass those of the batch again as `filters`. The filter that asked sees
        `invocation.is_approved`, and its `Pending` lets the call pass; another one may ask in turn,
        and the result is then pending again.

        Args:
            token: Of `CallResult.pending`.
            approved: Whether the call may run; else it is answered as declined, for good.
            edited_args: Arguments in place of those of the model.
            reason: Why the call was declined, for the model.
            context: As for `execute`, of this moment.
            turn_attachments: As for `execute`.
            **options: Those of `execute`.

        Raises:
            ApprovalError: The token was changed or has expired, was used before, or belongs to
                another registry or caller, as its `reason` states. The tool was not run.
            ConfigError: An argument is of the wrong kind, or the registry has no `approvals`.

        """
        caller = self._caller
        request = caller.request(None, context, turn_attachments, options)
        return await caller.resume(
            request, token, approved=approved, edited_args=edited_args, reason=reason
        )

    def resume_sync(
        self,
        token: str,
        *,
        approved: bool,
        **options: Unpack[ResumeOptions],
    ) -> CallResult:
        """`resume` for code that does not await; it takes the same parameters."""
        return run_sync(lambda: self.resume(token, approved=approved, **options))

    def stream(
        self,
        reply: Any,
        context: ToolContext | None = None,
        turn_attachments: Sequence[Any] | None = None,
        **options: Unpack[StreamOptions],
    ) -> AsyncIterator[CallResult]:
        """The results one by one as they are ready, for a user interface.

        The parameters are those of `execute` without `on_result`. Leaving the loop early cancels
        the calls that still run. With `budget_policy="fill"` all results come at the end.

        >>> async def show(view, reply):
        ...     async for result in view.stream(reply):
        ...         print(result.tool_call_id, result.text)
        """
        return stream_results(
            lambda on_result: self.execute(
                reply, context, turn_attachments, **options, on_result=on_result
            )
        )

    @_checks.checked_signature
    def dispatch(
        self,
        context: ToolContext | None = None,
        *,
        provider: str,
        turn_attachments: Sequence[Any] | None = None,
        on_start: OnStart | None = None,
        on_arguments: OnArguments | None = None,
        on_broken_stream: BrokenStreamPolicy = "await",
        **options: Unpack[BatchOptions],
    ) -> StreamDispatcher:
        """Run the calls of a reply while it is streamed: use it with `async with` and `feed`.

        Args:
            context: As for `execute`. Each tool sees the whole `result_budget_chars`, or its own
                limit; the final results share it over the calls that there turned out to be.
            provider: Whose events are fed: `"anthropic"`, `"openai"` (Chat Completions and servers
                that speak it), `"openai_responses"`, `"gemini"`, `"ollama"`, `"bedrock"` or
                `"cohere"`.
            turn_attachments: As for `execute`.
            on_start: Called with each `ToolCall` when its tool starts.
            on_arguments: Called with a call's id and the longest valid partial value of its
                arguments while they arrive.
            on_broken_stream: What happens to running calls when the stream fails or is left:
                `"await"` (default) or `"cancel"`.
            **options: Those of `execute`. `on_result` is called when a call ends; its text is
                trimmed to its share of the budget when the results are collected.

        Raises:
            ConfigError: An argument is of the wrong kind.

        >>> async def run_turn(view, stream):
        ...     async with view.dispatch(provider="anthropic") as turn:
        ...         async for event in stream:
        ...             turn.feed(event)
        ...     return turn.messages()

        """
        request = self._caller.request(None, context, turn_attachments, options)
        return StreamDispatcher(
            provider,
            request,
            on_start,
            on_arguments,
            on_broken_stream,
            self._caller.task_context(request),
        )

    @_checks.checked_signature
    def dispatch_sync(
        self,
        context: ToolContext | None = None,
        *,
        provider: str,
        **options: Unpack[DispatchOptions],
    ) -> SyncStreamDispatcher:
        """`dispatch` for the streams of synchronous clients: use it with `with` and `feed`.

        The parameters are those of `dispatch`. Tools run on the event loop of a thread of their
        own while the stream is read, whether or not this thread runs a loop.

        >>> def run_turn(view, stream):
        ...     with view.dispatch_sync(provider="openai") as turn:
        ...         for chunk in stream:
        ...             turn.feed(chunk)
        ...     return turn.messages()

        """
        return SyncStreamDispatcher(self.dispatch(context, provider=provider, **options))

    def dispatching(
        self,
        stream: AsyncIterable[Event],
        context: ToolContext | None = None,
        *,
        provider: str,
        **options: Unpack[DispatchOptions],
    ) -> DispatchedStream[Event]:
        """Pass a stream's events through unchanged, and run its calls meanwhile.

        The parameters are those of `dispatch`. After the loop, `await turn.results()` and
        `turn.messages()` are there.

        >>> async def show(view, stream):
        ...     turn = view.dispatching(stream, provider="openai")
        ...     async for chunk in turn:
        ...         print(chunk)
        ...     return turn.messages()
        """
        return DispatchedStream(stream, self.dispatch(context, provider=provider, **options))

    async def report_usage(
        self, context: ToolContext | None = None, *, tokens: int = 0, cost_usd: float = 0.0
    ) -> None:
        """Count what a model's reply used against the `limits` of the view.

        Call it after each reply: calls start as long as what was counted is below the limits. The
        `cost_usd` of results is counted already. A ledger that cannot be written is logged.

        Raises:
            ConfigError: A number is negative, the view has no limits, or `context` does not name
                the run or tenant that they are for.

        >>> from ethos_registry import Personality, ToolContext, ToolRegistry
        >>> from ethos_registry.usage import UsageLedger
        >>> registry = ToolRegistry(observers=[UsageLedger()])
        >>> @registry.tool
        ... def now() -> str: return "12:00"
        >>> view = registry.view(Personality("clerk"), limits={"run": {"tokens": 10_000}})
        >>> context = ToolContext(run_id="run-1")
        >>> view.report_usage_sync(context, tokens=12_000)
        >>> [result] = view.execute_sync([{"id": "1", "name": "now", "args": {}}], context)
        >>> result.result.reason
        'limit'

        """
        amounts = reported_usage(tokens, cost_usd)
        limits = self._caller.limits
        if limits is None:
            raise ConfigError(
                "the view has no limits to count for; make it with `registry.view(..., limits=...)`"
            )
        checked = checked_tool_context(context)
        await limits.of_batch(checked, self._caller.runtime).add(amounts)

    def report_usage_sync(
        self, context: ToolContext | None = None, *, tokens: int = 0, cost_usd: float = 0.0
    ) -> None:
        """`report_usage` for code that does not await; it takes the same parameters."""
        run_sync(lambda: self.report_usage(context, tokens=tokens, cost_usd=cost_usd))

    @property
    def fingerprint(self) -> str:
        """SHA-256 hex over the canonical JSON of the definitions.

        Equal when the model is shown the same tools, however they and their keys are ordered.
        """
        return self._definitions.fingerprint()
