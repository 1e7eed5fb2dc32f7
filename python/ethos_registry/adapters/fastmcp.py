"""FastMCP: a view as tools of a server, and a server's tools in a registry.

Needs the extra `fastmcp`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Unpack

from pydantic import PrivateAttr, ValidationError

from ethos_registry._lazy import requires
from ethos_registry.adapters._framework_tools import (
    AdapterDefinition,
    AsyncProgress,
    argument_error,
    data_block,
    definitions_of,
    framework_tool,
    parts_result,
    result_as_dict,
)
from ethos_registry.adapters._turn_collector import AdapterCalls
from ethos_registry.execution._options import StreamOptions
from ethos_registry.providers._wire_format import DataBlock, sent_parts
from ethos_registry.types import _checks
from ethos_registry.types._content import Audio, ContentBlock, Image
from ethos_registry.types._context import ToolContext, ToolProgressEvent
from ethos_registry.types._ports import ToolView
from ethos_registry.types._result import ToolError, ToolResult
from ethos_registry.types._tool import Tool

with requires("the adapter for FastMCP", "fastmcp"):
    import mcp_types
    from fastmcp import Context, FastMCP
    from fastmcp.exceptions import (
        ToolError as FastMcpToolError,
    )
    from fastmcp.exceptions import (
        ValidationError as FastMcpValidationError,
    )
    from fastmcp.server.dependencies import get_context
    from fastmcp.tools.base import Tool as FastMcpTool
    from fastmcp.tools.base import ToolResult as FastMcpResult

__all__ = ["RegistryTool", "from_fastmcp", "to_fastmcp"]


class RegistryTool(FastMcpTool):
    """One tool of a view; made by `to_fastmcp`."""

    _calls: AdapterCalls = PrivateAttr()
    _name: str = PrivateAttr()

    @classmethod
    def made(cls, shown: AdapterDefinition, calls: AdapterCalls) -> RegistryTool:
        """The tool of a definition."""
        tool = cls(name=shown.name, description=shown.description, parameters=shown.parameters)
        tool._calls = calls
        tool._name = shown.name  # the server may rename the tool
        return tool

    async def run(self, arguments: dict[str, Any]) -> FastMcpResult:
        """Run one call."""
        context = get_context()

        async def send(event: ToolProgressEvent) -> None:
            percent = 0.0 if event.percent is None else event.percent
            await context.report_progress(percent, 100.0, event.message)

        progress = AsyncProgress(send)
        result = await self._calls.call(
            self._name,
            arguments,
            run=context.request_context,
            context=self._calls.context(context),
            on_progress=progress,
        )
        await progress.sent()
        text, blocks = sent_parts(result, lambda block: True)
        content: list[Any] = [mcp_types.TextContent(type="text", text=text)]
        content.extend(map(_content, blocks))
        return FastMcpResult(
            content=content,
            structured_content=result_as_dict(result)["result"].get("structured"),
            is_error=not result.ok,
        )


@_checks.checked_signature
def to_fastmcp(
    view: ToolView,
    *,
    context_factory: Callable[[Context], ToolContext] | None = None,
    turn_budget_chars: float | None = None,
    call_budget_chars: float | None = None,
    **options: Unpack[StreamOptions],
) -> list[FastMcpTool]:
    """The tools of a view, for `server.add_tool`.

    Each request of a client is a batch of its own, whose result has at most `call_budget_chars`.
    Calls that a tool of the server makes in the same tick of its request share a batch and
    `turn_budget_chars`; calls of different requests never do. `context_factory` makes the context
    of a call from the server's `Context`. Progress is sent as notifications. The other options are
    those of `View.execute`.

    Kept: text, all content blocks, `structured` and the error flag. Lost: the cost, and the id of a
    call, which MCP does not have. There is no approval: use a filter. The server itself answers
    unknown names.

    >>> def serve(server, view):
    ...     for tool in to_fastmcp(view):
    ...         server.add_tool(tool)
    """
    calls = AdapterCalls(view, context_factory, turn_budget_chars, call_budget_chars, options)
    return [RegistryTool.made(shown, calls) for shown in definitions_of(view)]


def _content(block: DataBlock) -> Any:
    if isinstance(block, Image):
        return mcp_types.ImageContent(
            type="image", data=block.base64_text, mime_type=block.media_type
        )
    if isinstance(block, Audio):
        return mcp_types.AudioContent(
            type="audio", data=block.base64_text, mime_type=block.media_type
        )
    resource = mcp_types.BlobResourceContents(
        uri=f"document:{block.name or 'result'}",
        blob=block.base64_text,
        mime_type=block.media_type,
    )
    return mcp_types.EmbeddedResource(type="resource", resource=resource)


async def from_fastmcp(
    server: FastMCP[Any],
    *,
    names: Iterable[str] | None = None,
    trusted: bool = False,
) -> list[Tool]:
    """The tools of a server of this process as tools for `registry.register_all`.

    `names` selects tools, by default all. The output counts as untrusted unless `trusted`; the
    toolset of the tools is `fastmcp:<name of the server>`. The server's middleware and validation
    apply, and validation errors are reported as the registry reports others. Structured content
    becomes `structured`. For a server of another process use an MCP client.

    >>> async def register(registry, server):
    ...     registry.register_all(await from_fastmcp(server))
    """
    wanted = None if names is None else set(names)
    return [
        framework_tool(
            tool.name,
            tool.description,
            tool.parameters,
            _execute(server, tool.name, tool.parameters),
            toolset=f"fastmcp:{server.name}",
            is_trusted=trusted,
        )
        for tool in await server.list_tools()
        if wanted is None or tool.name in wanted
    ]


def _execute(server: FastMCP[Any], name: str, schema: dict[str, Any]) -> Any:
    async def execute(args: Any, context: ToolContext) -> ToolResult:
        try:
            returned = await server.call_tool(name, args)
        except FastMcpValidationError as error:
            if isinstance(error.__cause__, ValidationError):
                return argument_error(error.__cause__, args, schema)
            return ToolError(str(error), "input_invalid")
        except FastMcpToolError as error:
            cause = error.__cause__
            # A server that masks the details of its errors keeps them masked.
            if isinstance(cause, Exception) and str(cause) and str(cause) in str(error):
                raise cause from None
            return ToolError(str(error))
        parts = map(_part, returned.content)
        return parts_result(parts, _structured(returned), is_error=returned.is_error)

    return execute


def _part(part: Any) -> str | ContentBlock:
    """Text, a block, or a line for what only a client can fetch."""
    if isinstance(part, mcp_types.TextContent):
        content: str = part.text
        return content
    if isinstance(part, mcp_types.ImageContent | mcp_types.AudioContent):
        return data_block(part.data, part.mime_type, part.type)
    resource = getattr(part, "resource", None)
    if isinstance(resource, mcp_types.BlobResourceContents):
        return data_block(resource.blob, resource.mime_type or "", "document")
    text = getattr(resource, "text", None)
    return text if isinstance(text, str) else str(getattr(part, "uri", type(part).__name__))


def _structured(returned: FastMcpResult) -> Any:
    """Structured content without the wrapper that FastMCP puts around plain values."""
    structured = returned.structured_content
    if isinstance(structured, dict) and structured.keys() == {"result"}:
        value = structured["result"]
        return None if isinstance(value, str) else structured
    return structured
