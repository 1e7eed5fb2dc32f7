"""Resolves the declared capabilities of a tool to scoped objects; fails closed."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from ethos_registry.contract.callables import check_callback
from ethos_registry.contract.capability import (
    CAPABILITY_ALIASES,
    CAPABILITY_NAMES,
    CapabilityName,
    ToolCapabilities,
)
from ethos_registry.contract.context import ToolContext
from ethos_registry.contract.errors import ConfigError

__all__ = ["CapabilityBackends", "checked_backends", "missing_backend", "resolve_capabilities"]

CapabilityBackends: TypeAlias = Mapping[CapabilityName, Callable[[str, Any, ToolContext], Any]]
"""Capability -> `make(tool_name, declaration, context)`, plain, which returns the scoped object.

`context.turn_attachments` holds the files that came with the turn.
"""

_CONTEXT_FIELDS: dict[CapabilityName, str] = {
    "network": "scoped_fetch",
    "secrets": "secrets_resolver",
    "storage": "kv_store",
    "fs_reach": "scoped_fs",
    "process": "scoped_process",
    "attachments": "attachments",
}


def checked_backends(backends: object) -> CapabilityBackends | None:
    """The backends; raises `ConfigError` for anything but a mapping of factories."""
    if backends is None:
        return None
    if not isinstance(backends, Mapping):
        raise ConfigError(
            "`capability_backends` must map capabilities to factories, "
            f"got {type(backends).__name__}"
        )
    if CAPABILITY_ALIASES.keys() & backends.keys():
        given = backends
        backends = {CAPABILITY_ALIASES.get(name, name): given[name] for name in given}
        if len(backends) < len(given):
            raise ConfigError("`capability_backends` names a capability twice, by two names")
    for name, factory in backends.items():
        if name not in CAPABILITY_NAMES:
            raise ConfigError(
                f"`capability_backends` has an unknown capability {name!r}; "
                f"known are {', '.join(CAPABILITY_NAMES)}"
            )
        check_callback(factory, f"the backend of {name}", "a name", "a declaration", "a context")
    return backends


def missing_backend(
    capabilities: ToolCapabilities, backends: CapabilityBackends
) -> CapabilityName | None:
    """The first declared capability without a backend: the tool must not run without it."""
    return next((name for name in capabilities.declared if name not in backends), None)


def resolve_capabilities(
    tool_name: str,
    capabilities: ToolCapabilities,
    backends: CapabilityBackends,
    context: ToolContext,
) -> dict[str, Any]:
    """The scoped objects by the names of their context fields.

    An exception of a factory propagates. Raises `ConfigError` if a factory returns no object: the
    tool must not run without what it declared.
    """
    scoped: dict[str, Any] = {}
    for name in capabilities.declared:
        made = backends[name](tool_name, getattr(capabilities, name), context)
        if made is None or inspect.isawaitable(made):
            if inspect.iscoroutine(made):
                made.close()
            kind = type(made).__name__
            raise ConfigError(f"the backend of `{name}` must return an object, got {kind}")
        scoped[_CONTEXT_FIELDS[name]] = made
    return scoped
