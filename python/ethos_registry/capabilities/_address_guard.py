"""Which hosts a tool may reach: those it declared, as far as the personality permits them."""

from __future__ import annotations

import re
import socket
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import TypeAlias
from urllib.parse import quote, urljoin, urlsplit

from ethos_registry.capabilities._resolver import host_matches
from ethos_registry.types._errors import EthosRegistryError
from ethos_registry.types._loop_thread import on_own_thread
from ethos_registry.types._policy import NetworkPolicy

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

    __module__ = "ethos_registry.capabilities"

    def __init__(self, reason: str) -> None:
        super().__init__(f"HOST_NOT_ALLOWED: {reason}")


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
    list permits nothing), and must not match its `deny`. In a policy `*.x` covers `x` too; but a
    tool that declares `x` by name needs a policy that names it. Hosts and patterns are compared as
    they are resolved: in ASCII, addresses in their usual spelling.
    """

    declared: Sequence[str]
    allow: Sequence[str] | None = None
    deny: Sequence[str] = ()
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
            return cls(declared)
        return cls(declared, policy.allow, policy.deny or (), bool(policy.allow_private_urls))

    def check(self, host: str) -> None:
        """Raise `HostNotAllowedError` unless requests to the host are permitted."""
        bare = host.removesuffix(".")
        if bare in _METADATA_NAMES:
            raise HostNotAllowedError(f"cloud-metadata host {host!r} is always denied")
        if any(_policy_covers(pattern, bare) for pattern in self.deny):
            raise HostNotAllowedError(f"{host!r} is denied for this personality")
        if not any(host_matches(pattern, host) for pattern in self.declared):
            raise HostNotAllowedError(
                f"{host!r} is not in the declared allowedHosts ({shown_hosts(self.declared)})"
            )
        covers = _policy_covers if "*" in self.declared else host_matches
        if self.allow is not None and not any(covers(pattern, host) for pattern in self.allow):
            raise HostNotAllowedError(
                f"{host!r} is not permitted for this personality "
                f"(permitted: {shown_hosts(self.allow)})"
            )

    @property
    def denied_addresses(self) -> frozenset[IPv4Address | IPv6Address]:
        """The addresses among the denied hosts: no name may lead to them either."""
        return frozenset(filter(None, map(_address, self.deny)))


def _policy_covers(pattern: str, host: str) -> bool:
    return host_matches(pattern, host) or pattern == f"*.{host}"


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


# Names are looked up on threads of their own: a slow resolver delays nothing else.

Resolve: TypeAlias = Callable[[str, int], Sequence[str]]
"""The addresses of a host, as text; blocking. The default asks the system."""


def system_addresses(host: str, port: int) -> list[str]:
    """The addresses that the system's resolver gives; including numeric notations."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(address[4][0]) for address in found))


async def look_up(resolve: Resolve, host: str, port: int) -> Sequence[str]:
    """The addresses of a host, for code on an event loop."""
    if "%" not in host and _address(host) is not None:
        return [host]
    return await on_own_thread(lambda: resolve(host, port))


# URLs, parsed strictly, so that the host that is checked is the host that is connected to.

_PORTS = {"http": 80, "https": 443}
_FORBIDDEN = re.compile(r"[\x00-\x20\x7f\\]")
_AUTHORITY = re.compile(r"(?:\[[^\[\]]*\]|[^:\[\]]*)(?::[0-9]*)?")
_MAX_LABEL_CHARS = 63
_HOST = re.compile(r"[a-z0-9._-]+|\[[0-9a-f:.]+\]", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Target:
    """Where a request goes."""

    scheme: str
    host: str
    """In lower case and ASCII; an IPv6 address without brackets."""
    port: int
    path: str
    """Path and query, percent-encoded."""

    @property
    def origin(self) -> tuple[str, str, int]:
        """The origin: credentials are sent to no other."""
        return self.scheme, self.host, self.port

    @property
    def authority(self) -> str:
        """The `Host` header."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def url(self) -> str:
        """The URL, normalised."""
        return f"{self.scheme}://{self.authority}{self.path}"


def target_of(url: str) -> Target:
    """The target of a URL; `HostNotAllowedError` for a URL that parsers read differently."""
    if not isinstance(url, str) or len(url) > 8_192 or _FORBIDDEN.search(url):
        raise HostNotAllowedError(
            "the URL is longer than 8192 characters or has a space, backslash or control character"
        )
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise HostNotAllowedError(f"not a valid URL: {error}") from None
    scheme = parts.scheme.lower()
    if scheme not in _PORTS:
        raise HostNotAllowedError(
            f"URL_SCHEME_REJECTED: scheme {parts.scheme!r} not allowed (only http/https)"
        )
    if "@" in parts.netloc:
        raise HostNotAllowedError("URLs with embedded credentials are not allowed")
    if not _AUTHORITY.fullmatch(parts.netloc):
        raise HostNotAllowedError(f"{parts.netloc!r} is not a host with an optional port")
    if port == 0:
        raise HostNotAllowedError("port 0 is not a port")
    host = _ascii(parts.hostname or "")
    path = quote(parts.path or "/", safe="/%:@!$&'()*+,;=~-._")
    query = quote(parts.query, safe="/%:@!$&'()*+,;=~-._?[]|{}^`\"<>") if parts.query else ""
    query = re.sub(r"[\"<>`{}|^]", lambda found: f"%{ord(found[0]):02X}", query)
    return Target(scheme, host, port or _PORTS[scheme], f"{path}?{query}" if query else path)


def joined(base: Target, location: str) -> str:
    """The URL that a redirect leads to."""
    try:
        return urljoin(base.url, location)
    except ValueError as error:
        raise HostNotAllowedError(f"the redirect has no valid URL: {error}") from None


def _ascii(host: str) -> str:
    """The host as it is resolved: the policy sees the address behind every numeric spelling."""
    if not host:
        raise HostNotAllowedError("the URL has no host")
    try:
        found = canonical_host(host)
    except ValueError as error:
        raise HostNotAllowedError(f"{host!r} is not a host name: {error}") from None
    shown = f"[{found}]" if ":" in found else found
    labels = found.removesuffix(".").split(".")
    is_named = ":" in found or all(0 < len(label) <= _MAX_LABEL_CHARS for label in labels)
    if not _HOST.fullmatch(shown) or len(found) > 253 or not is_named:
        raise HostNotAllowedError(f"{host!r} is not a host name")
    return found
