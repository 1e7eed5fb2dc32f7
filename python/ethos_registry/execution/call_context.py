"""The context that a tool gets: one light object over what its batch shares."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Protocol

from ethos_registry.contract.abort import AbortSignal
from ethos_registry.contract.context import ToolContext
from ethos_registry.contract.progress import ToolProgressEvent

__all__ = ["CallContext", "CallState"]

_NOTHING: Mapping[str, Any] = MappingProxyType({})


class CallState(Protocol):
    """What a context asks of the call that it belongs to."""

    def emit(self, event: ToolProgressEvent) -> None:
        """Pass an event on while the call runs; safe from threads."""

    def signal(self) -> AbortSignal:
        """Fires when the turn is aborted or this call is stopped."""


class CallContext(ToolContext):
    """A `ToolContext` of one running call; made by the session, never by hand."""

    __slots__ = ("_state",)

    def __init__(
        self, batch: ToolContext, state: CallState, tool_call_id: str, budget_chars: int
    ) -> None:
        # The checks of the base class were made for the batch; six stores are all a call pays.
        self._facts = batch._facts
        self._state = state
        self._tool_call_id = tool_call_id
        self._budget = budget_chars
        self._scoped = _NOTHING

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

    def set_scoped(self, scoped: Mapping[str, Any]) -> None:
        """Hand out the objects that the tool declared; done before it starts."""
        self._scoped = scoped
