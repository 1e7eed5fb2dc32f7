"""Policies compiled to native gates: the one verdict for definitions and for execution."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import TypeAlias

from ethos_registry import _core
from ethos_registry.contract import checks
from ethos_registry.contract.errors import ConfigError
from ethos_registry.contract.policy import NoTools, Personality, ToolFilterOpts

__all__ = ["PolicyKey", "compile_gate", "personality_gate", "policy_key"]

_logger = logging.getLogger("ethos_registry")

PolicyKey: TypeAlias = tuple[tuple[str, ...] | None, ToolFilterOpts | None]
"""An allow list and filters as a key: equal policies share one compiled gate."""


def policy_key(
    allowed_tools: Iterable[str] | None, filter_opts: ToolFilterOpts | None
) -> PolicyKey:
    """The policy of one batch, checked. `ConfigError` for a list or filters of the wrong kind."""
    if filter_opts is not None and not isinstance(filter_opts, ToolFilterOpts):
        _refuse_personality(filter_opts)
        raise ConfigError(
            f"`filter_opts` must be ToolFilterOpts, got {type(filter_opts).__name__}; "
            "`ToolFilterOpts(exclude_tools=[...])` makes one"
        )
    if allowed_tools is None or isinstance(allowed_tools, NoTools):
        return allowed_tools, filter_opts
    _refuse_personality(allowed_tools)
    names = checks.strings(allowed_tools, "allowed_tools")
    if not names:
        # The list is a gate only if it is not empty. This is easily misunderstood, so it is logged.
        _logger.debug("`allowed_tools` is empty and gates nothing; `NO_TOOLS` denies everything")
        return None, filter_opts
    return names, filter_opts


def _refuse_personality(policy: object) -> None:
    if isinstance(policy, Personality):
        raise ConfigError(
            "a Personality is neither an allow list nor a filter; "
            "`registry.view(personality)` shows and runs what it may"
        )


def compile_gate(key: PolicyKey) -> _core.Gate | None:
    """The gate of an allow list and filters; `None` permits everything.

    Equal policies get the same gate object.
    """
    allowed_tools, filters = key
    if allowed_tools is None and filters is None:
        return None
    filters = filters or ToolFilterOpts()
    servers = filters.allowed_mcp_tools
    return _gate(
        _exact(allowed_tools),
        None,
        _exact(filters.exclude_tools),
        _exact(filters.allowed_mcp_servers),
        None if servers is None else tuple((str(name), _exact(servers[name])) for name in servers),
        _exact(filters.allowed_plugins),
    )


def personality_gate(
    personality: Personality, granted_tools: Sequence[str] | None = None
) -> _core.Gate:
    """The gate of a personality: what it does not name, it does not permit.

    `granted_tools` narrows it further, to tools of these names.
    """
    if not isinstance(personality, Personality):
        raise ConfigError(
            f"`personality` must be a Personality, got {type(personality).__name__}; "
            "`Personality(id, toolset=[...])` makes one"
        )
    return _gate(
        _exact(personality.tool_names),
        _exact(personality.groups) if personality.toolset is not None else None,
        _exact(personality.exclude),
        _exact(personality.mcp_servers),
        None,
        _exact(personality.plugins),
        _exact(granted_tools),
    )


Names: TypeAlias = tuple[str, ...] | None


def _exact(names: Iterable[str] | None) -> Names:
    """The names as plain strings: a string of another class may compare as it likes."""
    if names is None:
        return None
    return tuple(name if type(name) is str else str.__str__(name) for name in names)


@lru_cache(maxsize=256)
def _gate(
    allowed_tools: Names,
    allowed_groups: Names,
    exclude_tools: Names,
    allowed_mcp_servers: Names,
    allowed_mcp_tools: tuple[tuple[str, Names], ...] | None,
    allowed_plugins: Names,
    granted_tools: Names = None,
) -> _core.Gate:
    tools = None if allowed_mcp_tools is None else dict(allowed_mcp_tools)
    return _core.Gate(
        allowed_tools=allowed_tools,
        allowed_groups=allowed_groups,
        exclude_tools=exclude_tools,
        allowed_mcp_servers=allowed_mcp_servers,
        allowed_mcp_tools=tools,  # type: ignore[arg-type]
        allowed_plugins=allowed_plugins,
        granted_tools=granted_tools,
    )
