"""Servers that answer in ways the protocol does not have: each call is answered at once, and
what is reported is what went wrong."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from ethos_registry.mcp import McpBridge, McpServer
from mcp_bridge_tools import call, view

SERVER = str(Path(__file__).parents[1] / "mcp_unusual_server.py")
SECONDS = 100.0
"""More than any of these calls takes, and less than they may take."""


def unusual(*arguments: str, **fields: Any) -> McpServer:
    values = {"command": sys.executable, "args": [SERVER, *arguments], "timeout_seconds": 300}
    return McpServer(**{"name": "odd", **values, **fields})


def response(**fields: Any) -> str:
    return json.dumps({"jsonrpc": "2.0", "id": 0} | fields).replace('"id": 0', '"id": %id%')


def with_text(text: str) -> str:
    return response(result={"content": [{"type": "text", "text": text}]})


DEEP = "[" * 100_000 + "]" * 100_000


@pytest.mark.parametrize(
    "line",
    [
        response(result=None),
        response(result=[]),
        response(result="text"),
        response(error={"code": -32000}),
        '{"jsonrpc":"2.0","id":%id%.0,"result":{"content":[]}}',
        '{"id":%id%,"result":{"content":[]}}',
        '{"jsonrpc":"2.0","id":%id%,"result":{"content":[],"structuredContent":{"a":' + DEEP,
        '{"jsonrpc":"2.0","id":%id%,"result":{"content":[],"structuredContent":{"a":'
        + "9" * 5000
        + "}}}",
        '{"jsonrpc":"2.0","id":%id%,"result":{"content":[{"type":"text","text":"cut',
    ],
    ids=["null", "list", "string", "error", "float id", "version", "deep", "number", "cut"],
)
async def test_a_response_that_is_not_valid_ends_its_call_at_once(line: str) -> None:
    async with McpBridge([unusual()]) as bridge:
        shown = view(bridge)
        began = time.monotonic()
        [result] = await call(shown, ("odd__say", {"line": line}))
        assert time.monotonic() - began < SECONDS
        assert result.result.code == "execution_failed"  # type: ignore[union-attr]
        assert "response that is not valid" in result.text
        assert "may have run" in result.text
        [result] = await call(shown, ("odd__say", {"line": with_text("still here")}))
        assert result.text == "still here"
        assert bridge.servers["odd"].connections == 1


@pytest.mark.parametrize(
    ("line", "text"),
    [
        (with_text("cut \ud83d emoji"), "cut \ufffd emoji"),
        (with_text("\U0001f600"), "\U0001f600"),
        (with_text("CAFE").replace("CAFE", "caf\xe9"), "caf\ufffd"),
        ("\xef\xbb\xbf" + with_text("after a byte order mark"), "after a byte order mark"),
        (f"[{with_text('of a batch')}]", "of a batch"),
    ],
    ids=["half a pair", "a pair", "latin-1", "byte order mark", "batch"],
)  # fmt: skip
async def test_text_that_is_not_quite_valid_is_read(line: str, text: str) -> None:
    async with McpBridge([unusual()]) as bridge:
        [result] = await call(view(bridge), ("odd__say", {"line": line}))
        assert result.text == text
        assert not bridge.problems


@pytest.mark.parametrize("code", [-32000, -32001, -32603])
async def test_an_error_of_the_server_is_no_lost_connection_and_no_timeout(code: int) -> None:
    async with McpBridge([unusual()]) as bridge:
        shown = view(bridge)
        for message in ("the database is locked", "Connection closed", "request timed out"):
            line = response(error={"code": code, "message": message})
            [result] = await call(shown, ("odd__say", {"line": line}))
            assert result.text == message
        assert bridge.servers["odd"].state == "ready"
        assert bridge.servers["odd"].connections == 1


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--hello", response(error={"code": -32000, "message": "no licence"})], "no licence"),
        (["--hello", response(error={"code": -32001, "message": "no seat"})], "no seat"),
        (["--hello", response(result={"protocolVersion": "1999-01-01", "capabilities": {},
          "serverInfo": {"name": "a", "version": "1"}})], "1999-01-01"),
        (["--hello", "close"], "closed its standard output"),
        (["--listing", response(error={"code": -32603, "message": "db down"})], "db down"),
        (["--listing", response(result=None)], "response that is not valid"),
    ],
    ids=["-32000", "-32001", "version", "closed", "listing", "null"],
)  # fmt: skip
async def test_the_reason_is_what_the_server_answered(arguments: list[str], words: str) -> None:
    async with McpBridge([unusual(*arguments, connect_timeout_seconds=60)]) as bridge:
        status = bridge.servers["odd"]
        assert status.state == "failed"
        assert words in status.reason
        assert "signal" not in status.reason


async def test_a_result_of_the_wrong_shape_says_where_and_that_the_call_has_run() -> None:
    line = response(result={"content": "text"})
    async with McpBridge([unusual()]) as bridge:
        [result] = await call(view(bridge), ("odd__say", {"line": line}))
        assert "it has run" in result.text
        assert "at `content`: Input should be a valid list" in result.text
        assert "pydantic" not in result.text


async def test_an_empty_cursor_is_the_end_of_the_listing() -> None:
    tool = {"name": "say", "inputSchema": {"type": "object"}}
    listing = response(result={"tools": [tool], "nextCursor": ""})
    async with McpBridge([unusual("--listing", listing)]) as bridge:
        assert bridge.servers["odd"].tools == 1
        assert not bridge.problems
