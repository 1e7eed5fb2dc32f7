"""What a server offers beside tools: instructions, resources, prompts, completions."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ethos_registry import _core
from ethos_registry.mcp._results import from_mcp_result
from ethos_registry.mcp._server_text import cleaned, one_line
from ethos_registry.types._errors import EthosRegistryError
from ethos_registry.types._result import ToolResult

if TYPE_CHECKING:
    from mcp.client.client import Client

READ_RESOURCE = "read_resource"
READ_RESOURCE_DEFINITION: Mapping[str, Any] = {
    "name": READ_RESOURCE,
    "description": "Read a resource of this server by its URI, as links in results name it; "
    "without a URI, list the resources.",
    "inputSchema": {
        "type": "object",
        "properties": {"uri": {"type": "string", "description": "The URI of the resource."}},
    },
}
"""The tool of a server whose resources are offered, as if the server listed it."""
_MAX_ITEMS = 500
_MAX_INSTRUCTIONS_CHARS = 4000


@dataclass(frozen=True, slots=True)
class McpResource:
    """A resource of a server, or a template of such; text without hidden characters."""

    server: str
    uri: str
    """The URI; for a template one with `{...}`."""
    name: str = ""
    description: str = ""
    media_type: str | None = None
    is_template: bool = False


@dataclass(frozen=True, slots=True)
class McpPrompt:
    """A prompt of a server; text without hidden characters."""

    server: str
    name: str
    description: str = ""
    arguments: tuple[str, ...] = ()
    required: tuple[str, ...] = ()


class McpRequestError(EthosRegistryError):
    """A request of a program to an MCP server failed; the server's words are cleaned."""

    __module__ = "ethos_registry.mcp"


def fenced_instructions(server: str, text: str | None) -> str:
    """The instructions of a server, marked as its words and bounded; empty if there are none.

    >>> print(fenced_instructions("git", "Commit often."))
    <untrusted source="mcp:git" tool="instructions">
    Commit often.
    </untrusted>
    """
    shown = cleaned(text or "", _MAX_INSTRUCTIONS_CHARS)
    return _core.wrap(shown, "instructions", f"mcp:{server}") if shown else ""


async def pages(list_page: Callable[[str | None], Awaitable[Any]], most: int) -> AsyncIterator[Any]:
    """The pages of a list, to the last one that has no cursor of its own."""
    cursor: str | None = None
    seen: set[str] = set()
    for _ in range(most):
        page = await list_page(cursor)
        yield page
        cursor = page.next_cursor
        if not cursor or cursor in seen:  # some end with an empty one
            return
        seen.add(cursor)


async def list_items(client: Client, kind: str) -> list[Any]:
    """The `resources`, `resource_templates` or `prompts` of a server, at most 500."""
    found: list[Any] = []
    list_page = getattr(client, f"list_{kind}")
    async for page in pages(lambda cursor: list_page(cursor=cursor), _MAX_ITEMS):
        found += getattr(page, kind)
        if len(found) >= _MAX_ITEMS:
            break
    return found[:_MAX_ITEMS]


async def list_resources(client: Client, server: str) -> list[McpResource]:
    """Resources, then templates; none if the server has none."""
    from mcp.shared.exceptions import MCPError

    if client.server_capabilities.resources is None:
        return []
    resources = await list_items(client, "resources")
    try:
        templates = await list_items(client, "resource_templates")
    except MCPError:  # not every server with resources knows templates
        templates = []
    return [_resource(server, each) for each in (*resources, *templates)]


def address_of(listed: Any) -> str:
    """The URI of a resource, or of a template."""
    return str(listed.uri if hasattr(listed, "uri") else listed.uri_template)


def _resource(server: str, given: Any) -> McpResource:
    return McpResource(
        server,
        one_line(address_of(given), 2000),
        one_line(given.title or given.name or "", 200),
        cleaned(given.description or ""),
        None if given.mime_type is None else one_line(given.mime_type, 100),
        hasattr(given, "uri_template"),
    )


def resource_lines(resources: list[McpResource]) -> str:
    lines = [
        f"{each.uri}{f' ({each.name})' if each.name else ''}"
        f"{f': {one_line(each.description, 200)}' if each.description else ''}"
        for each in resources
    ]
    return "\n".join(lines) or "There are no resources."


async def read_resource(client: Client, uri: str) -> ToolResult:
    """The contents of a resource, as those of a result that embeds it."""
    from mcp_types import CallToolResult, EmbeddedResource

    answer = await client.read_resource(uri)
    content: list[Any] = [
        EmbeddedResource(type="resource", resource=each) for each in answer.contents
    ]
    return from_mcp_result(CallToolResult(content=content))


async def list_prompts(client: Client, server: str) -> list[McpPrompt]:
    """The prompts; none if the server has none."""
    if client.server_capabilities.prompts is None:
        return []
    found = []
    for each in await list_items(client, "prompts"):
        arguments = {one_line(one.name, 200): bool(one.required) for one in each.arguments or ()}
        found.append(
            McpPrompt(
                server,
                one_line(each.name, 200),
                cleaned(each.description or each.title or ""),
                tuple(arguments),
                tuple(name for name, is_required in arguments.items() if is_required),
            )
        )
    return found


async def completions(
    client: Client, place: McpPrompt | McpResource, argument: str, value: str
) -> list[str]:
    """Values that the server proposes for an argument that begins with `value`."""
    from mcp_types import PromptReference, ResourceTemplateReference

    reference = (
        PromptReference(type="ref/prompt", name=place.name)
        if isinstance(place, McpPrompt)
        else ResourceTemplateReference(type="ref/resource", uri=place.uri)
    )
    answer = await client.complete(reference, {"name": argument, "value": value})
    return [one_line(each, 500) for each in answer.completion.values]
