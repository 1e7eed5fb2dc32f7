"""Anthropic SDK: a view as tools of its tool runner, and its tools in a registry.

Needs the extra `anthropic`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from typing import Any, Unpack

from pydantic import ValidationError

from ethos_registry._lazy import requires
from ethos_registry.adapters._framework_tools import (
    argument_error,
    data_block,
    filled_result,
    framework_tool,
    parts_result,
)
from ethos_registry.adapters._turn_collector import AdapterCalls
from ethos_registry.execution._options import StreamOptions
from ethos_registry.providers._by_name import provider
from ethos_registry.types import _checks
from ethos_registry.types._call import CallResult
from ethos_registry.types._content import ContentBlock
from ethos_registry.types._context import ToolContext
from ethos_registry.types._json_values import thaw
from ethos_registry.types._ports import ToolView
from ethos_registry.types._result import ToolError, ToolResult
from ethos_registry.types._tool import Tool

with requires("the adapter for Anthropic's tool runner", "anthropic"):
    from anthropic.lib.tools import (
        BetaAsyncBuiltinFunctionTool,
        BetaBuiltinFunctionTool,
    )
    from anthropic.lib.tools import (
        ToolError as AnthropicToolError,
    )

__all__ = ["from_anthropic", "to_anthropic"]


class _Shown:
    """A tool of a view as the SDK sends it, and its call."""

    def __init__(self, definition: dict[str, Any], calls: AdapterCalls) -> None:
        self._definition = definition
        self._calls = calls

    def to_dict(self) -> Any:
        """The definition, with the cache marker if it is the last one."""
        return self._definition

    def _content(self, result: CallResult) -> Any:
        [message] = provider("anthropic").messages([result])
        content = message["content"][0]["content"]
        if result.ok:
            return content
        raise AnthropicToolError(content)


class _AsyncTool(_Shown, BetaAsyncBuiltinFunctionTool):
    async def call(self, input: object) -> Any:  # noqa: A002 - the SDK's name for it
        name, context = self._definition["name"], self._calls.context()
        return self._content(await self._calls.call_alone(name, input, context=context))


class _SyncTool(_Shown, BetaBuiltinFunctionTool):
    def call(self, input: object) -> Any:  # noqa: A002 - the SDK's name for it
        name, context = self._definition["name"], self._calls.context()
        return self._content(self._calls.call_sync(name, input, context=context))


@_checks.checked_signature
def to_anthropic(
    view: ToolView,
    *,
    is_async: bool = True,
    context_factory: Callable[[], ToolContext] | None = None,
    turn_budget_chars: float | None = None,
    call_budget_chars: float | None = None,
    **options: Unpack[StreamOptions],
) -> list[Any]:
    """The tools of a view for `client.beta.messages.tool_runner(tools=...)`.

    The runner of an `Anthropic` client needs `is_async=False`. It calls its tools one after the
    other, so each call is a batch of its own, whose result has at most `call_budget_chars`: where a
    reply may have many calls, `view.execute` with `provider("anthropic")` runs them together.
    `context_factory` makes the context of a call. The other options are those of `View.execute`.

    Kept: the definitions as `view.definitions("anthropic")` sends them, with the cache marker; the
    error flag; text, images and PDFs of successes. Lost: the id of a call, which the runner does
    not pass on, `structured`, the cost, progress, and content blocks of errors, which become a line
    of text. There is no approval: use a filter. The runner itself answers unknown names.

    >>> def run(client, view, messages):
    ...     tools = to_anthropic(view)
    ...     return client.beta.messages.tool_runner(
    ...         model="claude-opus-4-8", max_tokens=1024, messages=messages, tools=tools
    ...     )
    """
    calls = AdapterCalls(view, context_factory, turn_budget_chars, call_budget_chars, options)
    make = _AsyncTool if is_async else _SyncTool
    return [make(thaw(shown), calls) for shown in view.definitions("anthropic")]


@_checks.checked_signature
def from_anthropic(tools: Iterable[Any], *, trusted: bool = False) -> list[Tool]:
    """Tools of `@beta_tool` and `@beta_async_tool` as tools for `registry.register_all`.

    The output counts as untrusted unless `trusted`; the toolset of the tools is `anthropic`. The
    tools' validation applies, and its errors are reported as the registry reports others. A
    `ToolError` of the SDK is an error with its text.

    >>> def register(registry, search_tool):
    ...     registry.register_all(from_anthropic([search_tool]))
    """
    found: list[Tool] = []
    for tool in tools:
        shown: Any = tool.to_dict()
        schema = {key: value for key, value in shown["input_schema"].items() if key != "title"}
        found.append(
            framework_tool(
                tool.name,
                shown.get("description"),
                schema,
                _execute(tool, schema),
                toolset="anthropic",
                is_trusted=trusted,
            )
        )
    return found


def _execute(tool: Any, schema: dict[str, Any]) -> Any:
    def failed(error: Exception, args: Any) -> ToolResult:
        if isinstance(error, AnthropicToolError):
            return ToolError(str(error))
        if isinstance(error, ValueError) and isinstance(error.__cause__, ValidationError):
            return argument_error(error.__cause__, args, schema)
        raise error

    if inspect.iscoroutinefunction(tool.call):

        async def execute_async(args: Any, context: ToolContext) -> ToolResult:
            try:
                return _result(await tool.call(args))
            except Exception as error:
                return failed(error, args)

        return execute_async

    def execute(args: Any, context: ToolContext) -> ToolResult:
        try:
            return _result(tool.call(args))
        except Exception as error:
            return failed(error, args)

    return execute


def _result(returned: Any) -> ToolResult:
    if isinstance(returned, str):
        return filled_result(returned)
    return parts_result(map(_part, returned))


def _part(part: Any) -> str | ContentBlock:
    """The image or document of a block that carries its data; a line for another one."""
    source = part.get("source") or {}
    if source.get("type") != "base64":
        return str(part.get("text", f"[{part.get('type')}]"))
    kind = "image" if part.get("type") == "image" else "document"
    return data_block(source["data"], source.get("media_type", ""), kind)
