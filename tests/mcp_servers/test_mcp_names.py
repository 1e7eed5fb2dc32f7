"""Names of a hostile server: no tool is taken for that of another server or of this program."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ethos_registry import ConfigError, Personality, Tool, ToolRegistry, ok
from ethos_registry.mcp import McpBridge, McpServer
from mcp_bridge_tools import raw

LOOK_ALIKES = [
    "echo",
    "\u0435cho",
    "ec\u200bho",
    "Echo",
    "ECHO",
    "echo ",
    "ec\nho",
    "x" * 300,
    "b__echo",
    "_b__echo",
    "mcp__b__echo",
    "read_file",
    "",
]


def server(folder: Path, name: str, tools: list[str]) -> McpServer:
    listing = folder / f"{len(list(folder.iterdir()))}.json"
    listing.write_text(
        json.dumps([{"name": tool, "inputSchema": {"type": "object"}} for tool in tools])
    )
    return raw("--listing", str(listing), name=name)


async def test_no_tool_is_taken_for_one_of_another_server(tmp_path: Path) -> None:
    registry = ToolRegistry()
    registry.register(Tool("read_file", "", {"type": "object"}, lambda args, context: ok("local")))
    servers = [
        server(tmp_path, "a", LOOK_ALIKES),
        server(tmp_path, "b", ["echo"]),
        server(tmp_path, "a ", ["echo"]),
        server(tmp_path, "\u0430", ["echo"]),
        server(tmp_path, "A", ["echo"]),
    ]
    async with McpBridge(servers) as bridge:
        bridge.attach(registry)
        shown = {
            name: {
                definition["name"]
                for definition in registry.view(Personality("p", mcp_servers=[name])).definitions(
                    "anthropic"
                )
            }
            for name in ("a", "b", "a ", "\u0430", "A")
        }
        assert shown["b"] == {"read_file", "mcp__b__echo"}
        assert len(shown["a"]) == 1 + len(LOOK_ALIKES) - 1  # the local tool; none without a name
        for name, tools in shown.items():
            assert all(tool.isascii() and tool.isprintable() for tool in tools)
            assert all(len(tool) <= 64 and " " not in tool for tool in tools)
            others = set().union(*(shown[other] for other in shown if other != name))
            assert tools & others == {"read_file"}
        for_b = registry.view(Personality("p", mcp_servers=["b"]))
        calls = [
            {"id": name, "name": name, "args": {}}
            for name in sorted(set().union(*shown.values()) - shown["b"])
        ]
        assert not any(result.ok for result in await for_b.execute(calls))
        [local] = await for_b.execute([{"id": "1", "name": "read_file", "args": {}}])
        assert local.text == "local"


@pytest.mark.parametrize("name", ["a__b", "_a", "a_"])
def test_a_server_is_not_named_so_that_its_tools_could_be_of_another(name: str) -> None:
    with pytest.raises(ConfigError, match="no `__` and no `_` at either end"):
        raw(name=name)
