"""A tool with the tags of its registration."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from ethos_registry.contract.tool import Tool

__all__ = ["Registration", "Segment"]

Segment: TypeAlias = Literal["built-in", "plugin", "mcp"]
"""The origin of a tool; a request lists the segments in this order, the most stable first."""


@dataclass(frozen=True, slots=True)
class Registration:
    """A tool with the tags of its registration; every kind of copy keeps them."""

    tool: Tool
    owner: str | None = None
    """The agent or module that registered it."""
    plugin_id: str | None = None
    """The plugin that registered it; `""` is a tag too."""
    mcp_server: str | None = None
    """The MCP server that provides it; gates use this, never the name."""
    mcp_tool: str | None = None
    """Its name on that server."""
    registered_at_seconds: float = 0.0
    """Unix time of the registration, in seconds."""
    hidden: bool = False
    """Whether it is left out of definitions; it runs when called."""

    @property
    def segment(self) -> Segment:
        """`"mcp"` with an MCP server, `"plugin"` with a plugin, else `"built-in"`."""
        if self.mcp_server is not None:
            return "mcp"
        return "built-in" if self.plugin_id is None else "plugin"
