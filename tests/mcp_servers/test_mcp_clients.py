"""Clients of others against the gateway as a process, over HTTP and standard input and output."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from mcp_gateway_tools import TESTS, http_process, policy, serve_command

fastmcp = pytest.importorskip("fastmcp")

pytestmark = pytest.mark.slow


@pytest.fixture
def url(tmp_path: Path) -> Iterator[str]:
    command = [sys.executable, str(TESTS / "mcp_conformance_server.py")]
    with http_process(tmp_path, command=command) as ([url], _):
        yield url


async def test_fastmcp_uses_tools_resources_and_prompts(url: str) -> None:
    progress: list[float] = []

    async def on_progress(value: float, total: float | None, message: str | None) -> None:
        progress.append(value)

    async with fastmcp.Client(url, progress_handler=on_progress) as client:
        names = {tool.name for tool in await client.list_tools()}
        assert {"test_simple_text", "mcp__resources__count"} <= names
        called = await client.call_tool("mcp__resources__count", {"uri": "four"})
        assert called.structured_content == {"result": 4}
        await client.call_tool("test_tool_with_progress", {})
        assert progress == [0, 50, 100]
        failed = await client.call_tool("test_error_handling", {}, raise_on_error=False)
        assert failed.is_error
        found = {str(each.uri) for each in await client.list_resources()}
        assert found == {"test://static-text", "test://static-binary"}
        [contents] = await client.read_resource("test://static-text")
        assert contents.text == "This is the content of the static text resource."
        [template] = await client.list_resource_templates()
        assert template.uri_template == "test://template/{id}/data"
        assert len(await client.list_prompts()) == 4
        prompt = await client.get_prompt("test_prompt_with_arguments", {"arg1": "a", "arg2": "b"})
        assert prompt.messages[0].content.text == "Prompt with arguments: arg1='a', arg2='b'"


async def test_fastmcp_uses_a_gateway_over_stdio(tmp_path: Path) -> None:
    command, *arguments = serve_command(policy(tmp_path))
    config = {"ours": {"command": command, "args": arguments, "cwd": str(TESTS)}}
    async with fastmcp.Client({"mcpServers": config}) as client:
        called = await client.call_tool("add", {"a": 2, "b": 3})
    assert called.content[0].text == "5"
