"""Dispatching the calls of streamed replies: the part of a view that does it."""

from __future__ import annotations

from collections.abc import AsyncIterable, Sequence
from contextvars import Context
from functools import partial
from typing import Any, TypeVar, Unpack

from ethos_registry.contract.context import ToolContext
from ethos_registry.contract.dispatch import DispatchContext
from ethos_registry.contract.policy import Personality
from ethos_registry.execution.options import BatchOptions, checked_options
from ethos_registry.execution.runtime import Runtime
from ethos_registry.execution.session import Session
from ethos_registry.providers.stream.names import reply_parser
from ethos_registry.registry.batch_arguments import checked_context, report_unmatched
from ethos_registry.registry.dispatched_stream import DispatchedStream, SyncStreamDispatcher
from ethos_registry.registry.dispatcher import (
    BrokenStreamPolicy,
    OnArguments,
    OnStart,
    StreamCallbacks,
    StreamDispatcher,
)
from ethos_registry.table.admission import Admission

__all__ = ["StreamingView"]

Event = TypeVar("Event")


class StreamingView:
    """Runs the calls of a reply while it is streamed."""

    __slots__ = ()

    _admission: Admission
    _personality: Personality | None
    _runtime: Runtime
    _turn: DispatchContext | None

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
        return self._dispatcher(
            context,
            None,
            provider=provider,
            turn_attachments=turn_attachments,
            on_start=on_start,
            on_arguments=on_arguments,
            on_broken_stream=on_broken_stream,
            **options,
        )

    def dispatch_sync(
        self,
        context: ToolContext | None = None,
        *,
        provider: str,
        turn_attachments: Sequence[Any] | None = None,
        on_start: OnStart | None = None,
        on_arguments: OnArguments | None = None,
        on_broken_stream: BrokenStreamPolicy = "await",
        **options: Unpack[BatchOptions],
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
        return SyncStreamDispatcher(
            self.dispatch(
                context,
                provider=provider,
                turn_attachments=turn_attachments,
                on_start=on_start,
                on_arguments=on_arguments,
                on_broken_stream=on_broken_stream,
                **options,
            )
        )

    def _dispatcher(
        self,
        context: ToolContext | None,
        task_context: Context | None,
        *,
        provider: str,
        turn_attachments: Sequence[Any] | None = None,
        on_start: OnStart | None = None,
        on_arguments: OnArguments | None = None,
        on_broken_stream: BrokenStreamPolicy = "await",
        **options: Unpack[BatchOptions],
    ) -> StreamDispatcher:
        """The same with context variables for the tasks of the calls."""
        context = checked_context(context)
        checked = checked_options(options, turn_attachments)
        report_unmatched(checked, self._admission, self._runtime)
        callbacks = StreamCallbacks.checked(on_start, on_arguments)
        new_session = partial(
            Session,
            self._admission,
            self._runtime,
            context,
            checked,
            personality=self._personality,
            turn=self._turn,
            on_start=callbacks.on_start,
        )
        return StreamDispatcher(
            reply_parser(provider),
            new_session,
            self._admission.snapshot,
            callbacks,
            on_broken_stream,
            task_context,
        )

    def dispatching(
        self,
        stream: AsyncIterable[Event],
        context: ToolContext | None = None,
        *,
        provider: str,
        turn_attachments: Sequence[Any] | None = None,
        on_start: OnStart | None = None,
        on_arguments: OnArguments | None = None,
        on_broken_stream: BrokenStreamPolicy = "await",
        **options: Unpack[BatchOptions],
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
        dispatcher = self.dispatch(
            context,
            provider=provider,
            turn_attachments=turn_attachments,
            on_start=on_start,
            on_arguments=on_arguments,
            on_broken_stream=on_broken_stream,
            **options,
        )
        return DispatchedStream(stream, dispatcher)
