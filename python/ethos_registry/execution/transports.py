"""Which transport runs a tool."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ethos_registry.artifacts.artifact_tool import ArtifactTool
from ethos_registry.contract.errors import ConfigError
from ethos_registry.contract.transport import ToolTransport, TransportTraits
from ethos_registry.table.entry import Entry
from ethos_registry.table.snapshot import Snapshot

__all__ = ["Transports", "checked_transports"]

_TOOL, _TOOLSET, _ALL = "tool:", "toolset:", "*"


class Transports:
    """The transports of a registry by tool, by toolset and for the rest."""

    __slots__ = ("_all", "_tools", "_toolsets")

    def __init__(self, given: Mapping[str, ToolTransport]) -> None:
        self._tools = _below(given, _TOOL)
        self._toolsets = _below(given, _TOOLSET)
        self._all = given.get(_ALL)

    def of(self, entry: Entry) -> ToolTransport | None:
        """The transport that runs a tool; `None` if the registry calls its function itself.

        Tools that read the artifacts of a turn always run here: their store is in this process.
        """
        if isinstance(entry.tool, ArtifactTool):
            return None
        found = self._tools.get(entry.name)
        if found is None and entry.toolset is not None:
            found = self._toolsets.get(entry.toolset)
        if found is None:
            found = self._all
        return None if found is None or found.traits.in_place else found

    def idle_keys(self, snapshot: Snapshot) -> Iterator[str]:
        """The keys that name no registered tool or toolset: those tools would run here."""
        for name in self._tools:
            if snapshot.get(name) is None:
                yield _TOOL + name
        for name in self._toolsets:
            if not snapshot.group(name):
                yield _TOOLSET + name


def _below(given: Mapping[str, ToolTransport], prefix: str) -> dict[str, ToolTransport]:
    return {
        key.removeprefix(prefix): transport
        for key, transport in given.items()
        if key.startswith(prefix)
    }


def checked_transports(given: Any) -> Transports | None:
    """The transports of a registry; `ConfigError` for a wrong key or value."""
    if given is None:
        return None
    if not isinstance(given, Mapping):
        raise ConfigError(
            f"`transports` must map tools to transports, got {type(given).__name__}; "
            'for all tools: `{"*": transport}`'
        )
    for key, transport in given.items():
        is_named = isinstance(key, str) and any(
            key.startswith(prefix) and len(key) > len(prefix) for prefix in (_TOOL, _TOOLSET)
        )
        if not is_named and key != _ALL:
            raise ConfigError(
                f"`transports` has an unknown key {key!r}; use `tool:NAME`, `toolset:NAME` or `*`"
            )
        traits = getattr(transport, "traits", None)
        if not isinstance(transport, ToolTransport) or not isinstance(traits, TransportTraits):
            raise ConfigError(
                f"`transports[{key!r}]` must be a ToolTransport, got {type(transport).__name__}"
            )
    return Transports(given) if given else None
