"""A tool as a registry knows it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from ethos_registry.contract.tool import Tool

__all__ = ["Registration", "Segment"]

Segment: TypeAlias = Literal["built-in", "plugin", "mcp"]
"""Where a tool comes from; a request lists the segments in this order, the most stable first."""


@dataclass(frozen=True, slots=True)
class Registration:
    """A tool with the tags of its registration, which every kind of copy keeps."""

    tool: Tool
    owner: str | None = None
    """The agent or module that registered it."""
    plugin_id: str | None = None
    """The plugin that brought it; `""` is a tag too."""
    mcp_server: str | None = None
    """The MCP server behind it; gates use this, never the name."""
    mcp_tool: str | None = None
    """Its name at that server."""
    registered_at_seconds: float = 0.0
    """Unix time of the registration: tells a new tool from a dead one."""
    hidden: bool = False
    """Left out of definitions, and still run when called (seed 003)."""

    @property
    def segment(self) -> Segment:
        """MCP when a server stands behind it, plugin when one brought it, else built-in."""
        if self.mcp_server is not None:
            return "mcp"
        return "built-in" if self.plugin_id is None else "plugin"
