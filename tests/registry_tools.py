"""Tools of the registry's tests, made in a line."""

from __future__ import annotations

from typing import Any

from ethos_registry import Personality, Tool, ToolRegistry

OBJECT = {"type": "object"}


async def ran(args: Any, context: Any) -> dict[str, Any]:
    """Answer that it ran."""
    return {"ok": True, "value": "ran"}


def made(name: str = "t", **fields: Any) -> Tool:
    """A tool of this name."""
    return Tool(
        **{"description": f"The {name}.", "schema": OBJECT, "execute": ran}
        | fields
        | {"name": name}
    )


def names(definitions: list[Any]) -> list[str]:
    """The names of definitions or tools, in their order."""
    return [item.name if isinstance(item, Tool) else item["name"] for item in definitions]


def outcomes(registry: ToolRegistry, called: list[str], *policy: Any) -> dict[str, str | None]:
    """Of each tool that is called, why it was refused; `None` if it ran."""
    calls = [{"id": str(index), "name": name} for index, name in enumerate(called)]
    results = registry.execute_parallel_sync(calls, None, *policy)
    assert [result.name for result in results] == called
    return {result.name: getattr(result.result, "reason", None) for result in results}


EVERYTHING = Personality("everything")
"""Every built-in tool, no server, no plugin."""
