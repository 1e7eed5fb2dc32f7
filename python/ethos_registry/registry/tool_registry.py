"""The mutable registry: one place that knows the tools (seeds 000 and 003)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from types import TracebackType
from typing import Any, NoReturn, Self, TypeGuard, Unpack

from ethos_registry import _core
from ethos_registry.capabilities.resolver import CapabilityBackends
from ethos_registry.contract import checks
from ethos_registry.contract.dispatch import DispatchContext
from ethos_registry.contract.errors import ConfigError
from ethos_registry.contract.policy import ToolFilterOpts
from ethos_registry.contract.ports import TurnScope
from ethos_registry.contract.reducer import ToolResultReducerRegistry
from ethos_registry.contract.tool import CollisionPolicy, Tool
from ethos_registry.execution.runtime import Runtime
from ethos_registry.registry.forging import (
    ForgeSource,
    checked_context,
    checked_forges,
    forged_by,
    store_of,
)
from ethos_registry.registry.frozen import FrozenToolRegistry, frozen_copy
from ethos_registry.registry.merging import Held, checked_registries, held_by, merged_entries
from ethos_registry.registry.reading import RegistryReader
from ethos_registry.registry.registering import RegistryWriter
from ethos_registry.registry.settings import (
    DEFAULT_TIMEOUT_SECONDS,
    RunOptions,
    checked_runtime,
)
from ethos_registry.registry.tool_entry import validated_entry
from ethos_registry.table.admission import Admission
from ethos_registry.table.entry import Entry
from ethos_registry.table.entry_table import EntryTable
from ethos_registry.table.gates import PolicyKey, compile_gate, policy_key
from ethos_registry.table.snapshot import Snapshot

__all__ = ["DefaultToolRegistry", "ToolRegistry", "Turn", "is_tool_registry"]

_CACHED_POLICIES = 64
_EVERYTHING: PolicyKey = (None, None)


def is_tool_registry(value: object) -> TypeGuard[ToolRegistry]:
    """Whether this is a `ToolRegistry`, or of a class derived from it; its name counts for nothing.

    >>> is_tool_registry(ToolRegistry()), is_tool_registry(ToolRegistry)
    (True, False)
    """
    return ToolRegistry in type(value).__mro__


class ToolRegistry(RegistryWriter):
    """Knows the tools, shows each agent only what it may use, and answers every call.

    Safe from threads. `reducer_registry` shortens results (`default_reducers()` has the built-in
    ones; without it nothing is reduced). `default_timeout_seconds` is the clock of tools that set
    none, `None` for no clock. With `validate_arguments` the arguments of every tool are held
    against its schema, without coercion, as those of `strict` tools always are.

    Further settings: `observers` receive what happened to each call (see `Observer`); at most
    `max_threads` plain functions run at once (default: the threads that all registries share, at
    most 1,024); a function that gets no thread within `thread_wait_seconds` (5) is answered
    `not_available`; a call that was stopped is abandoned after `abandon_after_seconds` (2).

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
        **options: Unpack[RunOptions],
    ) -> None:
        self._validates_arguments = checks.boolean(validate_arguments, "validate_arguments")
        self._table = EntryTable()
        self._runtime = checked_runtime(
            capability_backends, reducer_registry, default_timeout_seconds, **options
        )
        self._gates: dict[PolicyKey, _core.Gate | None] = {}
        self._dispatch: DispatchContext | None = None
        self.register_all(tools)

    # Lifetimes

    def prune_ephemeral(self) -> None:
        """Forget every ephemeral tool; twice is once."""
        self._table.remove_ephemeral()

    def bind_context(self, context: TurnScope) -> Callable[[], None]:
        """Prune the ephemeral tools when the turn is acknowledged, before `ack` returns (seed 003).

        Returns an unsubscribe function that may be called again. A turn that was not acknowledged
        (`nack`) leaves them, to be looked at. The binding is of this registry: copies of it, merged
        ones too, are bound on their own.
        """
        if not callable(getattr(context, "on_ack", None)):
            raise ConfigError(
                f"`context` must have `on_ack(handler)`, got {type(context).__name__}; "
                "`DispatchContext()` makes one"
            )
        return context.on_ack(self.prune_ephemeral)

    def for_turn(self) -> ToolRegistry:
        """A registry of its own for one turn, over the entries of now.

        What is done to it reaches neither this one nor other turns, and later changes of this one
        do not reach it. Making it costs the same for any number of tools, and a change of it what
        it changes; tags, order and hidden flags are kept. Calls run with the settings of this one,
        and `abandoned_calls` counts for both.

        >>> registry = ToolRegistry()
        >>> turn = registry.for_turn()
        >>> turn.register(Tool("now", "", {"type": "object"}, lambda args, context: {"ok": True}))
        >>> turn.list(), registry.list()
        (['now'], [])
        """
        return self._over(self._table.branch())

    def turn(self, context: DispatchContext, forge: ForgeSource = ()) -> Turn:
        """A turn: `for_turn()` with forged tools, bound to its context; see `Turn`."""
        registry = self.for_turn()
        registry._dispatch = checked_context(context)
        return Turn(registry, context, forge)

    def freeze(self) -> FrozenToolRegistry:
        """A registry of the entries of now that nothing can change (seed 004); see there."""
        return frozen_copy(self)

    is_tool_registry = staticmethod(is_tool_registry)  # seed 003 has it here

    @staticmethod
    def forged(tools: Iterable[Tool], context: TurnScope) -> ToolRegistry:
        """A registry of tools made for one turn.

        They are ephemeral, and once the turn is acknowledged no registry that holds them, by merge
        or otherwise, shows or runs them (contract 5, "Binding").

        >>> context = DispatchContext()
        >>> peek = Tool("peek", "", {"type": "object"}, lambda args, context: {"ok": True})
        >>> merged = ToolRegistry.merge([ToolRegistry(), ToolRegistry.forged([peek], context)])
        >>> context.ack()
        >>> merged.list(), merged.to_definitions()
        (['peek'], [])
        """
        if not hasattr(context, "is_acked"):
            raise ConfigError(
                f"`context` must tell `is_acked`, got {type(context).__name__}; "
                "`DispatchContext()` makes one"
            )
        registry = ToolRegistry()
        registry._table.put(
            [entry.forged_for(context) for entry in registry._entries(tools)], overwrite=False
        )
        return registry

    @staticmethod
    def merge(
        registries: Iterable[RegistryReader], on_collision: CollisionPolicy | None = "throw"
    ) -> ToolRegistry:
        """A fresh registry of all tools of the `registries`, from left to right (seed 003).

        Where a name is taken the incoming tool's own `on_collision` decides: `"replace"` puts it in
        the place of the other, `"keep"` drops it, `"throw"` leaves it to the `on_collision` given
        here, whose `"throw"` (and `None`) raises `ToolAlreadyRegisteredError`. A tool comes with
        its tags and its own hidden flag; bindings do not come along. No input is changed. Backends,
        reducers, clock and `validate_arguments` are those of the first registry; what a tool was
        validated against where it comes from stays.

        >>> hello = Tool("hello", "", {"type": "object"}, lambda args, context: {"ok": True})
        >>> ToolRegistry.merge([ToolRegistry([hello]), ToolRegistry()]).list()
        ['hello']
        """
        listed = checked_registries(registries)
        merged = merged_entries(map(held_by, listed), on_collision)
        first = listed[0] if listed else ToolRegistry()
        registry = ToolRegistry(validate_arguments=first._validates())
        registry._runtime = first._settings().copy()
        registry._exchange({}, merged)
        return registry

    def _exchange(self, old: Mapping[str, Entry], new: Mapping[str, Held]) -> dict[str, Entry]:
        """Put registrations in the places of old ones; see `EntryTable.exchange`."""
        entries = [held.entry for held in new.values()]
        if self._validates_arguments:  # they may come from a registry that does not
            entries = [validated_entry(entry) for entry in entries]
        put = self._table.exchange(old, entries)
        for name in put.keys() - old.keys():
            if new[name].is_hidden:
                self._table.set_hidden(name, hidden=True)
        return put

    def _over(self, table: EntryTable) -> ToolRegistry:
        """A registry over another table, with the settings of this one."""
        registry = ToolRegistry.__new__(ToolRegistry)
        registry._table = table
        registry._runtime = self._runtime
        registry._validates_arguments = self._validates_arguments
        registry._gates = self._gates
        registry._dispatch = None
        return registry

    def __copy__(self) -> ToolRegistry:
        """A registry of its own over the entries of now, as `for_turn` makes it."""
        return self.for_turn()  # by default it would share the table: one change, two registries

    def __deepcopy__(self, memo: dict[int, Any]) -> ToolRegistry:
        return self.for_turn()  # tools are immutable

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            "a registry that can change belongs to its process; send `registry.freeze()`"
        )

    # Looking and running: see `RegistryReader`

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
        """The policy over the entries of now; its gate is compiled once."""
        if allowed_tools is None and filter_opts is None:
            return Admission(self._table.snapshot(), None, _EVERYTHING)
        key = policy_key(allowed_tools, filter_opts)
        gates = self._gates
        if key not in gates:
            if len(gates) >= _CACHED_POLICIES:
                gates.clear()
            gates[key] = compile_gate(key)
        return Admission(self._table.snapshot(), gates.get(key) or compile_gate(key), key)


class DefaultToolRegistry(ToolRegistry):
    """The Ethos spelling of `ToolRegistry`: backends and reducers by position (seed 000)."""

    def __init__(
        self,
        capability_backends: CapabilityBackends | None = None,
        reducer_registry: ToolResultReducerRegistry | None = None,
    ) -> None:
        super().__init__(capability_backends=capability_backends, reducer_registry=reducer_registry)


class Turn:
    """A registry for one turn of an agent; created by `ToolRegistry.turn`.

    `registry` holds the tools that the base had when the turn began, and those that the forges
    made. Tools registered there stay until the turn is acknowledged; then the ephemeral and the
    forged ones are dropped, before `ack` returns. Calls run in the turn's context: its abort stops
    them, its hooks receive them, and its artifact store is that of the forge.

    A forged tool replaces the one that was forged under its name before, in its place, and never a
    tool that was registered.

    As a context manager it ends the turn: with `ack`, or with `nack` if the block raises.

    >>> def forge(context):
    ...     return [Tool("peek", "", {"type": "object"}, lambda args, context: {"ok": True})]
    >>> with ToolRegistry().turn(DispatchContext(), forge) as turn:
    ...     turn.registry.list()
    ['peek']
    >>> turn.registry.list()
    []
    """

    __slots__ = ("_forged", "_forges", "context", "iteration", "registry")

    def __init__(self, registry: ToolRegistry, context: DispatchContext, forge: Any) -> None:
        self.registry = registry
        self.context = context
        self.iteration = 0
        """How many iterations have begun after the first."""
        self._forges = checked_forges(forge)
        if context.artifact_store is None:
            context.artifact_store = store_of(self._forges)
        self._forged: dict[str, Entry] = {}
        self._forge()
        registry.bind_context(context)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.context.__exit__(kind, error, traceback)

    def begin_iteration(self) -> int:
        """Make the tools for the next request to the model; returns the iteration's number.

        All forges are called before anything changes: if one raises, the tools stay as they are.
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
