"""Calls inside a turn: counted and reported to its hooks once their arguments are valid."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any

from ethos_registry.contract.context import ToolContext
from ethos_registry.contract.dispatch import DispatchContext
from ethos_registry.contract.result import ToolError
from ethos_registry.execution.call import Call
from ethos_registry.table.entry import Entry

__all__ = ["async_execute_in_turn", "start_function"]


def async_execute_in_turn(
    entry: Entry, turn: DispatchContext
) -> Callable[[Any, Call], Awaitable[Any]]:
    """The `execute` of an async tool that also reports each call to the turn, before it runs."""
    started, binding = turn.starts_of(entry.name), entry.binding
    if binding is None:
        execute = entry.execute

        def report_and_execute(args: Any, call: Call) -> Awaitable[Any]:
            sent = call.args
            execution = started(call._tool_call_id, sent, sent)
            if execution is not None:
                call.execution = execution
            result: Awaitable[Any] = execute(args, call)
            return result

        return report_and_execute

    bind, run = binding.bind, binding.call

    async def bind_and_execute(args: Any, call: Call) -> Any:
        values = bind(args, call)
        if isinstance(values, ToolError):
            return values
        shown = _without_context(values) if turn.has_hooks else None
        execution = started(call._tool_call_id, call.args, shown)
        if execution is not None:
            call.execution = execution
        return await run(values)

    return bind_and_execute


def start_function(turn: DispatchContext, call: Call) -> ToolError | Callable[[], Any]:
    """Report a plain function's call to the turn, on the loop's thread.

    Returns what runs the function, or why its arguments do not fit.
    """
    entry, shown = call.plan.entry, call.args
    run: Callable[[], Any]
    if entry.binding is None:
        run = partial(entry.execute, call.tool_args, call)
    else:
        values = entry.binding.bind(call.tool_args, call)
        if isinstance(values, ToolError):
            return values
        run, shown = partial(entry.binding.call, values), _without_context(values)
    started = turn.starts_of(entry.name)
    call.execution = started(call._tool_call_id, call.args, shown)
    return run


def _without_context(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if not isinstance(value, ToolContext)}
