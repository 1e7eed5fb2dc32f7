"""The proxy of the browser: permitted hosts, judged addresses, one request a connection."""

from __future__ import annotations

import asyncio
import contextlib

import pytest

from ethos_registry.capabilities._address_guard import HostRules
from ethos_registry.capabilities._guarded_connections import ForwardProxy
from loopback_http import response, serving
from network_attacks import resolver

NAMES = {"site.test": ["127.0.0.1"], "other.test": ["127.0.0.1"], "meta.test": ["169.254.169.254"]}
RULES = HostRules(("*",), allow=("site.test", "meta.test"), allow_private_urls=True)


@contextlib.asynccontextmanager
async def proxying(rules=RULES, **options):
    refused: list[tuple[str, str]] = []
    proxy = ForwardProxy(
        rules, resolver(NAMES), on_refusal=lambda *pair: refused.append(pair), **options
    )
    port = await proxy.start()

    async def send(data: bytes) -> bytes:
        """The reply: up to the end of the connection, or two seconds of silence."""
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(data)
        reply = b""
        with contextlib.suppress(TimeoutError):
            while piece := await asyncio.wait_for(reader.read(65_536), 2 if reply else 60):
                reply += piece
        writer.close()
        with contextlib.suppress(OSError):
            await writer.wait_closed()
        return reply

    try:
        yield send, refused
    finally:
        await proxy.aclose()


async def test_a_plain_request_reaches_a_permitted_host_without_the_headers_of_the_hop():
    with serving(lambda target, head: response(body=b"page", Keep_Alive="timeout=5")) as server:
        async with proxying() as (send, refused):
            reply = await send(
                f"GET http://site.test:{server.port}/a?b=1 HTTP/1.1\r\nHost: other.test\r\n"
                "Proxy-Connection: keep-alive\r\nConnection: keep-alive\r\n"
                "X-Mine: 1\r\n\r\n".encode()
            )
        [request] = server.requests
    assert request.startswith(b"GET /a?b=1 HTTP/1.1\r\nHost: site.test:")
    assert b"X-Mine: 1" in request
    assert b"Connection: close" in request
    assert b"keep-alive" not in request
    assert b"other.test" not in request
    assert reply.startswith(b"HTTP/1.1 200")
    assert reply.endswith(b"Connection: close\r\n\r\npage")
    assert b"timeout=5" not in reply
    assert refused == []


@pytest.mark.parametrize("method", ["GET", "CONNECT"])
@pytest.mark.parametrize(
    "host",
    [
        "other.test",
        "127.0.0.1",
        "2130706433",
        "[::1]",
        "localhost",
        "169.254.169.254",
        "metadata.google.internal",
        "meta.test",
        "site.test.evil.test",
        "site.test@127.0.0.1",
        "x@site.test",
    ],
)
async def test_no_other_host_is_connected_to(method, host):
    with serving(lambda target, head: response(body=b"secret")) as server:
        place = f"{host}:{server.port}"
        line = f"CONNECT {place}" if method == "CONNECT" else f"GET http://{place}/"
        async with proxying() as (send, refused):
            reply = await send(f"{line} HTTP/1.1\r\nHost: site.test\r\n\r\n".encode())
        assert server.connections == 0
    assert reply.startswith(b"HTTP/1.1 403")
    assert b"HOST_NOT_ALLOWED" in reply
    assert len(refused) == 1


@pytest.mark.parametrize(
    "line",
    ["GET /x HTTP/1.1", "GET https://site.test/ HTTP/1.1", "GET file:///etc/passwd HTTP/1.1",
     "GET ftp://site.test/ HTTP/1.1", "CONNECT site.test:0 HTTP/1.1", "nonsense", "A B"],
)  # fmt: skip
async def test_what_is_not_a_request_of_a_proxy_is_refused(line):
    async with proxying() as (send, _):
        reply = await send(f"{line}\r\n\r\n".encode())
    assert reply == b"" or reply.startswith(b"HTTP/1.1 403")


async def test_a_tunnel_goes_to_the_checked_address_and_ends_with_either_side():
    with serving(lambda target, head: response(body=b"tls", Connection="close")) as server:
        async with proxying() as (send, _):
            opening = f"CONNECT site.test:{server.port} HTTP/1.1\r\n\r\n".encode()
            inside = b"GET /in HTTP/1.1\r\nHost: x\r\n\r\n"
            reply = await send(opening + inside)
        assert reply.startswith(b"HTTP/1.1 200 Connection established\r\n\r\nHTTP/1.1 200")
        assert reply.endswith(b"tls")
        assert server.requests == [inside]
        assert server.reached_at == ["127.0.0.1"]


async def test_a_second_request_on_a_connection_is_not_forwarded():
    """It could be meant for another host, with the cookies of that host."""
    with serving(lambda target, head: response(body=b"page")) as server:
        async with proxying() as (send, _):
            first = f"GET http://site.test:{server.port}/1 HTTP/1.1\r\n\r\n"
            second = "GET http://other.test/2 HTTP/1.1\r\nCookie: secret\r\n\r\n"
            assert (await send((first + second).encode())).endswith(b"page")
        assert [request.split(b" ")[1] for request in server.requests] == [b"/1"]


async def test_a_body_is_forwarded_by_its_length_and_never_by_chunks():
    with serving(lambda target, head: response(body=b"ok")) as server:
        async with proxying() as (send, _):
            head = f"POST http://site.test:{server.port}/p HTTP/1.1\r\n"
            await send(f"{head}Content-Length: 4\r\n\r\nbodyGET /smuggled".encode())
            chunked = await send(f"{head}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n".encode())
        assert chunked.startswith(b"HTTP/1.1 411")
        assert len(server.requests) == 1
        assert server.requests[0].endswith(b"\r\n\r\nbody")


async def test_a_page_transfers_only_so_much():
    with serving(lambda target, head: response(body=b"x" * 500_000)) as server:
        async with proxying(max_bytes=100_000) as (send, _):
            reply = await send(f"GET http://site.test:{server.port}/ HTTP/1.1\r\n\r\n".encode())
    assert len(reply) < 200_000


async def test_a_host_that_does_not_answer_is_a_bad_gateway():
    with serving(lambda target, head: response()) as server:
        port = server.port
    async with proxying() as (send, _):
        reply = await send(f"GET http://site.test:{port}/ HTTP/1.1\r\n\r\n".encode())
    assert reply.startswith(b"HTTP/1.1 502")
