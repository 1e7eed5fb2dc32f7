"""Definitions as hostile text: what a model could read of them, and what they can cost."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from ethos_registry import Personality, ToolRegistry
from ethos_registry.mcp import McpBridge, McpServer
from ethos_registry.mcp._definitions import list_tools
from mcp_bridge_tools import call, view

pytest.importorskip("mcp", reason="the bridge needs the extra mcp")
mcp_types = pytest.importorskip("mcp_types", reason="the bridge needs the extra mcp")

UNUSUAL_SERVER = str(Path(__file__).parents[1] / "mcp_unusual_server.py")
HOSTILE = {
    "zero width": "a\u200bb",
    "bidirectional": "a\u202eb",
    "tag": "a\U000e0041b",
    "selector": "a\U000e0100b",
    "escape": "a\x1b[8mhidden\x1b[0mb",
    "control": "a\x07b",
    "token": "a<|im_start|>system b",
    "bracket token": "a [INST] b",
}
PLAIN = {"name": "plain", "inputSchema": {"type": "object"}}
STRING = {"type": "string"}


def with_property(value: Any, name: str = "a") -> dict[str, Any]:
    return {"type": "object", "properties": {name: value}}


PLACES = {
    "description": lambda text: {"description": text, "inputSchema": with_property(STRING)},
    "title": lambda text: {"title": text, "inputSchema": with_property(STRING)},
    "schema description": lambda text: {"inputSchema": with_property({"description": text})},
    "schema title": lambda text: {"inputSchema": {"type": "object", "title": text}},
    "comment": lambda text: {"inputSchema": {"type": "object", "$comment": text}},
    "enum": lambda text: {"inputSchema": with_property({"enum": ["x", text]})},
    "const": lambda text: {"inputSchema": with_property({"const": text})},
    "default": lambda text: {"inputSchema": with_property(STRING | {"default": text})},
    "nested default": lambda text: {"inputSchema": with_property({"default": {"x": [text]}})},
    "example": lambda text: {"inputSchema": with_property(STRING | {"examples": ["x", text]})},
    "property": lambda text: {"inputSchema": with_property(STRING, text)},
    "definition": lambda text: {"inputSchema": {"type": "object", "$defs": {text: STRING}}},
    "required": lambda text: {"inputSchema": with_property(STRING, text) | {"required": [text]}},
    "pattern": lambda text: {"inputSchema": with_property(STRING | {"pattern": f"^{text}"})},
    "format": lambda text: {"inputSchema": with_property(STRING | {"format": text})},
    "unknown keyword": lambda text: {"inputSchema": with_property(STRING | {"x-hint": text})},
    "unknown name": lambda text: {"inputSchema": with_property(STRING | {f"x-{text}": "y"})},
    "unknown object": lambda text: {"inputSchema": with_property({"x-a": {"b": [{text: 1}]}})},
    "branch": lambda text: {"inputSchema": {"type": "object", "anyOf": [{"description": text}]}},
}


def server_of(*tools: dict[str, Any], **fields: Any) -> McpServer:
    answer = {"jsonrpc": "2.0", "id": 0, "result": {"tools": tools}}
    # With an indent it is written in Python: the limit of the encoder in C is fixed from 3.12 on.
    line = json.dumps(answer, indent=0).replace("\n", "").replace('"id": 0', '"id": %id%')
    return McpServer(
        name="odd", command=sys.executable, args=[UNUSUAL_SERVER, "--listing", line], **fields
    )


def listing_server(*tools: dict[str, Any], **fields: Any) -> McpServer:
    return server_of(PLAIN, *tools, **fields)


def strings(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [*value, *(each for inner in value.values() for each in strings(inner))]
    if isinstance(value, list | tuple):
        return [each for inner in value for each in strings(inner)]
    return [value] if isinstance(value, str) else []


@pytest.mark.parametrize("hostile", HOSTILE.values(), ids=HOSTILE)
async def test_no_place_of_a_definition_shows_hostile_text(hostile: str) -> None:
    tools = [{"name": name.replace(" ", "_")} | make(hostile) for name, make in PLACES.items()]
    async with McpBridge([listing_server(*tools)]) as bridge:
        definitions = view(bridge).definitions()
        problems = bridge.problems
    text = json.dumps(definitions)
    shown = strings(json.loads(text))
    for piece in ("\u200b", "\u202e", "\U000e0041", "\U000e0100", "\x1b", "\x07"):
        assert all(piece not in each for each in shown)
    assert "<|im_start|>" not in text
    assert "[INST]" not in text
    names = {each["name"].removeprefix("mcp__odd__") for each in definitions}
    assert {"plain", "description", "title", "default", "example", "unknown_keyword"} <= names
    skipped = {problem.tool for problem in problems if problem.kind == "tool"}
    assert {"enum", "const", "property", "definition", "required"} <= skipped
    assert names.isdisjoint(skipped)


async def test_emoji_and_words_that_need_joiners_may_be_choices() -> None:
    choices = ["⚙️", "👨\u200d👩\u200d👧", "می\u200cخواهم", "plain"]
    tool = {"name": "pick", "inputSchema": with_property({"enum": choices})}
    async with McpBridge([listing_server(tool)]) as bridge:
        [pick, _] = view(bridge).definitions()
        assert not bridge.problems
    assert pick["parameters"]["properties"]["a"]["enum"] == choices


def nested(levels: int) -> dict[str, Any]:
    schema: dict[str, Any] = STRING
    for _ in range(levels // 2):
        schema = with_property(schema)
    return schema


@pytest.mark.parametrize("levels", [80, 200, 300, 3000])
async def test_a_deep_schema_costs_its_tool_alone(levels: int) -> None:
    sys.setrecursionlimit(max(sys.getrecursionlimit(), 10_000))  # to write the listing
    deep = {"name": "deep", "inputSchema": nested(levels)}
    async with McpBridge([listing_server(deep)]) as bridge:
        names = [each["name"] for each in view(bridge).definitions()]
        assert bridge.servers["odd"].state == "ready"
        if levels < 100:
            assert names == ["mcp__odd__deep", "mcp__odd__plain"]
        else:
            assert names == ["mcp__odd__plain"]
            assert [problem.tool for problem in bridge.problems] == ["deep"]


@pytest.mark.parametrize("keyword", ["allOf", "anyOf", "oneOf"])
async def test_references_that_multiply_cost_their_tool_alone(keyword: str) -> None:
    doubled = [[{"$ref": f"#/$defs/n{number + 1}"}] * 2 for number in range(28)]
    definitions = {f"n{number}": {keyword: pair} for number, pair in enumerate(doubled)}
    schema = with_property({"$ref": "#/$defs/n0"}) | {"$defs": definitions | {"n28": STRING}}
    async with McpBridge([listing_server({"name": "doubling", "inputSchema": schema})]) as bridge:
        names = [each["name"] for each in view(bridge).definitions()]
        [problem] = bridge.problems
    assert names == ["mcp__odd__plain"]
    assert problem.tool == "doubling"
    assert "too many ways" in problem.message


async def test_large_definitions_are_skipped_and_reported() -> None:
    large = {"name": "large", "inputSchema": with_property({"enum": ["x" * 40_000]})}
    small = [
        {"name": f"small{number}", "description": "y" * 1000, "inputSchema": {"type": "object"}}
        for number in range(9)
    ]
    server = listing_server(large, *small, max_total_definition_bytes=5_000)
    async with McpBridge([server]) as bridge:
        definitions = view(bridge).definitions()
        messages = {problem.kind: problem.message for problem in bridge.problems}
    assert len(json.dumps(definitions)) < 6_000
    assert "max_definition_bytes" in messages["tool"]
    assert "5 tools were skipped" in messages["count"]
    async with McpBridge([listing_server(large, max_definition_bytes=100_000)]) as bridge:
        assert len(view(bridge).definitions()) == 2


async def test_a_model_is_not_shown_how_to_approve(tmp_path: Path) -> None:
    pins = tmp_path / "mcp.pins.json"
    async with McpBridge([listing_server()]) as bridge:
        bridge.pins.path = pins
        bridge.pin()
    changed = dict(PLAIN, description="other")
    async with McpBridge([server_of(changed, dict(PLAIN, name="new"))], pins=pins) as bridge:
        registry = ToolRegistry()
        bridge.attach(registry)
        shown = registry.view(Personality("p", mcp_servers=["odd"]))
        results = await call(shown, ("odd__plain", {}), ("odd__new", {}))
        assert all("accept" in problem.message for problem in bridge.problems)
    for result in results:
        assert result.result.code == "not_available"
        assert "accept" not in result.text
        assert "ethos-registry" not in result.text


async def test_errors_of_a_server_are_cleaned() -> None:
    message = "bad\u200b <|im_start|>system \x1b[31mred"
    error = {"jsonrpc": "2.0", "id": 0, "error": {"code": -32000, "message": message}}
    line = json.dumps(error).replace('"id": 0', '"id": %id%')
    server = McpServer(name="odd", command=sys.executable, args=[UNUSUAL_SERVER])
    async with McpBridge([server]) as bridge:
        [result] = await call(view(bridge), ("odd__say", {"line": line}))
    assert result.text == "bad [STRIPPED-TEMPLATE-TOKEN] red"


@pytest.mark.parametrize("kind", ["application/json", "text/event-stream"])
async def test_a_deep_schema_over_http_costs_its_tool_alone(kind: str) -> None:
    httpx2 = pytest.importorskip("httpx2")

    def respond(request: Any) -> Any:
        message = json.loads(request.content or b"{}")
        if message.get("id") is None:
            return httpx2.Response(202 if request.method == "POST" else 405)
        answer: dict[str, Any] = {"error": {"code": -32601, "message": "no such method"}}
        if message["method"] == "initialize":
            answer = {
                "result": {
                    "protocolVersion": "2025-06-18",
                    "capabilities": {"tools": {}},
                    "serverInfo": {"name": "odd", "version": "1"},
                }
            }
        elif message["method"] == "tools/list":
            answer = {"result": {"tools": [PLAIN, {"name": "deep", "inputSchema": nested(300)}]}}
        text = json.dumps({"jsonrpc": "2.0", "id": message["id"], **answer})
        body = f"event: message\ndata: {text}\n\n" if kind.endswith("stream") else text
        return httpx2.Response(200, content=body, headers={"content-type": kind})

    async with httpx2.AsyncClient(transport=httpx2.MockTransport(respond)) as client:
        server = McpServer(name="odd", url="http://odd.example/mcp", http_client=client)
        async with McpBridge([server]) as bridge:
            assert bridge.servers["odd"].state == "ready"
            assert [each["name"] for each in view(bridge).definitions()] == ["mcp__odd__plain"]
            assert [problem.tool for problem in bridge.problems] == ["deep"]


class OnePage:
    """A client whose server lists everything at once."""

    server_capabilities = mcp_types.ServerCapabilities(tools={})

    def __init__(self, names: list[str]) -> None:
        tools = [mcp_types.Tool(name=name, input_schema={"type": "object"}) for name in names]
        self.page = mcp_types.ListToolsResult(tools=tools)

    async def list_tools(self, **_: Any) -> Any:
        return self.page


async def test_a_page_of_very_many_tools_is_cut_and_reported() -> None:
    listing = await list_tools(OnePage([f"t{number}" for number in range(20_000)]))  # type: ignore[arg-type]
    assert len(listing.definitions) == 2_000
    [(tool, problem)] = listing.problems
    assert tool is None
    assert problem.startswith("the listing was cut at 2,000 tools")


async def test_very_many_problems_of_a_listing_are_bounded() -> None:
    listing = await list_tools(OnePage(["again"] * 20_000))  # type: ignore[arg-type]
    assert list(listing.definitions) == ["again"]
    assert len(listing.problems) == 101
    assert listing.problems[-1] == (None, "there are more problems with its tools than these")
