"""The policy that a call runs under, looked up at each call."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

from ethos_registry.capabilities.network_coverage import covers_host
from ethos_registry.contract.context import ToolContext
from ethos_registry.contract.policy import FsReach, NetworkPolicy, Personality

__all__ = ["PolicySource", "fs_policy", "joined_network_policy", "network_policy", "personality_of"]

PolicySource: TypeAlias = Callable[[str], Personality | None]
"""The current personality of an id; `None` if there is none."""


def personality_of(context: ToolContext, policies: PolicySource | None) -> Personality | None:
    """The personality of a call: what `policies` returns now, else that of the view."""
    if policies is not None and context.personality_id is not None:
        current = policies(context.personality_id)
        if current is not None:
            return current
    found: Personality | None = getattr(context, "personality", None)
    return found


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
