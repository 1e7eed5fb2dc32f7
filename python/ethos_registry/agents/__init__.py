"""One catalogue for many agents, grants, and agents that call agents."""

from typing import TYPE_CHECKING

from ethos_registry._lazy import lazy

if TYPE_CHECKING:
    from ethos_registry.agents._agent import Agent
    from ethos_registry.agents._catalog import AgentCatalog
    from ethos_registry.agents._catalog_view import CatalogView

__all__ = [
    "Agent",
    "AgentCatalog",
    "CatalogView",
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = lazy(
        __name__,
        {
            "agents._agent": "Agent",
            "agents._catalog": "AgentCatalog",
            "agents._catalog_view": "CatalogView",
        },
    )
