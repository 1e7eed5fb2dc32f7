"""Servers over HTTP that end sessions, refuse requests, or send too much."""

from __future__ import annotations

import contextlib
import json
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from ethos_registry import View
from ethos_registry.mcp import McpBridge, McpServer, _connection
from mcp_bridge_tools import call, view

httpx2 = pytest.importorskip("httpx2", reason="the bridge needs the extra mcp")

TOOL = {"name": "echo", "inputSchema": {"type": "object"}}
HELLO = {
    "protocolVersion": "2025-06-18",
    "capabilities": {"tools": {}},
    "serverInfo": {"name": "odd", "version": "1"},
}


class Server:
    """Answers by `on_call`, which gets the session and the number of the call."""

    def __init__(self, on_call: Callable[[str, int], Any]) -> None:
        self._on_call = on_call
        self.sessions = self.calls = 0

    def __call__(self, request: Any) -> Any:
        if request.method != "POST":
            return httpx2.Response(405)
        message = json.loads(request.content)
        method, number = message["method"], message.get("id")
        if number is None:
            return httpx2.Response(202)
        headers = {}
        answer: dict[str, Any] = {"error": {"code": -32601, "message": "no such method"}}
        if method == "initialize":
            self.sessions += 1
            headers["mcp-session-id"] = f"session-{self.sessions}"
            answer = {"result": HELLO}
        elif method == "tools/list":
            answer = {"result": {"tools": [TOOL]}}
        elif method == "tools/call":
            self.calls += 1
            other = self._on_call(request.headers["mcp-session-id"], self.calls)
            if other is not None:
                return other
            answer = {"result": {"content": [{"type": "text", "text": "answered"}]}}
        return httpx2.Response(
            200, json={"jsonrpc": "2.0", "id": number, **answer}, headers=headers
        )


@contextlib.asynccontextmanager
async def bridge_to(server: Callable[[Any], Any]) -> AsyncIterator[tuple[McpBridge, View]]:
    async with httpx2.AsyncClient(transport=httpx2.MockTransport(server)) as client:
        one = McpServer(name="h", url="http://127.0.0.1/mcp", http_client=client)
        async with McpBridge([one]) as bridge:
            yield bridge, view(bridge)
        assert client.event_hooks["response"] == []


@pytest.mark.parametrize("as_json", [False, True], ids=["plain", "json"])
async def test_an_expired_session_starts_no_call_and_is_opened_again(as_json: bool) -> None:
    error = {"code": -32001, "message": "Session not found"}
    body = {"json": {"jsonrpc": "2.0", "id": None, "error": error}} if as_json else {"text": "?"}

    def expire(session: str, number: int) -> Any:
        is_gone = session == "session-1" and number > 1
        return httpx2.Response(404, **body) if is_gone else None

    server = Server(expire)
    async with bridge_to(server) as (bridge, shown):
        [result] = await call(shown, ("h__echo", {}))
        assert result.text == "answered"
        [result] = await call(shown, ("h__echo", {}))
        assert result.result.code == "not_available"  # type: ignore[union-attr]
        assert "was not started" in result.text
        assert "session" in result.text
        await bridge.reconnect()
        [result] = await call(shown, ("h__echo", {}))
        assert result.text == "answered"
        assert server.sessions == 2


@pytest.mark.parametrize("status", [400, 401, 403, 405, 429, 500, 503, 599])
async def test_a_refused_call_names_the_status_and_the_connection_stays(status: int) -> None:
    def refuse(session: str, number: int) -> Any:
        return httpx2.Response(status, text="<html>") if number == 1 else None

    async with bridge_to(Server(refuse)) as (bridge, shown):
        [result] = await call(shown, ("h__echo", {}))
        assert result.text.startswith(f"HTTP {status}")
        [result] = await call(shown, ("h__echo", {}))
        assert result.text == "answered"
        assert bridge.servers["h"].connections == 1


@pytest.mark.parametrize("body", [{"text": "no"}, {"json": {"error": "invalid_token"}}])
async def test_the_reason_of_a_refused_connection_is_the_status(body: dict[str, Any]) -> None:
    async with bridge_to(lambda request: httpx2.Response(401, **body)) as (bridge, _):
        assert bridge.servers["h"].state == "failed"
        assert "HTTP 401 Unauthorized" in bridge.servers["h"].reason


async def test_a_body_beyond_the_limit_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_connection, "MAX_LINE_BYTES", 1 << 20)
    sent = 0

    async def endless() -> AsyncIterator[bytes]:
        nonlocal sent
        while True:
            sent += 1 << 16
            yield b"x" * (1 << 16)

    def flood(session: str, number: int) -> Any:
        headers = {"content-type": "application/json"}
        return httpx2.Response(200, headers=headers, content=endless()) if number == 1 else None

    async with bridge_to(Server(flood)) as (_, shown):
        [result] = await call(shown, ("h__echo", {}))
        assert "larger than 1 MiB" in result.text
        assert sent < 4 << 20
        [result] = await call(shown, ("h__echo", {}))
        assert result.text == "answered"
