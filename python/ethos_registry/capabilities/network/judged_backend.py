"""Connections of httpcore that go only to addresses that were checked."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable, Iterable, Sequence
from ipaddress import ip_address
from typing import Any

import httpcore

from ethos_registry import _core
from ethos_registry.capabilities.network.hosts import HostNotAllowedError

__all__ = ["AsyncJudgedBackend", "JudgedBackend", "Resolve", "judge_addresses"]

Resolve = Callable[[str, int], Sequence[str]]
"""The addresses of a host, as text; blocking. The default asks the system."""


def system_addresses(host: str, port: int) -> list[str]:
    """The addresses that the system's resolver gives; including numeric notations."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(address[4][0]) for address in found))


def judge_addresses(host: str, addresses: Iterable[str], *, allow_private: bool) -> list[str]:
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
        judged.append(address)
    if not judged:
        raise HostNotAllowedError(f"{host!r} has no address")
    return judged


def _check_peer(stream: Any, address: str, *, allow_private: bool) -> None:
    """Raise unless the socket is connected to the checked address, and not to this machine."""
    connection = stream.get_extra_info("socket")
    peer = ip_address(str(connection.getpeername()[0]))
    own = ip_address(str(connection.getsockname()[0]))
    if peer != ip_address(address):
        raise HostNotAllowedError(f"connected to {peer} instead of {address}")
    if peer == own and not allow_private:
        raise HostNotAllowedError(f"{peer} is an address of this machine")


class AsyncJudgedBackend(httpcore.AsyncNetworkBackend):
    """Resolves once, checks every address, connects to one of them; TLS verifies the name."""

    def __init__(self, *, allow_private: bool, resolve: Resolve = system_addresses) -> None:
        self._allow_private = allow_private
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
        found = await asyncio.to_thread(_resolved, self._resolve, host, port)
        failure: Exception = httpcore.ConnectError(f"no address of {host!r} answers")
        for address in judge_addresses(host, found, allow_private=self._allow_private):
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

    def __init__(self, *, allow_private: bool, resolve: Resolve = system_addresses) -> None:
        self._allow_private = allow_private
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
        found = _resolved(self._resolve, host, port)
        for address in judge_addresses(host, found, allow_private=self._allow_private):
            try:
                stream = self._backend.connect_tcp(
                    address, port, timeout, local_address, socket_options
                )
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                failure = error
                continue
            try:
                _check_peer(stream, address, allow_private=self._allow_private)
            except BaseException:
                stream.close()
                raise
            return stream
        raise failure

    def connect_unix_socket(self, *_: Any, **__: Any) -> httpcore.NetworkStream:
        """Refused: a path is not a host."""
        raise HostNotAllowedError("Unix sockets are not hosts")


def _resolved(resolve: Resolve, host: str, port: int) -> Sequence[str]:
    try:
        return resolve(host, port)
    except OSError as error:
        raise httpcore.ConnectError(f"{host!r} cannot be resolved: {error}") from error
