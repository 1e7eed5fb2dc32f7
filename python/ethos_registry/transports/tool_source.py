"""The tools of a worker, by the names under which they can be imported."""

from __future__ import annotations

import hashlib
import importlib
import json
from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import entry_points
from typing import Any

from ethos_registry.contract import checks
from ethos_registry.contract.errors import ConfigError
from ethos_registry.contract.tool import Tool
from ethos_registry.execution.tool_digest import tool_digest
from ethos_registry.registry.reader import RegistryReader
from ethos_registry.registry.tool_registry import ToolRegistry

__all__ = ["checked_references", "load_tools", "offered_tools", "registry_digest"]

ENTRY_POINT_GROUP = "ethos_registry.tools"
_ENTRY_POINT = "entry_point:"


def checked_references(tools: str | Sequence[str]) -> tuple[str, ...]:
    """References of tools; `ConfigError` for one that another process cannot import.

    >>> checked_references("package.tools:registry")
    ('package.tools:registry',)
    """
    references = checks.strings([tools] if isinstance(tools, str) else tools, "tools")
    if not references:
        raise ConfigError("`tools` is empty; name what workers import, as `package.tools:registry`")
    for reference in references:
        module, _, attribute = reference.partition(":")
        if not module or not attribute:
            raise ConfigError(
                f"`tools` takes `module:attribute` or `entry_point:NAME`: {reference!r}"
            )
        if module == "__main__":
            raise ConfigError(
                f"workers cannot import the main program: {reference!r}; move the tools to a module"
            )
    return references


def load_tools(references: Sequence[str]) -> RegistryReader:
    """The registry that references name: in a worker.

    A reference is `module:attribute`, or `entry_point:NAME` of the group `ethos_registry.tools`. It
    names a registry, a `Tool`, an iterable of tools, or a function without parameters that returns
    one of these. Of several, the settings are those of the first registry.
    """
    found = [_listed(_named(reference), reference) for reference in references]
    if len(found) == 1 and isinstance(found[0], RegistryReader):
        return found[0]
    found.sort(key=lambda item: not isinstance(item, RegistryReader))
    return ToolRegistry.merge(found)


def offered_tools(registry: RegistryReader) -> dict[str, list[Any]]:
    """For each tool its digest, and whether it is a plain function."""
    return {
        entry.name: [tool_digest(entry), not entry.is_coroutine]
        for entry in registry._snapshot().all()
    }


def registry_digest(offered: Mapping[str, Sequence[Any]]) -> str:
    """SHA-256 hex over the names and digests of `offered_tools`.

    >>> registry_digest({"b": ["2", True], "a": ["1", False]})[:12]
    'ddc7523b594d'
    """
    listed = sorted((name, entry[0]) for name, entry in offered.items())
    return hashlib.sha256(json.dumps(listed).encode()).hexdigest()


def _named(reference: str) -> Any:
    if reference.startswith(_ENTRY_POINT):
        name = reference.removeprefix(_ENTRY_POINT)
        found = list(entry_points(group=ENTRY_POINT_GROUP, name=name))
        if not found:
            raise ConfigError(
                f"no installed package has the entry point {name!r} of {ENTRY_POINT_GROUP}"
            )
        return found[0].load()
    module_name, _, path = reference.partition(":")
    value: Any = importlib.import_module(module_name)
    for name in path.split("."):
        value = getattr(value, name)
    return value


def _listed(value: Any, reference: str) -> RegistryReader | list[Tool]:
    if not isinstance(value, Tool | RegistryReader) and callable(value):
        value = value()
    if isinstance(value, RegistryReader):
        return value
    if isinstance(value, Tool):
        return [value]
    tools = list(value) if isinstance(value, Iterable) else []
    if not tools or not all(isinstance(tool, Tool) for tool in tools):
        raise ConfigError(
            f"{reference!r} is not a registry, a Tool or a list of tools: {type(value).__name__}"
        )
    return tools
