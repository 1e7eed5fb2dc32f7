"""Claude Agent SDK: a view as tools of an in-process server, and such tools in a registry.

Needs the extra `claude-agent-sdk`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Unpack

from ethos_registry._lazy import requires
from ethos_registry.adapters._framework_tools import (
    data_block,
    definitions_of,
    framework_tool,
    parts_result,
)
from ethos_registry.adapters._turn_collector import AdapterCalls
from ethos_registry.execution._options import StreamOptions
from ethos_registry.providers._wire_format import sent_parts
from ethos_registry.types import _checks
from ethos_registry.types._content import ContentBlock, Image
from ethos_registry.types._context import ToolContext
from ethos_registry.types._ports import ToolView
from ethos_registry.types._result import ToolResult
from ethos_registry.types._tool import Tool

with requires("the adapter for the Claude Agent SDK", "claude-agent-sdk"):
    from claude_agent_sdk import SdkMcpTool, create_sdk_mcp_server

__all__ = ["from_claude_agent_sdk", "to_claude_agent_sdk"]


@_checks.checked_signature
def to_claude_agent_sdk(
    view: ToolView,
    *,
    context_factory: Callable[[], ToolContext] | None = None,
    turn_budget_chars: float | None = None,
    call_budget_chars: float | None = None,
    **options: Unpack[StreamOptions],
) -> list[SdkMcpTool[Any]]:
    """The tools of a view for `create_sdk_mcp_server(name, tools=...)`.

    The model sees them as `mcp__<server>__<tool>`. Each call is a batch of its own, because the SDK
    does not say whose it is; its result has at most `call_budget_chars`. `context_factory` makes
    the context of a call. The other options are those of `View.execute`.

    Kept: text, images and the error flag. Lost: `structured`, the cost, the id of a call, progress;
    documents and audio, which become a line of text. The SDK validates arguments before the tool is
    called, so `"5"` is refused for a number, in words of the SDK; it also answers unknown names.
    Approval is the SDK's own (`can_use_tool`, hooks), or a filter.

    >>> def server(view):
    ...     return create_sdk_mcp_server("desk", tools=to_claude_agent_sdk(view))
    """
    calls = AdapterCalls(view, context_factory, turn_budget_chars, call_budget_chars, options)
    return [
        SdkMcpTool(
            shown.name,
            shown.description,
            shown.parameters,
            _handler(shown.name, calls),
        )
        for shown in definitions_of(view)
    ]


def _handler(name: str, calls: AdapterCalls) -> Any:
    async def handler(args: dict[str, Any]) -> dict[str, Any]:
        result = await calls.call_alone(name, args, context=calls.context())
        text, blocks = sent_parts(result, lambda block: isinstance(block, Image))
        content: list[dict[str, Any]] = [{"type": "text", "text": text}]
        content.extend(
            {"type": "image", "data": block.base64_text, "mimeType": block.media_type}
            for block in blocks
        )
        return {"content": content, "is_error": not result.ok}

    return handler


async def from_claude_agent_sdk(
    tools: Iterable[SdkMcpTool[Any]], *, trusted: bool = False
) -> list[Tool]:
    """Tools of `@tool` as tools for `registry.register_all`.

    The output counts as untrusted unless `trusted`; the toolset of the tools is `claude-agent-sdk`.
    Arguments are validated against the schema without coercion, as the SDK does, and the errors are
    those of the registry. `is_error` makes an error of the result.

    >>> async def register(registry, search_tool):
    ...     registry.register_all(await from_claude_agent_sdk([search_tool]))
    """
    from mcp import Client  # a dependency of the SDK

    given = list(tools)
    server: Any = create_sdk_mcp_server("registry", tools=given)
    async with Client(server["instance"]) as client:
        listed = {tool.name: tool.input_schema for tool in (await client.list_tools()).tools}
    return [
        framework_tool(
            tool.name,
            tool.description,
            listed[tool.name],
            _execute(tool.handler),
            toolset="claude-agent-sdk",
            is_trusted=trusted,
        ).replace(strict=True)
        for tool in given
    ]


def _execute(handler: Callable[[Any], Any]) -> Any:
    async def execute(args: Any, context: ToolContext) -> ToolResult:
        returned = await handler(args)
        parts = map(_part, returned.get("content", []))
        return parts_result(parts, is_error=bool(returned.get("is_error")))

    return execute


def _part(part: Mapping[str, Any]) -> str | ContentBlock:
    if part.get("type") == "image":
        return data_block(part["data"], part["mimeType"], "image")
    return str(part.get("text", f"[{part.get('type')}]"))
