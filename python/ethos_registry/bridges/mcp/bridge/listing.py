"""All tools that a server lists, page by page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ethos_registry.bridges.mcp.bridge.definition import RemoteDefinition, remote_definition

if TYPE_CHECKING:
    from mcp.client.client import Client

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
        page = await client.list_tools(cursor=cursor, cache_mode="refresh")
        for tool in page.tools:
            if tool.name in found:
                listing.problems.append((tool.name, "the server lists this name twice"))
            elif len(found) < MAX_TOOLS:
                found[tool.name] = remote_definition(tool)
        cursor = page.next_cursor
        if cursor is None or cursor in seen or len(found) >= MAX_TOOLS:
            break
        seen.add(cursor)
    if cursor is not None:
        listing.problems.append(
            (None, f"the listing was cut at {len(found):,} tools: it has no end, or too many pages")
        )
    listing.definitions = {name: found[name] for name in sorted(found)}
    return listing
