"""The registry under the constructor of the Ethos framework."""

from __future__ import annotations

from ethos_registry.capabilities.resolver import CapabilityBackends
from ethos_registry.contract.reducer import ToolResultReducerRegistry
from ethos_registry.registry.tool_registry import ToolRegistry

__all__ = ["DefaultToolRegistry"]


class DefaultToolRegistry(ToolRegistry):
    """`ToolRegistry` with the constructor of the Ethos framework."""

    def __init__(
        self,
        capability_backends: CapabilityBackends | None = None,
        reducer_registry: ToolResultReducerRegistry | None = None,
    ) -> None:
        super().__init__(capability_backends=capability_backends, reducer_registry=reducer_registry)
