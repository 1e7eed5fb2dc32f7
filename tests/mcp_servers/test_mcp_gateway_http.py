"""The gateway over streamable HTTP: clients, tokens, names that a browser may have asked for."""

import asyncio
import contextlib
import os
import signal
import socket
import time

import pytest

from ethos_registry import ConfigError, Personality
from mcp_gateway_tools import http_process, policy, registry

pytest.importorskip("mcp", reason="the gateway needs the extra mcp")

import httpx2
import mcp_types
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client

from ethos_registry import Tool, ToolRegistry, ok
from ethos_registry.mcp import McpGateway, _gateway_http
from ethos_registry.mcp._gateway_access import Access, is_loopback

EVERYTHING = Personality("everything")
MODES = pytest.mark.parametrize("mode", ["auto", "legacy"])
TWO = "reader:\n  toolset: [add]\nthe other:\n  toolset: [large]\n"
HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}
ACCEPT = {"Accept": "application/json, text/event-stream"}


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    path = policy(tmp_path_factory.mktemp("served"))
    with http_process(path) as (urls, process):
        yield urls[0], process


@MODES
async def test_a_client_lists_calls_and_sees_progress(mode, served):
    url, _ = served
    async with Client(url, mode=mode) as client:
        assert "add" in [each.name for each in (await client.list_tools()).tools]
        assert (await client.call_tool("add", {"a": 2, "b": 3})).content[0].text == "5"
        refused = await client.call_tool("nothing", {})
        assert refused.is_error
        seen = []

        async def on_progress(progress, total, message):
            seen.append((progress, message))

        await client.call_tool("steps", {}, progress_callback=on_progress)
        assert [message for _, message in seen] == ["ten", "again ten", "from a thread", "all"]
        picture = await client.call_tool("picture", {})
        assert [each.type for each in picture.content][:2] == ["text", "image"]


@MODES
async def test_an_answer_does_not_wait_for_a_delayed_acknowledgement(mode, served):
    """Which takes 40 ms on Linux; the fastest of some calls shows it, whatever else runs."""
    url, _ = served
    seconds = []
    async with Client(url, mode=mode) as client:
        while len(seconds) < 10 or (min(seconds) >= 0.03 and len(seconds) < 300):
            started = time.perf_counter()
            await client.call_tool("add", {"a": 2, "b": 3})
            seconds.append(time.perf_counter() - started)
    assert min(seconds) < 0.03, seconds


@MODES
async def test_a_cancelled_request_reaches_the_tool(mode, served, tmp_path):
    url, _ = served
    state = tmp_path / "state"
    async with Client(url, mode=mode) as client:
        call = asyncio.create_task(client.call_tool("wait", {"path": str(state)}))
        await until(lambda: state.exists() and state.read_text() == "started")
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        await until(lambda: state.read_text() == "cancelled")


async def until(condition, seconds=120.0):
    async with asyncio.timeout(seconds):
        while not condition():  # noqa: ASYNC110 - another process changes it
            await asyncio.sleep(0.01)


async def test_each_personality_has_its_own_path(tmp_path):
    with http_process(policy(tmp_path, TWO), count=2) as (urls, _):
        assert [url.split("/mcp/")[1] for url in urls] == ["reader", "the%20other"]
        for url, name in zip(urls, ("add", "large"), strict=True):
            async with Client(url) as client:
                assert [each.name for each in (await client.list_tools()).tools] == [name]
        async with httpx2.AsyncClient() as client:
            outside = urls[0].replace("reader", "nobody")
            assert (await client.post(outside, json=HELLO, headers=ACCEPT)).status_code == 404
            above = urls[0].removesuffix("/reader")
            assert (await client.post(above, json=HELLO, headers=ACCEPT)).status_code == 404


async def test_a_token_is_demanded_of_every_request_when_it_is_set(tmp_path):
    secret = "correct horse battery"
    environment = os.environ | {"ETHOS_REGISTRY_MCP_TOKEN": secret}
    with http_process(policy(tmp_path), env=environment) as ([url], _):
        async with httpx2.AsyncClient() as client:
            for headers in (
                {},
                {"Authorization": "Bearer wrong"},
                {"Authorization": f"Basic {secret}"},
                {"Authorization": "Bearer"},
                {"Authorization": f"Bearer {secret}x"},
                {"Authorization": b"Bearer \xff"},
            ):
                answer = await client.post(url, json=HELLO, headers=ACCEPT | headers)
                assert answer.status_code == 401
                assert answer.headers["www-authenticate"] == "Bearer"
                assert secret not in answer.text
        own = httpx2.AsyncClient(headers={"Authorization": f"Bearer {secret}"})
        async with own, Client(streamable_http_client(url, http_client=own)) as client:
            assert (await client.call_tool("add", {"a": 2, "b": 3})).content[0].text == "5"


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 200),
        ({"Host": "localhost"}, 200),
        ({"Origin": "http://localhost:3000"}, 200),
        ({"Host": "evil.example"}, 421),
        ({"Host": "127.0.0.1.evil.example"}, 421),
        ({"Host": "localhost.evil.example:80"}, 421),
        ({"Host": "192.168.1.5"}, 421),
        ({"Host": "localhost@evil.example"}, 421),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "http://localhost.evil.example"}, 403),
        ({"Origin": "http://127.0.0.1@evil.example"}, 403),
    ],
)
async def test_requests_under_other_names_are_refused(headers, status, served):
    url, _ = served
    async with httpx2.AsyncClient() as client:
        answer = await client.post(url, json=HELLO, headers=ACCEPT | headers)
    assert answer.status_code == status


def test_a_server_for_other_machines_accepts_addresses_and_allowed_names_with_the_token():
    access = Access("0.0.0.0", "secret", ["tools.example"])
    bearer = {"authorization": "Bearer secret"}
    assert access.denial(bearer | {"host": "192.168.1.5:8000"}) is None
    assert access.denial(bearer | {"host": "[fd00::1]:8000"}) is None
    assert access.denial(bearer | {"host": "Tools.Example:8000"}) is None
    assert access.denial(bearer | {"host": "evil.example"}).status == 421
    assert access.denial(bearer | {"host": ""}).status == 421
    assert access.denial(bearer | {"host": "a:b:c"}).status == 421
    assert access.denial({"host": "192.168.1.5"}).status == 401
    evil = bearer | {"host": "192.168.1.5", "origin": "https://evil.example"}
    assert access.denial(evil).status == 403


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.5", "tools.example", ""])
def test_an_address_for_other_machines_needs_a_token(host):
    assert not is_loopback(host)
    with pytest.raises(ConfigError, match="give a `token`"):
        McpGateway(registry, EVERYTHING).http_app(host=host)


@pytest.mark.parametrize("token", ["", "line\nbreak", "ümlaut"])
def test_a_token_that_no_header_can_carry_is_refused(token):
    with pytest.raises(ConfigError, match="`token` must be"):
        McpGateway(registry, EVERYTHING).http_app(token=token)


async def test_a_port_that_is_taken_is_an_error_with_the_reason():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(ConfigError, match=f"127.0.0.1:{port} cannot be used"):
            await McpGateway(registry, EVERYTHING).serve_http(port=port)


@MODES
async def test_changes_are_announced_over_http(mode):
    def made(name):
        return Tool(name, "", {"type": "object"}, lambda args, context: ok(name))

    changing = ToolRegistry([made("first")])
    gateway = McpGateway(changing, EVERYTHING)
    async with running(gateway) as url:
        changes = []

        async def on_message(message):
            if isinstance(message, mcp_types.ToolListChangedNotification):
                changes.append(message)

        async with Client(url, mode=mode, message_handler=on_message) as client:
            await client.list_tools()
            if mode == "legacy":
                while not changes:  # what changed before the stream was open is not announced
                    changing.register(made("second"))
                    with contextlib.suppress(TimeoutError):
                        await until(lambda: changes, 2)
                        break
                    changing.unregister("second")
                    await asyncio.sleep(1)
            else:
                async with client.listen(tools_list_changed=True) as events:
                    changing.register(made("second"))
                    async with asyncio.timeout(120):
                        await anext(events)
            names = (await client.list_tools(cache_mode="refresh")).tools
            assert [each.name for each in names] == ["first", "second"]


class running:
    """A gateway over HTTP on this loop; closed at the end of the block."""

    def __init__(self, gateway):
        self.gateway = gateway

    async def __aenter__(self):
        ready = asyncio.get_running_loop().create_future()
        serving = self.gateway.serve_http(port=0, on_ready=ready.set_result)
        self.task = asyncio.create_task(serving)
        return (await ready)[0]

    async def __aexit__(self, *error):
        self.gateway.close()
        async with asyncio.timeout(120):
            await self.task


async def test_closing_answers_the_calls_that_run(tmp_path):
    gateway = McpGateway(registry, EVERYTHING)
    state = tmp_path / "state"
    async with running(gateway) as url, Client(url) as client:
        call = asyncio.create_task(client.call_tool("wait", {"path": str(state)}))
        await until(lambda: state.exists() and state.read_text() == "started")
        gateway.close()
        result = await call
        assert result.is_error
        assert result.content[0].text.endswith("it may have run")
        assert state.read_text() == "cancelled"


@pytest.mark.parametrize("name", ["SIGTERM", "SIGINT"])
async def test_a_signal_ends_the_process_with_its_tools_cancelled(name, tmp_path):
    state = tmp_path / "state"
    with http_process(policy(tmp_path)) as ([url], process):
        async with Client(url) as client:
            call = asyncio.create_task(client.call_tool("wait", {"path": str(state)}))
            await until(lambda: state.exists() and state.read_text() == "started")
            process.send_signal(getattr(signal, name))
            assert (await call).is_error
        code = await asyncio.to_thread(process.wait, 20)
    assert code == 128 + getattr(signal, name)
    assert state.read_text() == "cancelled"


@MODES
async def test_sessions_do_not_share_what_belongs_to_a_session(mode):
    def session(args, context):
        return ok(context.session_id)

    tool = Tool("session", "", {"type": "object"}, session)
    async with running(McpGateway(ToolRegistry([tool]), EVERYTHING)) as url:
        found = []
        for _ in range(2):
            async with Client(url, mode=mode) as client:
                results = [await client.call_tool("session", {}) for _ in range(2)]
                found.append({each.content[0].text for each in results})
    assert not found[0] & found[1]
    assert len(found[0]) == (1 if mode == "legacy" else 2)


async def test_sessions_are_limited_in_number_and_end_when_idle(monkeypatch):
    monkeypatch.setattr(_gateway_http, "MAX_SESSIONS", 2)
    monkeypatch.setattr(_gateway_http, "SESSION_IDLE_SECONDS", 0.5)
    gateway = McpGateway(registry, EVERYTHING)
    ready = asyncio.get_running_loop().create_future()
    serving = asyncio.create_task(gateway.serve_http(port=0, on_ready=ready.set_result))
    [url] = await asyncio.wait_for(ready, 60)
    async with httpx2.AsyncClient(headers=ACCEPT, timeout=60) as client:

        async def begin():
            return (await client.post(url, json=HELLO)).status_code

        assert [await begin() for _ in range(3)] == [200, 200, 503]
        await until_begun(begin)
    gateway.close()
    await asyncio.wait_for(serving, 60)


async def test_a_body_that_does_not_arrive_ends_its_session(monkeypatch):
    monkeypatch.setattr(_gateway_http, "MAX_SESSIONS", 1)
    monkeypatch.setattr(_gateway_http, "BODY_SECONDS", 0.5)
    async with running(McpGateway(registry, EVERYTHING)) as url:
        port = int(url.split(":")[2].partition("/")[0])
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        headers = "".join(f"{name}: {value}\r\n" for name, value in ACCEPT.items())
        writer.write(
            f"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\n{headers}"
            "Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{".encode()
        )
        assert (await asyncio.wait_for(reader.readline(), 60)).startswith(b"HTTP/1.1 500")
        async with httpx2.AsyncClient(headers=ACCEPT, timeout=60) as client:
            assert (await client.post(url, json=HELLO)).status_code == 200
        writer.close()


@pytest.mark.parametrize("before", [b"", b"GET /none HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"])
async def test_headers_that_never_end_close_their_connection(monkeypatch, before):
    monkeypatch.setattr(_gateway_http, "HEAD_SECONDS", 0.5)
    async with running(McpGateway(registry, EVERYTHING)) as url:
        port = int(url.split(":")[2].partition("/")[0])
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        if before:
            writer.write(before)
            assert (await asyncio.wait_for(reader.readuntil(b"\r\n"), 60)).endswith(
                b"404 Not Found\r\n"
            )
        writer.write(b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nX-")
        started = time.monotonic()
        await asyncio.wait_for(reader.read(), 60)
        assert time.monotonic() - started < 4  # an idle connection is kept for longer
        writer.close()


async def test_a_client_that_does_not_read_holds_up_no_announcement():
    def execute(args, context):
        for _ in range(900):
            context.report("x" * 40_000)
        return ok("done")

    changing = ToolRegistry([Tool("report", "", {"type": "object"}, execute)])
    gateway = McpGateway(changing, EVERYTHING)
    call = {"name": "report", "arguments": {}, "_meta": {"progressToken": 1}}
    async with running(gateway) as url, httpx2.AsyncClient(headers=ACCEPT, timeout=60) as client:
        answer = await client.post(url, json=HELLO)
        session = {"Mcp-Session-Id": answer.headers["mcp-session-id"]}
        ready = {"jsonrpc": "2.0", "method": "notifications/initialized"}
        await client.post(url, json=ready, headers=session)
        await gateway.announce_changes()  # what there is now is no change
        message = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call}
        async with client.stream("POST", url, json=message, headers=session):
            await asyncio.sleep(1)  # its stream is full
            changing.register(Tool("second", "", {"type": "object"}, execute))
            await asyncio.wait_for(gateway.announce_changes(), 30)


async def until_begun(begin):
    """An idle session has ended, so that another one can begin."""
    deadline = time.monotonic() + 60
    while await begin() != 200:
        assert time.monotonic() < deadline
        await asyncio.sleep(0.2)
