"""The registry's entries: the native name index, and the Python objects by its slots."""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from ethos_registry import _core
from ethos_registry._table.entry import Entry
from ethos_registry._table.snapshot import Declared, EntriesBySlot, LayeredEntries, Snapshot
from ethos_registry.types._errors import ConfigError, ToolAlreadyRegisteredError


def mcp_identity(name: str, mcp_server: str | None) -> tuple[str, str] | None:
    """Server and bare name of an MCP tool, or `None` for any other tool.

    `ConfigError` when the name can be read in more than one way and no server is given.
    """
    try:
        return _core.split_mcp_name(name, mcp_server)
    except ValueError as error:
        raise ConfigError(
            str(error), context={"tool_name": name, "field": "mcp_server", "value": mcp_server}
        ) from None


class EntryTable:
    """The mutable table of one registry; safe from threads.

    Reading goes through `snapshot()`, which is made once per change, however often it is asked.
    `branch()` is a table over the same entries whose changes cost what they change.
    """

    __slots__ = ("_by_name", "_declared", "_entries", "_ephemeral", "_lock", "_native", "_snapshot")

    def __init__(self) -> None:
        self._by_name: dict[str, Entry] = {}
        """The entries by name, for the fastest lookup; unused in a table that shares entries."""
        self._native = _core.ToolTable()
        self._entries: list[Entry | None] = []
        self._ephemeral: set[str] = set()
        """The names of the ephemeral tools, and some of tools that are gone."""
        self._declared = Declared()
        self._snapshot: Snapshot | None = None
        self._lock = threading.RLock()

    def snapshot(self) -> Snapshot:
        """The entries as they are now."""
        snapshot = self._snapshot
        if snapshot is None:
            with self._lock:
                snapshot = Snapshot(
                    self._native.snapshot(), self._copied_entries(), declared=self._declared
                )
                self._snapshot = snapshot
        return snapshot

    def branch(self) -> BranchTable:
        """A table that holds the same and shares what it does not change."""
        with self._lock:
            return BranchTable(self.snapshot(), self._ephemeral)

    def parts(self) -> tuple[_core.ToolTable, EntriesBySlot]:
        """A native table of its own, and the entries that its slots stand for."""
        with self._lock:
            return self._native.snapshot(), self._copied_entries()

    def _copied_entries(self) -> EntriesBySlot:
        return tuple(self._entries)

    def _keep(self, slot: int, entry: Entry | None) -> None:
        if slot == len(self._entries):
            self._entries.append(entry)
        else:
            self._entries[slot] = entry

    def find(self, name: str) -> Entry | None:
        """The entry of exactly this name."""
        if type(name) is str:
            return self._by_name.get(name)
        if not isinstance(name, str):
            return None
        return self._by_name.get(str.__str__(name))  # a class of its own may hash as it likes

    def put(self, entries: Iterable[Entry], *, overwrite: bool) -> None:
        """Register all entries or, when one name is taken, none.

        With `overwrite` an entry of the same name is replaced in its place.
        """
        entries = list(entries)
        with self._lock:
            self._check_free(entries, overwrite=overwrite)
            for entry in entries:
                self._store(entry)
            self._snapshot = None

    def _check_free(self, entries: list[Entry], *, overwrite: bool) -> None:
        seen: dict[str, Entry] = {}
        for entry in entries:
            twin = seen.get(entry.name)
            if twin is not None:
                raise ToolAlreadyRegisteredError(
                    entry.name,
                    owner=entry.owner,
                    existing_owner=twin.owner,
                    way_out="the list holds two of this name: leave out one",
                )
            existing = None if overwrite else self.find(entry.name)
            if existing is not None:
                raise ToolAlreadyRegisteredError(
                    entry.name, owner=entry.owner, existing_owner=existing.owner
                )
            seen[entry.name] = entry

    def _store(self, entry: Entry) -> None:
        tags: dict[str, Any] = {
            "toolset": entry.toolset,
            "always_include": entry.always_include,
            "plugin_id": entry.plugin_id,
            "mcp_server": entry.mcp_server,
            "mcp_tool": entry.mcp_tool,
        }
        replaced = self.find(entry.name)
        slot = None if replaced is None else self._native.replace(entry.name, **tags)
        if replaced is not None:
            self._declared.add(replaced.listed_names())
        if slot is None:
            slot = self._native.insert(entry.name, **tags)
            assert slot is not None
        self._keep(slot, entry)
        self._by_name[entry.name] = entry
        if entry.ephemeral:
            self._ephemeral.add(entry.name)

    def exchange(self, old: Mapping[str, Entry], new: Iterable[Entry]) -> dict[str, Entry]:
        """Put `new` entries in the places of `old` ones, and forget the rest of those.

        A name that is used by something else by now is left alone; what was put is returned.
        """
        put: dict[str, Entry] = {}
        with self._lock:
            for entry in new:
                present = self.find(entry.name)
                if present is None or present is old.get(entry.name):
                    self._store(entry)
                    put[entry.name] = entry
            for name, entry in old.items():
                if self.find(name) is entry:
                    self.remove(name)
            self._snapshot = None
        return put

    def remove(self, name: str) -> None:
        """Forget a tool; an unknown name is ignored."""
        with self._lock:
            entry = self.find(name)
            slot = self._native.remove(name)
            if entry is not None:
                self._declared.add(entry.listed_names())
            if slot is not None:
                self._keep(slot, None)
                self._by_name.pop(name, None)
                self._snapshot = None

    def remove_ephemeral(self) -> None:
        """Forget every ephemeral tool; no reader sees only some of them removed."""
        with self._lock:
            for name in self._ephemeral:
                entry = self.find(name)
                if entry is not None and entry.ephemeral:
                    self.remove(name)
            self._ephemeral.clear()

    def declare(self, names: Iterable[tuple[str, str]]) -> None:
        """Let names of a gate's lists match although no tool has them."""
        with self._lock:
            self._declared.add(names)
            self._snapshot = None

    def set_hidden(self, name: str, *, hidden: bool) -> bool:
        """Hide a tool from definitions, or show it; whether there is such a tool."""
        with self._lock:
            self._snapshot = None
            return self._native.set_hidden(name, hidden)

    def hide_only(self, names: Collection[str]) -> None:
        """Hide the tools of these names and show all others, in one step."""
        with self._lock:
            for entry in self.snapshot().hidden():
                if entry.name not in names:
                    self.set_hidden(entry.name, hidden=False)
            for name in names:
                self.set_hidden(name, hidden=True)

    def __len__(self) -> int:
        return len(self._native)


class BranchTable(EntryTable):
    """A table over the entries of another's one moment; it keeps what it changed and no more."""

    __slots__ = ("_layered",)

    def __init__(self, origin: Snapshot, ephemeral: Collection[str]) -> None:
        super().__init__()
        self._native, self._layered = origin.branch()
        self._ephemeral = set(ephemeral)
        self._declared = origin.declared.inner()
        self._snapshot = origin

    def find(self, name: str) -> Entry | None:
        slot = self._native.find(name)
        if slot is None:
            return None
        entry = self._layered.get(slot)
        if entry is not None and entry.name == name:
            return entry
        with self._lock:  # as in the table that is not layered
            slot = self._native.find(name)
            return None if slot is None else self._layered[slot]

    def _copied_entries(self) -> EntriesBySlot:
        return LayeredEntries(*self._layered.parts)

    def _keep(self, slot: int, entry: Entry | None) -> None:
        self._layered[slot] = entry
