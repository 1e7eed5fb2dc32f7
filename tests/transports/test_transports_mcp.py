"""The table of transports over `McpTransport`, to the gateway as a process over stdio."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("mcp", reason="the transport needs the extra mcp")

from mcp.client import Client

from ethos_registry import ConfigError, Personality, Tool, ToolContext, ToolOk, ToolRegistry, ok
from ethos_registry.mcp import McpBridge, McpGateway, McpServer
from ethos_registry.transports import McpTransport, ToolExecuteRequest
from ethos_registry.types import AbortController
from transports import table, tools

TESTS = str(Path(__file__).parents[1])
CONTEXT_STAYS = "the context stays here: the gateway is in another trust domain"
DO_NOT_APPLY = {
    "two_turns_on_one_transport_keep_their_contexts_apart": CONTEXT_STAYS,
    "the_map_of_read_files_goes_and_comes_back": CONTEXT_STAYS,
    "scoped_objects_are_made_where_the_tool_runs": "the reach is that of the gateway's personality",
    "gates_are_checked_again_where_the_tool_runs": "the gateway judges its own personality",
    "events_arrive_while_the_tool_runs_under_its_name": "the protocol has no audience",
    "a_plain_function_really_ends_at_the_deadline": "the gateway runs plain functions in threads",
    "a_crash_keeps_finished_results_and_the_pool_goes_on": "one process; see the test of a crash",
    "a_tool_that_forks_does_not_leak_the_channel": "forked processes belong to the gateway",
    "a_call_behind_one_that_blocks_is_timed_from_its_turn": "the protocol reports no start",
    "what_no_worker_can_offer_is_not_available_and_names_why": "see the test of a failed start",
}
"""Rows of the table with the reason why they are not run."""


def serve(folder: Path, tools: str, *options: str, personality: str = "id: all\n") -> McpServer:
    policy = folder / "personality.yaml"
    policy.write_text(personality)
    arguments = ["serve", "--personality", str(policy), "--tools", tools, *options]
    return McpServer(
        name="far",
        command=sys.executable,
        args=["-m", "ethos_registry", *arguments],
        env={"PYTHONPATH": os.pathsep.join([TESTS, *filter(None, sys.path)])},
        cwd=TESTS,
    )


def opener(folder: Path) -> Any:
    @asynccontextmanager
    async def open_mcp(
        tools: str = table.TOOLS, max_result_bytes: int | None = None, **options: Any
    ) -> AsyncIterator[McpTransport]:
        more = () if max_result_bytes is None else ("--budget", str(max_result_bytes))
        async with McpTransport(serve(folder, tools, *more), **options) as transport:
            yield transport

    return open_mcp


def test_the_list_of_rows_that_do_not_apply_names_rows_of_the_table() -> None:
    assert DO_NOT_APPLY.keys() <= {row.__name__ for row in table.ROWS}


@pytest.fixture(scope="module")
def far(tmp_path_factory: pytest.TempPathFactory) -> Any:
    transport = McpTransport(serve(tmp_path_factory.mktemp("gateway"), table.TOOLS))
    yield transport
    transport.close()


@pytest.mark.parametrize("row", table.ROWS, ids=lambda row: row.__name__)
async def test_mcp(row: table.Row, far: McpTransport, tmp_path: Path) -> None:
    if row.__name__ in DO_NOT_APPLY:
        pytest.skip(DO_NOT_APPLY[row.__name__])
    subject = table.Subject(
        far, opener(tmp_path), tmp_path, answers_interrupts=False, knows_what_began=False
    )
    await row(subject)


async def test_progress_arrives_while_the_tool_runs_at_the_callers_clock(
    far: McpTransport, tmp_path: Path
) -> None:
    arrived = await table.reported_events(table.Subject(far, opener(tmp_path), tmp_path))
    assert {(event.tool_name, event.audience) for event in arrived} == {("report", "user")}


async def test_a_crash_of_the_gateway_may_have_run_and_the_next_call_reaches_a_new_one(
    tmp_path: Path,
) -> None:
    async with opener(tmp_path)() as transport:
        subject = table.Subject(transport, opener(tmp_path), tmp_path)
        answered = tmp_path / "answered"
        first, lost = await subject.run(
            [
                table.call("count", "c", file=str(subject.file), number=1),
                table.call("crash", "x", awaited_file=str(answered)),
            ],
            on_result=lambda result: answered.touch(),
        )
        assert first.text == "1"
        assert (lost.result.code, lost.result.reason) == ("execution_failed", "worker_lost")
        assert lost.text.endswith("it may have run")
        [after] = await subject.run([table.call("wait", "w", number=1, seconds=0)])
        assert after.text == "1 w"


async def test_closing_answers_what_runs(tmp_path: Path) -> None:
    async with opener(tmp_path)() as transport:
        subject = table.Subject(transport, opener(tmp_path), tmp_path)
        call = table.call("count_again", file=str(subject.file), number=1, seconds=60)
        batch = asyncio.create_task(subject.run([call]))
        await table.until(lambda: bool(tools.noted(subject.file)))
        await transport.aclose()
        [result] = await batch
    assert result.text.endswith("it may have run")
    assert tools.noted(subject.file) == ["start 1"]


async def test_a_gateway_that_cannot_start_is_not_available_and_says_why(tmp_path: Path) -> None:
    async with opener(tmp_path)(tools=table.BROKEN, ready_timeout_seconds=20) as transport:
        subject = table.Subject(transport, opener(tmp_path), tmp_path)
        [result] = await subject.run([table.call("wait", number=1, seconds=0)])
    assert result.result.code == "not_available"
    assert "MCP server far is not connected" in result.text


async def test_the_gateway_judges_its_own_personality(tmp_path: Path) -> None:
    server = serve(tmp_path, table.TOOLS, personality="id: one\ntoolset: [wait]\n")
    request = ToolExecuteRequest(
        "1", "count", {"file": str(tmp_path / "x"), "number": 1}, ToolContext()
    )
    async with McpTransport(server) as transport:
        result = await transport.execute(request, AbortController().signal)
    assert getattr(result, "code", None) == "not_available"
    assert not (tmp_path / "x").exists()


async def test_a_tool_that_changed_since_it_was_listed_is_refused_by_the_gateway(
    tmp_path: Path,
) -> None:
    """Over the protocol itself: the list that a client holds may be old."""
    registry = ToolRegistry()
    ran: list[int] = []

    def add(description: str) -> None:
        def count(args: dict[str, int], context: ToolContext) -> ToolOk:
            ran.append(args["number"])
            return ok(str(args["number"]))

        schema = {"type": "object", "properties": {"number": {"type": "integer"}}}
        registry.register(Tool("count", description, schema, count), overwrite=True)

    add("Counts.")
    gateway = McpGateway(registry, Personality("all"))
    async with Client(gateway.server()) as client:
        [listed] = (await client.list_tools()).tools
        digest = listed.meta["ethos-registry/toolDigest"]
        meta = {"ethos-registry/toolDigest": digest}
        first = await client.call_tool("count", {"number": 1}, meta=meta)
        add("Counts differently.")
        second = await client.call_tool("count", {"number": 2}, meta=meta)
        third = await client.call_tool("count", {"number": 3})
    assert (first.is_error, second.is_error, third.is_error) == (False, True, False)
    assert "another version of `count`" in second.content[0].text
    assert second.meta["ethos-registry/code"] == "not_available"
    assert ran == [1, 3]


def test_a_server_of_the_wrong_kind_is_refused() -> None:
    with pytest.raises(ConfigError, match="must be an McpServer, got str"):
        McpTransport("https://example.com")  # type: ignore[arg-type]


def test_a_server_over_standard_streams_answers_in_uvloop(tmp_path: Path) -> None:
    uvloop = pytest.importorskip("uvloop")

    async def answer() -> str:
        async with McpBridge([serve(tmp_path, table.TOOLS)]) as bridge:
            registry = ToolRegistry()
            bridge.attach(registry)
            [name] = [tool.name for tool in registry.all() if tool.name.endswith("__wait")]
            call = {"id": "1", "name": name, "args": {"number": 7, "seconds": 0}}
            [result] = await registry.execute_parallel([call])
            return result.text

    assert uvloop.run(answer()).startswith("7 ")
