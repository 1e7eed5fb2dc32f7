"""URLs, parsed strictly, so that the host that is checked is the host that is connected to."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import quote, urljoin, urlsplit

from ethos_registry.capabilities.network.hosts import HostNotAllowedError, canonical_host

__all__ = ["Target", "joined", "target_of"]

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
