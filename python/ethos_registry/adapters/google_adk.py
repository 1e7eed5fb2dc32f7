"""Google Agent Development Kit (ADK): a view as a toolset, and tools of ADK in a registry.

Needs the extra `google-adk`.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any, Unpack

from ethos_registry._lazy import requires
from ethos_registry.adapters._framework_tools import (
    AdapterDefinition,
    AdapterTools,
    approval_names,
    data_block,
    filled_result,
    framework_tool,
    needs_its_framework,
    parts_result,
)
from ethos_registry.adapters._turn_collector import AdapterCalls
from ethos_registry.execution._options import StreamOptions
from ethos_registry.providers._wire_format import DataBlock, sent_parts
from ethos_registry.types import _checks
from ethos_registry.types._blocking import called
from ethos_registry.types._content import Audio, ContentBlock
from ethos_registry.types._context import ToolContext
from ethos_registry.types._errors import ConfigError
from ethos_registry.types._ports import ToolView
from ethos_registry.types._result import ToolError, ToolResult
from ethos_registry.types._tool import Tool

with requires("the adapter for Google ADK", "google-adk"):
    from google.adk.agents.invocation_context import InvocationContext
    from google.adk.agents.readonly_context import ReadonlyContext
    from google.adk.sessions import InMemorySessionService, Session
    from google.adk.tools import BaseTool, FunctionTool
    from google.adk.tools import ToolContext as AdkToolContext
    from google.adk.tools.base_toolset import BaseToolset, ToolPredicate
    from google.genai import types

__all__ = ["from_google_adk", "to_google_adk"]


_FRAMEWORK = "ADK"


@_checks.checked_signature
def to_google_adk(
    view: ToolView,
    *,
    context_factory: Callable[[AdkToolContext], ToolContext] | None = None,
    needs_approval: Collection[str] = (),
    tool_filter: ToolPredicate | list[str] | None = None,
    tool_name_prefix: str | None = None,
    turn_budget_chars: float | None = None,
    call_budget_chars: float | None = None,
    **options: Unpack[StreamOptions],
) -> BaseToolset:
    """The tools of a view as a toolset for `LlmAgent(tools=[...])`.

    The calls of one turn of an invocation are one batch, whose results share `turn_budget_chars`;
    calls of different invocations never share one. `call_budget_chars` is the limit of a call that
    joins no other, and of what a batch has for each of its calls. `context_factory` makes the
    context of a call from ADK's tool context, so tools can receive its state, session and
    artifacts. The tools in `needs_approval` ask for ADK's tool confirmation. `tool_filter` and
    `tool_name_prefix` are those of ADK. The other options are those of `View.execute`.

    The response of a call is `{"result": text}` or `{"error": text}`. Kept: text, images and
    documents. Lost: `structured`, the cost and progress; audio, which becomes a line of text. ADK
    itself answers unknown names.

    Raises `ConfigError` for a name in `needs_approval` that the view does not show.
    """
    calls = AdapterCalls(view, context_factory, turn_budget_chars, call_budget_chars, options)
    approved = approval_names(needs_approval, view)
    return _RegistryToolset(
        AdapterTools(
            view,
            lambda shown: _RegistryTool(shown, calls, shown.name in approved),
        ),
        tool_filter,
        tool_name_prefix,
    )


class _RegistryToolset(BaseToolset):
    def __init__(
        self,
        shown: AdapterTools[_RegistryTool],
        tool_filter: ToolPredicate | list[str] | None,
        tool_name_prefix: str | None,
    ) -> None:
        super().__init__(tool_filter=tool_filter, tool_name_prefix=tool_name_prefix)
        self._shown = shown

    async def get_tools(self, readonly_context: ReadonlyContext | None = None) -> list[BaseTool]:
        return [
            tool
            for tool in self._shown.current().values()
            if self._is_tool_selected(tool, readonly_context)
        ]


class _RegistryTool(BaseTool):
    def __init__(self, shown: AdapterDefinition, calls: AdapterCalls, is_approved: bool) -> None:
        super().__init__(name=shown.name, description=shown.description)
        # A prefix of the toolset changes `name` in a copy of the tool.
        self._shown = shown
        self._calls = calls
        self._is_approved = is_approved

    def _get_declaration(self) -> types.FunctionDeclaration:
        name, description, parameters = self._shown
        return types.FunctionDeclaration(
            name=name, description=description, parameters_json_schema=parameters
        )

    async def check_require_confirmation(self, args: Any, tool_context: AdkToolContext) -> bool:
        return self._is_approved

    async def run_async(self, *, args: dict[str, Any], tool_context: AdkToolContext) -> Any:
        result = await self._calls.call(
            self._shown.name,
            args,
            run=(tool_context.session, tool_context.invocation_id),
            tool_call_id=tool_context.function_call_id or "",
            context=self._calls.context(tool_context),
        )
        text, blocks = sent_parts(result, lambda block: not isinstance(block, Audio))
        response: dict[str, Any] = {"result" if result.ok else "error": text}
        if blocks:  # ADK moves these out of the dict
            response["content"] = [
                types.Part.from_bytes(data=block.data_bytes, mime_type=block.media_type)
                for block in blocks
            ]
        return response


async def from_google_adk(
    tools: BaseToolset | Iterable[BaseTool | Callable[..., Any]],
    *,
    context_factory: Callable[[ToolContext], AdkToolContext] | None = None,
    trusted: bool = False,
) -> list[Tool]:
    """Tools, functions or a toolset of ADK as tools for `registry.register_all`.

    `context_factory` makes ADK's tool context from the registry's context; by default each call has
    a new session in memory, whose state and artifacts are dropped. The output counts as untrusted
    unless `trusted`; the toolset of the tools is `google-adk`. The registry validates arguments
    against the declaration of a tool, without coercion; ADK calls functions unchecked. A dict whose
    only key is `error` makes an error of the result. A tool that asks for a confirmation or for
    credentials is answered `not_available`: use a filter.

    Raises `ConfigError` for a tool without a declaration, which the model's service runs itself,
    and for a long-running one.

    >>> async def register(registry, search_tool):
    ...     registry.register_all(await from_google_adk([search_tool]))
    """
    given = await tools.get_tools_with_prefix() if isinstance(tools, BaseToolset) else tools
    return [
        _tool(each if isinstance(each, BaseTool) else FunctionTool(each), context_factory, trusted)
        for each in given
    ]


def _tool(
    tool: BaseTool,
    context_factory: Callable[[ToolContext], AdkToolContext] | None,
    is_trusted: bool,
) -> Tool:
    declaration = tool._get_declaration()
    if declaration is None:
        raise ConfigError(
            f"tool `{tool.name}` has no declaration: the service of the model runs it; leave it out"
        )
    if tool.is_long_running:
        raise ConfigError(
            f"tool `{tool.name}` is long-running, and only an agent of ADK receives its result; "
            "leave it out"
        )
    return framework_tool(
        tool.name,
        tool.description,
        _schema(declaration),
        _execute(tool, context_factory or _own_context),
        toolset="google-adk",
        is_trusted=is_trusted,
    ).replace(strict=True)


def _schema(declaration: types.FunctionDeclaration) -> Mapping[str, Any]:
    if declaration.parameters_json_schema is not None:
        return dict(declaration.parameters_json_schema)
    if declaration.parameters is None:
        return {"type": "object", "properties": {}}
    # Gemini's own schema has other names of types.
    schema: dict[str, Any] = declaration.parameters.json_schema.model_dump(
        mode="json", by_alias=True, exclude_none=True
    )
    return schema


def _own_context(context: ToolContext) -> AdkToolContext:
    session = Session(id=uuid.uuid4().hex, app_name="ethos-registry", user_id="registry")
    invocation = InvocationContext(
        session_service=InMemorySessionService(), invocation_id=session.id, session=session
    )
    return AdkToolContext(invocation_context=invocation, function_call_id=context.tool_call_id)


def _execute(tool: BaseTool, context_factory: Callable[[ToolContext], AdkToolContext]) -> Any:
    async def execute(args: Any, context: ToolContext) -> ToolResult:
        theirs = called("`context_factory`", context_factory, context)
        arguments = dict(args)
        if await tool.check_require_confirmation(arguments, theirs):
            return needs_its_framework(tool.name, _FRAMEWORK, "waits for a confirmation")
        returned = await tool.run_async(args=arguments, tool_context=theirs)
        if theirs.actions.requested_tool_confirmations:
            return needs_its_framework(tool.name, _FRAMEWORK, "waits for a confirmation")
        if theirs.actions.requested_auth_configs:
            return needs_its_framework(tool.name, _FRAMEWORK, "asks for credentials")
        return _result(returned)

    return execute


def _result(returned: Any) -> ToolResult:
    if isinstance(returned, Mapping):
        if returned.keys() == {"error"} and isinstance(returned["error"], str):
            return ToolError(returned["error"])
        blocks: list[ContentBlock] = []
        others = {key: value for key, value in returned.items() if not _moved(value, blocks)}
        if blocks and others.keys() == {"result"}:
            return filled_result(others["result"], blocks)
        return filled_result(others if others or not blocks else "", blocks)
    parts = returned if isinstance(returned, list | tuple) else [returned]
    if not any(isinstance(part, types.Part) for part in parts):
        return filled_result(returned)
    found: list[ContentBlock] = []
    strings = [_text(part) for part in parts if not _moved(part, found)]
    return parts_result([*strings, *found])


def _moved(value: Any, blocks: list[ContentBlock]) -> bool:
    """Whether the value is media, alone or a list of it, which is then among the blocks."""
    listed = value if isinstance(value, list | tuple) else [value]
    found = [_block(part) for part in listed]
    moved = [block for block in found if block is not None]
    if not moved or len(moved) != len(found):
        return False
    blocks.extend(moved)
    return True


def _block(part: Any) -> DataBlock | None:
    if not isinstance(part, types.Part) or part.inline_data is None or not part.inline_data.data:
        return None
    return data_block(part.inline_data.data, part.inline_data.mime_type or "")


def _text(part: Any) -> str:
    if not isinstance(part, types.Part):
        return str(part)
    if part.file_data is not None:
        return str(part.file_data.file_uri)
    return part.text or ""
