"""A call of a turn that is watched: counted and told of, once its arguments are known good."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, Protocol

from ethos_registry.contract.canonical_json import call_checksum
from ethos_registry.contract.context import ToolContext
from ethos_registry.contract.dispatch import DispatchContext, ToolExecution
from ethos_registry.contract.errors import ConfigError
from ethos_registry.contract.result import ToolError, ToolResult
from ethos_registry.table.entry import Entry

__all__ = ["end", "start"]


class WatchedCall(Protocol):
    """What watching asks of a running call."""

    entry: Entry
    args: Any
    own_args: Any
    tool_call_id: str
    execution: ToolExecution | None

    @property
    def context(self) -> ToolContext:
        """The call's own context."""


def start(turn: DispatchContext, call: WatchedCall) -> ToolError | Callable[[], Any]:
    """Tell the turn that a call starts; what runs it, or why its arguments do not fit (ADK-70)."""
    entry, context = call.entry, call.context
    shown, run = call.args, partial(entry.execute, call.own_args, context)
    if entry.binding is not None:
        values = entry.binding.bind(call.own_args, context)
        if isinstance(values, ToolError):
            return values
        shown = {
            name: value for name, value in values.items() if not isinstance(value, ToolContext)
        }
        run = partial(entry.binding.call, values)
    call.execution = ToolExecution(entry.name, call.tool_call_id, _checksum(call), shown)
    turn.tool_started(call.execution)
    return run


def _checksum(call: WatchedCall) -> str | None:
    try:
        return call_checksum(call.entry.name, call.args)
    except ConfigError:  # a program may call a tool with anything
        return None


def end(turn: DispatchContext, execution: ToolExecution, result: ToolResult) -> None:
    """Tell the turn that a call has its result, whatever it is (ADK-71)."""
    turn.tool_ended(replace(execution, is_error=not result.ok))
