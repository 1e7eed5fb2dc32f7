"""Connections of httpcore that go only to addresses that were checked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import Any

import httpcore

from ethos_registry import _core
from ethos_registry.capabilities.network.deadline import TimedStream, seconds_left
from ethos_registry.capabilities.network.hosts import HostNotAllowedError
from ethos_registry.capabilities.network.lookup import (
    Resolve,
    look_up,
    look_up_blocking,
    system_addresses,
)

__all__ = ["AsyncJudgedBackend", "JudgedBackend", "Resolve", "judge_addresses"]

_NO_ADDRESSES: frozenset[IPv4Address | IPv6Address] = frozenset()


def judge_addresses(
    host: str,
    addresses: Iterable[str],
    *,
    allow_private: bool,
    denied: frozenset[IPv4Address | IPv6Address] = _NO_ADDRESSES,
) -> list[str]:
    """The addresses, if all of them are permitted.

    Raises `HostNotAllowedError` if one is not an ordinary unicast address: a host with a public
    and a private address is refused. Cloud metadata services are always refused.
    """
    judged = []
    for address in addresses:
        if "%" in address:
            raise HostNotAllowedError(f"{host!r} resolves to {address}, which has a zone")
        closed = _core.closed_address(address)
        if closed is not None:
            kind, is_metadata = closed
            if is_metadata:
                raise HostNotAllowedError(f"cloud-metadata host {host!r} is always denied")
            if not allow_private:
                raise HostNotAllowedError(
                    f"{host!r} resolves to {address}, which is not public ({kind})"
                )
        if denied and denied.intersection(_meanings(address)):
            raise HostNotAllowedError(f"{host!r} resolves to {address}, which is denied")
        judged.append(address)
    if not judged:
        raise HostNotAllowedError(f"{host!r} has no address")
    return judged


def _meanings(address: str) -> list[IPv4Address | IPv6Address]:
    """The address, and the IPv4 address that a mapped one connects to."""
    found = ip_address(address)
    mapped = getattr(found, "ipv4_mapped", None)
    return [found] if mapped is None else [found, mapped]


def _check_peer(stream: Any, address: str, *, allow_private: bool) -> None:
    """Raise unless the socket is connected to the checked address, and not to this machine."""
    connection = stream.get_extra_info("socket")
    try:
        peer = ip_address(str(connection.getpeername()[0]))
        own = ip_address(str(connection.getsockname()[0]))
    except OSError as error:  # closed by the peer at once
        raise httpcore.ConnectError(f"the connection to {address} was lost: {error}") from error
    if peer != ip_address(address):
        raise HostNotAllowedError(f"connected to {peer} instead of {address}")
    if peer == own and not allow_private:
        raise HostNotAllowedError(f"{peer} is an address of this machine")


@contextmanager
def _lookup_errors(host: str) -> Iterator[None]:
    """The errors of a lookup as those of a connection."""
    try:
        yield
    except TimeoutError as error:
        raise httpcore.ConnectTimeout(f"looking up {host!r} took too long") from error
    except OSError as error:
        raise httpcore.ConnectError(f"{host!r} cannot be resolved: {error}") from error


class AsyncJudgedBackend(httpcore.AsyncNetworkBackend):
    """Resolves once, checks every address, connects to one of them; TLS verifies the name."""

    def __init__(
        self,
        *,
        allow_private: bool,
        denied: frozenset[IPv4Address | IPv6Address] = _NO_ADDRESSES,
        resolve: Resolve = system_addresses,
    ) -> None:
        self._allow_private = allow_private
        self._denied = denied
        self._resolve = resolve
        self._backend = httpcore.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109 (the interface of httpcore)
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        """A connection to the first of the checked addresses that answers."""
        with _lookup_errors(host):
            found = await look_up(self._resolve, host, port)
        failure: Exception = httpcore.ConnectError(f"no address of {host!r} answers")
        for address in judge_addresses(
            host, found, allow_private=self._allow_private, denied=self._denied
        ):
            try:
                stream = await self._backend.connect_tcp(
                    address, port, timeout, local_address, socket_options
                )
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                failure = error
                continue
            try:
                _check_peer(stream, address, allow_private=self._allow_private)
            except BaseException:
                await stream.aclose()
                raise
            return stream
        raise failure

    async def connect_unix_socket(self, *_: Any, **__: Any) -> httpcore.AsyncNetworkStream:
        """Refused: a path is not a host."""
        raise HostNotAllowedError("Unix sockets are not hosts")

    async def sleep(self, seconds: float) -> None:
        """Wait between attempts."""
        await self._backend.sleep(seconds)


class JudgedBackend(httpcore.NetworkBackend):
    """The same for code that may block."""

    def __init__(
        self,
        *,
        allow_private: bool,
        denied: frozenset[IPv4Address | IPv6Address] = _NO_ADDRESSES,
        resolve: Resolve = system_addresses,
    ) -> None:
        self._allow_private = allow_private
        self._denied = denied
        self._resolve = resolve
        self._backend = httpcore.SyncBackend()

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.NetworkStream:
        """A connection to the first of the checked addresses that answers."""
        failure: Exception = httpcore.ConnectError(f"no address of {host!r} answers")
        with _lookup_errors(host):
            found = look_up_blocking(self._resolve, host, port, seconds_left(timeout))
        for address in judge_addresses(
            host, found, allow_private=self._allow_private, denied=self._denied
        ):
            try:
                stream = self._backend.connect_tcp(
                    address, port, seconds_left(timeout), local_address, socket_options
                )
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                failure = error
                continue
            try:
                _check_peer(stream, address, allow_private=self._allow_private)
            except BaseException:
                stream.close()
                raise
            return TimedStream(stream)
        raise failure

    def connect_unix_socket(self, *_: Any, **__: Any) -> httpcore.NetworkStream:
        """Refused: a path is not a host."""
        raise HostNotAllowedError("Unix sockets are not hosts")
