"""Real servers: from PyPI and npm over stdio, of the SDK over stdio and streamable HTTP."""

from __future__ import annotations

import asyncio
import contextlib
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest

from cli_program import git
from ethos_registry import ToolContext, ToolRegistry, View
from ethos_registry.mcp import McpBridge, McpServer, ToolsChanged
from ethos_registry.types import Image, ToolProgressEvent
from mcp_bridge_tools import SDK, call, npm_program, python_server, text_of, until, view

BOTH_REVISIONS = pytest.mark.parametrize("protocol", ["auto", "legacy"])


@contextlib.asynccontextmanager
async def connected(name: str, command: list[str], **fields: object) -> AsyncIterator[View]:
    server = McpServer(name=name, command=command[0], args=command[1:], **fields)  # type: ignore[arg-type]
    async with McpBridge([server.with_options(connect_timeout_seconds=60)]) as bridge:
        assert [str(problem) for problem in bridge.problems] == []
        yield view(bridge)


async def test_the_git_server(tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet", "--initial-branch=main")
    (tmp_path / "new.txt").write_text("new")
    async with connected("git", python_server("mcp_server_git")) as shown:
        assert "new.txt" in await text_of(shown, "git__git_status", repo_path=str(tmp_path))
        [failed] = await call(shown, ("git__git_status", {"repo_path": str(tmp_path / "none")}))
        assert not failed.ok


async def test_the_time_server() -> None:
    async with connected("time", python_server("mcp_server_time")) as shown:
        [result, failed] = await call(
            shown,
            ("time__get_current_time", {"timezone": "Europe/Berlin"}),
            ("time__get_current_time", {"timezone": "Nowhere/Atlantis"}),
        )
        assert result.result.structured is not None
        assert result.result.structured["timezone"] == "Europe/Berlin"
        assert not failed.ok


async def test_the_server_of_everything() -> None:
    events: list[ToolProgressEvent] = []
    program = "@modelcontextprotocol/server-everything/dist/index.js"
    async with connected("everything", npm_program(program)) as shown:
        context = ToolContext(emit=events.append)
        echo, image, long, links = await call(
            shown,
            ("everything__echo", {"message": "hello"}),
            ("everything__get-tiny-image", {}),
            ("everything__trigger-long-running-operation", {"duration": 1, "steps": 4}),
            ("everything__get-resource-links", {"count": 2}),
            context=context,
        )
        assert echo.text == "Echo: hello"
        assert [type(block) for block in image.result.content] == [Image]
        assert "completed" in long.text
        assert [event.percent for event in events] == [25, 50, 75, 100]
        assert len(links.result.content) == 2


async def test_the_server_of_files(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("content of a")
    program = npm_program("@modelcontextprotocol/server-filesystem/dist/index.js")
    async with connected("files", [*program, str(tmp_path)]) as shown:
        path = str(tmp_path / "a.txt")
        assert await text_of(shown, "files__read_text_file", path=path) == "content of a"
        [denied] = await call(shown, ("files__read_text_file", {"path": "/etc/hostname"}))
        assert not denied.ok
        assert "outside allowed directories" in denied.text


async def test_the_server_of_memory(tmp_path: Path) -> None:
    program = npm_program("@modelcontextprotocol/server-memory/dist/index.js")
    environment = {"MEMORY_FILE_PATH": str(tmp_path / "memory.jsonl")}
    async with connected("memory", program, env=environment) as shown:
        entity = {"name": "Ada", "entityType": "person", "observations": ["wrote programs"]}
        await text_of(shown, "memory__create_entities", entities=[entity])
        assert "wrote programs" in await text_of(shown, "memory__read_graph")
        [wrong] = await call(shown, ("memory__create_entities", {"entities": "Ada"}))
        assert wrong.result.code == "input_invalid"  # type: ignore[union-attr]


class HttpServer:
    """The server of the SDK over HTTP, on a port that stays when it is started again."""

    def __init__(self) -> None:
        self.url = ""
        self.process = self._start("0")

    def _start(self, port: str) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, SDK, "--http", "--port", port],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        assert process.stdout is not None
        url = process.stdout.readline().strip()
        if not url:
            process.kill()
            process.communicate()
            pytest.fail("the server did not start")
        self.url = url
        return process

    def kill(self) -> None:
        self.process.kill()
        self.process.communicate()

    def restart(self) -> None:
        self.process = self._start(self.url.rpartition(":")[2].partition("/")[0])


@pytest.fixture
def http() -> Iterator[HttpServer]:
    server = HttpServer()
    yield server
    server.kill()


async def until_text(shown: View, name: str, wanted: str) -> None:
    async with asyncio.timeout(120):
        while await text_of(shown, name) != wanted:  # noqa: ASYNC110
            await asyncio.sleep(0.05)


async def exercise(server: McpServer) -> None:
    """The same over each transport: list, call, progress, images, errors, cancellation, changes."""
    changes: list[ToolsChanged] = []
    events: list[ToolProgressEvent] = []
    registry = ToolRegistry()
    async with McpBridge([server], on_tools_changed=changes.append) as bridge:
        assert bridge.problems == []
        bridge.attach(registry)
        shown = view(bridge, registry)
        echo, failed, steps, picture, added, wrong = await call(
            shown,
            ("sdk__echo", {"text": "hello"}),
            ("sdk__fail", {}),
            ("sdk__progress", {"steps": 3}),
            ("sdk__picture", {}),
            ("sdk__add", {"a": 1, "b": 2}),
            ("sdk__add", {"a": "one", "b": 2}),
            context=ToolContext(emit=events.append),
        )
        assert (echo.text, echo.result.structured) == ("hello", {"result": "hello"})
        assert not failed.ok
        assert steps.ok
        assert [event.message for event in events] == ["step 1", "step 2", "step 3"]
        assert [type(block) for block in picture.result.content] == [Image]
        assert added.text == "3"
        assert wrong.text == "a: should be a whole number, got 'one'"
        assert len(await text_of(shown, "sdk__big", size=10_000_000)) == 10_000_000
        stopped = asyncio.create_task(call(shown, ("sdk__wait", {"seconds": 300})))
        await until_text(shown, "sdk__waits", "1")
        stopped.cancel()
        with pytest.raises(asyncio.CancelledError):
            await stopped
        await until_text(shown, "sdk__cancellations", "1")
        await text_of(shown, "sdk__grow", name="later")
        await until(lambda: len(changes) > 1)
        assert changes[1] == ToolsChanged("sdk", ("mcp__sdk__later",))
        assert len(view(bridge, registry).definitions()) == len(shown.definitions()) + 1
        assert await text_of(view(bridge, registry), "sdk__later") == "later"


@BOTH_REVISIONS
async def test_the_server_of_the_sdk_over_stdio(protocol: str) -> None:
    await exercise(
        McpServer(
            name="sdk",
            command=sys.executable,
            args=[SDK],
            protocol=protocol,
            connect_timeout_seconds=60,
        )
    )


@BOTH_REVISIONS
async def test_the_server_of_the_sdk_over_http(http: HttpServer, protocol: str) -> None:
    await exercise(McpServer(name="sdk", url=http.url, protocol=protocol))


@BOTH_REVISIONS
async def test_a_killed_http_server_answers_and_is_found_again(
    http: HttpServer, protocol: str
) -> None:
    async with McpBridge([McpServer(name="sdk", url=http.url, protocol=protocol)]) as bridge:
        shown = view(bridge)
        running = asyncio.create_task(call(shown, *[("sdk__wait", {"seconds": 300})] * 3))
        await until_text(shown, "sdk__waits", "3")
        started = time.monotonic()
        http.kill()
        for result in await running:
            assert result.text.endswith("it may have run")
        assert time.monotonic() - started < 20
        [refused] = await call(shown, ("sdk__echo", {"text": "a"}))
        assert "not started" in refused.text or "may have run" in refused.text
        http.restart()
        await until(lambda: bridge.servers["sdk"].state == "ready")
        await until(lambda: bridge.servers["sdk"].connections > 1)
        assert await text_of(shown, "sdk__echo", text="again") == "again"


async def test_a_url_without_a_server_is_a_problem() -> None:
    server = McpServer(name="sdk", url="http://127.0.0.1:1/mcp", connect_timeout_seconds=5)
    async with McpBridge([server]) as bridge:
        [problem] = bridge.problems
        assert (problem.kind, "refused" in problem.message) == ("server", True)


async def test_headers_reach_the_server_and_no_report() -> None:
    received: list[bytes] = []

    async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        received.append(await reader.readuntil(b"\r\n\r\n"))
        writer.write(b"HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        await writer.drain()
        writer.close()

    listener = await asyncio.start_server(refuse, "127.0.0.1", 0)
    async with listener:
        port = listener.sockets[0].getsockname()[1]
        headers = {"Authorization": "Bearer secret:tickets/token"}
        server = McpServer(name="http", url=f"http://127.0.0.1:{port}/mcp", headers=headers)
        async with McpBridge([server], secrets=lambda name: f"value-of-{name}") as bridge:
            shown = f"{bridge.problems}{bridge.servers}{bridge}{server}"
            assert [problem.kind for problem in bridge.problems] == ["server"]
    assert b"bearer value-of-tickets/token" in received[0].lower()
    assert "value-of" not in shown


async def test_the_server_of_everything_with_callbacks() -> None:
    command, *args = npm_program("@modelcontextprotocol/server-everything/dist/index.js")
    server = McpServer(name="everything", command=command, args=args, resources=True)
    options: Any = {
        "on_elicitation": lambda request: None,
        "on_sampling": lambda request: "a thought",
        "roots": ["file:///srv"],
    }
    async with McpBridge([server], **options) as bridge:
        wanted = {"trigger-sampling-request", "trigger-elicitation-request", "get-roots-list"}
        await until(lambda: wanted <= {name for _, name in bridge.tool_names.values()})
        sampled, asked, listed, task, sampled_as_task, asked_by_task = await call(
            view(bridge),
            ("everything__trigger-sampling-request", {"prompt": "hi"}),
            ("everything__trigger-elicitation-request", {}),
            ("everything__read_resource", {}),
            ("everything__simulate-research-query", {"topic": "tides"}),
            ("everything__trigger-sampling-request-async", {"prompt": "hi"}),
            ("everything__trigger-elicitation-request-async", {}),
        )
        assert "a thought" in sampled.text
        assert "decline" in asked.text
        assert "demo://resource/" in listed.text
        assert "tides" in task.text
        assert "[COMPLETED]" in sampled_as_task.text
        assert "a thought" in sampled_as_task.text
        assert "declined" in asked_by_task.text.lower()
        assert len(bridge.tool_names) == 20  # all 19, and the one that reads resources
        assert await bridge.prompts("everything")
