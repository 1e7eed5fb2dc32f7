"""A proxy on loopback that connects to judged addresses only, for programs that take one."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Iterable, Sequence
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import Any

import httpcore

from ethos_registry import _core
from ethos_registry.capabilities._address_guard import (
    HostNotAllowedError,
    HostRules,
    Resolve,
    Target,
    look_up,
    system_addresses,
    target_of,
)

# Connections of httpcore that go only to addresses that were checked.


def _meanings(address: str) -> list[IPv4Address | IPv6Address]:
    """The address, and the IPv4 address that a mapped one connects to."""
    found = ip_address(address)
    mapped = getattr(found, "ipv4_mapped", None)
    return [found] if mapped is None else [found, mapped]


class GuardedBackend(httpcore.AsyncNetworkBackend):
    """Resolves once, checks every address, connects to one of them; TLS verifies the name."""

    def __init__(self, rules: HostRules, resolve: Resolve = system_addresses) -> None:
        self._allow_private = rules.allow_private_urls
        self._denied = rules.denied_addresses
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
        try:
            found = [*await look_up(self._resolve, host, port)]
        except TimeoutError as error:
            raise httpcore.ConnectTimeout(f"looking up {host!r} took too long") from error
        except OSError as error:
            raise httpcore.ConnectError(f"{host!r} cannot be resolved: {error}") from error
        failure: Exception = httpcore.ConnectError(f"no address of {host!r} answers")
        self.check_addresses(host, found)
        for address in found:
            try:
                stream = await self._backend.connect_tcp(
                    address, port, timeout, local_address, socket_options
                )
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                failure = error
                continue
            try:
                self._check_peer(stream, address)
            except BaseException:
                await stream.aclose()
                raise
            return stream
        raise failure

    def check_addresses(self, host: str, addresses: Sequence[str]) -> None:
        """Raise `HostNotAllowedError` unless all of the addresses are permitted.

        Refused is what is not an ordinary unicast address: a host with a public and a private
        address too. Cloud metadata services are always refused.
        """
        if not addresses:
            raise HostNotAllowedError(f"{host!r} has no address")
        for address in addresses:
            if "%" in address:
                raise HostNotAllowedError(f"{host!r} resolves to {address}, which has a zone")
            closed = _core.closed_address(address)
            if closed is not None:
                kind, is_metadata = closed
                if is_metadata:
                    raise HostNotAllowedError(f"cloud-metadata host {host!r} is always denied")
                if not self._allow_private:
                    raise HostNotAllowedError(
                        f"{host!r} resolves to {address}, which is not public ({kind})"
                    )
            if self._denied and self._denied.intersection(_meanings(address)):
                raise HostNotAllowedError(f"{host!r} resolves to {address}, which is denied")

    def _check_peer(self, stream: httpcore.AsyncNetworkStream, address: str) -> None:
        """Raise unless the socket is connected to the checked address, and not to this machine."""
        connection = stream.get_extra_info("socket")
        try:
            peer = ip_address(str(connection.getpeername()[0]))
            own = ip_address(str(connection.getsockname()[0]))
        except OSError as error:  # closed by the peer at once
            raise httpcore.ConnectError(f"the connection to {address} was lost: {error}") from error
        if peer != ip_address(address):
            raise HostNotAllowedError(f"connected to {peer} instead of {address}")
        if peer == own and not self._allow_private:
            raise HostNotAllowedError(f"{peer} is an address of this machine")

    async def sleep(self, seconds: float) -> None:
        await self._backend.sleep(seconds)


_HEAD_BYTES = 65_536
_PIECE_BYTES = 65_536
_HEAD_SECONDS = 30.0
_CONNECT_SECONDS = 15.0
_HOP_HEADERS = ("connection:", "keep-alive:", "proxy-", "upgrade:", "te:", "trailer:")


class ForwardProxy:
    """An HTTP proxy for one policy: plain requests, and `CONNECT` for TLS and WebSockets.

    Each connection serves one request, so that no request can follow another to its server.
    """

    def __init__(
        self,
        rules: HostRules,
        resolve: Resolve = system_addresses,
        *,
        max_connections: int = 64,
        max_bytes: int = 200 * 1024 * 1024,
        on_refusal: Callable[[str, str], object] = lambda host, reason: None,
    ) -> None:
        self._rules = rules
        self._backend = GuardedBackend(rules, resolve)
        self._free = asyncio.Semaphore(max_connections)
        self._bytes_left = max_bytes
        self._on_refusal = on_refusal
        self._server: asyncio.Server | None = None
        self._clients: set[asyncio.Task[None]] = set()

    async def start(self) -> int:
        """Listen on loopback; returns the port."""
        self._server = await asyncio.start_server(self._accepted, "127.0.0.1", 0, limit=_HEAD_BYTES)
        port: int = self._server.sockets[0].getsockname()[1]
        return port

    async def aclose(self) -> None:
        if self._server is not None:
            self._server.close()
        clients = [*self._clients]
        for task in clients:
            task.cancel()
        await asyncio.gather(*clients, return_exceptions=True)

    def _accepted(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.ensure_future(self._serve(reader, writer))
        self._clients.add(task)
        task.add_done_callback(self._clients.discard)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            async with self._free:
                await self._answer(reader, writer)
        except (OSError, httpcore.NetworkError, httpcore.TimeoutException, EOFError, ValueError):
            pass  # one side went away
        finally:
            writer.close()
            with contextlib.suppress(OSError):
                await writer.wait_closed()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        async with asyncio.timeout(_HEAD_SECONDS):
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        first, *lines = head[:-4].split("\r\n")
        method, url, _ = first.split(" ", 2)
        is_tunnel = method == "CONNECT"
        try:
            target = target_of(f"https://{url}/" if is_tunnel else url)
            if not is_tunnel and target.scheme != "http":
                raise HostNotAllowedError("TLS goes through CONNECT")
            self._rules.check(target.host)
            upstream = await self._backend.connect_tcp(target.host, target.port, _CONNECT_SECONDS)
        except HostNotAllowedError as error:
            self._on_refusal(_host_of(url, is_tunnel=is_tunnel), str(error))
            writer.write(_reply(403, str(error)))
            return
        except (httpcore.NetworkError, httpcore.TimeoutException) as error:
            writer.write(_reply(502, f"the host cannot be reached: {error}"))
            return
        try:
            if is_tunnel:
                writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
                await self._tunnel(reader, writer, upstream)
            else:
                await self._forward(method, target, lines, reader, writer, upstream)
        finally:
            await upstream.aclose()

    async def _tunnel(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        upstream: httpcore.AsyncNetworkStream,
    ) -> None:
        async def sending() -> None:
            while piece := await reader.read(_PIECE_BYTES):
                await upstream.write(self._counted(piece))

        await _first_of(sending(), self._receive(writer, upstream))

    async def _forward(
        self,
        method: str,
        target: Target,
        lines: list[str],
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        upstream: httpcore.AsyncNetworkStream,
    ) -> None:
        length = 0
        for line in lines:
            name, _, value = line.partition(":")
            if name.lower() == "transfer-encoding":
                writer.write(_reply(411, "a request body needs its length"))
                return
            if name.lower() == "content-length":
                length = int(value)
        sent = [f"{method} {target.path} HTTP/1.1", f"Host: {target.authority}"]
        sent += [line for line in lines if not line.lower().startswith((*_HOP_HEADERS, "host:"))]
        head = "\r\n".join([*sent, "Connection: close"]) + "\r\n\r\n"
        await upstream.write(head.encode("latin-1"))
        while length > 0:
            piece = await reader.read(min(length, _PIECE_BYTES))
            if not piece:
                return
            length -= len(piece)
            await upstream.write(self._counted(piece))
        # Whatever the client sends now is not forwarded: it could be meant for another host.
        await _first_of(_gone(reader), self._reply_of(writer, upstream))

    async def _reply_of(
        self, writer: asyncio.StreamWriter, upstream: httpcore.AsyncNetworkStream
    ) -> None:
        """Pass on a reply whose connection is not reused."""
        data = b""
        while True:
            while b"\r\n\r\n" not in data:
                piece = await upstream.read(_PIECE_BYTES)
                if not piece or len(data) > _HEAD_BYTES:
                    return
                data += piece
            head, _, data = data.partition(b"\r\n\r\n")
            first, *lines = head.decode("latin-1").split("\r\n")
            is_final = not first.split(" ")[1:2] or first.split(" ")[1][:1] != "1"
            lines = [line for line in lines if not line.lower().startswith(_HOP_HEADERS)]
            if is_final:
                lines.append("Connection: close")
                writer.write("\r\n".join([first, *lines, "", ""]).encode("latin-1") + data)
                break
        await self._receive(writer, upstream)

    async def _receive(
        self, writer: asyncio.StreamWriter, upstream: httpcore.AsyncNetworkStream
    ) -> None:
        while piece := await upstream.read(_PIECE_BYTES):
            writer.write(self._counted(piece))
            await writer.drain()

    def _counted(self, piece: bytes) -> bytes:
        self._bytes_left -= len(piece)
        if self._bytes_left < 0:
            raise OSError("the page transferred too much")
        return piece


async def _first_of(*directions: object) -> None:
    """Until one direction ends; the other one is stopped."""
    tasks = [asyncio.ensure_future(one) for one in directions]  # type: ignore[call-overload]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _gone(reader: asyncio.StreamReader) -> None:
    """Until the client closes its side."""
    while await reader.read(_PIECE_BYTES):
        pass


def _host_of(url: str, *, is_tunnel: bool) -> str:
    with contextlib.suppress(HostNotAllowedError):
        return target_of(f"https://{url}/" if is_tunnel else url).host
    return url[:200]


def _reply(status: int, text: str) -> bytes:
    body = text.encode()
    head = (
        f"HTTP/1.1 {status} Refused\r\nContent-Type: text/plain; charset=utf-8\r\n"
        f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    )
    return head.encode() + body
