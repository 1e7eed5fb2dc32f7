"""A stream that runs the calls of its reply while user code reads it."""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator
from typing import Any, Generic, TypeVar

from ethos_registry.contract.errors import ConfigError
from ethos_registry.execution.results import CallResults
from ethos_registry.registry.dispatcher import StreamDispatcher

__all__ = ["DispatchedStream"]

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
                "feed a plain one to `view.dispatch(...)` event by event"
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
