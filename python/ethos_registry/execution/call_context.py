"""The context that a tool gets: one light object over what its batch shares."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from operator import attrgetter
from typing import Any, Protocol

from ethos_registry.contract.abort import AbortSignal
from ethos_registry.contract.attachment import Attachment
from ethos_registry.contract.context import ToolContext
from ethos_registry.contract.progress import ToolProgressEvent

__all__ = ["BackendContext", "CallContext", "CallState"]


class CallState(Protocol):
    """What a context asks of the call that it belongs to."""

    tool_call_id: str
    cap: int
    scoped: Mapping[str, Any]

    @property
    def personality_id(self) -> str | None:
        """The personality that runs the call, where the caller named none."""

    @property
    def turn_attachments(self) -> tuple[Attachment, ...]:
        """The files that came with the turn."""

    def emit(self, event: ToolProgressEvent) -> None:
        """Pass an event on while the call runs; safe from threads."""

    def signal(self) -> AbortSignal:
        """Fires when the turn is aborted or this call is stopped."""


class CallContext(ToolContext):
    """A `ToolContext` of one running call; made by the session, never by hand."""

    __slots__ = ("_state",)

    def __init__(self, batch: ToolContext, state: CallState) -> None:
        # The batch's fields were checked when its context was made: two stores are all a call pays.
        self._facts = batch._facts
        self._state = state

    tool_call_id = property(attrgetter("_state.tool_call_id"), doc="The id of the running call.")
    result_budget_chars = property(
        attrgetter("_state.cap"), doc="Characters that the call's result may hold."
    )
    _scoped = property(attrgetter("_state.scoped"))

    @property
    def personality_id(self) -> str | None:
        """The personality that the caller named, else that of the view which runs the call."""
        named: str | None = self._facts.personality_id
        return self._state.personality_id if named is None else named

    @property
    def emit(self) -> Callable[[ToolProgressEvent], object]:
        """Takes a `ToolProgressEvent`; safe from threads, silent once the call has ended."""
        return self._state.emit

    @property
    def abort_signal(self) -> AbortSignal:
        """Fires when the turn is aborted, and when this call is stopped for time."""
        return self._state.signal()

    def report(self, message: str, **details: Any) -> None:
        """Emit one progress event; the registry fills in the tool's name."""
        self._state.emit(ToolProgressEvent(message, **details))


class BackendContext(CallContext):
    """What a backend gets that makes a scoped object for a running call."""

    __slots__ = ()

    turn_attachments = property(
        attrgetter("_state.turn_attachments"), doc="The files that came with the turn."
    )
