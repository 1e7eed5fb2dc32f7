"""Tools and calls for agent frameworks, one module a framework."""

from typing import TYPE_CHECKING

from ethos_registry._lazy import lazy

if TYPE_CHECKING:
    from ethos_registry.adapters._turn_collector import TurnCollector

__all__ = [
    "TurnCollector",
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = lazy(
        __name__,
        {
            "adapters._turn_collector": "TurnCollector",
        },
    )
