"""Who may send requests over HTTP: the token, and the names that a browser may have asked for."""

from __future__ import annotations

import contextlib
import hmac
import ipaddress
import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple
from urllib.parse import urlsplit

from ethos_registry.types._errors import ConfigError

_LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})


class Denial(NamedTuple):
    """Why a request is refused: an HTTP status and one line."""

    status: int
    reason: str


def is_loopback(host: str) -> bool:
    """Whether an address can be reached from this machine only.

    >>> is_loopback("127.0.0.1"), is_loopback("localhost"), is_loopback("0.0.0.0")
    (True, True, False)
    """
    address = _address(host)
    return host == "localhost" or (address is not None and address.is_loopback)


def _address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None


class Access:
    """Judges the headers of a request.

    A page of another site can make a browser send requests here, under a name that it points at
    this machine (DNS rebinding). Such a request names the other site in `Host` and `Origin`. An
    address instead of a name cannot be rebound, so servers for other machines accept addresses.
    """

    __slots__ = ("_host", "_names", "_token")

    def __init__(
        self,
        host: str,
        token: str | None,
        allowed_hosts: Iterable[str] = (),
        *,
        needs_token: bool = True,
    ) -> None:
        if token is not None and (not token or not token.isascii() or not token.isprintable()):
            raise ConfigError("`token` must be a non-empty string of printable ASCII characters")
        if token is None and needs_token and not is_loopback(host):
            raise ConfigError(
                f"{host} can be reached from other machines: give a `token` that clients must send"
            )
        self._host = host
        self._token = None if token is None else token.encode()
        names = {name.lower() for name in allowed_hosts}
        self._names = _LOOPBACK_NAMES | names | {host.lower()}

    def denial(self, headers: Mapping[str, str]) -> Denial | None:
        """Why a request with these headers (lower-case names) is refused, or `None`."""
        if not self._is_allowed(_host_name(f"//{headers.get('host', '')}")):
            return Denial(421, "Invalid Host header")
        origin = headers.get("origin")
        if origin and not self._is_allowed(_host_name(origin)):
            return Denial(403, "Invalid Origin header")
        if self._token is not None:
            scheme, _, sent = headers.get("authorization", "").partition(" ")
            matches = hmac.compare_digest(sent.strip().encode("utf-8", "replace"), self._token)
            if scheme.lower() != "bearer" or not matches:
                return Denial(401, "A bearer token is required")
        return None

    def _is_allowed(self, name: str | None) -> bool:
        if name is None:
            return False
        if name in self._names:
            return True
        return not is_loopback(self._host) and _address(name) is not None


def _host_name(url: str) -> str | None:
    """The name or address of a URL without its port, in lower case."""
    try:
        parts = urlsplit(url)
        _ = parts.port  # raises if it is not a number
        return None if "@" in parts.netloc else parts.hostname
    except ValueError:
        return None


# Standard input and output for one protocol alone: nothing else can write to it.


@contextlib.contextmanager
def claimed_stdio() -> Iterator[tuple[int, int]]:
    """Private descriptors of standard input and output, until the block ends.

    Meanwhile descriptor 0 reads nothing and descriptor 1 is standard error, for this process and
    for the children that it starts: what a tool prints never reaches the client.
    """
    _flush_output()
    reader, writer = os.dup(0), os.dup(1)
    try:
        _point(0, os.open(os.devnull, os.O_RDONLY))
        _point(1, _errors())
        yield reader, writer
    finally:
        _flush_output()  # buffered output of tools belongs to standard error
        os.dup2(reader, 0)
        os.dup2(writer, 1)
        os.close(reader)
        os.close(writer)


def _flush_output() -> None:
    if sys.stdout is not None:
        with contextlib.suppress(OSError, ValueError):
            sys.stdout.flush()


def _point(descriptor: int, target: int) -> None:
    os.dup2(target, descriptor)
    os.close(target)


def _errors() -> int:
    try:
        return os.dup(2)
    except OSError:  # closed
        return os.open(os.devnull, os.O_WRONLY)
