"""One turn over a registry: its own overlay, tools forged anew at each step (seed 003)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, TypeAlias

from ethos_registry.contract.callables import check_callback
from ethos_registry.contract.dispatch import DispatchContext
from ethos_registry.contract.errors import ConfigError, TurnAlreadySignalledError
from ethos_registry.contract.resolver import ForgedTools, ToolResolver
from ethos_registry.contract.tool import Tool
from ethos_registry.registry.merging import Held, held_by, merged_entries
from ethos_registry.registry.reading import RegistryReader
from ethos_registry.registry.tool_entry import checked_entry
from ethos_registry.table.entry import Entry

if TYPE_CHECKING:  # it makes the turns
    from ethos_registry.registry.tool_registry import ToolRegistry

__all__ = ["Forge", "Turn", "checked_context", "forged_by"]

Forge: TypeAlias = Callable[[DispatchContext], ForgedTools]
"""The function form of a `ToolForge`."""


class Turn:
    """A registry for one turn of an agent; made by `ToolRegistry.turn`.

    `registry` holds what the base held when the turn began, and the tools that the forges made.
    Tools that are registered there, ephemeral or not, stay until the turn is acknowledged; then the
    ephemeral and the forged ones are dropped, before `ack` returns. Calls run in the turn's
    context: its abort stops them, its hooks are told of them.

    A forged tool replaces the one that was forged under its name before, in its place, and never a
    tool that somebody registered.

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
        """How many iterations have begun after the first."""
        self._forges = _checked_forges(forge)
        self._forged: dict[str, Entry] = {}
        self._forge()
        registry.bind_context(context)

    def begin_iteration(self) -> int:
        """Forge anew for the next request to the model; the number of the iteration.

        All forges are asked before anything changes: when one raises, the tools are those of
        before. `TurnAlreadySignalledError` when the turn has ended.
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
    """The context of a turn that has not ended."""
    if not isinstance(context, DispatchContext):
        raise ConfigError(
            f"`context` must be a DispatchContext, got {type(context).__name__}; "
            "`DispatchContext()` makes one"
        )
    if context.is_signalled:
        raise TurnAlreadySignalledError("acknowledged" if context.is_acked else "not acknowledged")
    return context


def forged_by(tools: ForgedTools, context: DispatchContext) -> list[Held]:
    """What a forge made, as registrations that end with the turn."""
    if isinstance(tools, RegistryReader):
        return [Held(held.entry.forged_for(context), held.is_hidden) for held in held_by(tools)]
    made: Iterable[Any]
    if isinstance(tools, Iterable) and not isinstance(tools, Tool):
        made = tools
    elif isinstance(tools, ToolResolver):
        made = [tools.resolve(name) for name in tools.list()]
    else:
        raise ConfigError(
            f"a forge gives a list of tools or a registry, got {type(tools).__name__}"
        )
    return [Held(checked_entry(tool).forged_for(context), is_hidden=False) for tool in made]


def _checked_forges(forge: Any) -> list[Forge]:
    if isinstance(forge, Tool):
        raise ConfigError(f"`forge` makes tools, and `{forge.name}` is one; register it")
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
