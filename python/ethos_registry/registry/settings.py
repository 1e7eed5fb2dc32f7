"""The settings of a registry, checked when it is created."""

from __future__ import annotations

from ethos_registry.capabilities.resolver import CapabilityBackends, checked_backends
from ethos_registry.contract import checks
from ethos_registry.contract.errors import ConfigError
from ethos_registry.contract.reducer import ToolResultReducerRegistry
from ethos_registry.execution.runtime import Runtime

__all__ = ["DEFAULT_TIMEOUT_SECONDS", "checked_runtime"]

DEFAULT_TIMEOUT_SECONDS = 120.0
"""The timeout of a tool that sets none, in seconds."""


def checked_runtime(
    backends: CapabilityBackends | None,
    reducers: ToolResultReducerRegistry | None,
    default_timeout_seconds: float | None,
) -> Runtime:
    """The settings of a registry; raises `ConfigError` for an invalid one."""
    if default_timeout_seconds is not None:
        checks.finite_number(default_timeout_seconds, "default_timeout_seconds")
    if reducers is not None and not callable(getattr(reducers, "get", None)):
        raise ConfigError(
            f"`reducer_registry` must have `get(tool_name)`, got {type(reducers).__name__}; "
            "`default_reducers()` makes one"
        )
    return Runtime(
        backends=checked_backends(backends),
        reducers=reducers,
        default_timeout_seconds=default_timeout_seconds,
    )
