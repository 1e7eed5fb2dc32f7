"""What the calls of one tool share in a batch."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from ethos_registry.contract.finish_elsewhere import FinishOrder
from ethos_registry.contract.reducer import ToolResultReducer
from ethos_registry.contract.reduction_policy import ReductionPolicy
from ethos_registry.contract.result import ToolResult
from ethos_registry.execution.filters import InvocationFilter
from ethos_registry.reduction.finish import Finished
from ethos_registry.reduction.redaction import Redact
from ethos_registry.table.entry import Entry

__all__ = ["CallPlan"]


class CallPlan:
    """Computed once per tool and batch, so that a call costs only what differs between calls."""

    __slots__ = (
        "cap",
        "checks",
        "entry",
        "execute",
        "filters",
        "finish",
        "finish_order",
        "is_direct",
        "name",
        "parsed_checks",
        "plain_chars",
        "redact",
        "reducer",
        "reduction",
        "run",
        "run_tool",
        "settles_plainly",
        "timeout_seconds",
        "trim_cap",
    )

    entry: Entry
    name: str
    execute: Callable[..., Any]
    cap: int
    """Characters that the result may have."""
    trim_cap: int
    """Characters to which a result is trimmed when its tool ends."""
    timeout_seconds: float | None
    checks: tuple[Callable[[Any], ToolResult | None], ...]
    """The steps before the tool that can answer a call whose arguments are text or unusual."""
    parsed_checks: tuple[Callable[[Any], ToolResult | None], ...]
    """The same for a call whose arguments are a dict."""
    run: Callable[[Any], Awaitable[Any]]
    """The execute step."""
    run_tool: Callable[[Any], Awaitable[Any]]
    """The tool itself inside that step: here, as often as its `retry` permits, or elsewhere."""
    finish: Callable[[Any, Any], Awaitable[Finished]]
    """The finish step."""
    finish_order: FinishOrder | None
    """What a worker is asked to do with the results; `None` if they are finished here."""
    filters: tuple[InvocationFilter, ...]
    reducer: ToolResultReducer | None
    reduction: ReductionPolicy | None
    """How much of a reduced result is kept: set by the batch, the tool or the registry."""
    redact: Redact | None
    """Takes credentials out of results; `None` if they stay."""
    is_direct: bool
    """An `async def` without filters or observers of its start."""
    plain_chars: int
    """A success of ASCII text with at most this many characters needs no finish step: no reducer
    can change it and nothing trims or fences it. -1 if every result needs one."""
    settles_plainly: bool
    """A result is only stored: nothing observes, trims, marks or waits for it."""
