"""The registry that nothing can change."""

from __future__ import annotations

import weakref
from collections.abc import Iterable
from typing import Any, Final, NamedTuple, NoReturn, Self, Unpack, cast

from ethos_registry import _core
from ethos_registry._table.entry_table import EntryTable
from ethos_registry._table.snapshot import Declared, EntriesBySlot, ListedName, Selection, Snapshot
from ethos_registry.capabilities._resolver import CapabilityBackends
from ethos_registry.execution._runtime import Counters, Runtime
from ethos_registry.execution._threads import tool_threads
from ethos_registry.registry._entry import checked_entries, checked_entry, immutable_entry
from ethos_registry.registry._merging import RegisteredEntry, entries_of
from ethos_registry.registry._reader import WAYS_OUT, RegistryReader
from ethos_registry.registry._settings import (
    DEFAULT_TIMEOUT_SECONDS,
    RunOptions,
    checked_runtime,
)
from ethos_registry.types import _checks
from ethos_registry.types._errors import ConfigError, ToolAlreadyRegisteredError
from ethos_registry.types._reducer import ToolResultReducerRegistry
from ethos_registry.types._settings import setting_names
from ethos_registry.types._tool import Registration, Tool
from ethos_registry.types._turn import DispatchContext


class Sealed(NamedTuple):
    """What a frozen registry stores beside its native table."""

    entries: EntriesBySlot
    settings: tuple[Any, ...]
    counters: Counters
    validates_arguments: bool
    turn: DispatchContext | None
    declared: Declared


_shown: weakref.WeakKeyDictionary[_core.SealedTable, dict[Any, Any]] = weakref.WeakKeyDictionary()
"""What was made of the definitions of each registry: values and bytes, which hold no tool. Not even
force reaches it from a registry."""


class SealedSnapshot(Snapshot):
    """The entries of a frozen registry; what a gate selects is kept by the native table."""

    __slots__ = ("_sealed",)

    def __init__(self, registry: _core.SealedTable, parts: tuple[_core.ToolTable, Sealed]) -> None:
        table, sealed = parts
        super().__init__(table, sealed.entries, _shown.setdefault(registry, {}), sealed.declared)
        self._sealed = registry

    def select(self, gate: _core.Gate | None) -> Selection:
        """What the gate permits and no `hide` removed."""
        return Selection(*cast("Any", self._sealed._selected(gate)))


_CHANGES = frozenset(
    {"clear_hidden", "declare", "hide", "prune_ephemeral", "register", "register_all"}
    | {"set_hidden", "tool", "unhide", "unregister"}
)
"""Methods of a `ToolRegistry` that change it."""
_COPY = "it cannot be changed; `ToolRegistry.merge([registry])` makes a copy that can"


class FrozenToolRegistry(RegistryReader, _core.SealedTable):
    """An immutable registry: the complete set of tools that one agent may use.

    It resolves, lists, shows and runs tools like a `ToolRegistry` and has no method to change them.
    Names, gates, owners and functions are a native snapshot, definitions are text: whatever is
    assigned on the registry, on its tools or on anything it hands out, with `object.__setattr__`
    too, changes no verdict, no byte, no argument and no function that runs. (Code that replaces
    methods of classes, or the code of a tool's own function, can still change everything.) Safe to
    share between threads.

    Raises `ConfigError` for two tools of one name; `context["tool_name"]` is that name.

    >>> registry = FrozenToolRegistry(
    ...     [Tool("now", "The time.", {"type": "object"}, lambda args, context: {"ok": True})]
    ... )
    >>> registry.list(), registry.size, registry.resolve("Now")
    (['now'], 1, None)
    >>> hasattr(registry, "register")
    False
    """

    __slots__ = ()

    def __new__(
        cls,
        tools: Iterable[Tool] = (),
        *,
        capability_backends: CapabilityBackends | None = None,
        reducer_registry: ToolResultReducerRegistry | None = None,
        default_timeout_seconds: float | None = DEFAULT_TIMEOUT_SECONDS,
        validate_arguments: bool = False,
        **options: Unpack[RunOptions],
    ) -> Self:
        """A registry of these tools; the settings are those of `ToolRegistry`."""
        validates = _checks.boolean(validate_arguments, "validate_arguments")
        runtime = checked_runtime(
            capability_backends, reducer_registry, default_timeout_seconds, **options
        )
        registered = [
            RegisteredEntry(entry, is_hidden=False)
            for entry in checked_entries(tools, validates_arguments=validates)
        ]
        return cast("Self", _frozen(registered, runtime, validates, None, Declared()))

    def __getattr__(self, name: str) -> NoReturn:
        ways_out = {**WAYS_OUT, **dict.fromkeys(_CHANGES, _COPY)}
        raise _checks.no_attribute(self, "a frozen registry", name, ways_out)

    def __init_subclass__(cls) -> NoReturn:
        raise TypeError("`FrozenToolRegistry` cannot be subclassed: a subclass could be changed")

    @property
    def __class__(self) -> type[FrozenToolRegistry]:
        """The class; it cannot be assigned, because another one would bring other methods."""
        return FrozenToolRegistry

    @__class__.setter
    def __class__(self, kind: type[object]) -> NoReturn:
        raise AttributeError("a frozen registry keeps its class")

    def _parts(self) -> tuple[_core.ToolTable, Sealed]:
        table, settings = self._sealed()
        return table, cast("Sealed", settings)

    def _snapshot(self) -> Snapshot:
        return SealedSnapshot(self, self._parts())

    def _settings(self) -> Runtime:
        _, sealed = self._parts()
        return Runtime(sealed.counters, *sealed.settings)

    def _validates(self) -> bool:
        return self._parts()[1].validates_arguments

    def _turn(self) -> DispatchContext | None:
        return self._parts()[1].turn

    def _made(self) -> dict[Any, Any]:
        return _shown.setdefault(self, {})

    def __copy__(self) -> FrozenToolRegistry:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> FrozenToolRegistry:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        _, sealed = self._parts()
        if sealed.turn is not None:
            raise TypeError(
                "a frozen copy of a turn's registry cannot be pickled: its turn belongs to this "
                "process; freeze the registry that the turn was made from"
            )
        runtime = self._settings()
        return _unpickled, (
            tuple(map(_sent, entries_of(self))),
            runtime.backends,
            runtime.reducers,
            _sent_options(runtime),
            sealed.validates_arguments,
            tuple(sealed.declared),
        )


@_checks.checked_signature
def create_tool_registry(
    tools: Iterable[Tool] = (),
    *,
    capability_backends: CapabilityBackends | None = None,
    reducer_registry: ToolResultReducerRegistry | None = None,
    default_timeout_seconds: float | None = DEFAULT_TIMEOUT_SECONDS,
    validate_arguments: bool = False,
    **options: Unpack[RunOptions],
) -> FrozenToolRegistry:
    """An immutable registry of these tools: `FrozenToolRegistry(tools)`.

    >>> create_tool_registry([]).size
    0
    """
    return FrozenToolRegistry(
        tools,
        capability_backends=capability_backends,
        reducer_registry=reducer_registry,
        default_timeout_seconds=default_timeout_seconds,
        validate_arguments=validate_arguments,
        **options,
    )


def frozen_copy(registry: RegistryReader) -> FrozenToolRegistry:
    """An immutable copy of a registry with its tags, flags, settings and turn."""
    runtime = registry._settings()
    declared = Declared(dict.fromkeys(registry._snapshot().declared))
    return _frozen(entries_of(registry), runtime, registry._validates(), registry._turn(), declared)


_make: Final = _core.SealedTable.__new__


def _frozen(
    registered: list[RegisteredEntry],
    runtime: Runtime,
    validates: bool,
    turn: DispatchContext | None,
    declared: Declared,
) -> FrozenToolRegistry:
    table = EntryTable()
    try:
        table.put([immutable_entry(item.entry) for item in registered], overwrite=False)
    except ToolAlreadyRegisteredError as error:
        raise ConfigError(
            f"two tools are named `{error.tool_name}`; each name must be unique",
            context={"tool_name": error.tool_name, "field": "tools"},
        ) from None
    for item in registered:
        if item.is_hidden:
            table.set_hidden(item.entry.name, hidden=True)
    native, entries = table.parts()
    sealed = Sealed(entries, runtime.settings(), Counters(), validates, turn, declared)
    return cast("FrozenToolRegistry", _make(FrozenToolRegistry, native, sealed))


def _sent(registered: RegisteredEntry) -> Registration:
    """A registration as values; raises `TypeError` if its tool is not what was registered."""
    entry, tool = registered.entry, registered.entry.tool
    if (
        tool.execute is not entry.execute
        or tool.is_available is not entry.is_available
        or tool.definition != entry.definition.fresh()
    ):
        raise TypeError(
            f"tool `{entry.name}` belongs to a turn or was changed by force; it cannot be sent"
        )
    return entry.registration(hidden=registered.is_hidden)


def _unpickled(
    sent: tuple[Registration, ...],
    backends: CapabilityBackends | None,
    reducers: ToolResultReducerRegistry | None,
    options: dict[str, Any],
    validates: bool,
    declared: tuple[ListedName, ...],
) -> FrozenToolRegistry:
    registered = [
        RegisteredEntry(
            checked_entry(
                each.tool,
                owner=each.owner,
                plugin_id=each.plugin_id,
                mcp_server=each.mcp_server,
                validates_arguments=validates,
            )._replace(registered_at_seconds=each.registered_at_seconds),
            each.hidden,
        )
        for each in sent
    ]
    runtime = checked_runtime(backends, reducers, **options)
    return _frozen(registered, runtime, validates, None, Declared(dict.fromkeys(declared)))


def _sent_options(runtime: Runtime) -> dict[str, Any]:
    """The options of a registry on their way to another process."""
    if runtime.transports is not None:
        raise TypeError(
            "a registry with `transports` cannot be pickled: their workers belong to this process; "
            "build the registry in the other process"
        )
    threads, observers = runtime.threads, runtime.observers
    return {name: getattr(runtime, name) for name in setting_names(Runtime)} | {
        "observers": () if observers is None else observers.given,
        "transports": {},
        "max_threads": None if threads is tool_threads else threads.max_threads,
        "redact": runtime.redact is not None,
    }
