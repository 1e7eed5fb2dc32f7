"""What several registries hold together (seed 003: `merge`)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple, get_args

from ethos_registry.contract import checks
from ethos_registry.contract.errors import ConfigError, ToolAlreadyRegisteredError
from ethos_registry.contract.tool import CollisionPolicy
from ethos_registry.registry.reading import RegistryReader
from ethos_registry.table.entry import Entry

__all__ = ["Held", "checked_registries", "held_by", "merged_entries"]


class Held(NamedTuple):
    """A registration: its entry, and whether it is left out of definitions."""

    entry: Entry
    is_hidden: bool


def checked_registries(registries: Any) -> list[RegistryReader]:
    """The registries as a list; `ConfigError` for anything else."""
    if isinstance(registries, RegistryReader) or not isinstance(registries, Iterable):
        raise ConfigError(
            f"`registries` must be a list of registries, got {type(registries).__name__}"
        )
    listed = list(registries)
    for registry in listed:
        if not isinstance(registry, RegistryReader):
            raise ConfigError(f"`merge` takes registries, got {type(registry).__name__}")
    return listed


def held_by(registry: RegistryReader) -> list[Held]:
    """What a registry holds at this moment, in registration order."""
    snapshot = registry._snapshot()
    hidden_names = {entry.name for entry in snapshot.hidden()}
    return [Held(entry, entry.name in hidden_names) for entry in snapshot.all()]


def merged_entries(
    parts: Iterable[Iterable[Held]], on_collision: CollisionPolicy | None
) -> dict[str, Held]:
    """The registrations by name, from left to right; a replaced one stands in the first's place.

    The incoming tool's policy decides, then `on_collision` (`None` as `"throw"`). The hidden flag
    is that of the registration that stays: one that is dropped hides nothing.
    """
    default = checks.one_of(
        "throw" if on_collision is None else on_collision,
        get_args(CollisionPolicy),
        "on_collision",
    )
    merged: dict[str, Held] = {}
    for part in parts:
        for held in part:
            name = held.entry.name
            existing = merged.get(name)
            if existing is not None:
                policy: str = held.entry.on_collision
                policy = default if policy == "throw" else policy
                if policy == "throw":
                    raise ToolAlreadyRegisteredError(
                        name,
                        owner=held.entry.owner,
                        existing_owner=existing.entry.owner,
                        way_out="the later tool, or `merge`, may say "
                        '`on_collision="replace"` or `"keep"`',
                    )
                if policy == "keep":
                    continue
            merged[name] = held
    return merged
