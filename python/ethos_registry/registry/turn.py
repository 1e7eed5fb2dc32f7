"""One turn over a registry: its own overlay, and tools that are forged again at each iteration."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, TypeAlias

from ethos_registry.contract.callables import check_callback
from ethos_registry.contract.dispatch import DispatchContext
from ethos_registry.contract.errors import ConfigError, TurnAlreadySignalledError
from ethos_registry.contract.ports import ForgedTools, ToolResolver
from ethos_registry.contract.tool import Tool
from ethos_registry.registry.merging import RegisteredEntry, entries_of, merged_entries
from ethos_registry.registry.reader import RegistryReader
from ethos_registry.registry.tool_entry import checked_entry
from ethos_registry.table.entry import Entry

if TYPE_CHECKING:  # it makes the turns
    from ethos_registry.registry.tool_registry import ToolRegistry

__all__ = ["Forge", "Turn", "checked_context", "forged_by"]

Forge: TypeAlias = Callable[[DispatchContext], ForgedTools]
"""The function form of a `ToolForge`."""


class Turn:
    """A registry for one turn of an agent; made by `ToolRegistry.turn`.

    `registry` has the tools of its base when the turn began, and those that the forges made.
    When the turn is acknowledged, its ephemeral and forged tools are dropped before `ack` returns.
    Calls run in the turn's context: its abort stops them, its hooks are called for them. The same
    is true of every copy of `registry` (`for_turn`, `copy`, `freeze`, `merge`).

    A forged tool replaces the tool that was forged under its name before, in its position, and
    never a registered tool.

    >>> from ethos_registry import DispatchContext, ToolRegistry
    >>> def forge(context):
    ...     return [Tool("peek", "", {"type": "object"}, lambda args, context: {"ok": True})]
    >>> turn = ToolRegistry().turn(DispatchContext(), forge)
    >>> turn.registry.list()
    ['peek']
    >>> turn.context.ack()
    >>> turn.registry.list()
    []
    """

    __slots__ = ("_forged", "_forges", "context", "iteration", "registry")

    def __init__(self, registry: ToolRegistry, context: DispatchContext, forge: Any) -> None:
        self.registry = registry
        self.context = context
        self.iteration = 0
        """The number of iterations after the first."""
        self._forges = _checked_forges(forge)
        self._forged: dict[str, Entry] = {}
        self._forge()
        registry.bind_context(context)

    def begin_iteration(self) -> int:
        """Forge the tools again for the next request to the model; returns the iteration's number.

        All forges run before anything changes: if one raises, the tools stay as they were. Raises
        `TurnAlreadySignalledError` if the turn has ended.
        """
        checked_context(self.context)
        self._forge()
        self.iteration += 1
        return self.iteration

    def _forge(self) -> None:
        made = [forged_by(forge(self.context), self.context) for forge in self._forges]
        self._forged = self.registry._exchange(self._forged, merged_entries(made, "throw"))

    def __repr__(self) -> str:
        return f"<Turn {self.iteration} over {len(self.registry)} tools>"


def checked_context(context: object) -> DispatchContext:
    """The context, if it is one and its turn has not ended."""
    if not isinstance(context, DispatchContext):
        raise ConfigError(
            f"`context` must be a DispatchContext, got {type(context).__name__}; "
            "`DispatchContext()` makes one"
        )
    if context.is_signalled:
        raise TurnAlreadySignalledError("acknowledged" if context.is_acked else "not acknowledged")
    return context


def forged_by(tools: ForgedTools, context: DispatchContext) -> list[RegisteredEntry]:
    """The entries of what a forge made; they end with the turn."""
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


def _checked_forges(forge: Any) -> list[Forge]:
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
        return [one for item in forge for one in _checked_forges(item)]
    raise ConfigError(
        "`forge` must be a function of the context or have `forge_tools(context)`, "
        f"got {type(forge).__name__}"
    )
