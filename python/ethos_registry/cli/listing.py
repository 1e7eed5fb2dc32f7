"""`ethos-registry tools`: the registered tools, and what a personality may do with them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypedDict

from rich import box
from rich.console import Console, ConsoleOptions, RenderResult
from rich.table import Table
from rich.text import Text

from ethos_registry import Explanation, Personality, Registration, ToolRegistry, provider
from ethos_registry.cli.prefixes import shown_view
from ethos_registry.cli.visible import first_line, visible

__all__ = ["ListedTool", "Listing", "RenderedListing", "definitions", "listing"]

TABLE_MIN_WIDTH = 76


class ListedTool(TypedDict):
    """One tool; `outcome` and `why` are `None` without a personality."""

    name: str
    toolset: str | None
    segment: str
    description: str
    outcome: str | None
    why: str | None


class Listing(TypedDict):
    """All tools, and the entries of the personality that match none of them, by field."""

    personality: str | None
    tools: list[ListedTool]
    unmatched: Mapping[str, list[str]]


def listing(
    registry: ToolRegistry, registrations: list[Registration], personality: Personality | None
) -> Listing:
    """The document that `--json` prints and the table draws."""
    return {
        "personality": None if personality is None else personality.id,
        "tools": [
            _listed(
                item, None if personality is None else registry.explain(item.tool.name, personality)
            )
            for item in registrations
        ],
        "unmatched": {} if personality is None else registry.check(personality),
    }


def definitions(
    registry: ToolRegistry,
    registrations: list[Registration],
    personality: Personality | None,
    provider_name: str,
) -> list[Any]:
    """The definitions for a model of that provider: all tools, or those of the personality."""
    provider(provider_name)
    view = shown_view(registry, registrations, personality)
    return view.definitions(provider_name)


def _listed(item: Registration, explanation: Explanation | None) -> ListedTool:
    return {
        "name": item.tool.name,
        "toolset": item.tool.toolset,
        "segment": item.segment,
        "description": first_line(item.tool.description),
        "outcome": None if explanation is None else explanation.outcome,
        "why": None if explanation is None else explanation.text,
    }


class RenderedListing:
    """Draws a listing: a table, or lines in a narrow terminal."""

    def __init__(self, listing: Listing) -> None:
        self.listing = listing

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """The tools, then what is hidden and why, then entries that match nothing."""
        tools = self.listing["tools"]
        if not tools:
            yield Text("no tools are registered")
        elif options.max_width >= TABLE_MIN_WIDTH:
            yield _table(tools, with_outcome=self.listing["personality"] is not None)
        else:
            for tool in tools:
                outcome = f", {tool['outcome']}" if tool["outcome"] else ""
                yield Text(visible(tool["name"]), style="bold")
                yield Text(f"  {visible(tool['toolset'] or '-')}, {tool['segment']}{outcome}")
                yield Text(f"  {visible(tool['description'])}")
        for tool in tools:
            if tool["why"] is not None and tool["outcome"] != "visible":
                yield Text(visible(tool["why"]), style="yellow")
        for field, entries in self.listing["unmatched"].items():
            names = ", ".join(f"`{visible(entry)}`" for entry in entries)
            if field == "undeclared":
                yield Text(f"no policy binds what declares no capability: {names}", style="yellow")
                continue
            yield Text(f"`{field}` has entries that match nothing: {names}", style="red")


def _table(tools: list[ListedTool], *, with_outcome: bool) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for heading in ("Tool", "Toolset", "Segment", *(("Outcome",) if with_outcome else ())):
        table.add_column(heading, overflow="fold")
    table.add_column("Description", overflow="fold")
    for tool in tools:
        cells = [tool["name"], tool["toolset"] or "-", tool["segment"]]
        if with_outcome:
            cells.append(tool["outcome"] or "-")
        table.add_row(*(Text(visible(cell)) for cell in (*cells, tool["description"])))
    return table
