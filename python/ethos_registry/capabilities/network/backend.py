"""Makes the scoped fetch of a call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ethos_registry.capabilities.network.exchange import FetchLimits
from ethos_registry.capabilities.network.hosts import HostRules
from ethos_registry.capabilities.network.pools import ConnectionPools
from ethos_registry.capabilities.policies import PolicySource, network_policy, personality_of
from ethos_registry.contract.context import ToolContext

if TYPE_CHECKING:
    from ethos_registry.capabilities.network.fetch import ReachFetch

__all__ = ["RequestBackend"]


class RequestBackend:
    """The requests of tools, each under the policy of its call."""

    def __init__(
        self,
        pools: ConnectionPools,
        limits: FetchLimits | None = None,
        policies: PolicySource | None = None,
    ) -> None:
        self._pools = pools
        self._limits = FetchLimits() if limits is None else limits
        self._policies = policies

    def scoped(self, hosts: Sequence[str], context: ToolContext) -> ReachFetch:
        """Requests to the hosts, as far as the policies of a call permit them."""
        from ethos_registry.capabilities.network.fetch import ReachFetch

        policy = network_policy(context, personality_of(context, self._policies))
        return ReachFetch(HostRules.of(hosts, policy), self._pools, self._limits)
