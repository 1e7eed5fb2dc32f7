"""A snapshot of a registry's entries."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple, TypeAlias

from ethos_registry import _core
from ethos_registry._table.entry import Entry
from ethos_registry.types._policy import WhyRefused

ListedName: TypeAlias = tuple[str, str]
"""The list of a gate, and a name in it."""
_DECLARED_NAMES = 10_000
"""How many names of tools that left are remembered."""


class Declared(ChainMap[ListedName, None]):
    """Names that a policy may use though no tool has them now.

    Those that were declared, as an MCP server that is not connected yet, and those of tools that
    were removed. Each belongs to one list of a gate; the oldest are forgotten first.
    """

    def add(self, names: Iterable[ListedName]) -> None:
        """Remember names; the caller holds the lock of the table."""
        own = self.maps[0]
        for name in names:
            own.pop(name, None)
            own[name] = None
        while len(own) > _DECLARED_NAMES:
            del own[next(iter(own))]

    def inner(self) -> Declared:
        """Names of a table that shares these."""
        return Declared({}, *filter(None, self.maps))


class LayeredEntries:
    """Entries by slot: those of a shared tuple, but for the slots that were changed since."""

    __slots__ = ("_changed", "_shared")

    def __init__(
        self, shared: tuple[Entry | None, ...], changed: dict[int, Entry | None] | None = None
    ) -> None:
        self._shared = shared
        self._changed = {} if changed is None else dict(changed)

    @property
    def parts(self) -> tuple[tuple[Entry | None, ...], dict[int, Entry | None]]:
        return self._shared, self._changed

    def __getitem__(self, slot: int) -> Entry | None:
        changed = self._changed
        return changed[slot] if slot in changed else self._shared[slot]

    def get(self, slot: int) -> Entry | None:
        """The entry of a slot, or `None`; also beyond the end."""
        try:
            return self[slot]
        except IndexError:
            return None

    def __setitem__(self, slot: int, entry: Entry | None) -> None:
        self._changed[slot] = entry


EntriesBySlot: TypeAlias = tuple[Entry | None, ...] | LayeredEntries

_KEPT_SELECTIONS = 64


class Selection(NamedTuple):
    """What one gate permits and no `hide` removed, in registration order."""

    entries: tuple[Entry, ...]
    probed: tuple[tuple[Callable[[], Any], int], ...]
    """Of each entry that has an `is_available`, that and the entry's position."""
    refusable: tuple[tuple[WhyRefused, int], ...] = ()
    """The same of each entry that cannot run under every personality."""


class Snapshot:
    """An immutable set of entries: a native table, and the Python objects for its slots."""

    __slots__ = ("_entries", "_selections", "declared", "native", "plans", "shown")

    def __init__(
        self,
        native: _core.ToolTable,
        entries: EntriesBySlot,
        shown: dict[Any, Any] | None = None,
        declared: Declared | None = None,
    ) -> None:
        self.native = native
        self.declared = Declared() if declared is None else declared
        """Names that match although no tool has them now."""
        self._entries: Any = entries
        self._selections: dict[_core.Gate | None, Selection] = {}
        # A turn's entries keep nothing: a thousand turns over many tools must not hold a thousand
        # long lists.
        keeps = shown is None and not isinstance(entries, LayeredEntries)
        if keeps:
            shown = {}
        self.plans: dict[Any, Any] | None = {} if keeps else None
        """How calls of the entries run, for those who run them; `None` if nothing is kept."""
        self.shown: dict[Any, Any] | None = shown
        """What was made of the selections, for those who show them; `None` if nothing is kept."""

    def branch(self) -> tuple[_core.ToolTable, LayeredEntries]:
        """A native table and entries that change on their own and share the rest with these."""
        entries = self._entries
        parts = entries.parts if isinstance(entries, LayeredEntries) else (entries,)
        return self.native.branch(), LayeredEntries(*parts)

    def get(self, name: str) -> Entry | None:
        """The entry of exactly this name."""
        slot = self.native.find(name)
        entry: Entry | None = None if slot is None else self._entries[slot]
        return entry

    def admit(self, gate: _core.Gate | None, names: list[Any]) -> list[Entry | int]:
        """For each name its entry, or the native verdict (< 0) that refuses it: one crossing."""
        entries = self._entries
        return [code if code < 0 else entries[code] for code in self.native.admit(gate, names)]

    def entry(self, slot: int) -> Entry:
        """The entry of a slot that `verdicts` gave."""
        entry: Entry = self._entries[slot]
        return entry

    def select(self, gate: _core.Gate | None) -> Selection:
        """What the gate permits and no `hide` removed; the answer is kept for each gate object."""
        selection = self._selections.get(gate)
        if selection is None:
            entries = tuple(self._at(self.native.select(gate)))
            probed, refusable = [], []
            for position, entry in enumerate(entries):
                if entry.is_available is not None:
                    probed.append((entry.is_available, position))
                if entry.why_refused is not None:
                    refusable.append((entry.why_refused, position))
            selection = Selection(entries, tuple(probed), tuple(refusable))
            if self.shown is not None:
                if len(self._selections) >= _KEPT_SELECTIONS:
                    self._selections.clear()
                self._selections[gate] = selection
        return selection

    def group(self, toolset: str) -> list[Entry]:
        """The tools of one group, in registration order."""
        return self._at(self.native.group(toolset))

    def all(self) -> list[Entry]:
        """Every entry, in registration order."""
        return self._at(self.native.slots())

    def hidden(self) -> list[Entry]:
        """The hidden entries, in registration order."""
        return self._at(self.native.hidden_slots())

    def is_hidden(self, name: str) -> bool:
        return self.native.is_hidden(name)

    def unmatched(self, gate: _core.Gate) -> dict[str, list[str]]:
        """The entries of each of the gate's lists that match no tool and nothing declared."""
        found = {
            listed: [name for name in names if not self._is_declared(listed, name)]
            for listed, names in gate.unmatched(self.native).items()
        }
        return {listed: names for listed, names in found.items() if names}

    def _is_declared(self, listed: str, name: str) -> bool:
        if (listed, name) in self.declared:
            return True
        if listed == "allowed_mcp_tools":
            return self._may_come(name.partition("/")[0])
        if listed != "exclude_tools":
            return False
        try:
            split = _core.split_mcp_name(name, None)
        except ValueError:
            return False
        return split is not None and self._may_come(split[0])

    def _may_come(self, server: str) -> bool:
        """Whether the tools of a server are not known yet: it was declared and has none."""
        if ("allowed_mcp_servers", server) not in self.declared:
            return False
        gate = _core.Gate(allowed_mcp_servers=(server,))
        return bool(gate.unmatched(self.native))

    def _at(self, slots: list[int]) -> list[Entry]:
        return list(map(self._entries.__getitem__, slots))

    def __len__(self) -> int:
        return len(self.native)
