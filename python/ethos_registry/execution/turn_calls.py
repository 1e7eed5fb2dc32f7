"""Calls inside a turn: counted and reported to its hooks once their arguments are valid."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from ethos_registry.contract.context import ToolContext
from ethos_registry.contract.dispatch import DispatchContext, ToolExecution
from ethos_registry.contract.result import ToolError
from ethos_registry.table.entry import Entry

__all__ = ["start_call"]


def start_call(
    turn: DispatchContext, entry: Entry, sent_args: Any, args: Any, context: ToolContext
) -> ToolError | tuple[Callable[[], Any], ToolExecution | None]:
    """Report a call to the turn; what runs the tool, or why its arguments do not fit.

    `sent_args` are the arguments as the model sent them, `args` the tool's own copy.
    """
    shown, run = sent_args, partial(entry.execute, args, context)
    if entry.binding is not None:
        values = entry.binding.bind(args, context)
        if isinstance(values, ToolError):
            return values
        run = partial(entry.binding.call, values)
        if turn.has_hooks:
            shown = _without_context(values)
    execution = turn.call_started(entry.name, context.tool_call_id, sent_args, shown)
    return run, execution


def _without_context(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if not isinstance(value, ToolContext)}
