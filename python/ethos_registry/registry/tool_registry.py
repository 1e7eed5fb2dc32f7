"""The mutable registry."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NoReturn, TypeGuard

from ethos_registry import _core
from ethos_registry.capabilities.resolver import CapabilityBackends
from ethos_registry.contract import checks
from ethos_registry.contract.dispatch import DispatchContext
from ethos_registry.contract.errors import ConfigError
from ethos_registry.contract.policy import ToolFilterOpts
from ethos_registry.contract.ports import ToolForge, TurnScope
from ethos_registry.contract.reducer import ToolResultReducerRegistry
from ethos_registry.contract.tool import CollisionPolicy, Tool
from ethos_registry.execution.runtime import Runtime
from ethos_registry.registry.frozen import FrozenToolRegistry, frozen_copy
from ethos_registry.registry.merging import (
    RegisteredEntry,
    entries_of,
    merged_entries,
    shared_turn,
)
from ethos_registry.registry.reader import RegistryReader
from ethos_registry.registry.settings import DEFAULT_TIMEOUT_SECONDS, checked_runtime
from ethos_registry.registry.tool_entry import validated_entry
from ethos_registry.registry.turn import Forge, Turn, checked_context
from ethos_registry.registry.writer import RegistryWriter
from ethos_registry.table.admission import Admission
from ethos_registry.table.entry import Entry
from ethos_registry.table.entry_table import EntryTable
from ethos_registry.table.gates import PolicyKey, compile_gate, policy_key
from ethos_registry.table.snapshot import Snapshot

__all__ = ["DefaultToolRegistry", "ToolRegistry", "is_tool_registry"]

_CACHED_POLICIES = 64


def is_tool_registry(value: object) -> TypeGuard[ToolRegistry]:
    """Whether this is an instance of `ToolRegistry` or of a subclass; a class's name is not enough.

    >>> is_tool_registry(ToolRegistry()), is_tool_registry(ToolRegistry)
    (True, False)
    """
    return ToolRegistry in type(value).__mro__


class ToolRegistry(RegistryWriter):
    """Stores tools, shows each agent only those that it may use, and answers every call.

    Thread-safe. `reducer_registry` shortens results (`default_reducers()` has the built-in
    reducers; without it nothing is reduced). `default_timeout_seconds` is the timeout of tools that
    set none, `None` for no timeout. With `validate_arguments` the arguments of every tool are
    validated against its schema without coercion, as those of `strict` tools always are.

    >>> registry = ToolRegistry()
    >>> @registry.tool
    ... def add(a: int, b: int) -> int:
    ...     \"\"\"Add two numbers.\"\"\"
    ...     return a + b
    >>> [definition["name"] for definition in registry.to_definitions()]
    ['add']
    >>> calls = [{"id": "1", "name": "add", "args": {"a": 2, "b": 3}}]
    >>> [result] = registry.execute_parallel_sync(calls)
    >>> result.text
    '5'
    """

    def __init__(
        self,
        tools: Iterable[Tool] = (),
        *,
        capability_backends: CapabilityBackends | None = None,
        reducer_registry: ToolResultReducerRegistry | None = None,
        default_timeout_seconds: float | None = DEFAULT_TIMEOUT_SECONDS,
        validate_arguments: bool = False,
    ) -> None:
        self._validates_arguments = checks.boolean(validate_arguments, "validate_arguments")
        self._table = EntryTable()
        self._runtime = checked_runtime(
            capability_backends, reducer_registry, default_timeout_seconds
        )
        self._gates: dict[PolicyKey, _core.Gate | None] = {}
        self._dispatch: DispatchContext | None = None
        self.register_all(tools)

    # Lifetimes

    def prune_ephemeral(self) -> None:
        """Remove every ephemeral tool; calling it again has no effect."""
        self._table.remove_ephemeral()

    def bind_context(self, context: TurnScope) -> Callable[[], None]:
        """Remove the ephemeral tools when the turn is acknowledged, before `ack` returns.

        Returns an idempotent unsubscribe function. After `nack` the tools stay, for inspection. The
        binding belongs to this registry: copies of it, merged ones included, are bound separately.
        """
        if not callable(getattr(context, "on_ack", None)):
            raise ConfigError(
                f"`context` must have `on_ack(handler)`, got {type(context).__name__}; "
                "`DispatchContext()` makes one"
            )
        return context.on_ack(self.prune_ephemeral)

    def for_turn(self) -> ToolRegistry:
        """An independent copy for one turn.

        Its changes do not affect this registry or other turns, and later changes of this registry
        do not affect it. Creating it takes the same time for any number of tools. Tags, order and
        hidden flags are kept. Calls run with the settings of this registry, under the same turn if
        it has one, and `abandoned_calls` counts for both.

        >>> registry = ToolRegistry()
        >>> turn = registry.for_turn()
        >>> turn.register(Tool("now", "", {"type": "object"}, lambda args, context: {"ok": True}))
        >>> turn.list(), registry.list()
        (['now'], [])
        """
        return self._over(self._table.branch())

    def turn(
        self, context: DispatchContext, forge: ToolForge | Forge | Iterable[ToolForge | Forge] = ()
    ) -> Turn:
        """A `Turn`: `for_turn()` with forged tools, bound to its context.

        Raises `ConfigError` on the registry of another turn that has not ended.
        """
        dispatch = checked_context(context)
        outer = self._dispatch
        if outer is not None and outer is not dispatch and not outer.is_signalled:
            raise ConfigError(
                "this registry belongs to a turn that has not ended: a turn over it would escape "
                "the abort and the hooks of that turn; call `turn` on the registry that it was "
                "made from"
            )
        registry = self.for_turn()
        registry._dispatch = dispatch
        return Turn(registry, context, forge)

    def freeze(self) -> FrozenToolRegistry:
        """An immutable copy of this registry: see `FrozenToolRegistry`."""
        return frozen_copy(self)

    is_tool_registry = staticmethod(is_tool_registry)

    @staticmethod
    def forged(tools: Iterable[Tool], context: TurnScope) -> ToolRegistry:
        """A registry of tools made for one turn.

        The tools are ephemeral, and once the turn is acknowledged no registry that holds them, by
        merge or otherwise, shows or runs them.

        >>> context = DispatchContext()
        >>> peek = Tool("peek", "", {"type": "object"}, lambda args, context: {"ok": True})
        >>> merged = ToolRegistry.merge([ToolRegistry(), ToolRegistry.forged([peek], context)])
        >>> context.ack()
        >>> merged.list(), merged.to_definitions()
        (['peek'], [])
        """
        if not hasattr(context, "is_acked"):
            raise ConfigError(
                f"`context` must have `is_acked`, got {type(context).__name__}; "
                "`DispatchContext()` makes one"
            )
        registry = ToolRegistry()
        registry._table.put(
            [entry.forged_for(context) for entry in registry._entries(tools)], overwrite=False
        )
        return registry

    @staticmethod
    def merge(
        registries: Iterable[RegistryReader | Iterable[Tool]],
        on_collision: CollisionPolicy | None = "throw",
    ) -> ToolRegistry:
        """A new registry of all tools of the `registries`, from left to right.

        Each item is a registry or a list of tools. If a name is taken, the incoming tool's own
        `on_collision` decides: `"replace"` puts it in the position of the other, `"keep"` drops it,
        `"throw"` defers to the `on_collision` given here, whose `"throw"` (and `None`) raises
        `ToolAlreadyRegisteredError`. Tools keep their tags, hidden flags and argument validation;
        bindings of `bind_context` are not copied. No input is changed. Backends, reducers, timeout
        and `validate_arguments` are those of the first registry. If one of the registries belongs
        to a turn, so does the result; registries of two turns raise `ConfigError`.

        >>> hello = Tool("hello", "", {"type": "object"}, lambda args, context: {"ok": True})
        >>> ToolRegistry.merge([ToolRegistry([hello]), ToolRegistry()]).list()
        ['hello']
        """
        listed = _checked_registries(registries)
        turn = shared_turn(listed)
        merged = merged_entries(map(entries_of, listed), on_collision)
        first = listed[0] if listed else ToolRegistry()
        settings = first._settings()
        registry = ToolRegistry(
            capability_backends=settings.backends,
            reducer_registry=settings.reducers,
            default_timeout_seconds=settings.default_timeout_seconds,
            validate_arguments=first._validates(),
        )
        registry._exchange({}, merged)
        registry._dispatch = turn
        return registry

    def _exchange(
        self, old: Mapping[str, Entry], new: Mapping[str, RegisteredEntry]
    ) -> dict[str, Entry]:
        """Replace old entries with new ones; see `EntryTable.exchange`."""
        entries = [registered.entry for registered in new.values()]
        if self._validates_arguments:  # they may come from a registry that does not validate
            entries = [validated_entry(entry) for entry in entries]
        put = self._table.exchange(old, entries)
        for name in put.keys() - old.keys():
            if new[name].is_hidden:
                self._table.set_hidden(name, hidden=True)
        return put

    def _over(self, table: EntryTable) -> ToolRegistry:
        """A registry over another table, with the settings and the turn of this one."""
        registry = ToolRegistry.__new__(ToolRegistry)
        registry._table = table
        registry._runtime = self._runtime
        registry._validates_arguments = self._validates_arguments
        registry._gates = self._gates
        registry._dispatch = self._dispatch
        return registry

    def __copy__(self) -> ToolRegistry:
        """An independent copy, as `for_turn` makes it."""
        return self.for_turn()  # the default copy would share the table

    def __deepcopy__(self, memo: dict[int, Any]) -> ToolRegistry:
        return self.for_turn()  # tools are immutable

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            "a mutable registry cannot be pickled; pickle `registry.freeze()`, whose tools must be "
            "defined at module level, or build the registry in the other process"
        )

    # Lookup and execution: see `RegistryReader`

    def get(self, name: str) -> Tool | None:
        """The tool of exactly this name, or `None`."""
        entry = self._table.find(name)
        return None if entry is None else entry.tool

    def __len__(self) -> int:
        return len(self._table)

    def _snapshot(self) -> Snapshot:
        return self._table.snapshot()

    def _settings(self) -> Runtime:
        return self._runtime

    def _validates(self) -> bool:
        return self._validates_arguments

    def _turn(self) -> DispatchContext | None:
        return self._dispatch

    def _admission(
        self, allowed_tools: Iterable[str] | None, filter_opts: ToolFilterOpts | None
    ) -> Admission:
        """The policy over the current entries; its gate is compiled once."""
        key = policy_key(allowed_tools, filter_opts)
        gates = self._gates
        if key not in gates:
            if len(gates) >= _CACHED_POLICIES:
                gates.clear()
            gates[key] = compile_gate(key)
        return Admission(self._table.snapshot(), gates.get(key) or compile_gate(key), key)


def _checked_registries(registries: Any) -> list[RegistryReader]:
    """The registries as a list, lists of tools as registries; raises `ConfigError` for the rest."""
    if isinstance(registries, RegistryReader) or not isinstance(registries, Iterable):
        raise ConfigError(
            f"`registries` must be a list of registries, got {type(registries).__name__}"
        )
    return [_as_registry(item) for item in registries]


def _as_registry(item: Any) -> RegistryReader:
    if isinstance(item, RegistryReader):
        return item
    if isinstance(item, Tool):
        raise ConfigError(
            f"`merge` takes registries and lists of tools, got the tool `{item.name}`; "
            "put it in a list"
        )
    if isinstance(item, str | bytes | Mapping) or not isinstance(item, Iterable):
        raise ConfigError(f"`merge` takes registries and lists of tools, got {type(item).__name__}")
    return ToolRegistry(item)


class DefaultToolRegistry(ToolRegistry):
    """`ToolRegistry` with the constructor of the Ethos framework."""

    def __init__(
        self,
        capability_backends: CapabilityBackends | None = None,
        reducer_registry: ToolResultReducerRegistry | None = None,
    ) -> None:
        super().__init__(capability_backends=capability_backends, reducer_registry=reducer_registry)
