"""pydantic-ai: a view as a toolset of an agent, and a toolset's tools in a registry.

Needs the extra `pydantic-ai`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Unpack

from pydantic import ValidationError
from pydantic_core import SchemaValidator, core_schema

from ethos_registry._lazy import requires
from ethos_registry.adapters._framework_tools import (
    AdapterDefinition,
    AdapterTools,
    AsyncProgress,
    approval_names,
    argument_error,
    data_block,
    filled_result,
    framework_tool,
    needs_its_framework,
    result_as_dict,
)
from ethos_registry.adapters._turn_collector import AdapterCalls
from ethos_registry.execution._options import StreamOptions
from ethos_registry.providers._wire_format import sent_parts
from ethos_registry.types import _checks
from ethos_registry.types._blocking import called
from ethos_registry.types._call import CallResult
from ethos_registry.types._context import ToolContext, ToolProgressEvent
from ethos_registry.types._ports import ToolView
from ethos_registry.types._result import ToolError, ToolResult
from ethos_registry.types._tool import Tool

with requires("the adapter for pydantic-ai", "pydantic-ai"):
    from pydantic_ai import (
        BinaryContent,
        CustomEvent,
        ModelRetry,
        RunContext,
        ToolDefinition,
        ToolReturn,
    )
    from pydantic_ai.exceptions import ApprovalRequired, CallDeferred, ToolFailed
    from pydantic_ai.toolsets import AbstractToolset, ToolsetTool
    from pydantic_ai.usage import RunUsage

__all__ = ["RegistryToolset", "ToolProgress", "from_pydantic_ai", "to_pydantic_ai"]


_ANY_ARGUMENTS = SchemaValidator(
    core_schema.dict_schema(core_schema.str_schema(), core_schema.any_schema())
)
"""The registry validates: its messages name the field, and it converts `"5"` to 5."""

_NO_LIMIT = 1_000_000_000


@dataclass(kw_only=True)
class ToolProgress(CustomEvent):
    """A step that a running tool reported with `context.report`."""

    message: str
    percent: float | None = None
    audience: str = "internal"


@_checks.checked_signature
def to_pydantic_ai(
    view: ToolView,
    *,
    id: str | None = None,  # noqa: A002 - the framework's name for it
    context_factory: Callable[[RunContext[Any]], ToolContext] | None = None,
    needs_approval: Collection[str] = (),
    argument_retries: int = 0,
    turn_budget_chars: float | None = None,
    call_budget_chars: float | None = None,
    **options: Unpack[StreamOptions],
) -> RegistryToolset:
    """The tools of a view as a toolset for `Agent(toolsets=[...])`.

    The calls of one step of a run are one batch, whose results share `turn_budget_chars`; calls of
    different runs never share one. `call_budget_chars` is the limit of a call that joins no other,
    and of what a batch has for each of its calls. `context_factory` makes the context of a call
    from the `RunContext`, so tools can receive what is in `deps`. Calls of the tools in
    `needs_approval` raise `ApprovalRequired` until the run is resumed with an approval. With
    `argument_retries`, invalid arguments raise `ModelRetry` that many times in a row for a tool, as
    the framework's own validation does; otherwise they fail like other errors, which costs no
    retry. Progress is emitted as `ToolProgress` events. The other options are those of
    `View.execute`.

    Kept: text, images and documents, the result as plain JSON in the `metadata` of a success
    (`CallResult.from_wire` reads it), so a history can be saved. Lost: of
    errors, all but the text; their content blocks become a line of it. The framework itself answers
    unknown names and refuses a reply with two calls of one id.

    Raises `ConfigError` for a name in `needs_approval` that the view does not show.
    """
    calls = AdapterCalls(view, context_factory, turn_budget_chars, call_budget_chars, options)
    names = approval_names(needs_approval, view)
    return RegistryToolset(calls, id, names, argument_retries)


class RegistryToolset(AbstractToolset[Any]):
    """The tools of a view; made by `to_pydantic_ai`."""

    def __init__(
        self,
        calls: AdapterCalls,
        toolset_id: str | None,
        needs_approval: Collection[str],
        argument_retries: int,
    ) -> None:
        self._calls = calls
        self._id = toolset_id
        self._needs_approval = needs_approval
        self._argument_retries = argument_retries
        self._tools = AdapterTools(calls.view, self._toolset_tool)

    @property
    def id(self) -> str | None:
        """The id that was given."""
        return self._id

    def _toolset_tool(self, shown: AdapterDefinition) -> ToolsetTool[Any]:
        return ToolsetTool(
            toolset=self,
            tool_def=ToolDefinition(
                name=shown.name,
                description=shown.description,
                parameters_json_schema=shown.parameters,
            ),
            max_retries=_NO_LIMIT,  # beyond it the run would end; see `_failure`
            args_validator=_ANY_ARGUMENTS,
        )

    async def get_tools(self, ctx: RunContext[Any]) -> dict[str, ToolsetTool[Any]]:
        """The tools that the view shows."""
        return self._tools.current()

    async def call_tool(
        self, name: str, tool_args: dict[str, Any], ctx: RunContext[Any], tool: ToolsetTool[Any]
    ) -> Any:
        """Run one call; calls of the same turn share a batch."""
        name = tool.tool_def.name if tool.toolset is self else name
        if name in self._needs_approval and not ctx.tool_call_approved:
            raise ApprovalRequired({"tool_name": name, "args": tool_args})

        async def emit(event: ToolProgressEvent) -> None:
            shown = ToolProgress(
                message=event.message, percent=event.percent, audience=event.audience
            )
            await ctx.emit(shown)

        progress = AsyncProgress(emit)
        result = await self._calls.call(
            name,
            tool_args,
            run=ctx.tool_manager,
            tool_call_id=ctx.tool_call_id or "",
            context=self._calls.context(ctx),
            on_progress=progress,
        )
        await progress.sent()
        if not result.ok:
            raise self._failure(result, ctx)
        text, blocks = sent_parts(result, lambda block: True)
        parts = [BinaryContent(each.data_bytes, media_type=each.media_type) for each in blocks]
        return ToolReturn([text, *parts] if parts else text, metadata=result_as_dict(result))

    def _failure(self, result: CallResult, ctx: RunContext[Any]) -> Exception:
        text, _ = sent_parts(result, lambda block: False)
        is_invalid = isinstance(result.result, ToolError) and result.result.code == "input_invalid"
        if is_invalid and ctx.retry < self._argument_retries:
            return ModelRetry(text)
        return ToolFailed(text)


async def from_pydantic_ai(
    toolset: AbstractToolset[Any],
    *,
    context_factory: Callable[[ToolContext], RunContext[Any]] | None = None,
    deps: Any = None,
    names: Iterable[str] | None = None,
    trusted: bool = False,
) -> list[Tool]:
    """The tools of a toolset as tools for `registry.register_all`.

    `context_factory` makes the `RunContext` of a call from the registry's context; without it, one
    with `deps` and a `TestModel`. `names` selects tools, by default all. The output counts as
    untrusted unless `trusted`; the toolset of the tools is `pydantic-ai` or `pydantic-ai:<id>`.

    The toolset's own validation applies, and its errors are reported as the registry reports
    others. `ModelRetry` becomes `input_invalid`, `ToolFailed` `execution_failed`. A tool that
    defers a call or asks for an approval is answered `not_available`: use a filter for approvals.
    Open a toolset that holds connections (`async with toolset`) for as long as its tools are used.

    >>> async def tools(toolset, registry):
    ...     registry.register_all(await from_pydantic_ai(toolset, deps=database))
    """

    def made_context(context: ToolContext) -> RunContext[Any]:
        from pydantic_ai.models.test import TestModel

        return RunContext(deps=deps, model=TestModel(), usage=RunUsage())

    make = made_context
    if context_factory is not None:
        make = partial(called, "`context_factory`", context_factory)
    wanted = None if names is None else set(names)
    label = "pydantic-ai" if toolset.id is None else f"pydantic-ai:{toolset.id}"
    shown = await toolset.get_tools(make(ToolContext()))
    return [
        framework_tool(
            name,
            tool.tool_def.description,
            tool.tool_def.parameters_json_schema,
            _execute(toolset, name, tool, make),
            toolset=label,
            is_trusted=trusted,
        )
        for name, tool in shown.items()
        if wanted is None or name in wanted
    ]


def _execute(
    toolset: AbstractToolset[Any],
    name: str,
    tool: ToolsetTool[Any],
    make: Callable[[ToolContext], RunContext[Any]],
) -> Any:
    schema = tool.tool_def.parameters_json_schema

    async def execute(args: Any, context: ToolContext) -> ToolResult:
        run = replace(make(context), tool_call_id=context.tool_call_id, tool_name=name)
        try:
            valid = tool.args_validator.validate_python(args, context=run.validation_context)
        except ValidationError as error:
            return argument_error(error, args, schema)
        try:
            if tool.args_validator_func is not None:
                checked = tool.args_validator_func(run, **valid)
                if asyncio.iscoroutine(checked):
                    await checked
            returned = await toolset.call_tool(name, valid, run, tool)
        except ModelRetry as error:
            return ToolError(error.message, "input_invalid")
        except ToolFailed as error:
            return ToolError(error.message)
        except (ApprovalRequired, CallDeferred):
            return needs_its_framework(
                name, "pydantic-ai", "waits for an approval or an external result"
            )
        return _result(returned)

    return execute


def _result(returned: Any) -> ToolResult:
    """Text, binary content and metadata as a result; other parts become JSON."""
    structured = None
    if isinstance(returned, ToolReturn):
        metadata, extra = returned.metadata, returned.content
        structured = metadata if isinstance(metadata, dict) else None
        returned = returned.return_value
        if extra is not None:
            more = [extra] if isinstance(extra, str) else list(extra)
            own = list(returned) if isinstance(returned, list | tuple) else [returned]
            returned = [*own, *more]
    if isinstance(returned, BinaryContent):
        returned = [returned]
    if not isinstance(returned, list | tuple):
        return filled_result(returned, structured=structured)
    blocks = [
        data_block(part.data, part.media_type)
        for part in returned
        if isinstance(part, BinaryContent)
    ]
    rest = [part for part in returned if not isinstance(part, BinaryContent)]
    if returned and all(isinstance(part, str) for part in rest):
        return filled_result("\n".join(rest), blocks, structured)
    return filled_result(rest if blocks else returned, blocks, structured)
