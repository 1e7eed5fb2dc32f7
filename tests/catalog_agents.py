"""Agents for tests of the catalogue."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ethos_registry import Tool, ok
from ethos_registry.agents import AgentCatalog

if TYPE_CHECKING:
    from collections.abc import Callable


def tool(name: str, **options: Any) -> Tool:
    """A tool that answers with its name."""

    async def execute(args: Any, context: Any) -> Any:
        return ok(name)

    options = {"description": f"The tool {name}.", "execute": execute} | options
    return Tool(name, schema=options.pop("schema", {"type": "object"}), **options)


class Specialist:
    """An agent with some tools, and perhaps a `run`."""

    def __init__(
        self, agent_id: str, *tools: Tool | str, run: Callable[..., Any] | None = None
    ) -> None:
        self.id = agent_id
        self.tools = [tool(each) if isinstance(each, str) else each for each in tools]
        self.registered = 0
        if run is not None:
            self.run = run

    def register_tools(self, catalog: AgentCatalog) -> None:
        """Register the tools."""
        self.registered += 1
        for each in self.tools:
            catalog.register(each)


class Orchestrator(Specialist):
    """An agent that delegates to some others."""

    def __init__(self, agent_id: str, *to: str, **options: Any) -> None:
        super().__init__(agent_id)
        self.to = to
        self.options = options

    def register_tools(self, catalog: AgentCatalog) -> None:
        """Register `delegate_parallel` and `task`."""
        super().register_tools(catalog)
        catalog.register_delegation(to=self.to, **self.options)


def started(*agents: Any, **settings: Any) -> AgentCatalog:
    """A catalogue of these agents that was started."""
    catalog = AgentCatalog(agents, **settings)
    catalog.start()
    return catalog


def names(view: Any) -> list[str]:
    """The names that a view shows."""
    return [shown["name"] for shown in view.definitions()]
