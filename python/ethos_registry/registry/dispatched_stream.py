"""The forms of a dispatcher: around a stream that is passed on, and for code without `await`."""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator
from types import TracebackType
from typing import Any, Generic, Self, TypeVar

from ethos_registry.contract.errors import ConfigError, EthosRegistryError
from ethos_registry.execution.results import CallResults
from ethos_registry.registry.dispatcher import StreamDispatcher
from ethos_registry.registry.sync import LoopThread

__all__ = ["DispatchedStream", "SyncStreamDispatcher"]

Event = TypeVar("Event")


class DispatchedStream(Generic[Event]):
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


class SyncStreamDispatcher:
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
