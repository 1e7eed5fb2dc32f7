"""What a client is listed: the frozen definitions, and hints that follow from declarations."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ethos_registry.bridges.mcp.gateway.results import META_PREFIX
from ethos_registry.contract.capability import ToolCapabilities
from ethos_registry.execution.tool_digest import tool_digest
from ethos_registry.table.entry import Entry

__all__ = ["TOOL_DIGEST", "listed_tools", "tool_hints"]

TOOL_DIGEST = f"{META_PREFIX}toolDigest"
"""The key in the `_meta` of a listed tool and of a call: the version of the tool."""


def listed_tools(entries: Iterable[Entry]) -> list[dict[str, Any]]:
    """The tools of a `tools/list` result, made of the text that was taken at registration."""
    return [_listed(entry) for entry in entries]


def _listed(entry: Entry) -> dict[str, Any]:
    definition = entry.definition.fresh()
    return {
        "name": entry.name,
        "description": definition["description"],
        "inputSchema": definition["parameters"],
        "annotations": tool_hints(entry.capabilities, idempotent=entry.tool.idempotent),
        "_meta": {TOOL_DIGEST: tool_digest(entry)},
    }


def tool_hints(capabilities: ToolCapabilities, *, idempotent: bool) -> dict[str, bool]:
    """The hints of a tool; one that declares no capability is assumed to be able to do anything.

    >>> hints = tool_hints(ToolCapabilities(fs_reach={"read": ["/data"]}), idempotent=True)
    >>> hints["readOnlyHint"], hints["openWorldHint"]
    (True, False)
    """
    declares = bool(capabilities.declared)
    reaches_out = capabilities.network is not None or capabilities.process is not None
    may_write = (
        not declares
        or reaches_out
        or capabilities.storage is not None
        or bool((capabilities.fs_reach or {}).get("write"))
    )
    return {
        "readOnlyHint": idempotent and not may_write,
        "destructiveHint": may_write,
        "idempotentHint": idempotent,
        "openWorldHint": reaches_out or not declares,
    }
