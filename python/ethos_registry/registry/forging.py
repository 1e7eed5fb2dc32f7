"""Tools that are made for one turn, and the functions that make them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeAlias

from ethos_registry.contract.callables import check_callback
from ethos_registry.contract.dispatch import DispatchContext
from ethos_registry.contract.errors import ConfigError, TurnAlreadySignalledError
from ethos_registry.contract.ports import ArtifactStore
from ethos_registry.contract.resolver import ForgedTools, ToolForge, ToolResolver
from ethos_registry.contract.tool import Tool
from ethos_registry.registry.merging import RegisteredEntry, entries_of
from ethos_registry.registry.reader import RegistryReader
from ethos_registry.registry.tool_entry import checked_entry

__all__ = ["Forge", "ForgeSource", "checked_context", "checked_forges", "forged_by", "store_of"]

Forge: TypeAlias = Callable[[DispatchContext], ForgedTools]
"""The function form of a `ToolForge`."""
ForgeSource: TypeAlias = ToolForge | Forge | Iterable[ToolForge | Forge]
"""What `ToolRegistry.turn` takes."""


def checked_context(context: object) -> DispatchContext:
    """The context of a turn; `TurnAlreadySignalledError` if it has ended."""
    if not isinstance(context, DispatchContext):
        raise ConfigError(
            f"`context` must be a DispatchContext, got {type(context).__name__}; "
            "`DispatchContext()` makes one"
        )
    if context.is_signalled:
        raise TurnAlreadySignalledError("acknowledged" if context.is_acked else "not acknowledged")
    return context


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
        store: Any = getattr(getattr(forge, "__self__", forge), "store", None)
        if callable(getattr(store, "spool", None)):
            found: ArtifactStore = store
            return found
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
