"""The registry that nothing can change (seed 004)."""

from __future__ import annotations

import weakref
from collections.abc import Iterable
from types import NoneType
from typing import Any, Final, NamedTuple, NoReturn, Self, cast

from ethos_registry import _core
from ethos_registry.capabilities.resolver import CapabilityBackends
from ethos_registry.contract import checks
from ethos_registry.contract.errors import ConfigError, ToolAlreadyRegisteredError
from ethos_registry.contract.policy import ToolFilterOpts
from ethos_registry.contract.reducer import ToolResultReducerRegistry
from ethos_registry.contract.tool import Tool
from ethos_registry.execution.runtime import Runtime
from ethos_registry.registry.merging import Held, held_by
from ethos_registry.registry.reading import Definitions, RegistryReader
from ethos_registry.registry.sealing import sealed_entry
from ethos_registry.registry.settings import DEFAULT_TIMEOUT_SECONDS, checked_runtime
from ethos_registry.registry.shown import plain_definitions
from ethos_registry.registry.tool_entry import checked_entry
from ethos_registry.table.entry_table import EntryTable
from ethos_registry.table.snapshot import EntriesBySlot, Selection, Snapshot

__all__ = ["FrozenToolRegistry", "create_tool_registry", "frozen_copy"]


class Sealed(NamedTuple):
    """What a frozen registry holds beside its native table."""

    entries: EntriesBySlot
    runtime: Runtime
    backends: CapabilityBackends | None
    reducers: ToolResultReducerRegistry | None
    default_timeout_seconds: float | None
    validates_arguments: bool


_shown: weakref.WeakKeyDictionary[_core.SealedTable, dict[Any, Any]] = weakref.WeakKeyDictionary()
"""What was made of the definitions of each registry: values and bytes, which hold no tool. Not even
force reaches it from a registry."""


_RECENT = "recent"
"""The key of the last policy, what its list held, and what it showed."""


class SealedSnapshot(Snapshot):
    """The entries of a frozen registry; what a gate selects is kept by the native table."""

    __slots__ = ("_sealed",)

    def __init__(self, registry: _core.SealedTable, parts: tuple[_core.ToolTable, Sealed]) -> None:
        table, sealed = parts
        super().__init__(table, sealed.entries, _shown.setdefault(registry, {}))
        self._sealed = registry

    def select(self, gate: _core.Gate | None) -> Selection:
        """What the gate permits and nobody hid."""
        return Selection(*cast("Any", self._sealed._selected(gate)))


class FrozenToolRegistry(RegistryReader, _core.SealedTable):
    """The tools that one agent may ever use: made once, complete, closed (seed 004).

    It resolves, lists, shows and runs tools like a `ToolRegistry` and has no way to change them.
    Names, gates, owners and functions are a native snapshot, definitions are text: whatever is
    written into the registry, its tools or anything it hands out, by force too, changes neither a
    verdict, nor a byte, nor the function that runs. (Code that replaces methods of classes can
    change everything, here as elsewhere.) Safe to share between threads.

    Two tools of one name are a `ConfigError` whose `context["tool_name"]` is that name.

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
    ) -> Self:
        """A registry of these tools; the settings are those of `ToolRegistry`."""
        validates = checks.boolean(validate_arguments, "validate_arguments")
        runtime = checked_runtime(capability_backends, reducer_registry, default_timeout_seconds)
        if isinstance(tools, Tool) or not isinstance(tools, Iterable):
            raise ConfigError(f"`tools` must be a list of tools, got {type(tools).__name__}")
        entries = [checked_entry(tool, validates_arguments=validates) for tool in tools]
        held = [Held(entry, is_hidden=False) for entry in entries]
        return cast("Self", _frozen(held, runtime, validates))

    def __init_subclass__(cls) -> NoReturn:
        raise TypeError("`FrozenToolRegistry` cannot be subclassed: a subclass could be changed")

    @property
    def __class__(self) -> type[FrozenToolRegistry]:
        """The class, for good: another one would bring other methods."""
        return FrozenToolRegistry

    @__class__.setter
    def __class__(self, kind: type[object]) -> NoReturn:
        raise AttributeError("a frozen registry keeps its class")

    def _parts(self) -> tuple[_core.ToolTable, Sealed]:
        table, held = self._sealed()
        return table, cast("Sealed", held)

    def _snapshot(self) -> Snapshot:
        return SealedSnapshot(self, self._parts())

    def _settings(self) -> Runtime:
        _, sealed = self._parts()
        runtime = sealed.runtime  # it counts, so it can be written to; what it was told is restored
        runtime.backends = sealed.backends
        runtime.reducers = sealed.reducers
        runtime.default_timeout_seconds = sealed.default_timeout_seconds
        return runtime

    def _validates(self) -> bool:
        return self._parts()[1].validates_arguments

    def to_definitions(
        self,
        allowed_tools: Iterable[str] | None = None,
        filter_opts: ToolFilterOpts | None = None,
    ) -> Definitions:
        """See `RegistryReader.to_definitions`; the last policy is recognised at once."""
        cache = _shown.setdefault(self, {})
        recent = cache.get(_RECENT)
        if (
            recent is not None
            and recent[0] is allowed_tools
            and recent[1] is filter_opts
            and recent[2] == allowed_tools
        ):
            kept: Definitions = recent[3]
            return kept[:]
        admission = self._admission(allowed_tools, filter_opts)
        definitions = plain_definitions(admission, admission.unavailable())
        kind = type(allowed_tools)
        if not admission.selection().probed and kind in (list, tuple, NoneType):
            copied = allowed_tools[:] if isinstance(allowed_tools, list) else allowed_tools
            cache[_RECENT] = (allowed_tools, filter_opts, copied, definitions)
        return definitions[:]

    def __copy__(self) -> FrozenToolRegistry:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> FrozenToolRegistry:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        _, sealed = self._parts()
        return _unpickled, (
            tuple(_sent(held) for held in held_by(self)),
            sealed.backends,
            sealed.reducers,
            sealed.default_timeout_seconds,
            sealed.validates_arguments,
        )


def create_tool_registry(
    tools: Iterable[Tool] = (),
    *,
    capability_backends: CapabilityBackends | None = None,
    reducer_registry: ToolResultReducerRegistry | None = None,
    default_timeout_seconds: float | None = DEFAULT_TIMEOUT_SECONDS,
    validate_arguments: bool = False,
) -> FrozenToolRegistry:
    """A registry of these tools that nothing can change: `FrozenToolRegistry(tools)` (seed 004).

    >>> create_tool_registry([]).size
    0
    """
    return FrozenToolRegistry(
        tools,
        capability_backends=capability_backends,
        reducer_registry=reducer_registry,
        default_timeout_seconds=default_timeout_seconds,
        validate_arguments=validate_arguments,
    )


def frozen_copy(registry: RegistryReader) -> FrozenToolRegistry:
    """What a registry holds now, with its tags, flags and settings."""
    settings = registry._settings()
    runtime = Runtime(
        backends=settings.backends,
        reducers=settings.reducers,
        default_timeout_seconds=settings.default_timeout_seconds,
    )
    return _frozen(held_by(registry), runtime, registry._validates())


_make: Final = _core.SealedTable.__new__


def _frozen(held: list[Held], runtime: Runtime, validates: bool) -> FrozenToolRegistry:
    table = EntryTable()
    try:
        table.put([sealed_entry(item.entry) for item in held], overwrite=False)
    except ToolAlreadyRegisteredError as error:
        raise ConfigError(
            f"two tools are named `{error.tool_name}`; a frozen registry takes each name once",
            context={"tool_name": error.tool_name, "field": "tools"},
        ) from None
    for item in held:
        if item.is_hidden:
            table.set_hidden(item.entry.name, hidden=True)
    native, entries = table.parts()
    sealed = Sealed(
        entries,
        runtime,
        runtime.backends,
        runtime.reducers,
        runtime.default_timeout_seconds,
        validates,
    )
    return cast("FrozenToolRegistry", _make(FrozenToolRegistry, native, sealed))


class Sent(NamedTuple):
    """A registration on its way to another process."""

    tool: Tool
    owner: str | None
    plugin_id: str | None
    mcp_server: str | None
    registered_at_seconds: float
    is_hidden: bool


def _sent(held: Held) -> Sent:
    """A registration as values; `TypeError` for one whose tool is not what was registered."""
    entry, tool = held.entry, held.entry.tool
    if (
        tool.execute is not entry.execute
        or tool.is_available is not entry.is_available
        or tool.definition != entry.definition.fresh()
    ):
        raise TypeError(
            f"tool `{entry.name}` belongs to a turn or was changed by force; it cannot be sent"
        )
    return Sent(
        tool,
        entry.owner,
        entry.plugin_id,
        entry.mcp_server,
        entry.registered_at_seconds,
        held.is_hidden,
    )


def _unpickled(
    rows: tuple[Sent, ...],
    backends: CapabilityBackends | None,
    reducers: ToolResultReducerRegistry | None,
    default_timeout_seconds: float | None,
    validates: bool,
) -> FrozenToolRegistry:
    held = [
        Held(
            checked_entry(
                row.tool,
                owner=row.owner,
                plugin_id=row.plugin_id,
                mcp_server=row.mcp_server,
                validates_arguments=validates,
            )._replace(registered_at_seconds=row.registered_at_seconds),
            row.is_hidden,
        )
        for row in rows
    ]
    return _frozen(held, checked_runtime(backends, reducers, default_timeout_seconds), validates)
