"""Which hosts a tool may reach: those it declared, as far as the personality permits them."""

from __future__ import annotations

import socket
from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address

from ethos_registry.contract.errors import EthosRegistryError
from ethos_registry.contract.policy import NetworkPolicy

__all__ = ["HostNotAllowedError", "HostRules", "canonical_host", "host_matches"]

_METADATA_NAMES = frozenset(
    {
        "instance-data",
        "instance-data.ec2.internal",
        "metadata",
        "metadata.azure.internal",
        "metadata.goog",
        "metadata.google.internal",
    }
)
_SHOWN_HOSTS = 8


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


def canonical_host(host: str) -> str:
    """A host as it is resolved: ASCII, in lower case, an address in its usual spelling.

    Raises `ValueError` if it is not a host name.

    >>> [canonical_host(host) for host in ("Bücher.example", "0x7f.1", "::ffff:0:1")]
    ['xn--bcher-kva.example', '127.0.0.1', '::ffff:0.0.0.1']
    """
    if not host.isascii():
        import idna

        host = idna.encode(host, uts46=True).decode("ascii")
    host = host.lower()
    if ":" in host:
        address = IPv6Address(host)
        # Not `str`: CPython 3.13 spells mapped addresses in another way than older ones.
        spelled = socket.inet_ntop(socket.AF_INET6, address.packed)
        return spelled if address.scope_id is None else f"{spelled}%{address.scope_id}"
    bare = host.removesuffix(".")
    last = bare.rpartition(".")[2]
    if last.isdigit() or (last.startswith("0x") and not last[2:].strip("0123456789abcdef")):
        try:
            return socket.inet_ntoa(socket.inet_aton(bare))
        except OSError:
            raise ValueError("it ends in a number and is not an IPv4 address") from None
    return host


def _canonical_pattern(pattern: str) -> str:
    prefix = "*." if pattern.startswith("*.") else ""
    try:
        return prefix + canonical_host(pattern[len(prefix) :])
    except ValueError:
        return pattern.lower()


@dataclass(frozen=True, slots=True)
class HostRules:
    """The hosts of one tool under one policy.

    A host must match a declared pattern, must match the policy's `allow` if it has one (an empty
    list permits nothing), and must not match its `deny`. Hosts and patterns are compared as they
    are resolved: in ASCII, and addresses in their usual spelling.
    """

    declared: tuple[str, ...]
    allow: tuple[str, ...] | None = None
    deny: tuple[str, ...] = ()
    allow_private_urls: bool = False

    def __post_init__(self) -> None:
        for name in ("declared", "allow", "deny"):
            patterns = getattr(self, name)
            if patterns is not None:
                object.__setattr__(self, name, tuple(map(_canonical_pattern, patterns)))

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
        bare = host.removesuffix(".")
        if bare in _METADATA_NAMES:
            raise HostNotAllowedError(f"cloud-metadata host {host!r} is always denied")
        if any(host_matches(pattern, bare) for pattern in self.deny):
            raise HostNotAllowedError(f"{host!r} is denied for this personality")
        if not any(host_matches(pattern, host) for pattern in self.declared):
            raise HostNotAllowedError(
                f"{host!r} is not in the declared allowedHosts ({shown_hosts(self.declared)})"
            )
        if self.allow is not None and not any(host_matches(one, host) for one in self.allow):
            raise HostNotAllowedError(
                f"{host!r} is not permitted for this personality "
                f"(permitted: {shown_hosts(self.allow)})"
            )

    @property
    def denied_addresses(self) -> frozenset[IPv4Address | IPv6Address]:
        """The addresses among the denied hosts: no name may lead to them either."""
        return frozenset(filter(None, map(_address, self.deny)))


def shown_hosts(patterns: Sequence[str]) -> str:
    """Some of the patterns for a message."""
    if not patterns:
        return "none"
    more = len(patterns) - _SHOWN_HOSTS
    return ", ".join(patterns[:_SHOWN_HOSTS]) + (f" and {more} more" if more > 0 else "")


def _address(pattern: str) -> IPv4Address | IPv6Address | None:
    try:
        return ip_address(pattern)
    except ValueError:
        return None
