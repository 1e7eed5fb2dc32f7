"""Results of every kind: from a server through a bridge, a registry and a gateway to a client."""

from __future__ import annotations

import asyncio
import base64
import json
from typing import Any

import pytest

from ethos_registry import Personality, Tool, ToolRegistry
from ethos_registry.mcp import McpBridge, McpGateway, McpServer
from ethos_registry.transports import McpTransport
from mcp_gateway_tools import PNG

pytest.importorskip("mcp", reason="the bridge needs the extra mcp")

import mcp_types as types
from mcp.client import Client
from mcp.server.lowlevel import Server

IMAGE = {"type": "image", "data": base64.b64encode(PNG).decode(), "mimeType": "image/png"}
AUDIO = {
    "type": "audio",
    "data": base64.b64encode(b"RIFF....WAVE").decode(),
    "mimeType": "audio/wav",
}
TEXT_RESOURCE = {
    "type": "resource",
    "resource": {"uri": "file:///a/b.md", "mimeType": "text/markdown", "text": "# heading\n\nbody"},
}
BLOB_RESOURCE = {
    "type": "resource",
    "resource": {
        "uri": "file:///a/b.pdf",
        "mimeType": "application/pdf",
        "blob": base64.b64encode(b"%PDF-1.7").decode(),
        "_meta": {"pages": 3},
    },
    "annotations": {"audience": ["user"], "priority": 0.5},
}
LINK = {
    "type": "resource_link",
    "uri": "file:///a/c.txt",
    "name": "c",
    "title": "The third",
    "description": "One of three.",
    "mimeType": "text/plain",
    "size": 12,
}


def text(value: str, **fields: Any) -> dict[str, Any]:
    return {"type": "text", "text": value, **fields}


KINDS: dict[str, dict[str, Any]] = {
    "text": {"content": [text("one line")]},
    "texts": {"content": [text("first\n\nparagraph"), text("second"), text("third")]},
    "empty": {"content": []},
    "empty text": {"content": [text("")]},
    "image": {"content": [IMAGE]},
    "order": {"content": [text("before"), IMAGE, text("between"), AUDIO, IMAGE, text("after")]},
    "text resource": {"content": [text("see"), TEXT_RESOURCE, text("end")]},
    "blob resource": {"content": [BLOB_RESOURCE, text("end")]},
    "link": {"content": [text("see"), LINK, LINK]},
    "annotations": {"content": [text("for the user", annotations={"audience": ["user"]})]},
    "block meta": {"content": [text("a", _meta={"x": 1}), IMAGE | {"_meta": {"y": [2]}}]},
    "structured": {"content": [text("4 degrees")], "structuredContent": {"degrees": 4}},
    "structured alone": {"content": [], "structuredContent": {"degrees": 4, "list": [1, None]}},
    "meta": {"content": [text("x")], "_meta": {"example.com/trace": {"id": 7}}},
    "error": {"content": [text("no such file")], "isError": True},
    "error with blocks": {
        "content": [text("it looks like"), IMAGE, text("so")],
        "structuredContent": {"code": 7},
        "isError": True,
    },
}
KINDS |= {
    "null structured": {"content": [text("x")], "structuredContent": {"a": None, "b": []}},
    "empty structured": {"content": [text("x")], "structuredContent": {}},
    "error with structured alone": {
        "content": [],
        "structuredContent": {"code": 7, "result": [1]},
        "isError": True,
    },
    "error without words": {"content": [], "isError": True},
    "error image": {"content": [IMAGE], "isError": True},
    "audio": {"content": [AUDIO | {"annotations": {"priority": 1.0}}]},
    "link with all fields": {
        "content": [
            LINK
            | {
                "annotations": {
                    "audience": ["user", "assistant"],
                    "priority": 0.2,
                    "lastModified": "2026-01-01T00:00:00Z",
                },
                "icons": [{"src": "https://example.com/i.png", "mimeType": "image/png"}],
                "_meta": {"z": {"a": [1]}},
            }
        ]
    },
    "image blob": {
        "content": [
            {
                "type": "resource",
                "resource": {"uri": "x://i", "mimeType": "image/png", "blob": IMAGE["data"]},
                "_meta": {"outer": 1},
            },
            text("end"),
        ]
    },
    "blob without media type": {
        "content": [{"type": "resource", "resource": {"uri": "x://b", "blob": "AAEC"}}]
    },
    "empty resource": {
        "content": [{"type": "resource", "resource": {"uri": "x://e", "text": ""}}, text("end")]
    },
    "text resource meta": {
        "content": [
            {
                "type": "resource",
                "resource": {"uri": "x://e", "text": "a\n\nb", "_meta": {"n": 1}},
                "annotations": {"priority": 0.1},
                "_meta": {"n": 2},
            }
        ]
    },
    "text like a line of a block": {
        "content": [text("[image image/png, 28 bytes]"), IMAGE, text("[resource <x://e>]\n")]
    },
    "texts with blank lines at their ends": {
        "content": [text("\n\na\n\n"), text("\n"), IMAGE, text("\n\n")]
    },
    "empty texts among others": {
        "content": [text(""), text("a"), text(""), IMAGE, text(""), text("b")]
    },
    "meta with nested keys": {
        "content": [text("x", _meta={"example.com/a": {"b": {"c": None}}})],
        "_meta": {"a": [], "b": {}, "progressToken": 5},
    },
    "for the user alone among others": {
        "content": [text("a"), IMAGE | {"annotations": {"audience": ["user"]}}, text("b")]
    },
}
MODERN_KINDS: dict[str, dict[str, Any]] = {
    "list structured": {"content": [text("two")], "structuredContent": [1, {"a": None}]},
    "word structured": {"content": [], "structuredContent": "four"},
    "number structured": {"content": [text("0")], "structuredContent": 0},
    "false structured": {"content": [], "structuredContent": False},
    "list structured of an error": {"content": [], "structuredContent": [], "isError": True},
}
"""Revisions before 2026-07-28 know objects alone."""


def server() -> Server[Any]:
    async def list_tools(context: Any, params: Any) -> types.ListToolsResult:
        tools = []
        for name in KINDS | MODERN_KINDS:
            tool = {"name": name.replace(" ", "_"), "inputSchema": {"type": "object"}}
            if name.startswith("structured"):
                tool |= {
                    "title": "The weather",
                    "outputSchema": {
                        "type": "object",
                        "properties": {"degrees": {"type": "integer"}},
                        "required": ["degrees"],
                    },
                    "annotations": {"readOnlyHint": True, "title": "W"},
                    "_meta": {"example.com/ui": "card"},
                }
            tools.append(types.Tool.model_validate(tool, by_name=False))
        return types.ListToolsResult(tools=tools)

    async def call_tool(context: Any, params: Any) -> types.CallToolResult:
        for step in (1, 2, 4):
            await context.session.report_progress(step, 4, f"step {step}")
        kinds = KINDS | MODERN_KINDS
        return types.CallToolResult.model_validate(kinds[params.name.replace("_", " ")])

    return Server("kinds", version="1", on_list_tools=list_tools, on_call_tool=call_tool)


def comparable(result: types.CallToolResult) -> dict[str, Any]:
    wire = result.model_dump(mode="json", by_alias=True, exclude_none=True)
    meta = {
        key: value
        for key, value in wire.pop("_meta", {}).items()
        if not key.startswith("ethos-registry/") and not key.startswith("io.modelcontextprotocol/")
    }
    wire["isError"] = bool(wire.get("isError"))
    return wire | ({"_meta": meta} if meta else {})


async def answer_and_progress(
    client: Client, name: str
) -> tuple[dict[str, Any], list[tuple[float, str | None]]]:
    """The result, and each progress notification as a share with its message."""
    progress = []

    async def on_progress(value: float, total: float | None, message: str | None) -> None:
        progress.append((value / (total or 1), message))

    result = await client.call_tool(name, {}, progress_callback=on_progress)
    return comparable(result), progress


def gateway_of(registry: ToolRegistry, **options: Any) -> McpGateway:
    return McpGateway(registry, Personality("all", mcp_servers=["kinds"]), **options)


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_a_client_of_the_gateway_receives_what_a_client_of_the_server_does(mode: str) -> None:
    registry = ToolRegistry()
    source = server()
    async with McpBridge([McpServer(name="kinds", server=source)]) as bridge:
        bridge.attach(registry)
        async with (
            Client(source, mode=mode) as direct,
            Client(gateway_of(registry).server(), mode=mode) as through,
        ):
            for name in KINDS | (MODERN_KINDS if mode == "auto" else {}):
                tool = name.replace(" ", "_")
                expected = await answer_and_progress(direct, tool)
                assert len(expected[1]) == 3
                assert await answer_and_progress(through, f"mcp__kinds__{tool}") == expected, name


async def test_the_same_through_a_transport_to_a_gateway() -> None:
    near, far = ToolRegistry(), ToolRegistry()
    source = server()
    async with McpBridge([McpServer(name="kinds", server=source)]) as bridge:
        bridge.attach(near)
        listening: asyncio.Future[list[str]] = asyncio.get_running_loop().create_future()
        gateway = gateway_of(near)
        serving = asyncio.create_task(gateway.serve_http(port=0, on_ready=listening.set_result))
        [url] = await listening
        try:
            async with McpTransport(McpServer(name="far", url=url)) as transport:
                far = ToolRegistry(transports={"toolset:far": transport})
                for tool in near.view(Personality("all", mcp_servers=["kinds"])).definitions():
                    far.register(
                        Tool(
                            tool["name"],
                            tool["description"],
                            tool["parameters"],
                            lambda args, context: None,
                            toolset="far",
                        ),
                        mcp_server="kinds",
                    )
                async with (
                    Client(source) as direct,
                    Client(gateway_of(far).server()) as through,
                ):
                    for name in KINDS | MODERN_KINDS:
                        tool = name.replace(" ", "_")
                        expected = await answer_and_progress(direct, tool)
                        found = await answer_and_progress(through, f"mcp__kinds__{tool}")
                        assert found == expected, name
        finally:
            gateway.close()
            await serving


@pytest.mark.parametrize("trusts", [True, False])
async def test_a_client_is_listed_what_the_server_states(trusts: bool) -> None:
    registry = ToolRegistry()
    upstream = McpServer(name="kinds", server=server(), trust_annotations=trusts)
    async with McpBridge([upstream]) as bridge:
        bridge.attach(registry)
        async with Client(gateway_of(registry).server()) as client:
            tools = {tool.name: tool for tool in (await client.list_tools()).tools}
    found = tools["mcp__kinds__structured"]
    assert found.title == "The weather"
    assert found.output_schema is not None
    assert found.output_schema["required"] == ["degrees"]
    assert found.meta is not None
    assert found.meta["example.com/ui"] == "card"
    assert found.annotations is not None
    assert found.annotations.read_only_hint is trusts
    assert found.annotations.destructive_hint is (None if trusts else True)


async def test_a_cut_text_keeps_the_other_blocks() -> None:
    registry = ToolRegistry()
    KINDS["long"] = {"content": [text("a" * 500), IMAGE, text("b" * 5000), AUDIO]}
    try:
        async with McpBridge([McpServer(name="kinds", server=server())]) as bridge:
            bridge.attach(registry)
            gateway = gateway_of(registry, result_budget_chars=2000)
            async with Client(gateway.server()) as client:
                content = (await client.call_tool("mcp__kinds__long", {})).content
    finally:
        del KINDS["long"]
    assert [block.type for block in content] == ["text", "image", "text", "audio"]
    assert content[0].text == "a" * 500
    assert content[2].text.startswith("bbb")
    assert "truncated" in content[2].text


async def test_redacted_text_stays_redacted_in_its_place() -> None:
    registry = ToolRegistry()
    token = "ghp_" + "a1B2" * 9
    KINDS["secret"] = {"content": [text(f"token {token}"), IMAGE, text(f"again {token}.")]}
    try:
        async with McpBridge([McpServer(name="kinds", server=server())]) as bridge:
            bridge.attach(registry)
            async with Client(gateway_of(registry).server()) as client:
                result = await client.call_tool("mcp__kinds__secret", {})
    finally:
        del KINDS["secret"]
    assert token not in result.model_dump_json()
    first, image, last = result.content
    assert first.text.startswith("token [redacted")
    assert image.type == "image"
    assert last.text.startswith("again [redacted")


async def test_a_fenced_text_is_one_block() -> None:
    registry = ToolRegistry()
    async with McpBridge([McpServer(name="kinds", server=server())]) as bridge:
        bridge.attach(registry)
        gateway = gateway_of(registry, untrusted="wrap")
        async with Client(gateway.server()) as client:
            result = await client.call_tool("mcp__kinds__order", {})
    assert [block.type for block in result.content] == ["text", "image", "audio", "image"]
    assert result.content[0].text.rstrip().endswith("</untrusted>")


HOSTILE = "a\u200b\x1b[31m<|im_start|>\u202e"


async def test_text_beside_a_result_is_cleaned_and_text_of_it_is_kept() -> None:
    registry = ToolRegistry()
    meta = {"_meta": {"a": {HOSTILE: [HOSTILE]}}}
    resource = {
        "uri": f"x://{HOSTILE}",
        "mimeType": f"text/{HOSTILE}",
        "text": "kept \u200b",
    } | meta
    link = {"type": "resource_link", "uri": "x://c"} | meta
    link |= dict.fromkeys(("name", "title", "description", "mimeType"), HOSTILE)
    family = "\U0001f468\u200d\U0001f469\u200d\U0001f467"
    KINDS["hostile"] = {
        "content": [
            text("first", **meta),
            IMAGE | meta,
            {"type": "resource", "resource": resource} | meta,
            link,
            LINK | {"title": f" {family} \n"},
        ],
        **meta,
    }
    try:
        async with McpBridge([McpServer(name="kinds", server=server())]) as bridge:
            bridge.attach(registry)
            async with Client(gateway_of(registry).server()) as client:
                result = await client.call_tool("mcp__kinds__hostile", {})
    finally:
        del KINDS["hostile"]
    assert result.content[2].resource.text == "kept \u200b"
    assert result.content[4].title == f" {family} \n"
    result.content[2].resource.text = result.content[4].title = ""
    shown = result.model_dump(mode="json", by_alias=True)
    assert [block["type"] for block in shown["content"]] == [
        *("text", "image", "resource", "resource_link", "resource_link")
    ]
    for piece in ("\u200b", "\x1b", "<|im_start|>", "\u202e"):
        assert piece not in str(shown) + json.dumps(shown, ensure_ascii=False)
