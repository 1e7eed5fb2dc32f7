"""Servers that die, hang or never start, hosts that are killed: every call is answered, nothing
is left."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import http.server
import json
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

import psutil
import pytest

from ethos_registry import CallResult, ConfigError, ToolRegistry
from ethos_registry.capabilities import containment
from ethos_registry.mcp import McpBridge, McpServer
from ethos_registry.mcp._stdio import LogFile, StdioTransport
from long_counts import counts
from mcp_bridge_tools import RAW, call, is_running, raw, text_of, until, view
from started import PATIENCE_SECONDS, started

tree_only = pytest.mark.skipif(containment() != "tree", reason="there is no supervisor here")


def process_of(bridge: McpBridge) -> int:
    pid = bridge.servers["raw"].process_id
    assert pid is not None
    return pid


async def test_twenty_kills_in_mid_call_are_answered_within_a_second(tmp_path: Path) -> None:
    runs = tmp_path / "runs"
    seconds: list[float] = []
    async with McpBridge([raw("--runs", str(runs), reconnect_wait_seconds=0)]) as bridge:
        shown = view(bridge)
        for number in range(1, 21):
            running = asyncio.create_task(call(shown, *[("raw__wait", {"seconds": 60})] * 3))
            await until(
                lambda count=3 * number: (
                    runs.exists() and len(runs.read_text().splitlines()) >= count
                )
            )
            began = time.monotonic()
            os.kill(process_of(bridge), signal.SIGKILL)
            results = await running
            seconds.append(time.monotonic() - began)
            for result in results:
                assert result.result.code == "execution_failed"  # type: ignore[union-attr]
                assert result.text.endswith("it may have run")
            [refused] = await call(shown, ("raw__echo", {"text": "a"}))
            assert refused.result.code == "not_available"  # type: ignore[union-attr]
            assert "was not started" in refused.text
            await bridge.reconnect("raw")
            await until(lambda: bridge.servers["raw"].state == "ready")
        assert await text_of(shown, "raw__echo", text="still here") == "still here"
    assert runs.read_text().splitlines().count("wait") == 60
    # A busy machine may hold up some of them.
    assert sorted(seconds)[10] < 1, seconds
    assert max(seconds) < 30, seconds


async def test_a_lost_server_is_connected_again_by_itself() -> None:
    async with McpBridge([raw()]) as bridge:
        shown = view(bridge)
        os.kill(process_of(bridge), signal.SIGKILL)
        await until(lambda: bridge.servers["raw"].state != "ready")
        await until(lambda: bridge.servers["raw"].state == "ready")
        assert bridge.servers["raw"].connections == 2
        assert await text_of(shown, "raw__echo", text="a") == "a"


async def test_a_trusted_idempotent_call_is_sent_once_more(tmp_path: Path) -> None:
    runs = tmp_path / "runs"
    listing = tmp_path / "listing.json"
    listing.write_text(
        '[{"name": "pid", "inputSchema": {"type": "object"}}, {"name": "wait", "inputSchema": '
        '{"type": "object"}, "annotations": {"idempotentHint": true}}]'
    )
    server = raw("--runs", str(runs), "--listing", str(listing), trust_annotations=True)
    async with McpBridge([server]) as bridge:
        shown = view(bridge)
        running = asyncio.create_task(
            call(shown, ("raw__wait", {"seconds": 0.1, "first_seconds": 300}))
        )
        await until(lambda: runs.exists() and runs.read_text())
        os.kill(process_of(bridge), signal.SIGKILL)
        [result] = await running
        assert result.text == "waited"
    assert runs.read_text().splitlines() == ["wait", "wait"]


async def test_servers_that_fail_disturb_no_other_one() -> None:
    registry = ToolRegistry()
    servers = [
        raw(name="good"),
        raw(name="missing", command="no-such-command"),
        raw(name="exits", args=["-c", "import sys; sys.stderr.write('no licence'); sys.exit(7)"]),
        raw("--silent", name="silent", connect_timeout_seconds=1.5),
        raw(name="secret", env={"TOKEN": "secret:not/defined"}),
    ]
    began = time.monotonic()
    async with McpBridge(servers) as bridge:
        assert time.monotonic() - began < 25  # of the default of 30
        bridge.attach(registry)
        states = {name: status.state for name, status in bridge.servers.items()}
        assert states.pop("good") == "ready"
        assert set(states.values()) <= {"failed", "connecting"}
        reasons = {problem.server: problem.message for problem in bridge.problems}
        assert "cannot be started" in reasons["missing"]
        assert "status 7" in reasons["exits"]
        assert "no licence" in reasons["exits"]
        assert "no answer within 1.5 s" in reasons["silent"]
        assert "the environment variable NOT_DEFINED" in reasons["secret"]
        assert await text_of(view(bridge, registry), "good__echo", text="a") == "a"


async def test_a_server_that_comes_later_is_added_to_the_registry(tmp_path: Path) -> None:
    program = tmp_path / "server.py"
    registry = ToolRegistry()
    async with McpBridge([raw(args=[str(program)])]) as bridge:
        bridge.attach(registry)
        assert registry.list() == []
        program.write_text(SOURCE)
        await until(lambda: bridge.servers["raw"].state == "ready")
        assert await text_of(view(bridge, registry), "raw__echo", text="a") == "a"


async def test_a_server_that_stops_reading_can_be_closed() -> None:
    async with McpBridge([raw(timeout_seconds=0.5)]) as bridge:
        shown = view(bridge)
        pid = process_of(bridge)
        os.kill(pid, signal.SIGSTOP)
        [result] = await call(shown, ("raw__echo", {"text": "x" * 2_000_000}))
        assert "it may have run" in result.text
    assert not is_running(pid)


@tree_only
async def test_nothing_that_a_server_started_is_left() -> None:
    async with McpBridge([raw("--child", "300")]) as bridge:
        pids = [int(pid) for pid in (await text_of(view(bridge), "raw__pid")).split()]
        assert all(map(is_running, pids))
    assert not any(map(is_running, pids))


@tree_only
async def test_a_server_that_dies_leaves_no_process_of_its_own() -> None:
    async with McpBridge([raw("--child", "300")]) as bridge:
        server, child = map(int, (await text_of(view(bridge), "raw__pid")).split())
        os.kill(server, signal.SIGKILL)
        await until(lambda: not is_running(child))


@counts("rounds", 20, 1000)
async def test_rounds_of_connect_call_and_close_leave_nothing(rounds: int) -> None:
    descriptors: list[int] = []
    threads = set(threading.enumerate())
    for _ in range(rounds):
        async with McpBridge([raw("--child", "300")]) as bridge:
            pids = [int(pid) for pid in (await text_of(view(bridge), "raw__pid")).split()]
        assert not any(map(is_running, pids))
        descriptors.append(len(os.listdir("/proc/self/fd")))
    assert len(asyncio.all_tasks()) == 1
    await until(lambda: len(os.listdir("/proc/self/fd")) <= descriptors[0])
    await until(lambda: not any(map(_is_waiting, set(threading.enumerate()) - threads)))


def _is_waiting(thread: threading.Thread) -> bool:
    return thread.name.startswith("ethos-registry-wait")


async def test_a_bridge_may_be_closed_by_another_task() -> None:
    bridge = McpBridge([raw()])
    await asyncio.create_task(bridge.__aenter__())
    pid = process_of(bridge)
    await asyncio.create_task(bridge.__aexit__(None, None, None))
    assert not is_running(pid)


async def test_a_cancelled_start_leaves_no_process() -> None:
    bridge = McpBridge([raw("--silent", connect_timeout_seconds=60)])
    entering = asyncio.create_task(bridge.__aenter__())
    await until(lambda: bridge.servers.get("raw") and bridge.servers["raw"].process_id)
    pid = process_of(bridge)
    entering.cancel()
    with pytest.raises(asyncio.CancelledError):
        await entering
    assert not is_running(pid)


@pytest.fixture(params=["asyncio", "uvloop"])
def runner(request: pytest.FixtureRequest) -> Iterator[asyncio.Runner]:
    factory = asyncio.SelectorEventLoop
    if request.param == "uvloop":
        factory = pytest.importorskip("uvloop").new_event_loop
    with asyncio.Runner(loop_factory=factory) as found:
        yield found


def pipes_to(*command: str) -> StdioTransport:
    return StdioTransport(
        command, environment=os.environ, directory=None, log=LogFile(None), on_lost=lambda: None
    )


@tree_only
def test_pipes_are_closed_once_wherever_their_connection_is_cancelled(
    runner: asyncio.Runner,
) -> None:
    """A number that is closed a second time is that of somebody else's file."""

    async def connect(turns: int) -> None:
        transport = pipes_to("sleep", "100")
        connecting = asyncio.create_task(transport.__aenter__())
        for _ in range(turns):
            await asyncio.sleep(0)
        if not connecting.cancel():
            await transport.__aexit__(None, None, None)
        with contextlib.suppress(asyncio.CancelledError):
            await connecting

    for turns in range(1, 20):
        runner.run(connect(turns))
        files = [os.open(os.devnull, os.O_RDONLY) for _ in range(9)]
        gc.collect()
        for each in files:
            os.close(each)


@tree_only
def test_pipes_that_a_server_keeps_open_are_closed(runner: asyncio.Runner) -> None:
    async def connect(rounds: int) -> int:
        for _ in range(rounds):
            async with pipes_to("sleep", "100"):
                pass
        return len(os.listdir("/proc/self/fd"))

    before = runner.run(connect(1))  # a loop makes some descriptors when it first needs them
    assert runner.run(connect(5)) < before + 5


SOURCE = Path(RAW).read_text()
HOST = """
import asyncio, sys
from ethos_registry import Personality, ToolRegistry
from ethos_registry.mcp import McpBridge, McpServer

async def main():
    server = McpServer(name="raw", command=sys.executable, args=[sys.argv[1], "--child", "300"])
    async with McpBridge([server]) as bridge:
        registry = ToolRegistry()
        bridge.attach(registry)
        view = registry.view(Personality("p", mcp_servers=["raw"]))
        [result] = await view.execute([{"id": "1", "name": "mcp__raw__pid", "args": {}}])
        print(result.text, flush=True)
        await view.execute([{"id": "2", "name": "mcp__raw__wait", "args": {"seconds": 300}}])

asyncio.run(main())
"""


@tree_only
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
async def test_a_host_that_is_stopped_leaves_no_process(number: signal.Signals) -> None:
    with started(
        [sys.executable, "-c", textwrap.dedent(HOST), RAW],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        pids = [int(pid) for pid in process.stdout.readline().split()]
        assert len(pids) == 2
        assert all(map(is_running, pids))
        process.send_signal(number)
        _, errors = process.communicate(timeout=PATIENCE_SECONDS)
    if number is signal.SIGINT:
        assert errors.rstrip().endswith("KeyboardInterrupt")
    await until(lambda: not any(map(is_running, pids)))


async def test_an_entered_bridge_cannot_be_entered_again() -> None:
    async with McpBridge([raw()]) as bridge:
        with pytest.raises(ConfigError, match="make another one"):
            await bridge.__aenter__()


FLOOD = '[{"name": "flood", "inputSchema": {"type": "object"}}]'
LONG = "x" * 20_000
NOTIFICATIONS = {
    "progress": {"progress": 1, "message": LONG},
    "message": {"level": "info", "data": LONG},
    "resources/updated": {"uri": f"file:///{LONG}"},
    "tools/list_changed": {"_meta": {"a": LONG}},
    "of_nobody": {"a": LONG},
}


async def flooded(
    tmp_path: Path, times: int, message: dict[str, Any]
) -> tuple[CallResult, str, int]:
    """A call during which the server sends a message again and again: its result, why the server
    was lost, and the bytes by which this process grew."""
    listing = tmp_path / "listing.json"
    listing.write_text(FLOOD)
    flooding = raw("--listing", str(listing), name="flooding", reconnect_wait_seconds=60)
    async with McpBridge([flooding, raw()]) as bridge:
        shown = view(bridge)
        before = most = psutil.Process().memory_info().rss
        flood = {"message": message, "times": times}
        running = asyncio.create_task(call(shown, ("flooding__flood", flood)))
        while not running.done():  # other servers are answered meanwhile
            assert await text_of(shown, "raw__echo", text="here") == "here"
            most = max(most, psutil.Process().memory_info().rss)
            await asyncio.sleep(0.01)
        [result] = await running
        await until(lambda: bridge.servers["flooding"].state != "connecting")
        assert await text_of(shown, "raw__echo", text="here") == "here"
        return result, bridge.servers["flooding"].reason, most - before


@pytest.mark.parametrize("name", NOTIFICATIONS)
async def test_a_flood_of_notifications_is_not_held_in_memory(tmp_path: Path, name: str) -> None:
    message = {"method": f"notifications/{name}", "params": NOTIFICATIONS[name]}
    result, _, grown = await flooded(tmp_path, 2_500, message)
    assert result.text == "done"
    assert grown < 25 << 20  # all of them are 50 MB


@pytest.mark.parametrize("method", ["ping", "sampling/createMessage", "roots/list"])
async def test_a_flood_of_requests_ends_the_connection(tmp_path: Path, method: str) -> None:
    message = {"id": "q", "method": method, "params": {"messages": [], "maxTokens": 1}}
    result, reason, grown = await flooded(tmp_path, 20_000, message)
    assert "the connection to MCP server flooding was lost" in result.text
    assert "more than 1,000 requests open" in reason
    assert grown < 40 << 20  # the answers to all of them are 150 MB or more


class _Flooding(http.server.BaseHTTPRequestHandler):
    """A server over HTTP whose only tool sends requests, and which never takes an answer."""

    protocol_version = "HTTP/1.1"
    taken: ClassVar[threading.Event]

    def do_GET(self) -> None:
        self.send_error(405)

    def do_POST(self) -> None:
        message = json.loads(self.rfile.read(int(self.headers["content-length"])))
        method, values = message.get("method"), {"jsonrpc": "2.0", "id": message.get("id")}
        if method is None:
            self.taken.wait()
        if method is None or values["id"] is None:
            self._answer(202, "text/plain", b"")
        elif method == "initialize":
            facts = {"name": "flooding", "version": "1"}
            version = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}}
            self._answer_json(values | {"result": version | {"serverInfo": facts}})
        elif method == "tools/list":
            self._answer_json(values | {"result": {"tools": json.loads(FLOOD)}})
        elif method == "tools/call":
            ping = {"jsonrpc": "2.0", "id": "q", "method": "ping"}
            event = f"event: message\ndata: {json.dumps(ping)}\n\n".encode()
            self._answer(200, "text/event-stream", event * 20_000)
        else:
            self._answer_json(values | {"error": {"code": -32601, "message": "no such method"}})

    def _answer_json(self, message: dict[str, Any]) -> None:
        self._answer(200, "application/json", json.dumps(message).encode())

    def _answer(self, status: int, kind: str, body: bytes) -> None:
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        with contextlib.suppress(OSError):  # the client is gone
            self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Nothing."""


async def test_a_flood_of_requests_over_http_ends_the_connection() -> None:
    _Flooding.taken = threading.Event()
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Flooding) as listening:
        listening.daemon_threads = True
        threading.Thread(target=listening.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{listening.server_port}/mcp"
        try:
            server = McpServer(name="flooding", url=url, reconnect_wait_seconds=60)
            async with McpBridge([server]) as bridge:
                [result] = await call(view(bridge), ("flooding__flood", {}))
                assert "the connection to MCP server flooding was lost" in result.text
                await until(lambda: bridge.servers["flooding"].state != "connecting")
                assert "more than 1,000 requests open" in bridge.servers["flooding"].reason
        finally:
            _Flooding.taken.set()
            listening.shutdown()
