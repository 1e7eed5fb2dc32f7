"""The entries of several registries, merged."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple, get_args

from ethos_registry.contract import checks
from ethos_registry.contract.dispatch import DispatchContext
from ethos_registry.contract.errors import ConfigError, ToolAlreadyRegisteredError
from ethos_registry.contract.tool import CollisionPolicy, Tool
from ethos_registry.registry.reader import RegistryReader
from ethos_registry.table.entry import Entry

__all__ = [
    "RegisteredEntry",
    "checked_registries",
    "entries_of",
    "merged_entries",
    "shared_turn",
]


class RegisteredEntry(NamedTuple):
    """An entry, and whether it is left out of definitions."""

    entry: Entry
    is_hidden: bool


def checked_registries(
    registries: Any, registry_of: Callable[[Iterable[Tool]], RegistryReader]
) -> list[RegistryReader]:
    """The registries as a list; `registry_of` makes one of a list of tools.

    Raises `ConfigError` for anything else.
    """
    if isinstance(registries, RegistryReader) or not isinstance(registries, Iterable):
        raise ConfigError(
            f"`registries` must be a list of registries, got {type(registries).__name__}"
        )
    return [_as_registry(item, registry_of) for item in registries]


def _as_registry(
    item: Any, registry_of: Callable[[Iterable[Tool]], RegistryReader]
) -> RegistryReader:
    if isinstance(item, RegistryReader):
        return item
    if isinstance(item, Tool):
        raise ConfigError(
            f"`merge` takes registries and lists of tools, got the tool `{item.name}`; "
            "put it in a list"
        )
    if isinstance(item, str | bytes | Mapping) or not isinstance(item, Iterable):
        raise ConfigError(f"`merge` takes registries and lists of tools, got {type(item).__name__}")
    return registry_of(item)


def shared_turn(registries: Iterable[RegistryReader]) -> DispatchContext | None:
    """The turn that these registries belong to, if any; raises `ConfigError` for two turns."""
    turn: DispatchContext | None = None
    for registry in registries:
        other = registry._turn()
        if other is not None and turn is not None and other is not turn:
            raise ConfigError(
                "the registries of two turns cannot be merged: the calls of the result would "
                "belong to only one of them; merge the registries that the turns were made from"
            )
        turn = turn or other
    return turn


def entries_of(registry: RegistryReader) -> list[RegisteredEntry]:
    """The current entries of a registry, in registration order."""
    snapshot = registry._snapshot()
    hidden_names = {entry.name for entry in snapshot.hidden()}
    return [RegisteredEntry(entry, entry.name in hidden_names) for entry in snapshot.all()]


def merged_entries(
    parts: Iterable[Iterable[RegisteredEntry]], on_collision: CollisionPolicy | None
) -> dict[str, RegisteredEntry]:
    """The entries by name, from left to right; a replacement takes the position of the first.

    The incoming tool's policy decides, then `on_collision` (`None` is `"throw"`). The hidden flag
    is that of the entry that is kept.
    """
    default = checks.one_of(
        "throw" if on_collision is None else on_collision,
        get_args(CollisionPolicy),
        "on_collision",
    )
    merged: dict[str, RegisteredEntry] = {}
    for part in parts:
        for registered in part:
            name = registered.entry.name
            existing = merged.get(name)
            if existing is not None:
                policy: str = registered.entry.on_collision
                policy = default if policy == "throw" else policy
                if policy == "throw":
                    raise ToolAlreadyRegisteredError(
                        name,
                        owner=registered.entry.owner,
                        existing_owner=existing.entry.owner,
                        way_out='set `on_collision="replace"` or `"keep"` on the later tool or in '
                        "`merge`",
                    )
                if policy == "keep":
                    continue
            merged[name] = registered
    return merged
