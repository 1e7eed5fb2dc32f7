"""The mutable registry."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import lru_cache
from types import TracebackType
from typing import Any, NoReturn, ParamSpec, Self, TypeAlias, TypeGuard, TypeVar, Unpack, overload

from ethos_registry._table.admission import compile_gate
from ethos_registry._table.entry import Entry
from ethos_registry._table.entry_table import EntryTable
from ethos_registry._table.snapshot import Snapshot
from ethos_registry.capabilities._resolver import CapabilityBackends
from ethos_registry.execution._runtime import Counters, Runtime
from ethos_registry.registry._entry import checked_entries, checked_entry, validated_entry
from ethos_registry.registry._frozen import FrozenToolRegistry, frozen_copy
from ethos_registry.registry._merging import (
    ForgeSource,
    RegisteredEntry,
    checked_forges,
    checked_registries,
    checked_turn,
    entries_of,
    forged_by,
    merged_entries,
    shared_turn,
    store_of,
)
from ethos_registry.registry._reader import RegistryReader
from ethos_registry.registry._settings import (
    DEFAULT_TIMEOUT_SECONDS,
    RunOptions,
    checked_runtime,
)
from ethos_registry.schema._function_tool import FunctionTool, lists_options
from ethos_registry.schema._function_tool import tool as make_tool
from ethos_registry.types import _checks
from ethos_registry.types._errors import ConfigError
from ethos_registry.types._ports import TurnScope
from ethos_registry.types._reducer import ToolResultReducerRegistry
from ethos_registry.types._tool import CollisionPolicy, RegisterOptions, Tool
from ethos_registry.types._turn import DispatchContext

P = ParamSpec("P")
R = TypeVar("R")
Entries: TypeAlias = list[Entry]

_CACHED_POLICIES = 64


def is_tool_registry(value: object) -> TypeGuard[ToolRegistry]:
    """Whether this is an instance of `ToolRegistry` or of a subclass; a class's name is not enough.

    >>> is_tool_registry(ToolRegistry()), is_tool_registry(ToolRegistry)
    (True, False)
    """
    return ToolRegistry in type(value).__mro__


@_checks.checked_class
class ToolRegistry(RegistryReader):
    """Stores tools, shows each agent only those that it may use, and answers every call.

    Thread-safe. `reducer_registry` shortens results (`default_reducers()` has the built-in
    reducers; without it nothing is reduced). `default_timeout_seconds` is the timeout of tools that
    set none, `None` for no timeout. With `validate_arguments` the arguments of every tool are
    validated against its schema, as those of `strict` tools always are.

    Further settings: `observers` receive what happened to each call (see `Observer`); at most
    `max_threads` plain functions run at once (default: the threads that all registries share, at
    most 1,024); a function that gets no thread within `thread_wait_seconds` (5) is answered
    `not_available`; a call that was stopped is abandoned after `abandon_after_seconds` (2);
    `filters` run around every call, outside those of its batch; `max_concurrency` bounds the calls
    of all batches that run at once on one event loop; `repair_arguments` (`"safe"`) reads wrong
    arguments that have one reading, such as `"5"` for a whole number, after validation failed, and
    `repair_note=True` shows the model what was read.

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
        self._validates_arguments = _checks.boolean(validate_arguments, "validate_arguments")
        self._table = EntryTable()
        self._runtime = checked_runtime(
            capability_backends, reducer_registry, default_timeout_seconds, **options
        )
        self._gate_of = lru_cache(maxsize=_CACHED_POLICIES)(compile_gate)
        self._dispatch: DispatchContext | None = None
        self.register_all(tools)

    # Registering

    @_checks.checked_signature
    def register(
        self,
        tool: Tool,
        overwrite: bool = False,
        *,
        plugin_id: str | None = None,
        owner: str | None = None,
        mcp_server: str | None = None,
    ) -> None:
        """Register a tool under its name.

        Raises `ToolAlreadyRegisteredError` if the name is taken; with `overwrite` the tool replaces
        the other in its position, with the new tags. `plugin_id` makes it a tool of a plugin (`""`
        too). `mcp_server` names its MCP server, which is derived from a name such as `mcp__a__b` if
        there is only one way to split it.
        """
        entry = checked_entry(
            tool,
            plugin_id=plugin_id,
            owner=owner,
            mcp_server=mcp_server,
            validates_arguments=self._validates_arguments,
        )
        self._table.put([entry], overwrite=_checks.boolean(overwrite, "overwrite"))

    @_checks.checked_signature
    def register_all(self, tools: Iterable[Tool], *, plugin_id: str | None = None) -> None:
        """Register all tools, or none if one of them cannot be registered."""
        entries = checked_entries(
            tools, plugin_id=plugin_id, validates_arguments=self._validates_arguments
        )
        self._table.put(entries, overwrite=False)

    @overload
    def tool(
        self, function: None = None, /, **options: Unpack[RegisterOptions]
    ) -> Callable[[Callable[P, R]], FunctionTool[P, R]]: ...

    @overload
    def tool(
        self, function: Callable[P, R], /, **options: Unpack[RegisterOptions]
    ) -> FunctionTool[P, R]: ...

    @lists_options
    def tool(
        self,
        function: Callable[..., Any] | None = None,
        /,
        *,
        overwrite: bool = False,
        plugin_id: str | None = None,
        owner: str | None = None,
        **options: Any,
    ) -> Any:
        """Make a tool from a function and register it; a decorator, with or without arguments.

        Args:
            function: What is decorated, or a bound method.
            overwrite: Whether to replace a tool of this name.
            plugin_id: Makes it a tool of this plugin.
            owner: Who registers it, for messages and the usage ledger.
            **options: Those of [`tool`][ethos_registry.tool].

        """

        def register(function: Callable[..., Any]) -> FunctionTool[..., Any]:
            if isinstance(function, Tool):
                raise ConfigError(
                    f"`{function.name}` is a Tool already; register it: `registry.register(tool)`"
                )
            made: FunctionTool[..., Any] = make_tool(function, **options)
            self.register(made, overwrite, plugin_id=plugin_id, owner=owner)
            return made

        return register if function is None else register(function)

    def unregister(self, name: str) -> None:
        """Remove a tool; an unknown name has no effect."""
        self._table.remove(_checks.text(name, "name"))

    def declare(self, *, mcp_servers: Iterable[str] = (), plugins: Iterable[str] = ()) -> None:
        """Let policies name servers and plugins whose tools are registered later, or not always.

        A view of a personality that names anything else that no tool has raises `ConfigError`. An
        `McpBridge` declares its servers; the names of tools that were removed count as declared.
        """
        servers = _checks.strings(mcp_servers, "mcp_servers")
        found = [("allowed_mcp_servers", server) for server in servers]
        found += [("allowed_plugins", plugin) for plugin in _checks.strings(plugins, "plugins")]
        self._table.declare(found)

    # Hiding

    def hide(self, *names: str) -> None:
        """Leave tools out of definitions; they still run when called.

        The flag belongs to the registration: an unknown name has no effect, now or later; a tool
        that is overwritten stays hidden; a tool that is unregistered and registered again is shown.
        """
        for name in _checks.strings(names, "names"):
            self._table.set_hidden(name, hidden=True)

    def unhide(self, *names: str) -> None:
        """Show tools again; an unknown name has no effect."""
        for name in _checks.strings(names, "names"):
            self._table.set_hidden(name, hidden=False)

    def set_hidden(self, names: Iterable[str]) -> None:
        """Hide exactly these tools and show all others; an unknown name has no effect.

        Names are not remembered for tools that are registered later.
        """
        self._table.hide_only(_checks.strings(names, "names"))

    def clear_hidden(self) -> None:
        """Show every tool."""
        self._table.hide_only(())

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
        registry = ToolRegistry.__new__(ToolRegistry)
        registry._table = self._table.branch()
        registry._runtime = self._runtime
        registry._validates_arguments = self._validates_arguments
        registry._gate_of = self._gate_of
        registry._dispatch = self._dispatch
        return registry

    @_checks.checked_signature
    def turn(self, context: DispatchContext, forge: ForgeSource = ()) -> Turn:
        """A turn: `for_turn()` with forged tools, bound to its context; see `Turn`.

        Raises `ConfigError` on the registry of another turn that has not ended.
        """
        dispatch = checked_turn(context)
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
        forged = [entry.forged_for(context) for entry in checked_entries(tools)]
        registry._table.put(forged, overwrite=False)
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
        listed = checked_registries(registries, ToolRegistry)
        turn = shared_turn(listed)
        merged = merged_entries(map(entries_of, listed), on_collision)
        first = listed[0] if listed else ToolRegistry()
        registry = ToolRegistry(validate_arguments=first._validates())
        registry._runtime = replace(first._settings(), counters=Counters())
        registry._exchange({}, merged)
        for each in listed:
            registry._table.declare(each._snapshot().declared)
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

    def _made(self) -> dict[Any, Any] | None:
        return self._table.snapshot().shown

    def _settings(self) -> Runtime:
        return self._runtime

    def _validates(self) -> bool:
        return self._validates_arguments

    def _turn(self) -> DispatchContext | None:
        return self._dispatch


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
        """How many iterations started after the first."""
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
        checked_turn(self.context)
        self._forge()
        self.iteration += 1
        return self.iteration

    def _forge(self) -> None:
        made = [forged_by(forge(self.context), self.context) for forge in self._forges]
        self._forged = self.registry._exchange(self._forged, merged_entries(made, "throw"))

    def _repr_html_(self) -> str:
        return self.registry._repr_html_()

    def __repr__(self) -> str:
        return f"<Turn {self.iteration} over {len(self.registry)} tools>"


# The registry under the constructor of the Ethos framework.


class DefaultToolRegistry(ToolRegistry):
    """`ToolRegistry` with the constructor of the Ethos framework."""

    def __init__(
        self,
        capability_backends: CapabilityBackends | None = None,
        reducer_registry: ToolResultReducerRegistry | None = None,
    ) -> None:
        super().__init__(capability_backends=capability_backends, reducer_registry=reducer_registry)
