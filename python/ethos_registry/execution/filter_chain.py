"""Running a call inside the filters of its batch."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from time import monotonic
from typing import Any

from ethos_registry.contract.approval import Pending
from ethos_registry.contract.errors import ConfigError
from ethos_registry.contract.result import ToolResult
from ethos_registry.execution.blocking import watched
from ethos_registry.execution.call import Call
from ethos_registry.execution.filters import (
    AFTER_SECONDS,
    Invocation,
    InvocationFilter,
    awaited,
    matching,
)
from ethos_registry.execution.pending import answered_as_pending
from ethos_registry.execution.returned import BadResultError, checked_result

__all__ = ["run_filtered"]


async def run_filtered(
    filters: Sequence[InvocationFilter],
    call: Call,
    run_tool: Callable[[Call], Awaitable[Any]],
) -> ToolResult:
    """What the tool returns, or what a filter answers in its place.

    The exception of a `before` that raises passes; then neither the tool nor any `after` runs.
    """
    invocation = Invocation(call.plan.entry, call.tool_args, call, call)
    value = await _answer_before(filters, invocation, call)
    if value is None:
        call.tool_args = invocation.args
        value = await run_tool(call)
    call.stop_clock()
    result = _checked(value)
    for item in reversed(filters):
        if item.after is not None:
            result = await _after(item, invocation, result, call)
    return result


def _report_blocking(call: Call, which: str, seconds: float) -> None:
    what = f"filter `{which}` of tool `{call.plan.name}`"
    call.batch.runtime.report_blocking(what, seconds)


async def _answer_before(
    filters: Sequence[InvocationFilter], invocation: Invocation, call: Call
) -> ToolResult | None:
    resumed = call.batch.options.resumed
    if resumed is not None and not resumed.is_approved:
        await resumed.claim(call.plan.name, call.plan.redact)
    for position, item in enumerate(filters):
        if item.before is None:
            continue
        if resumed is not None:
            invocation.is_approved = _place(position, item, call) in resumed.granted
        report = partial(_report_blocking, call, "before")
        answer = await awaited(report, item.before, invocation)
        if call.stop_reason is not None:  # it swallowed its cancellation: nothing starts any more
            raise asyncio.CancelledError
        if answer is None:
            continue
        if not isinstance(answer, Pending):
            return _checked(answer, "the filter before it answered: ")
        if not invocation.is_approved:
            raise answered_as_pending(call, answer, _place(position, item, call))
    if resumed is not None:
        await resumed.claim(call.plan.name, call.plan.redact)
    return None


def _place(position: int, item: InvocationFilter, call: Call) -> str:
    """Which filter this is: its place among those of the registry or of the batch, and its name.

    An approval must not count for another filter that a later version has in the same place.
    """
    of_registry = len(matching(call.batch.runtime.filters, call.plan.entry))
    before: Any = item.before
    name = getattr(before, "__qualname__", type(before).__qualname__)
    if position < of_registry:
        return f"registry:{position}:{name}"
    return f"batch:{position - of_registry}:{name}"


def _checked(value: Any, source: str = "") -> ToolResult:
    """What a tool or a `before` returned, as a result."""
    try:
        return checked_result(value)
    except ConfigError as problem:
        raise BadResultError(f"{source}{problem}") from None


async def _after(
    item: InvocationFilter, invocation: Invocation, result: ToolResult, call: Call
) -> ToolResult:
    """The result after one filter; one that fails, or takes too long, leaves it unchanged."""
    assert item.after is not None
    task = asyncio.current_task()
    cancellations = 0 if task is None else task.cancelling()
    try:
        report = partial(_report_blocking, call, "after")
        begun = monotonic()
        answer = item.after(invocation, result)
        report(monotonic() - begun)
        if answer is not None and inspect.isawaitable(answer):
            answer = await _in_time(watched(answer, report), call)
        return result if answer is None else _checked(answer, "a filter after it answered: ")
    except KeyboardInterrupt:
        raise
    except BadResultError as problem:
        call.batch.runtime.log_mistake(f"tool {invocation.tool_name}: {problem}")
        return result
    except BaseException as error:
        if task is not None and task.cancelling() > cancellations:
            raise  # the call was stopped, or its task cancelled
        call.batch.runtime.log_once(f"filter `after` of tool `{invocation.tool_name}`", error)
        return result


async def _in_time(answer: Awaitable[Any], call: Call) -> Any:
    """What an `after` answers; `TimeoutError` after `AFTER_SECONDS`.

    The timer of the batch watches it, as it watches tools: a timeout object would cost more than
    the filter.
    """
    call.begin_limit(AFTER_SECONDS)
    try:
        value = await answer
    except asyncio.CancelledError:
        if call.end_limit():
            raise TimeoutError(f"it took longer than {AFTER_SECONDS:g} s") from None
        raise
    except BaseException:
        call.end_limit()
        raise
    call.end_limit()
    return value
