"""Running a call inside the filters of its batch (contract 3.13)."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Protocol

from ethos_registry.contract.context import ToolContext
from ethos_registry.contract.errors import ConfigError
from ethos_registry.contract.result import ToolResult
from ethos_registry.execution import steps
from ethos_registry.execution.filters import (
    AFTER_SECONDS,
    Clock,
    Invocation,
    InvocationFilter,
    answer_of,
    matching,
)
from ethos_registry.execution.runtime import Runtime
from ethos_registry.table.entry import Entry

__all__ = ["BadResultError", "around"]


class BadResultError(Exception):
    """What a tool or a filter returned is no result; the message says why."""


class FilteredCall(Clock, Protocol):
    """What filtering asks of a running call."""

    entry: Entry
    own_args: Any

    @property
    def context(self) -> ToolContext:
        """The call's own context."""

    @property
    def runtime(self) -> Runtime:
        """Where a failing filter is logged."""

    def stop_clock(self) -> None:
        """The tool has ended: what follows is not its time."""

    def begin_limit(self, seconds: float) -> None:
        """Cancel the task of this call once when `seconds` have gone by before `end_limit`."""

    def end_limit(self) -> bool:
        """Whether the limit was over, and it alone cancelled the task; that is taken back."""


async def around(
    filters: Sequence[InvocationFilter],
    call: FilteredCall,
    run: Callable[[], Awaitable[Any]],
) -> Any:
    """What the tool returns, or what a filter answers for it.

    Each `before` is asked in order until one answers; then each `after`, in order too. A `before`
    that raises refuses the call: its exception passes, and no `after` is asked.
    """
    chosen = matching(filters, call.entry)
    invocation = Invocation(call.entry, call.own_args, call.context, call)
    value = await _asked(chosen, invocation)
    if value is None:
        call.own_args = invocation.args  # a `before` may have put others in their place
        value = await run()
    call.stop_clock()
    result = _checked(value)
    for item in chosen:
        if item.after is not None:
            result = await _after(item, invocation, result, call)
    return result


async def _asked(chosen: Sequence[InvocationFilter], invocation: Invocation) -> Any:
    for item in chosen:
        if item.before is not None:
            answer = await answer_of(item.before, invocation)
            if answer is not None:
                return _checked(answer, "the filter before it answered: ")
    return None


def _checked(value: Any, who: str = "") -> ToolResult:
    """What a tool or a `before` returned, as a result; `who` tells which of them in the error."""
    try:
        return steps.accepted(value)
    except ConfigError as problem:
        raise BadResultError(f"{who}{problem}") from None


async def _after(
    item: InvocationFilter, invocation: Invocation, result: ToolResult, call: FilteredCall
) -> ToolResult:
    """The result after one filter; one that fails, or takes too long, leaves it as it was."""
    assert item.after is not None
    try:
        answer = item.after(invocation, result)
        if answer is not None and inspect.isawaitable(answer):
            answer = await _in_time(answer, call)
        return result if answer is None else steps.accepted(answer)
    except (KeyboardInterrupt, asyncio.CancelledError):
        raise
    except BaseException as error:
        call.runtime.log_once(f"filter `after` of tool `{invocation.tool_name}`", error)
        return result


async def _in_time(answer: Awaitable[Any], call: FilteredCall) -> Any:
    """What an `after` answers; `TimeoutError` after `AFTER_SECONDS`.

    The timer of the batch watches it, as it watches tools: one of its own would cost more than the
    filter.
    """
    call.begin_limit(AFTER_SECONDS)
    try:
        value = await answer
    except BaseException as error:
        if call.end_limit() and isinstance(error, asyncio.CancelledError):
            raise TimeoutError(f"it took longer than {AFTER_SECONDS:g} s") from None
        raise
    call.end_limit()
    return value
