"""A registry that holds the tools of a bridge."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ethos_registry.bridges.mcp.bridge.bridged_tool import BridgedTool
from ethos_registry.bridges.mcp.bridge.reports import McpProblem
from ethos_registry.contract.errors import ToolAlreadyRegisteredError
from ethos_registry.contract.tool import Tool
from ethos_registry.registry.tool_registry import ToolRegistry

__all__ = ["AttachedRegistry"]


class AttachedRegistry:
    """Keeps the tools of each server in a registry as they are listed.

    A view works on the entries of the moment it was made, so none of this changes a running one.
    """

    __slots__ = ("_tools", "problems", "registry")

    def __init__(self, registry: ToolRegistry) -> None:
        self.registry = registry
        self._tools: dict[str, dict[str, Tool]] = {}
        self.problems: dict[str, list[McpProblem]] = {}

    def update(self, server: str, tools: Mapping[str, BridgedTool]) -> None:
        """Register what is new or changed, and remove what is gone."""
        before = self._tools.get(server, {})
        problems: list[McpProblem] = []
        now: dict[str, Tool] = {}
        for raw, bridged in sorted(tools.items(), key=lambda item: item[1].name):
            name, tool = bridged.name, bridged.tool
            present = self.registry.get(name)
            is_ours = present is not None and present is before.get(name)
            if is_ours and present is tool:
                now[name] = tool
                continue
            try:
                self.registry.register(tool, is_ours, mcp_server=server)
                now[name] = tool
            except ToolAlreadyRegisteredError as error:
                problems.append(McpProblem(server, "collision", str(error), raw))
        for name, tool in before.items():
            if name not in now and self.registry.get(name) is tool:
                self.registry.unregister(name)
        self._tools[server] = now
        self.problems[server] = problems

    def remove(self, servers: Iterable[str]) -> None:
        """Take the tools of these servers out of the registry."""
        for server in servers:
            self.update(server, {})
