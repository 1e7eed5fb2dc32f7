"""Calls that a server answers with a task."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from ethos_registry.mcp import McpBridge, McpServer
from mcp_bridge_tools import call, until, view

pytest.importorskip("mcp", reason="the bridge needs the extra mcp")

SERVER = str(Path(__file__).parents[1] / "mcp_task_server.py")


def server(log: Path, **fields: object) -> McpServer:
    values = {"name": "tasks", "command": sys.executable, "args": [SERVER, str(log)]}
    return McpServer(**values | fields)  # type: ignore[arg-type]


async def test_a_task_is_polled_until_it_has_ended(tmp_path: Path) -> None:
    log = tmp_path / "log"
    async with McpBridge([server(log)]) as bridge:
        done, failed, direct = await call(
            view(bridge), ("tasks__work", {}), ("tasks__fail", {}), ("tasks__direct", {})
        )
    assert done.text == "work is done"
    assert (failed.ok, failed.text) == (False, "fail is done")
    assert direct.text == "at once"
    lines = log.read_text().splitlines()
    assert lines.count("get work") == lines.count("get fail") == 3
    assert "call work as a task" in lines
    assert "call direct" in lines


async def test_a_task_that_does_not_end_is_cancelled_by_the_clock_of_its_tool(
    tmp_path: Path,
) -> None:
    log = tmp_path / "log"
    async with McpBridge([server(log, timeout_seconds=1)]) as bridge:
        [result] = await call(view(bridge), ("tasks__stop", {}))
        assert result.result.code == "execution_failed"  # type: ignore[union-attr]
        assert result.text.endswith("it may have run")
        await until(lambda: "cancel stop" in log.read_text())
