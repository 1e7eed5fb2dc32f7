"""The entries of several registries, merged."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias, cast, get_args

from ethos_registry._table.entry import Entry
from ethos_registry.registry._entry import checked_entry
from ethos_registry.registry._reader import RegistryReader
from ethos_registry.types import _checks
from ethos_registry.types._checks import check_callback
from ethos_registry.types._errors import (
    ConfigError,
    ToolAlreadyRegisteredError,
    TurnAlreadySignalledError,
)
from ethos_registry.types._ports import ArtifactStore
from ethos_registry.types._tool import CollisionPolicy, Tool
from ethos_registry.types._turn import DispatchContext, ForgedTools, ToolForge, ToolResolver


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
    default = _checks.one_of(
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


# Tools that are made for one turn, and the functions that make them.

Forge: TypeAlias = Callable[[DispatchContext], ForgedTools]
"""The function form of a `ToolForge`."""
ForgeSource: TypeAlias = ToolForge | Forge | Iterable[ToolForge | Forge]
"""What `ToolRegistry.turn` takes."""


def checked_turn(context: Any) -> DispatchContext:
    """The context of a turn; `TurnAlreadySignalledError` if it has ended."""
    way_out = "`DispatchContext()` makes one"
    _checks.instance(context, DispatchContext, "context", "a DispatchContext", way_out)
    if context.is_signalled:
        raise TurnAlreadySignalledError("acknowledged" if context.is_acked else "not acknowledged")
    return cast("DispatchContext", context)


def forged_by(tools: ForgedTools, context: DispatchContext) -> list[RegisteredEntry]:
    """The tools that a forge made, as registrations that end with the turn."""
    if isinstance(tools, RegistryReader):
        return [
            RegisteredEntry(registered.entry.forged_for(context), registered.is_hidden)
            for registered in entries_of(tools)
        ]
    made: Iterable[Any]
    if isinstance(tools, Iterable) and not isinstance(tools, Tool):
        made = tools
    elif isinstance(tools, ToolResolver):
        made = [tools.resolve(name) for name in tools.list()]
    else:
        raise ConfigError(
            f"a forge must return a list of tools or a registry, got {type(tools).__name__}"
        )
    return [
        RegisteredEntry(checked_entry(tool).forged_for(context), is_hidden=False) for tool in made
    ]


def store_of(forges: Sequence[Forge]) -> ArtifactStore | None:
    """The artifact store that the forges read from: the attribute `store` of one of them."""
    for forge in forges:
        store: ArtifactStore | None
        store = getattr(getattr(forge, "__self__", forge), "store", None)
        if callable(getattr(store, "spool", None)):
            return store
    return None


def checked_forges(forge: Any) -> list[Forge]:
    """The functions that make the tools of a turn; `ConfigError` for anything else."""
    if isinstance(forge, Tool):
        raise ConfigError(
            f"`forge` must be a function that makes tools; register the tool `{forge.name}` instead"
        )
    if callable(getattr(forge, "forge_tools", None)):
        made: Forge = forge.forge_tools
        check_callback(made, "forge_tools", "context")
        return [made]
    if callable(forge):
        check_callback(forge, "forge", "context")
        return [forge]
    if isinstance(forge, Iterable) and not isinstance(forge, str):
        return [one for item in forge for one in checked_forges(item)]
    raise ConfigError(
        "`forge` must be a function of the context or have `forge_tools(context)`, "
        f"got {type(forge).__name__}"
    )
