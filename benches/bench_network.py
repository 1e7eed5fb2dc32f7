"""What a scoped fetch costs: the same requests to a loopback server by it and by httpx."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from beside import beside
from ethos_registry.capabilities import ConnectionPools
from ethos_registry.capabilities._address_guard import HostRules
from ethos_registry.capabilities._fetch import ReachFetch

SIZES = {"1 kB": 1_000, "100 kB": 100_000}
FETCHES = 50
RULES = HostRules(("*",), allow_private_urls=True)


class _Server(asyncio.Protocol):
    """Answers each request at once; the path is the number of bytes."""

    def connection_made(self, transport: Any) -> None:
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        count, _, rest = data.split(b" ", 2)[1][1:].partition(b"/")
        closes = rest == b"new"
        body = b"x" * int(count)
        head = f"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: {len(body)}\r\n"
        head += "Connection: close\r\n\r\n" if closes else "\r\n"
        self.transport.write(head.encode() + body)
        if closes:
            self.transport.close()


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    loop = asyncio.new_event_loop()
    server = loop.run_until_complete(loop.create_server(_Server, "127.0.0.1", 0))
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    yield server.sockets[0].getsockname()[1]
    loop.call_soon_threadsafe(server.close)
    loop.call_soon_threadsafe(loop.stop)
    thread.join(10)
    loop.close()


@pytest.fixture(scope="module")
def loop() -> Iterator[asyncio.AbstractEventLoop]:
    loop = asyncio.new_event_loop()
    yield loop
    loop.run_until_complete(loop.shutdown_asyncgens())
    loop.close()


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("connection", ["kept", "new"])
def test_scoped_fetch(
    benchmark: Any, loop: asyncio.AbstractEventLoop, port: int, size: str, connection: str
) -> None:
    url = f"http://127.0.0.1:{port}/{SIZES[size]}/{connection}"
    pools, client = ConnectionPools(), httpx.AsyncClient(trust_env=False)
    fetch = ReachFetch(RULES, pools)

    async def scoped() -> None:
        for _ in range(FETCHES):
            reply = await fetch.fetch(url)
            assert len(reply.content) == SIZES[size]

    async def plain() -> None:
        for _ in range(FETCHES):
            reply = await client.get(url)
            assert len(reply.content) == SIZES[size]

    beside(
        benchmark,
        lambda: lambda: loop.run_until_complete(scoped()),
        {"httpx": lambda: lambda: loop.run_until_complete(plain())},
        group="scoped fetch",
        rounds=20,
        per_round=FETCHES,
        unit="fetch",
    )
    loop.run_until_complete(pools.aclose())
    loop.run_until_complete(client.aclose())
