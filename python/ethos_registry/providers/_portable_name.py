"""Names of MCP tools that every provider accepts."""

from __future__ import annotations

import re

from ethos_registry.types import _checks
from ethos_registry.types._errors import ConfigError
from ethos_registry.types._json_values import sha256_hex

MAX_NAME_CHARS = 64
"""The longest name that all providers accept."""

_DIGEST_CHARS = 8
FOREIGN = re.compile(r"[^A-Za-z0-9_-]")
"""A character that not all providers accept."""


def portable_name(server: str, tool: str) -> str:
    """`mcp__{server}__{tool}` in the characters and the length that every provider accepts.

    Any other character becomes `_`. A name that this or the limit of 64 characters changes ends in
    `_` and eight hex digits of SHA-256 over the unchanged name, so that `foo.2` and `foo_2` stay
    apart. Deterministic; the way back is the caller's map, because a shortened name has lost it.
    `ConfigError` for an empty part, and for a server with `__` or with `_` at either end: the name
    would split in two ways.

    >>> portable_name("linear", "list_issues")
    'mcp__linear__list_issues'
    >>> portable_name("linear", "issues.list")
    'mcp__linear__issues_list_231bde2c'
    """
    if not _checks.text(server, "server") or not _checks.text(tool, "tool"):
        raise ConfigError(f"an MCP tool needs a server and a name: {server!r}, {tool!r}")
    if "__" in server or server.startswith("_") or server.endswith("_"):
        raise ConfigError(
            f"the id of an MCP server has no `__` and no `_` at either end; rename it: {server!r}",
            context={"field": "server", "value": server},
        )
    return portable(f"mcp__{server}__{tool}")


def portable(raw: str, prefix: str = "") -> str:
    """`prefix` and a name in those characters and that length.

    A name that this changes ends in `_` and eight hex digits of SHA-256 over the unchanged one.

    >>> portable("search"), portable("web.search")
    ('search', 'web_search_15f83c80')
    """
    name = prefix + FOREIGN.sub("_", raw)
    if name == raw and len(raw) <= MAX_NAME_CHARS:
        return name
    begin = name[: MAX_NAME_CHARS - _DIGEST_CHARS - 1]
    return f"{begin}_{sha256_hex(raw)[:_DIGEST_CHARS]}"
