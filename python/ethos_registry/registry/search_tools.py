"""The tools with which a model searches for tools and calls what it found."""

from __future__ import annotations

from typing import Any

from ethos_registry.contract.result import ToolError, ToolOk, err, ok
from ethos_registry.contract.tool import Tool
from ethos_registry.registry.tool_entry import checked_entry
from ethos_registry.registry.tool_search import FoundTools
from ethos_registry.table.entry import Entry

__all__ = ["CALL_FOUND_TOOL", "SEARCH_TOOLS", "caller_entry", "search_entry"]

SEARCH_TOOLS = "search_tools"
CALL_FOUND_TOOL = "call_found_tool"
_DESCRIPTION_CHARS = 300


def search_entry(tools: FoundTools, *, shows_parameters: bool) -> Entry:
    """The entry of `search_tools`, which loads what it finds."""

    async def search_tools(args: dict[str, Any], context: object) -> ToolOk | ToolError:
        query, limit = args.get("query"), args.get("limit", tools.options.limit)
        if not isinstance(query, str) or not query.strip():
            return err("query: a few words about what the tool should do", "input_invalid")
        if isinstance(limit, bool) or not isinstance(limit, int) or limit < 1:
            return err("limit: a whole number from 1", "input_invalid")
        await tools.prepare()
        result = tools.search(query, limit)
        lines = [_shown(entry, shows_parameters=shows_parameters) for entry in result.loaded]
        if result.left_out:
            names = ", ".join(entry.name for entry in result.left_out)
            lines.append(f"Not loaded, because the budget of definitions is used up: {names}")
        if not lines:
            return ok("No tool matches. Try other words.", structured={"tools": []})
        if shows_parameters and result.loaded:
            lines.append(f"Call these with {CALL_FOUND_TOOL}.")
        names_found = [entry.name for entry in result.loaded]
        return ok("\n".join(lines), structured={"tools": names_found})

    tool = Tool(
        SEARCH_TOOLS,
        "Find tools that are not in your list, by what they do. Tools that are found can be called "
        "from then on.",
        {
            "type": "object",
            "properties": {
                "query": {
                    "type": "string",
                    "description": "A few words about the task, such as `create calendar event`.",
                },
                "limit": {
                    "type": "integer",
                    "minimum": 1,
                    "maximum": tools.options.limit,
                    "description": "The most tools to find.",
                },
            },
            "required": ["query"],
            "additionalProperties": False,
        },
        search_tools,
        always_include=True,
        idempotent=True,
    )
    return checked_entry(tool)


def caller_entry() -> Entry:
    """The entry of `call_found_tool`; it runs only for calls that name no found tool."""

    async def call_found_tool(args: dict[str, Any], context: object) -> ToolError:
        name = args.get("name")
        return err(
            f"name: no tool {str(name)[:100]!r} was found in this conversation; "
            f"call {SEARCH_TOOLS} first",
            "input_invalid",
        )

    tool = Tool(
        CALL_FOUND_TOOL,
        f"Call a tool that {SEARCH_TOOLS} found.",
        {
            "type": "object",
            "properties": {
                "name": {"type": "string", "description": "The name of the tool."},
                "arguments": {
                    "type": "object",
                    "description": f"Its arguments, by the parameters that {SEARCH_TOOLS} showed.",
                },
            },
            "required": ["name", "arguments"],
            "additionalProperties": False,
        },
        call_found_tool,
        always_include=True,
    )
    return checked_entry(tool)


def _shown(entry: Entry, *, shows_parameters: bool) -> str:
    if shows_parameters:
        return entry.definition.text.decode()
    description = " ".join(entry.definition.fresh()["description"].split())
    if len(description) > _DESCRIPTION_CHARS:
        description = f"{description[: _DESCRIPTION_CHARS - 1]}…"
    return f"{entry.name}: {description}"
