"""The registry's entries: the native name index, and the Python objects by its slots."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from typing import Any

from ethos_registry import _core
from ethos_registry.contract.errors import ConfigError, ToolAlreadyRegisteredError
from ethos_registry.table.entry import Entry

__all__ = ["EntryTable", "Snapshot", "mcp_identity"]


def mcp_identity(name: str, mcp_server: str | None) -> tuple[str, str] | None:
    """Server and bare name of an MCP tool, or `None` for any other tool (contract 1.6).

    `ConfigError` when the name can be read in more than one way and no server is given.
    """
    try:
        return _core.split_mcp_name(name, mcp_server)
    except ValueError as error:
        raise ConfigError(
            str(error), context={"tool_name": name, "field": "mcp_server", "value": mcp_server}
        ) from None


class Snapshot:
    """The entries of one moment: a native table and the tuple that its slots point into."""

    __slots__ = ("_entries", "_native")

    def __init__(self, native: _core.ToolTable, entries: tuple[Entry | None, ...]) -> None:
        self._native = native
        self._entries = entries

    def get(self, name: str) -> Entry | None:
        """The entry of exactly this name."""
        slot = self._native.find(name)
        return None if slot is None else self._entries[slot]

    def admit(self, gate: _core.Gate | None, names: list[Any]) -> list[Entry | int]:
        """For each name its entry, or the native verdict (< 0) that refuses it: one crossing."""
        entries: tuple[Any, ...] = self._entries
        return [code if code < 0 else entries[code] for code in self._native.admit(gate, names)]

    def select(self, gate: _core.Gate | None) -> list[Entry]:
        """What the gate permits and nobody hid, in registration order."""
        return self._at(self._native.select(gate))

    def group(self, toolset: str) -> list[Entry]:
        """The tools of one group, in registration order."""
        return self._at(self._native.group(toolset))

    def all(self) -> list[Entry]:
        """Every entry, in registration order."""
        return self._at(self._native.slots())

    def is_hidden(self, name: str) -> bool:
        """Whether the tool is left out of definitions."""
        return self._native.is_hidden(name)

    def unmatched(self, gate: _core.Gate) -> dict[str, list[str]]:
        """The entries of each of the gate's lists that match no tool."""
        return gate.unmatched(self._native)

    def _at(self, slots: list[int]) -> list[Entry]:
        entries: tuple[Any, ...] = self._entries
        return [entries[slot] for slot in slots]

    def __len__(self) -> int:
        return len(self._native)


class EntryTable:
    """The mutable table of one registry; safe from threads.

    Reading goes through `snapshot()`, which is made once per change, however often it is asked.
    """

    __slots__ = ("_entries", "_lock", "_native", "_snapshot")

    def __init__(self) -> None:
        self._native = _core.ToolTable()
        self._entries: list[Entry | None] = []
        self._snapshot: Snapshot | None = None
        self._lock = threading.RLock()

    def snapshot(self) -> Snapshot:
        """The entries as they are now."""
        snapshot = self._snapshot
        if snapshot is None:
            with self._lock:
                snapshot = Snapshot(self._native.snapshot(), tuple(self._entries))
                self._snapshot = snapshot
        return snapshot

    def find(self, name: str) -> Entry | None:
        """The entry of exactly this name."""
        slot = self._native.find(name)
        if slot is None:
            return None
        entries = self._entries
        entry = entries[slot] if slot < len(entries) else None
        if entry is not None and entry.name == name:
            return entry
        with self._lock:  # another thread is between index and entries, which change in turn
            slot = self._native.find(name)
            return None if slot is None else self._entries[slot]

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
            existing = seen.get(entry.name) or (None if overwrite else self.find(entry.name))
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
        slot = self._native.replace(entry.name, **tags)
        if slot is None:
            slot = self._native.insert(entry.name, **tags)
            assert slot is not None
        if slot == len(self._entries):
            self._entries.append(entry)
        else:
            self._entries[slot] = entry

    def remove(self, name: str) -> None:
        """Forget a tool; an unknown name is no error."""
        with self._lock:
            slot = self._native.remove(name)
            if slot is not None:
                self._entries[slot] = None
                self._snapshot = None

    def set_hidden(self, name: str, *, hidden: bool) -> bool:
        """Hide a tool from definitions, or show it; whether there is such a tool."""
        with self._lock:
            self._snapshot = None
            return self._native.set_hidden(name, hidden)

    def __len__(self) -> int:
        return len(self._native)
