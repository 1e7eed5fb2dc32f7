"""All tools that a server lists, page by page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from ethos_registry.bridges.mcp.bridge.definition import RemoteDefinition, remote_definition

if TYPE_CHECKING:
    from mcp.client.client import Client
    from mcp_types import ListToolsResult

__all__ = ["MAX_PAGES", "MAX_TOOLS", "Listing", "list_tools"]

MAX_PAGES = 100
MAX_TOOLS = 2000


class Listing:
    """The definitions of a server by name, sorted, and what could not be taken."""

    __slots__ = ("definitions", "problems")

    def __init__(self) -> None:
        self.definitions: dict[str, RemoteDefinition] = {}
        self.problems: list[tuple[str | None, str]] = []
        """The name of a tool, or `None`, with what is wrong."""


async def list_tools(client: Client) -> Listing:
    """Every page, up to 100 pages and 2,000 tools; of two tools of one name the first is taken."""
    listing = Listing()
    found: dict[str, RemoteDefinition] = {}
    if client.server_capabilities.tools is None:
        listing.problems.append((None, "the server has no tools"))
        return listing
    cursor: str | None = None
    seen: set[str] = set()
    for _ in range(MAX_PAGES):
        page = await _page(client, cursor, listing)
        for tool in page.tools:
            if tool.name in found:
                listing.problems.append((tool.name, "the server lists this name twice"))
            elif len(found) < MAX_TOOLS:
                found[tool.name] = remote_definition(tool)
        cursor = page.next_cursor
        if not cursor or cursor in seen or len(found) >= MAX_TOOLS:  # some end with an empty one
            break
        seen.add(cursor)
    if cursor:
        listing.problems.append(
            (None, f"the listing was cut at {len(found):,} tools: it has no end, or too many pages")
        )
    listing.definitions = {name: found[name] for name in sorted(found)}
    return listing


async def _page(client: Client, cursor: str | None, listing: Listing) -> ListToolsResult:
    try:
        return await client.list_tools(cursor=cursor, cache_mode="refresh")
    except ValidationError:
        return await _page_without_invalid_tools(client, cursor, listing)


async def _page_without_invalid_tools(
    client: Client, cursor: str | None, listing: Listing
) -> ListToolsResult:
    """The page again, each tool judged by itself: the SDK refuses a page for one invalid tool."""
    import mcp_types
    from mcp_types import methods

    session = client.session
    request = mcp_types.ListToolsRequest(
        params=mcp_types.PaginatedRequestParams(cursor=cursor) if cursor is not None else None
    )
    data = request.model_dump(by_alias=True, mode="json", exclude_none=True)
    options: Any = {}
    session._stamp(data, options)
    dispatcher = session._dispatcher
    answer = await dispatcher.send_raw_request(data["method"], data.get("params"), options)
    tools = []
    for item in answer.get("tools") or ():
        try:
            alone = {**answer, "tools": [item]}
            methods.validate_server_result("tools/list", client.protocol_version, alone)
            tools.append(mcp_types.Tool.model_validate(item, by_name=False))
        except ValidationError as error:
            name = item.get("name") if isinstance(item, dict) else None
            [first, *_] = error.errors()
            place = ".".join(str(part) for part in first["loc"][2:])
            problem = f"was skipped: its definition is invalid at {place}: {first['msg']}"
            listing.problems.append((name if isinstance(name, str) else None, problem))
    page = mcp_types.ListToolsResult(tools=tools, next_cursor=answer.get("nextCursor"))
    is_complete = cursor is None and page.next_cursor is None
    return session._absorb_tool_listing(page, complete=is_complete)
