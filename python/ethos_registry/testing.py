"""Helpers for people who test their own tools: a call through the real pipeline, in one line.

>>> from ethos_registry import tool
>>> from ethos_registry.testing import run_tool
>>> @tool
... def add(a: int, b: int) -> int:
...     \"\"\"Add two numbers.\"\"\"
...     return a + b
>>> run_tool(add, {"a": "2", "b": 3}).text
'5'
"""

from __future__ import annotations

from typing import Any

from ethos_registry import (
    CallResult,
    Tool,
    ToolCall,
    ToolContext,
    ToolProgressEvent,
    ToolRegistry,
    ToolResultReducerRegistry,
)

__all__ = ["RecordingEmit", "run_tool", "run_tool_async"]


class RecordingEmit:
    """An `emit` that keeps every event, for a `ToolContext`.

    >>> emit = RecordingEmit()
    >>> ToolContext(emit=emit).report("half way", percent=50)
    >>> emit.messages
    ['half way']
    """

    def __init__(self) -> None:
        self.events: list[ToolProgressEvent] = []

    def __call__(self, event: ToolProgressEvent) -> None:
        """Keep the event."""
        self.events.append(event)

    @property
    def messages(self) -> list[str]:
        """The texts of the events, in order."""
        return [event.message for event in self.events]


def run_tool(
    tool: Tool,
    args: Any = None,
    context: ToolContext | None = None,
    *,
    reducers: ToolResultReducerRegistry | None = None,
) -> CallResult:
    """One call of a tool as a registry runs it: arguments, clock, reducer, trim.

    `args` are values or JSON text, `{}` when left out. It may be called with or without a running
    event loop; in an async test `run_tool_async` does not block it.
    """
    registry = ToolRegistry([tool], reducer_registry=reducers)
    return registry.execute_parallel_sync([_call(tool, args)], context)[0]


async def run_tool_async(
    tool: Tool,
    args: Any = None,
    context: ToolContext | None = None,
    *,
    reducers: ToolResultReducerRegistry | None = None,
) -> CallResult:
    """`run_tool` on the running event loop."""
    registry = ToolRegistry([tool], reducer_registry=reducers)
    [result] = await registry.execute_parallel([_call(tool, args)], context)
    return result


def _call(tool: Tool, args: Any) -> ToolCall:
    return ToolCall("test", tool.name, {} if args is None else args)
