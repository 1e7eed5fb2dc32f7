"""What a call and its batch ask of each other: neither has to import the other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from ethos_registry.contract.abort import AbortController, AbortSignal
from ethos_registry.contract.attachment import Attachment
from ethos_registry.contract.context import ToolContext
from ethos_registry.contract.dispatch import DispatchContext, ToolExecution
from ethos_registry.contract.result import ToolResult
from ethos_registry.execution.filters import InvocationFilter
from ethos_registry.execution.runtime import Runtime
from ethos_registry.execution.whole_text import Keeper, WholeText
from ethos_registry.reduction.finish import Fence
from ethos_registry.table.entry import Entry

__all__ = ["Batch", "SettledCall"]


class SettledCall(Protocol):
    """What a batch asks of a call that has ended."""

    index: int
    tool_call_id: str
    entry: Entry
    args: Any
    cap: int
    started: float | None
    has_slot: bool
    execution: ToolExecution | None
    """What the turn was told when the call started."""
    whole: WholeText | None
    """The text that an artifact keeps if something of it is not sent."""

    def source(self) -> str | None:
        """Where the tool's output came from; `None` where its author vouches for it."""

    def fence(self) -> Fence | None:
        """The fence that the tool's text is to stand in, if any."""


class Batch(Protocol):
    """What a running call asks of its batch."""

    context: ToolContext
    """The caller's."""
    filters: tuple[InvocationFilter, ...]
    finishes_plainly: bool
    """A short text needs neither a reducer nor a fence."""
    keeper: Keeper | None
    """Keeps whole texts, where the turn has an artifact store."""
    personality_id: str | None
    """Of the view that runs the batch."""
    runtime: Runtime
    thread_id: int
    turn: DispatchContext | None
    """The turn that is told of the calls, if any."""
    trims_together: bool
    """Results share the budget once all are there."""
    turn_attachments: tuple[Attachment, ...]
    turn_signal: AbortSignal
    wraps_untrusted: bool

    def watch_at(self, moment: float) -> None:
        """Look at the running calls no later than at `moment` (monotonic seconds)."""

    def settle_running(
        self,
        running: SettledCall,
        result: ToolResult,
        raw_chars: int,
        reduced_chars: int,
        sent_chars: int,
        truncated_from: int | None,
        *,
        is_body: bool = True,
    ) -> None:
        """The answer to a call that ran, or was stopped; a body is what its tool said."""

    def link(self, controller: AbortController) -> None:
        """Fire a call's own signal with the turn's."""

    def call_soon(self, callback: Callable[..., object], *arguments: Any) -> None:
        """Run a callback on the loop's thread; nothing happens once the loop is closed."""

    def deliver(self, tool_name: str, event: Any) -> None:
        """Hand one event to the caller's `emit`, under the name of the tool that runs."""
