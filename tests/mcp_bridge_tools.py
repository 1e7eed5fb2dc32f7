"""What the tests of the MCP bridge share: servers, calls, and where npm's servers are."""

from __future__ import annotations

import asyncio
import importlib.util
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ethos_registry import CallResult, Personality, ToolContext, ToolRegistry, View
from ethos_registry.mcp import McpBridge, McpServer
from usage_tools import REQUIRED, missing

FOLDER = Path(__file__).parent
RAW = str(FOLDER / "mcp_raw_server.py")
SDK = str(FOLDER / "mcp_sdk_server.py")
NPM_VARIABLE = "ETHOS_REGISTRY_MCP_TOOLS"
"""A folder with `node` and `node_modules`."""

if importlib.util.find_spec("mcp") is None and "mcp-servers" not in REQUIRED:
    pytest.skip("the package mcp is not installed", allow_module_level=True)


def npm_program(path: str, what: str = "mcp-servers") -> list[str]:
    """Node and a program that npm installed, as `.ci/run` does, or the test is skipped."""
    folder = Path(os.environ.get(NPM_VARIABLE, "/absent"))
    program = folder / "node_modules" / path
    if not program.exists() or not (folder / "node").exists():
        missing(what, f"{path} is not installed in ${NPM_VARIABLE}")
    return [str(folder / "node"), str(program)]


def python_server(module: str) -> list[str]:
    """The command of a server from PyPI, or the test is skipped."""
    if importlib.util.find_spec(module) is None:
        missing("mcp-servers", f"the package of {module} is not installed")
    return [sys.executable, "-m", module]


def raw(*arguments: str, **fields: Any) -> McpServer:
    """A server without the SDK, which starts in 50 ms."""
    values = {"name": "raw", "command": sys.executable, "args": [RAW, *arguments]}
    return McpServer(**values | fields)


def view(bridge: McpBridge, registry: ToolRegistry | None = None) -> View:
    """What a personality sees that may use every server of the bridge."""
    if registry is None:
        registry = ToolRegistry()
        bridge.attach(registry)
    return registry.view(Personality("tester", mcp_servers=list(bridge.servers)))


async def call(
    shown: View, *calls: tuple[str, dict[str, Any]], context: ToolContext | None = None
) -> list[CallResult]:
    """The results of tools that are named by server and tool."""
    context = context or ToolContext(result_budget_chars=40_000_000)
    asked = [
        {"id": str(number), "name": f"mcp__{name}", "args": args}
        for number, (name, args) in enumerate(calls)
    ]
    return list(await shown.execute(asked, context))


async def text_of(shown: View, name: str, /, **args: Any) -> str:
    [result] = await call(shown, (name, args))
    assert result.ok, result.text
    return result.text


async def until(condition: Callable[[], object], seconds: float = 120) -> None:
    """Wait for a condition; fails after a time that is generous for a slow machine."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen in time"
        await asyncio.sleep(0.01)


def is_running(pid: int) -> bool:
    """Whether a process runs; one that ended and was not waited for does not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state not in (b"Z", b"X")
