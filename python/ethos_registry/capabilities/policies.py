"""The policy that a call runs under, looked up once for each batch."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

from ethos_registry.capabilities.network_coverage import covers_host
from ethos_registry.contract.context import ToolContext
from ethos_registry.contract.policy import FsReach, NetworkPolicy, Personality

__all__ = [
    "PolicySource",
    "current_personality",
    "fs_policy",
    "joined_network_policy",
    "network_policy",
    "personality_of",
]

_logger = logging.getLogger("ethos_registry")

PolicySource: TypeAlias = Callable[[str], Personality | None]
"""The current personality of an id; `None` if there is none."""


def current_personality(
    policies: PolicySource | None, personality: Personality | None, named: str | None
) -> Personality | None:
    """What `policies` returns now for a personality, else the personality itself.

    `named` is the id that the caller's context names; it comes first. If `policies` raises, nothing
    is permitted.
    """
    found_id = personality.id if named is None and personality is not None else named
    if policies is None or found_id is None:
        return personality
    try:
        found = policies(found_id)
    except Exception:
        _logger.warning("the source of policies raised for `%s`", found_id, exc_info=True)
        return Personality(found_id, fs_reach=FsReach(), network=NetworkPolicy(allow=[]))
    return personality if found is None else found


def personality_of(
    context: ToolContext, policies: PolicySource | None = None
) -> Personality | None:
    """The personality of a call; a batch has asked for it, other contexts ask now."""
    if hasattr(context, "personality"):
        found: Personality | None = context.personality
        return found
    return current_personality(policies, None, context.personality_id)


def fs_policy(personality: Personality | None) -> FsReach | None:
    """The file reach of the call; `None` if the personality states none."""
    return None if personality is None else personality.fs_reach


def network_policy(context: ToolContext, personality: Personality | None) -> NetworkPolicy | None:
    """The policy of the call: a request must satisfy the personality's and the context's."""
    return joined_network_policy(
        context.network_policy, None if personality is None else personality.network
    )


def joined_network_policy(
    given: NetworkPolicy | None, stated: NetworkPolicy | None
) -> NetworkPolicy | None:
    """What both policies permit."""
    if stated is None or given is None:
        return stated or given
    allow = stated.allow if given.allow is None else given.allow
    if stated.allow is not None and given.allow is not None:
        allow = [*_covered(given.allow, stated.allow), *_covered(stated.allow, given.allow)]
    return NetworkPolicy(
        allow,
        [*(stated.deny or ()), *(given.deny or ())],
        bool(stated.allow_private_urls and given.allow_private_urls),
    )


def _covered(hosts: Sequence[str], by: Sequence[str]) -> Iterator[str]:
    """The patterns that lie within what another list allows."""
    for host in hosts:
        if "*" in by or (host != "*" and covers_host(by, host)):
            yield host
