"""Registries and views as tables for notebooks."""

from __future__ import annotations

from collections.abc import Sequence

from ethos_registry.contract.html_table import html_table
from ethos_registry.table.entry import Entry

__all__ = ["tools_table"]


def tools_table(title: str, entries: Sequence[Entry]) -> str:
    """Name, description, toolset and origin of each tool; availability is not asked."""
    rows = (
        (
            entry.name,
            entry.definition.value["description"],
            entry.toolset,
            entry.mcp_server or entry.plugin_id or entry.owner,
            entry.segment,
        )
        for entry in entries
    )
    count = len(entries)
    caption = f"{title} of {count} tool{'' if count == 1 else 's'}"
    headers = ("name", "description", "toolset", "from", "segment")
    return html_table(caption, headers, rows, count)
