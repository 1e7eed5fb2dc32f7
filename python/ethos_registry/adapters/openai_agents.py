"""OpenAI Agents SDK: a view as tools of an agent, and its function tools in a registry.

Needs the extra `openai-agents`.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Collection, Iterable
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
from ethos_registry.providers._wire_format import DataBlock, sent_parts
from ethos_registry.schema._validate import ArgumentValidator
from ethos_registry.types import _checks
from ethos_registry.types._content import Audio, ContentBlock, Image
from ethos_registry.types._context import ToolContext
from ethos_registry.types._errors import ConfigError
from ethos_registry.types._ports import ToolView
from ethos_registry.types._result import ToolError, ToolResult
from ethos_registry.types._tool import Tool

with requires("the adapter for the OpenAI Agents SDK", "openai-agents"):
    from agents import FunctionTool, ToolOutputFileContent, ToolOutputImage, ToolOutputText
    from agents.exceptions import ModelBehaviorError
    from agents.tool_context import ToolContext as AgentsToolContext
    from agents.tracing import FunctionSpanData, get_current_span

__all__ = ["from_openai_agents", "to_openai_agents"]


@_checks.checked_signature
def to_openai_agents(
    view: ToolView,
    *,
    context_factory: Callable[[AgentsToolContext[Any]], ToolContext] | None = None,
    needs_approval: Collection[str] = (),
    turn_budget_chars: float | None = None,
    call_budget_chars: float | None = None,
    **options: Unpack[StreamOptions],
) -> list[FunctionTool]:
    """The tools of a view for `Agent(tools=...)`.

    The calls of one turn of a run are one batch, whose results share `turn_budget_chars`; calls of
    different runs never share one. `call_budget_chars` is the limit of a call that joins no other,
    and of what a batch has for each of its calls. `context_factory` makes the context of a call
    from the SDK's tool context, so tools can receive what the run was given as `context`. The tools
    in `needs_approval` interrupt the run until `RunState.approve` or `reject`. The other options
    are those of `View.execute`; `on_progress` has no channel here, so give the context an `emit`.

    Kept: text, images and documents; in the trace, the error of a call. Lost: the error flag, which
    these messages do not have; `structured` and the cost; audio, which becomes a line of text;
    progress. The SDK itself ends a run whose reply calls an unknown tool.

    Raises `ConfigError` for a name in `needs_approval` that the view does not show.
    """
    calls = AdapterCalls(view, context_factory, turn_budget_chars, call_budget_chars, options)
    approved = approval_names(needs_approval, view)
    return [
        FunctionTool(
            name=shown.name,
            description=shown.description,
            params_json_schema=shown.parameters,
            on_invoke_tool=_invoke(shown, calls),
            strict_json_schema=False,  # otherwise the SDK rewrites the schema, or refuses it
            needs_approval=shown.name in approved,
        )
        for shown in definitions_of(view)
    ]


def _invoke(shown: AdapterDefinition, calls: AdapterCalls) -> Any:
    async def invoke(ctx: AgentsToolContext[Any], arguments: str) -> Any:
        result = await calls.call(
            shown.name,
            arguments or "{}",
            # The usage is counted per run; an agent that runs as a tool shares that of its caller.
            run=(ctx.usage, ctx.agent, ctx.tool_input),
            tool_call_id=ctx.tool_call_id,
            context=calls.context(ctx),
        )
        text, blocks = sent_parts(result, lambda block: not isinstance(block, Audio))
        if not result.ok:
            _mark_failed(shown.name, text)
        if not blocks:
            return text
        return [ToolOutputText(text=text), *map(_output, blocks)]

    return invoke


def _mark_failed(name: str, text: str) -> None:
    """Show the call as failed in the trace, as the SDK does for its own tools."""
    span = get_current_span()
    if span is not None and isinstance(span.span_data, FunctionSpanData):
        span.set_error(
            {"message": "Error running tool", "data": {"tool_name": name, "error": text}}
        )


def _output(block: DataBlock) -> ToolOutputImage | ToolOutputFileContent:
    if isinstance(block, Image):
        return ToolOutputImage(image_url=block.data_url)
    return ToolOutputFileContent(file_data=block.data_url, filename=block.name or "document")


@_checks.checked_signature
def from_openai_agents(
    tools: Iterable[FunctionTool],
    *,
    context_factory: Callable[[ToolContext], Any] | None = None,
    trusted: bool = False,
) -> list[Tool]:
    """Function tools of the SDK as tools for `registry.register_all`.

    Make them with `@function_tool(failure_error_function=None)`: with the SDK's default a tool that
    fails returns a message, which no one can tell from a success. `context_factory` makes the
    object that the tools receive as `context` from the registry's context. The output counts as
    untrusted unless `trusted`; the toolset of the tools is `openai-agents`. The tools' validation
    applies, and its errors are reported as the registry reports others. A tool that needs an
    approval is answered `not_available`: use a filter.

    Raises `ConfigError` for a tool that hides its errors, and for one with guardrails or a
    condition in `is_enabled`, which run in the SDK's own loop only.

    >>> def register(registry, search_tool):
    ...     registry.register_all(from_openai_agents([search_tool]))
    """
    found: list[Tool] = []
    for tool in tools:
        _check(tool)
        if tool.is_enabled is not False:
            found.append(
                framework_tool(
                    tool.name,
                    tool.description,
                    tool.params_json_schema,
                    _execute(tool, context_factory),
                    toolset="openai-agents",
                    is_trusted=trusted,
                )
            )
    return found


def _check(tool: FunctionTool) -> None:
    if tool.tool_input_guardrails or tool.tool_output_guardrails:
        raise ConfigError(
            f"tool `{tool.name}` has guardrails, which run in the SDK's own loop only; "
            "use filters of the registry"
        )
    if callable(tool.is_enabled):
        raise ConfigError(
            f"tool `{tool.name}` decides in `is_enabled`, which needs a run of the SDK; "
            "use a personality, or `is_available`"
        )
    # A tool that is built by hand has a function here, and what that raises is raised.
    is_decorated = not inspect.isroutine(tool.on_invoke_tool)
    hides = getattr(tool, "_failure_error_function", None) is not None
    is_default = getattr(tool, "_use_default_failure_error_function", False)
    if hides or (is_default and is_decorated):
        raise ConfigError(
            f"tool `{tool.name}` reports its errors as successes; "
            "make it with `@function_tool(failure_error_function=None)`"
        )


def _execute(tool: FunctionTool, context_factory: Callable[[ToolContext], Any] | None) -> Any:

    async def execute(args: Any, context: ToolContext) -> ToolResult:
        if tool.needs_approval is not False:
            return needs_its_framework(tool.name, "the OpenAI Agents SDK", "waits for an approval")
        text = json.dumps(args)
        ctx = AgentsToolContext(
            context=call_factory(context_factory, context),
            tool_name=tool.name,
            tool_call_id=context.tool_call_id,
            tool_arguments=text,
        )
        try:
            returned = await tool.on_invoke_tool(ctx, text)
        except ModelBehaviorError as error:
            cause = error.__cause__ or error.__context__
            if isinstance(cause, ValidationError):
                return argument_error(cause, args, tool.params_json_schema)
            # By default the SDK reports only that the arguments are invalid.
            validator = ArgumentValidator(tool.name, tool.params_json_schema)
            return validator.problems(args) or ToolError(str(error), "input_invalid")
        return _result(returned)

    return execute


def _result(returned: Any) -> ToolResult:
    parts = returned if isinstance(returned, list) else [returned]
    models = (ToolOutputText, ToolOutputImage, ToolOutputFileContent)
    if not parts or not all(isinstance(part, models) for part in parts):
        return filled_result(returned)
    return parts_result(map(_part, parts))


def _part(part: Any) -> str | ContentBlock:
    """Text, the block of a `data:` URL, or another place as a line."""
    if isinstance(part, ToolOutputText):
        text: str = part.text
        return text
    is_image = isinstance(part, ToolOutputImage)
    data = part.image_url if is_image else part.file_data
    if data is None or not data.startswith("data:"):
        return str(data or getattr(part, "file_url", None) or part.file_id)
    media_type, _, encoded = data.removeprefix("data:").partition(";base64,")
    return data_block(encoded, media_type, "image" if is_image else "document")
