"""Helpers for testing your own tools: one call through the real pipeline.

>>> from ethos_registry import tool
>>> from ethos_registry.testing import assert_error, assert_ok, run_tool
>>> @tool
... def add(a: int, b: int) -> int:
...     \"\"\"Add two numbers.\"\"\"
...     return a + b
>>> run_tool(add, {"a": "2", "b": 3}).text
'5'
>>> _ = assert_ok(run_tool(add, {"a": 2, "b": 3}), contains="5")
>>> _ = assert_error(run_tool(add, {"a": "two"}), code="input_invalid", contains="whole number")
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ethos_registry import (
    CallResult,
    InvocationFilter,
    Tool,
    ToolCall,
    ToolContext,
    ToolError,
    ToolOk,
    ToolRegistry,
    ToolResult,
)
from ethos_registry.reduction import ToolResultReducerRegistry
from ethos_registry.types import ErrorCode, ErrorReason, ToolProgressEvent

__all__ = [
    "FakeContext",
    "RecordingEmit",
    "assert_error",
    "assert_ok",
    "fake_context",
    "run_tool",
    "run_tool_async",
]


_SHOWN_CHARS = 500
"""Maximum length of a result's text in the message of a failed assertion."""


class RecordingEmit:
    """An `emit` function for a `ToolContext` that records every event.

    >>> emit = RecordingEmit()
    >>> ToolContext(emit=emit).report("half way", percent=50)
    >>> emit.messages
    ['half way']
    """

    def __init__(self) -> None:
        self.events: list[ToolProgressEvent] = []

    def __call__(self, event: ToolProgressEvent) -> None:
        """Record the event."""
        self.events.append(event)

    @property
    def messages(self) -> list[str]:
        """The messages of the events, in order."""
        return [event.message for event in self.events]


class FakeContext(ToolContext):
    """A `ToolContext` that records what a tool emits; created by `fake_context`."""

    __slots__ = ("emitted",)

    def __init__(self, **fields: Any) -> None:
        self.emitted = RecordingEmit()
        super().__init__(**{"emit": self.emitted} | fields)

    @property
    def messages(self) -> list[str]:
        """The messages of the emitted events, in order."""
        return self.emitted.messages


def fake_context(**fields: Any) -> FakeContext:
    """Create a context for one test: a session id, no recorded reads, and a recording `emit`.

    Args:
        fields: Fields of `ToolContext`; they override the defaults. With an `emit` of your own,
            `messages` stays empty.

    >>> context = fake_context(current_turn=3)
    >>> context.report("half way")
    >>> context.messages, context.session_id, context.read_mtimes
    (['half way'], 'test', {})

    """
    return FakeContext(**{"session_id": "test", "read_mtimes": {}} | fields)


def run_tool(
    tool: Tool,
    args: Any = None,
    context: ToolContext | None = None,
    *,
    reducers: ToolResultReducerRegistry | None = None,
    filters: Sequence[InvocationFilter] = (),
) -> CallResult:
    """Run one call of a tool as a registry does: arguments, filters, timeout, reducer, trim.

    It works with or without a running event loop. In an async test, use `run_tool_async`, which
    does not block the loop.

    Args:
        tool: The tool to call.
        args: A mapping or JSON text, as a model sends it; `{}` by default.
        context: The context of the call; a new `ToolContext` by default.
        reducers: Reducers to apply; none by default.
        filters: Filters around the call.

    """
    registry = ToolRegistry([tool], reducer_registry=reducers)
    return registry.execute_parallel_sync([_call(tool, args)], context, filters=filters)[0]


async def run_tool_async(
    tool: Tool,
    args: Any = None,
    context: ToolContext | None = None,
    *,
    reducers: ToolResultReducerRegistry | None = None,
    filters: Sequence[InvocationFilter] = (),
) -> CallResult:
    """`run_tool` on the running event loop."""
    registry = ToolRegistry([tool], reducer_registry=reducers)
    [result] = await registry.execute_parallel([_call(tool, args)], context, filters=filters)
    return result


def assert_ok(result: CallResult | ToolResult, *, contains: str | Iterable[str] = ()) -> ToolOk:
    """Return the result as a success.

    Args:
        result: The result to check.
        contains: A string, or several, that the text must contain.

    Raises:
        AssertionError: The result is an error, or its text lacks a string.

    >>> from ethos_registry import err, ok
    >>> assert_ok(ok("42 files"), contains="42").value
    '42 files'
    >>> assert_ok(err("no such file: a.txt", "input_invalid"))
    Traceback (most recent call last):
    AssertionError: expected ok, got the error `input_invalid`: 'no such file: a.txt'

    """
    __tracebackhide__ = True  # pytest then points at the test, not in here
    answer = _answer(result)
    if not isinstance(answer, ToolOk):
        raise AssertionError(f"expected ok, got {_described(answer)}")
    _check_contains(answer, contains)
    return answer


def assert_error(
    result: CallResult | ToolResult,
    *,
    code: ErrorCode | None = None,
    reason: ErrorReason | None = None,
    contains: str | Iterable[str] = (),
) -> ToolError:
    """Return the result as an error.

    Args:
        result: The result to check.
        code: The expected code; not compared if omitted.
        reason: The expected reason; not compared if omitted. The reason is `None` for errors that
            the tool itself returned.
        contains: A string, or several, that the text must contain.

    Raises:
        AssertionError: The result is a success, has another code or reason, or its text lacks a
            string.

    >>> from ethos_registry import err, ok
    >>> assert_error(err("no such file: a.txt", "input_invalid"), code="input_invalid").error
    'no such file: a.txt'
    >>> assert_error(ok("42 files"))
    Traceback (most recent call last):
    AssertionError: expected an error, got ok: '42 files'
    >>> assert_error(err("gone"), code="STALE_WRITE")
    Traceback (most recent call last):
    AssertionError: expected the code `STALE_WRITE`, got the error `execution_failed`: 'gone'

    """
    __tracebackhide__ = True  # pytest then points at the test, not in here
    answer = _answer(result)
    if not isinstance(answer, ToolError):
        raise AssertionError(f"expected an error, got {_described(answer)}")
    for name, expected in (("code", code), ("reason", reason)):
        if expected is not None and getattr(answer, name) != expected:
            raise AssertionError(f"expected the {name} `{expected}`, got {_described(answer)}")
    _check_contains(answer, contains)
    return answer


def _answer(result: CallResult | ToolResult) -> ToolResult:
    answer = result.result if isinstance(result, CallResult) else result
    if not isinstance(answer, ToolOk | ToolError):
        raise TypeError(f"`result` must be one result, got {type(result).__name__}")
    return answer


def _check_contains(answer: ToolResult, contains: str | Iterable[str]) -> None:
    __tracebackhide__ = True
    for part in [contains] if isinstance(contains, str) else contains:
        if part not in answer.text:
            raise AssertionError(f"expected {part!r} in the text, got {_described(answer)}")


def _described(answer: ToolResult) -> str:
    """The result on one line: its kind, the reason of a failure, the start of its text."""
    text = answer.text
    shown = repr(text[:_SHOWN_CHARS])
    if len(text) > _SHOWN_CHARS:
        shown += f"... ({len(text)} characters)"
    if answer.ok:
        return f"ok: {shown}"
    because = "" if answer.reason is None else f" ({answer.reason})"
    return f"the error `{answer.code}`{because}: {shown}"


def _call(tool: Tool, args: Any) -> ToolCall:
    return ToolCall("test", tool.name, {} if args is None else args)
