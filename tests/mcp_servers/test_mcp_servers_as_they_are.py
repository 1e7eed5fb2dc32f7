"""Servers and configurations that are not as the protocol has them."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from ethos_registry import ConfigError
from ethos_registry.mcp import McpBridge, McpServer
from ethos_registry.mcp._server import read_config
from mcp_bridge_tools import RAW, call, raw, until, view

pytest.importorskip("mcp", reason="the bridge needs the extra mcp")

OLD = str(Path(__file__).parents[1] / "mcp_old_server.py")


@pytest.mark.parametrize(("behaviour", "first_starts"), [("exit", 2), ("ignore", 1)])
async def test_a_server_that_knows_initialize_alone_connects_and_is_remembered(
    behaviour: str, first_starts: int, tmp_path: Path
) -> None:
    starts = tmp_path / "starts"
    server = McpServer(name="old", command=sys.executable, args=[OLD, behaviour, str(starts)])
    async with McpBridge([server]) as bridge:
        assert bridge.servers["old"].state == "ready"
        assert bridge.servers["old"].protocol == "2025-06-18"
        assert len(starts.read_text().split()) == first_starts
        shown = view(bridge)
        [lost] = await call(shown, ("old__die", {"now": True}))
        assert lost.text.endswith("it may have run")
        await until(lambda: bridge.servers["old"].connections == 2)
        assert len(starts.read_text().split()) == first_starts + 1


async def killed(bridge: McpBridge) -> None:
    process_id = bridge.servers["raw"].process_id
    assert process_id is not None
    os.kill(process_id, signal.SIGKILL)
    await until(lambda: bridge.servers["raw"].state != "ready")


async def test_a_call_waits_for_the_next_connection() -> None:
    async with McpBridge([raw(reconnect_wait_seconds=60)]) as bridge:
        shown = view(bridge)
        await killed(bridge)
        [result] = await call(shown, ("raw__echo", {"text": "again"}))
        assert result.text == "again"


async def test_a_call_fails_at_once_if_it_may_not_wait() -> None:
    async with McpBridge([raw(reconnect_wait_seconds=0)]) as bridge:
        shown = view(bridge)
        await killed(bridge)
        [result] = await call(shown, ("raw__echo", {"text": "again"}))
        assert result.result.code == "not_available"
        assert result.text == (
            "Tool mcp__raw__echo was not started: MCP server raw is not connected"
        )


def refused_url() -> str:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{listener.getsockname()[1]}/mcp"


async def test_a_refused_connection_was_not_started() -> None:
    import asyncio

    from ethos_registry import Personality, Tool, ToolRegistry, ok
    from ethos_registry.mcp import McpGateway

    registry = ToolRegistry([Tool("hello", "", {"type": "object"}, lambda args, context: ok("hi"))])
    ready: asyncio.Future[list[str]] = asyncio.get_running_loop().create_future()
    gateway = McpGateway(registry, Personality("all"))
    serving = asyncio.create_task(gateway.serve_http(port=0, on_ready=ready.set_result))
    [url] = await ready
    server = McpServer(name="web", url=url, reconnect_wait_seconds=0)
    async with McpBridge([server]) as bridge:
        shown = view(bridge)
        [before] = await call(shown, ("web__hello", {}))
        assert before.text == "hi"
        gateway.close()
        await serving
        for _ in range(2):
            [result] = await call(shown, ("web__hello", {}))
            assert result.result.code == "not_available"
            assert "was not started" in result.text
            assert "may have run" not in result.text


async def test_a_server_that_refuses_from_the_start_is_reported() -> None:
    async with McpBridge([McpServer(name="web", url=refused_url())]) as bridge:
        [problem] = bridge.problems
        assert "refused" in problem.message


def test_configurations_of_other_hosts_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_HOST", "example.org")
    entries = {
        "vs": {"type": "stdio", "command": "run", "args": ["${env:TEST_HOST}", "${input:x}"]},
        "windsurf": {"serverUrl": "https://${TEST_HOST}/mcp"},
        "gemini": {"httpUrl": "https://a.example/mcp", "url": "https://a.example/sse"},
        "claude": {"command": "run", "cwd": "${TEST_ABSENT:-/tmp}"},
    }
    for document in ({"servers": entries}, {"mcpServers": entries}, {"mcp": {"servers": entries}}):
        vs, windsurf, gemini, claude = read_config(document)
        assert list(vs.expanded().args) == ["example.org", "${input:x}"]
        assert vs.unexpanded_fields == ["args.1"]
        assert windsurf.expanded().url == "https://example.org/mcp"
        assert gemini.url == "https://a.example/mcp"
        assert claude.expanded().cwd == "/tmp"
        assert not windsurf.unknown_fields


async def test_a_variable_that_is_missing_is_named_and_one_that_is_used_is_not_shown(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TEST_TOKEN", "very-secret-value")
    config = {
        "mcpServers": {
            "missing": {"command": "x", "args": ["${TEST_ABSENT_VARIABLE}"]},
            "shows": {
                "command": sys.executable,
                "args": ["-c", "import sys; sys.exit(sys.argv[1])", "${TEST_TOKEN}"],
            },
        }
    }
    async with McpBridge.from_config(config) as bridge:
        text = "\n".join(map(str, bridge.problems))
    assert "TEST_ABSENT_VARIABLE is not defined" in text
    assert "very-secret-value" not in text
    assert "[secret]" in text


def test_a_value_of_python_is_not_expanded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_HOST", "example.org")
    server = McpServer(name="a", command="sh", args=["-c", "echo ${TEST_HOST}"])
    assert list(server.expanded().args) == ["-c", "echo ${TEST_HOST}"]


def test_one_server_of_a_configuration_can_be_chosen() -> None:
    config = {"mcpServers": {"one": {"command": "x"}, "my.two": {"command": "y"}}}
    assert repr(McpBridge.from_config(config, only=["my_two"])) == "<McpBridge to my.two>"
    with pytest.raises(ConfigError, match=r"unknown MCP server .three.; there are: one, my\.two"):
        McpBridge.from_config(config, only=["three"])


def test_nothing_is_left_in_the_temporary_folder_of_a_killed_host(tmp_path: Path) -> None:
    program = textwrap.dedent(
        f"""
        import asyncio, sys
        from ethos_registry.mcp import McpBridge

        async def main():
            async with McpBridge.from_command("raw", sys.executable, {RAW!r}) as bridge:
                print("ready", flush=True)
                await asyncio.sleep(600)

        asyncio.run(main())
        """
    )
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    host = subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, env=environment, text=True
    )
    assert host.stdout is not None
    assert host.stdout.readline() == "ready\n"
    host.send_signal(signal.SIGKILL)
    host.wait()
    host.stdout.close()
    end = time.monotonic() + 60
    while (left := list(tmp_path.iterdir())) and time.monotonic() < end:
        time.sleep(0.05)
    assert not left
