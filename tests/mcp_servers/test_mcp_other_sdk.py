"""Another release of the package `mcp`, whose private attributes have other names."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("mcp", reason="the bridge needs the extra mcp")

PRIVATE = (
    "_absorb_tool_listing",
    "_build_capabilities",
    "_build_session",
    "_connection",
    "_dispatcher",
    "_on_request",
    "_stamp",
)
PROGRAM = """
import asyncio, json, logging, sys
from mcp.client import Client
from mcp.server.mcpserver import MCPServer
from ethos_registry import Personality, ToolContext, ToolRegistry
from ethos_registry.mcp import McpBridge, McpGateway, McpServer

logged = []
class Lines(logging.Handler):
    def emit(self, record):
        logged.append(f"{record.levelname} {record.getMessage()}")
logging.getLogger("ethos_registry").addHandler(Lines())

def served():
    server = MCPServer("near")
    @server.tool()
    def add(a: int, b: int) -> int:
        return a + b
    return server

async def main():
    task_server, log = sys.argv[1:]
    tasks = {"command": sys.executable, "args": [task_server, log]}
    near = McpServer(name="near", server=served(), protocol="legacy")
    servers = [near, McpServer(name="tasks", **tasks)]
    async with McpBridge(servers, on_elicitation=lambda request: None) as bridge:
        registry = ToolRegistry()
        bridge.attach(registry)
        personality = Personality("p", mcp_servers=["near", "tasks"])
        view = registry.view(personality)
        calls = [
            {"id": "1", "name": "mcp__near__add", "args": {"a": 2, "b": 3}},
            {"id": "2", "name": "mcp__tasks__direct", "args": {}},
        ]
        results = await view.execute(calls, ToolContext())
        async with Client(McpGateway(registry, personality).server(), mode="legacy") as client:
            through = await client.call_tool("mcp__near__add", {"a": 2, "b": 3})
    print(json.dumps([[each.text for each in results], through.content[0].text, logged]))

asyncio.run(main())
"""


def renamed_sdk(folder: Path) -> None:
    """A copy of the installed package in which no private name is the known one."""
    spec = importlib.util.find_spec("mcp")
    assert spec is not None
    assert spec.origin is not None
    source = Path(spec.origin).parent
    names = re.compile(rf"\b({'|'.join(PRIVATE)})\b")
    for path in source.rglob("*.py"):
        target = folder / "mcp" / path.relative_to(source)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(names.sub(r"\1_renamed", path.read_text(encoding="utf-8")), "utf-8")


def test_a_feature_is_off_with_one_warning_and_all_else_works(tmp_path: Path) -> None:
    renamed_sdk(tmp_path)
    tests = Path(__file__).parents[1]
    paths = [str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])]
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(tests / "mcp_task_server.py"), str(tmp_path / "log")],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(paths)},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    results, through, logged = json.loads(done.stdout)
    assert (results, through) == (["5", "at once"], "5")
    features = [line.partition(" is off: ")[0] for line in logged if " is off: " in line]
    assert sorted(features) == [
        "WARNING answering requests of MCP servers as tasks",
        "WARNING calls of MCP tools as tasks",
        "WARNING notifying clients of older revisions of MCP of changes",
        "WARNING reading results of MCP servers with blocks of unknown types",
    ]
