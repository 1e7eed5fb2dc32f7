"""Plain-Python twins of the name rules, the tool table and the gates: obvious code, no speed."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

UNKNOWN, EXCLUDED, TOOLSET, MCP_SERVER, MCP_TOOL, PLUGIN, NOT_GRANTED = -1, -2, -3, -4, -5, -6, -7


def is_tool_name(name: str) -> bool:
    return re.fullmatch(r"[a-zA-Z][a-zA-Z0-9_-]{0,63}", name) is not None


def split_mcp_name(name: str, mcp_server: str | None = None) -> tuple[str, str] | None:
    if mcp_server is not None:
        if mcp_server == "":
            raise ValueError(name)
        prefix = f"mcp__{mcp_server}__"
        has_rest = name.startswith(prefix) and name != prefix
        return mcp_server, name[len(prefix) :] if has_rest else name
    if not name.startswith("mcp__"):
        return None
    rest = name[len("mcp__") :]
    readings = [
        (rest[:cut], rest[cut + 2 :])
        for cut in range(len(rest))
        if rest[cut : cut + 2] == "__" and rest[:cut] and rest[cut + 2 :]
    ]
    if len(readings) != 1:
        raise ValueError(name)
    return readings[0]


@dataclass(frozen=True)
class Data:
    """The keywords of `ToolTable.insert` and `ToolTable.replace`."""

    toolset: str | None = None
    always_include: bool = False
    plugin_id: str | None = None
    mcp_server: str | None = None
    mcp_tool: str | None = None


@dataclass(frozen=True)
class Entry:
    name: str
    slot: int
    data: Data
    server: str | None
    bare: str | None
    hidden: bool = False

    @property
    def is_built_in(self) -> bool:
        return self.server is None and self.data.plugin_id is None


def server_and_tool(name: str, data: Data) -> tuple[str | None, str | None]:
    if data.mcp_tool is not None:
        if not data.mcp_server or not data.mcp_tool:
            raise ValueError(name)
        return data.mcp_server, data.mcp_tool
    return split_mcp_name(name, data.mcp_server) or (None, None)


@dataclass
class Table:
    """An ordered dict of entries, and the stack of slots that are free."""

    entries: dict[str, Entry] = field(default_factory=dict)
    free_slots: list[int] = field(default_factory=list)
    slot_count: int = 0
    is_branch: bool = False

    def insert(self, name: str, data: Data) -> int | None:
        if not is_tool_name(name):
            raise ValueError(name)
        server, bare = server_and_tool(name, data)
        if name in self.entries:
            return None
        if self.free_slots:
            slot = self.free_slots.pop()
        else:
            slot = self.slot_count
            self.slot_count += 1
        self.entries[name] = Entry(name, slot, data, server, bare)
        return slot

    def replace(self, name: str, data: Data) -> int | None:
        if name not in self.entries:
            return None
        server, bare = server_and_tool(name, data)
        present = self.entries[name]
        self.entries[name] = Entry(name, present.slot, data, server, bare, present.hidden)
        return present.slot

    def remove(self, name: str) -> int | None:
        if name not in self.entries:
            return None
        slot = self.entries.pop(name).slot
        self.free_slots.append(slot)
        return slot

    def find(self, name: object) -> int | None:
        if not isinstance(name, str) or name not in self.entries:
            return None
        return self.entries[name].slot

    def set_hidden(self, name: str, hidden: bool) -> bool:
        if name not in self.entries:
            return False
        self.entries[name] = replace(self.entries[name], hidden=hidden)
        return True

    def is_hidden(self, name: str) -> bool:
        return name in self.entries and self.entries[name].hidden

    def slots(self) -> list[int]:
        return [entry.slot for entry in self.entries.values()]

    def hidden_slots(self) -> list[int]:
        return [entry.slot for entry in self.entries.values() if entry.hidden]

    def group(self, toolset: str) -> list[int]:
        return [entry.slot for entry in self.entries.values() if entry.data.toolset == toolset]

    def snapshot(self) -> Table:
        return Table(dict(self.entries), list(self.free_slots), self.slot_count, self.is_branch)

    def branch(self) -> Table:
        free_slots = list(self.free_slots) if self.is_branch else []
        return Table(dict(self.entries), free_slots, self.slot_count, is_branch=True)

    def select(self, gate: Gate | None) -> list[int]:
        return [
            entry.slot
            for entry in self.entries.values()
            if not entry.hidden and (gate is None or gate.verdict_of(entry) is None)
        ]

    def admit(self, gate: Gate | None, names: Sequence[object]) -> list[int]:
        return [self._admit(gate, name) for name in names]

    def _admit(self, gate: Gate | None, name: object) -> int:
        if not isinstance(name, str) or name not in self.entries:
            return UNKNOWN
        entry = self.entries[name]
        refusal = None if gate is None else gate.verdict_of(entry)
        return entry.slot if refusal is None else refusal


@dataclass(frozen=True)
class Gate:
    allowed_tools: Sequence[str] | None = None
    allowed_groups: Sequence[str] | None = None
    exclude_tools: Sequence[str] | None = None
    allowed_mcp_servers: Sequence[str] | None = None
    allowed_mcp_tools: Mapping[str, Sequence[str]] | None = None
    allowed_plugins: Sequence[str] | None = None
    granted_tools: Sequence[str] | None = None

    def verdict_of(self, entry: Entry) -> int | None:
        """The verdict that refuses the tool, or `None`."""
        excluded = self.exclude_tools or ()
        if entry.name in excluded or f"toolset:{entry.data.toolset}" in excluded:
            return EXCLUDED
        if self.granted_tools is not None and entry.name not in self.granted_tools:
            return NOT_GRANTED
        if entry.is_built_in and not entry.data.always_include and not self._in_toolset(entry):
            return TOOLSET
        if entry.server is not None:
            if (
                self.allowed_mcp_servers is not None
                and entry.server not in self.allowed_mcp_servers
            ):
                return MCP_SERVER
            bare_names = (self.allowed_mcp_tools or {}).get(entry.server)
            if bare_names is not None and entry.bare not in bare_names:
                return MCP_TOOL
        plugin = entry.data.plugin_id
        if plugin is not None and self.allowed_plugins is not None:
            return None if plugin in self.allowed_plugins else PLUGIN
        return None

    def _in_toolset(self, entry: Entry) -> bool:
        if self.allowed_tools is None and self.allowed_groups is None:
            return True
        by_name = entry.name in (self.allowed_tools or ())
        return by_name or entry.data.toolset in (self.allowed_groups or ())

    def unmatched(self, table: Table) -> dict[str, list[str]]:
        entries = list(table.entries.values())
        built_in = [entry for entry in entries if entry.is_built_in]
        servers = {entry.server for entry in entries}
        pairs = {(entry.server, entry.bare) for entry in entries}
        mcp_tools = self.allowed_mcp_tools or {}
        missing_tools = {
            f"{server}/{tool}"
            for server, tools in mcp_tools.items()
            for tool in tools
            if (server, tool) not in pairs
        }
        idle_servers = {
            f"{server}/"
            for server, tools in mcp_tools.items()
            if not tools and server not in servers
        }
        found = {
            "allowed_tools": set(self.allowed_tools or ()) - {entry.name for entry in built_in},
            "allowed_groups": set(self.allowed_groups or ())
            - {entry.data.toolset for entry in built_in},
            "exclude_tools": set(self.exclude_tools or ())
            - {entry.name for entry in entries}
            - {f"toolset:{entry.data.toolset}" for entry in entries if entry.data.toolset},
            "allowed_mcp_servers": set(self.allowed_mcp_servers or ()) - servers,
            "allowed_mcp_tools": missing_tools | idle_servers,
            "allowed_plugins": set(self.allowed_plugins or ())
            - {entry.data.plugin_id for entry in entries},
        }
        return {key: sorted(names) for key, names in found.items() if names}
