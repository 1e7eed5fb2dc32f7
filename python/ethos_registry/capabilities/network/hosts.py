"""Which hosts a tool may reach: those it declared, as far as the personality permits them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ethos_registry.contract.errors import EthosRegistryError
from ethos_registry.contract.policy import NetworkPolicy

__all__ = ["HostNotAllowedError", "HostRules", "host_matches"]


class HostNotAllowedError(EthosRegistryError, PermissionError):
    """A request was not sent: its host or address is not permitted."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"HOST_NOT_ALLOWED: {reason}")


def host_matches(pattern: str, host: str) -> bool:
    """Whether `host` is `pattern`: exact, `*.x` for subdomains of `x` at any depth, or `*`.

    >>> [host_matches("*.x.org", host) for host in ("a.b.x.org", "x.org", "notx.org")]
    [True, False, False]
    """
    pattern, host = pattern.lower(), host.lower()
    if pattern == "*":
        return True
    if pattern.startswith("*."):
        return host.endswith(pattern[1:]) and len(host) > len(pattern) - 1
    return pattern == host


@dataclass(frozen=True, slots=True)
class HostRules:
    """The hosts of one tool under one policy.

    A host must match a declared pattern, must match the policy's `allow` if it has one (an empty
    list permits nothing), and must not match its `deny`.
    """

    declared: tuple[str, ...]
    allow: tuple[str, ...] | None = None
    deny: tuple[str, ...] = ()
    allow_private_urls: bool = False

    @classmethod
    def of(cls, declared: Sequence[str], policy: NetworkPolicy | None) -> HostRules:
        """The rules of a declaration under a personality's policy."""
        if policy is None:
            return cls(tuple(declared))
        return cls(
            tuple(declared),
            None if policy.allow is None else tuple(policy.allow),
            tuple(policy.deny or ()),
            bool(policy.allow_private_urls),
        )

    def check(self, host: str) -> None:
        """Raise `HostNotAllowedError` unless requests to the host are permitted."""
        if any(host_matches(pattern, host) for pattern in self.deny):
            raise HostNotAllowedError(f"{host!r} is denied for this personality")
        if not any(host_matches(pattern, host) for pattern in self.declared):
            raise HostNotAllowedError(f"{host!r} is not in the declared allowedHosts")
        if self.allow is not None and not any(host_matches(one, host) for one in self.allow):
            raise HostNotAllowedError(f"{host!r} is not permitted for this personality")
