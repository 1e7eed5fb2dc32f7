"""Calls that a server answers with a task, and questions that it asks as a task."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path

import pytest

from ethos_registry.mcp import McpBridge, McpElicitation, McpServer
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


async def test_a_question_that_is_asked_as_a_task_is_polled_and_answered(tmp_path: Path) -> None:
    log = tmp_path / "log"

    async def answer(request: McpElicitation) -> dict[str, str]:
        assert request.message == "Which day?"
        await asyncio.sleep(0.2)
        return {"day": "monday"}

    async with McpBridge([server(log)], on_elicitation=answer) as bridge:
        asked, unknown = await call(view(bridge), ("tasks__ask", {}), ("tasks__unknown", {}))
    result = json.loads(asked.text)
    assert (result["action"], result["content"]) == ("accept", {"day": "monday"})
    assert json.loads(unknown.text)["message"] == "unknown task"
    lines = log.read_text().splitlines()
    [capabilities] = [line for line in lines if line.startswith("the client has")]
    expected = {"cancel": {}, "requests": {"elicitation": {"create": {}}}}
    assert json.loads(capabilities.removeprefix("the client has ")) == expected
    assert lines.count("ask is working") >= 2
    assert lines.count("ask is completed") == 1


async def test_a_question_that_is_withdrawn_ends_its_callback(tmp_path: Path) -> None:
    log = tmp_path / "log"
    ended: list[str] = []

    async def answer(request: McpElicitation) -> None:
        try:
            await asyncio.sleep(60)
        finally:
            ended.append("cancelled")

    async with McpBridge([server(log)], on_elicitation=answer) as bridge:
        [withdrawn] = await call(view(bridge), ("tasks__withdraw", {}))
    assert json.loads(withdrawn.text)["message"] == "the task was cancelled"
    assert "withdraw is cancelled" in log.read_text()
    assert ended == ["cancelled"]


async def test_without_callbacks_a_server_is_offered_no_tasks(tmp_path: Path) -> None:
    log = tmp_path / "log"
    async with McpBridge([server(log)]):
        assert log.read_text().splitlines()[0] == "the client has null"
