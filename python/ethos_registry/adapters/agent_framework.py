"""Microsoft Agent Framework: a view as tools of an agent, and its function tools in a registry.

Needs the extra `agent-framework`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Iterable, Mapping
from contextvars import ContextVar
from typing import Any, Unpack

from pydantic import ValidationError

from ethos_registry._lazy import requires
from ethos_registry.adapters._framework_tools import (
    AdapterDefinition,
    approval_names,
    argument_error,
    data_block,
    definitions_of,
    filled_result,
    framework_tool,
    needs_its_framework,
    parts_result,
)
from ethos_registry.adapters._turn_collector import AdapterCalls, call_factory
from ethos_registry.execution._options import StreamOptions
from ethos_registry.providers._wire_format import sent_parts
from ethos_registry.schema._validate import ArgumentValidator
from ethos_registry.types import _checks
from ethos_registry.types._content import ContentBlock
from ethos_registry.types._context import ToolContext
from ethos_registry.types._errors import ConfigError
from ethos_registry.types._ports import ToolView
from ethos_registry.types._result import ToolError, ToolResult
from ethos_registry.types._tool import Tool

with requires("the adapter for Microsoft Agent Framework", "agent-framework"):
    from agent_framework import Content, FunctionInvocationContext, FunctionTool
    from agent_framework.exceptions import UserInputRequiredException

__all__ = ["from_agent_framework", "to_agent_framework"]


_FRAMEWORK = "the Agent Framework"
_call_id: ContextVar[str] = ContextVar("ethos_registry_call_id", default="")


class _RegistryTool(FunctionTool):
    """Hands on the id of the call, and takes arguments of any name."""

    async def invoke(self, *, tool_call_id: str | None = None, **options: Any) -> Any:
        token = _call_id.set(tool_call_id or "")
        try:
            return await super().invoke(tool_call_id=tool_call_id, **options)
        finally:
            _call_id.reset(token)

    def __call__(self, /, **arguments: Any) -> Any:
        function: Any = self.func
        return function(**arguments)


@_checks.checked_signature
def to_agent_framework(
    view: ToolView,
    *,
    context_factory: Callable[[FunctionInvocationContext], ToolContext] | None = None,
    needs_approval: Collection[str] = (),
    turn_budget_chars: float | None = None,
    call_budget_chars: float | None = None,
    **options: Unpack[StreamOptions],
) -> list[FunctionTool]:
    """The tools of a view for `Agent(tools=...)`.

    The calls of one turn of a run are one batch, whose results share `turn_budget_chars`; calls of
    different runs never share one. `call_budget_chars` is the limit of a call that joins no other,
    and of what a batch has for each of its calls. `context_factory` makes the context of a call
    from the framework's invocation context, so tools can receive its `session` and `kwargs`. The
    tools in `needs_approval` have the approval mode `always_require`. The other options are those
    of `View.execute`.

    Kept: text, images, documents and audio. Lost: the error flag, because the framework replaces
    the text of an exception; `structured`, the cost and progress. The framework checks the types
    of arguments before the tool is called, so `"5"` is refused for a number, in words of the
    framework; it also answers unknown names.

    Raises `ConfigError` for a name in `needs_approval` that the view does not show.
    """
    calls = AdapterCalls(view, context_factory, turn_budget_chars, call_budget_chars, options)
    approved = approval_names(needs_approval, view)
    return [
        _RegistryTool(
            name=shown.name,
            description=shown.description,
            input_model=shown.parameters,
            func=_function(shown, calls),
            approval_mode="always_require" if shown.name in approved else "never_require",
        )
        for shown in definitions_of(view)
    ]


def _function(shown: AdapterDefinition, calls: AdapterCalls) -> Any:
    parameter = "invocation"
    while parameter in shown.parameters.get("properties", {}):
        parameter += "_"

    async def call(**arguments: Any) -> list[Content] | str:
        invocation: FunctionInvocationContext = arguments.pop(parameter)
        result = await calls.call(
            shown.name,
            arguments,
            run=invocation.tools,  # a list of the run's own
            tool_call_id=_call_id.get(),
            context=calls.context(invocation),
        )
        text, blocks = sent_parts(result, lambda block: True)
        parts = [
            Content.from_data(block.data_bytes, block.media_type, name=block.name)
            for block in blocks
        ]
        # Text alone becomes the same content, for which the framework looks into no list.
        return [Content.from_text(text), *parts] if parts else text

    # The framework looks for the parameter that takes its context here. Its name must not be that
    # of an argument.
    kind = inspect.Parameter
    call.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [
            kind(parameter, kind.KEYWORD_ONLY, annotation=FunctionInvocationContext),
            kind("arguments", kind.VAR_KEYWORD),
        ]
    )
    return call


@_checks.checked_signature
def from_agent_framework(
    tools: Iterable[FunctionTool],
    *,
    kwargs_factory: Callable[[ToolContext], Mapping[str, Any]] | None = None,
    trusted: bool = False,
) -> list[Tool]:
    """Function tools of the framework as tools for `registry.register_all`.

    `kwargs_factory` makes what the tools read as `kwargs` of their invocation context from the
    registry's context. The output counts as untrusted unless `trusted`; the toolset of the tools
    is `agent-framework`. The tools' validation applies, and its errors are reported as the registry
    reports others. A tool that needs an approval or asks the user is answered `not_available`: use
    a filter.

    Raises `ConfigError` for what is not a `FunctionTool`, and for a tool without a function.

    >>> def register(registry, search_tool):
    ...     registry.register_all(from_agent_framework([search_tool]))
    """
    found: list[Tool] = []
    for tool in tools:
        if not isinstance(tool, FunctionTool):
            raise ConfigError(
                f"`tools` must hold tools of `agent_framework.tool`, got {type(tool).__name__}"
            )
        if tool.declaration_only:
            raise ConfigError(
                f"tool `{tool.name}` has no function, so a registry cannot run it; leave it out"
            )
        found.append(
            framework_tool(
                tool.name,
                tool.description,
                tool.parameters(),
                _execute(tool, kwargs_factory),
                toolset="agent-framework",
                is_trusted=trusted,
            )
        )
    return found


def _execute(
    tool: FunctionTool, kwargs_factory: Callable[[ToolContext], Mapping[str, Any]] | None
) -> Any:
    async def execute(args: Any, context: ToolContext) -> ToolResult:
        if tool.approval_mode == "always_require":
            return needs_its_framework(tool.name, _FRAMEWORK, "waits for an approval")
        kwargs = call_factory(kwargs_factory, context, name="kwargs_factory") or {}
        try:
            invoke: Any = tool.invoke
            returned = await invoke(
                arguments=args,
                context=FunctionInvocationContext(function=tool, arguments=args, kwargs=kwargs),
                tool_call_id=context.tool_call_id,
                # Data stays data; a parser of the tool's own is not skipped.
                skip_parsing=tool.result_parser is None,
            )
        except UserInputRequiredException:
            return needs_its_framework(tool.name, _FRAMEWORK, "asks the user")
        except TypeError as error:
            problem = _argument_problem(error, tool, args)
            if problem is None:
                raise
            return problem
        return _result(tool.name, returned)

    return execute


def _argument_problem(error: TypeError, tool: FunctionTool, args: Any) -> ToolError | None:
    """What is wrong with the arguments; `None` for a `TypeError` of the tool itself."""
    cause = error.__cause__
    if isinstance(cause, ValidationError):
        return argument_error(cause, args, tool.parameters())
    # The framework's class for this has no public name.
    if type(error) is TypeError:
        return None
    validator = ArgumentValidator(tool.name, tool.parameters())
    return validator.problems(args) or ToolError(str(error), "input_invalid", "invalid_args")


def _result(name: str, returned: Any) -> ToolResult:
    listed = returned if isinstance(returned, list) else [returned]
    if not any(isinstance(part, Content) for part in listed):
        return filled_result(returned)
    parts = FunctionTool.parse_result(returned)
    if any(part.type == "function_approval_request" for part in parts):
        return needs_its_framework(name, _FRAMEWORK, "waits for an approval")
    return parts_result(map(_part, parts))


def _part(part: Content) -> str | ContentBlock:
    if part.type == "text":
        return part.text or ""
    if part.type == "data":
        return data_block((part.uri or "").partition(",")[2], part.media_type or "")
    return str(part.uri or f"[{part.type}]")
