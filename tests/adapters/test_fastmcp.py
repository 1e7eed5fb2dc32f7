"""FastMCP: the table in both directions, through its in-memory client."""

from __future__ import annotations

import asyncio
import base64
from typing import Any

import pytest

from adapters import table
from adapters.table import BUDGET_CHARS, OPTIONS, PNG, TABLE, Answer, Call, Desk
from ethos_registry import Personality, ToolContext, ToolRegistry, ok
from ethos_registry.types import Document

table.needs("fastmcp")

import mcp_types
from fastmcp import Client, FastMCP
from fastmcp.exceptions import ToolError
from fastmcp.tools.base import ToolResult

from ethos_registry.adapters.fastmcp import from_fastmcp, to_fastmcp

NAME = "fastmcp"


def server_of(tools: list[Any]) -> FastMCP[Any]:
    server: FastMCP[Any] = FastMCP("desk")
    for tool in tools:
        server.add_tool(tool)
    return server


def answer_of(result: Any) -> Answer:
    text = "\n".join(part.text for part in result.content if part.type == "text")
    images = [base64.b64decode(part.data) for part in result.content if part.type == "image"]
    return Answer(text, bool(result.is_error), tuple(images))


async def run(server: FastMCP[Any], calls: tuple[Call, ...], **options: Any) -> list[Any]:
    async with Client(server, **options) as client:
        return [await client.call_tool_mcp(call.name, call.args) for call in calls]


def tools_of(desk: Desk, **options: Any) -> list[Any]:
    return to_fastmcp(desk.view, turn_budget_chars=BUDGET_CHARS, **OPTIONS, **options)


@pytest.mark.parametrize("case", table.cases(NAME))
async def test_the_model_reads_what_the_view_answers(case: str) -> None:
    desk = Desk()
    calls = TABLE[case]
    tools = tools_of(desk, call_budget_chars=BUDGET_CHARS // len(calls))
    read = await run(server_of(tools), calls)
    table.compare([answer_of(result) for result in read], await table.expected(desk, case))


@pytest.mark.parametrize("case", table.cases(NAME, first=True))
async def test_the_framework_answers_first(case: str) -> None:
    desk = Desk()
    [result] = await run(server_of(tools_of(desk)), TABLE[case])
    assert result.is_error
    assert "Unknown tool" in answer_of(result).text
    assert not desk.batches


async def test_only_calls_of_one_request_share_a_batch() -> None:
    desk = Desk()
    server = server_of(tools_of(desk))

    async def four() -> list[str]:
        """Call four tools of this server."""
        calls = [server.call_tool("add", {"a": number, "b": 1}) for number in range(4)]
        return [result.content[0].text for result in await asyncio.gather(*calls)]

    assert await four() == ["1", "2", "3", "4"]
    assert desk.batches == [1] * 4  # in no request
    server.tool(four)
    async with Client(server) as client:
        result = await client.call_tool_mcp("four", {})
        assert result.structured_content == {"result": ["1", "2", "3", "4"]}
        await asyncio.gather(*(client.call_tool_mcp("add", {"a": n, "b": 1}) for n in range(3)))
    assert desk.batches[4:] == [4, 1, 1, 1]


async def test_a_slow_call_is_cancelled_with_its_request() -> None:
    desk = Desk()
    server = server_of(tools_of(desk))
    await table.assert_cancelled(desk, server.call_tool("hold", {}))


async def test_the_context_comes_from_the_server_and_progress_is_a_notification() -> None:
    registry = ToolRegistry()

    @registry.tool
    async def who(context: ToolContext) -> dict[str, Any]:
        """Name the agent."""
        context.report("asking", percent=10)
        return {"agent": context.agent_id}

    server = server_of(
        to_fastmcp(
            registry.view(Personality("worker")),
            context_factory=lambda ctx: ToolContext(agent_id=ctx.fastmcp.name),
        )
    )
    seen: list[Any] = []

    async def on_progress(progress: float, total: float | None, message: str | None) -> None:
        seen.append((progress, total, message))

    [result] = await run(server, (Call("who"),), progress_handler=on_progress)
    assert result.structured_content == {"agent": "desk"}
    assert seen == [(10.0, 100.0, "asking")]


async def test_a_namespace_of_the_server_does_not_change_what_is_called() -> None:
    desk = Desk()
    outer: FastMCP[Any] = FastMCP("outer")
    outer.mount(server_of(tools_of(desk)), namespace="desk")
    [result] = await run(outer, (Call("desk_add", {"a": 1, "b": 2}),))
    assert answer_of(result).text == "3"


async def test_documents_are_embedded_resources() -> None:
    registry = ToolRegistry()

    @registry.tool
    async def report() -> Any:
        """Write a report."""
        return ok("see", content=[Document(b"%PDF-1.7", name="report.pdf")])

    [result] = await run(
        server_of(to_fastmcp(registry.view(Personality("worker")))), (Call("report"),)
    )
    resource = result.content[1].resource
    assert base64.b64decode(resource.blob) == b"%PDF-1.7"
    assert resource.mime_type == "application/pdf"


# Theirs in a registry


def native(desk: Desk) -> FastMCP[Any]:
    server: FastMCP[Any] = FastMCP("desk")
    for function in desk.functions.values():
        server.tool(function)

    @server.tool
    async def chart() -> Any:
        """Draw a chart."""
        data = base64.b64encode(PNG).decode()
        return ToolResult(
            content=[
                mcp_types.TextContent(type="text", text="the chart"),
                mcp_types.ImageContent(type="image", data=data, mime_type="image/png"),
            ]
        )

    return server


async def wrapped(server: FastMCP[Any]) -> list[Any]:
    names = {tool.name for tool in await server.list_tools()}
    return [
        *await from_fastmcp(server, names=["page"]),
        *await from_fastmcp(server, names=names - {"page"}, trusted=True),
    ]


@pytest.mark.parametrize("case", TABLE)
async def test_the_registry_answers_for_their_tools_as_for_its_own(case: str) -> None:
    desk = Desk()
    view = table.view_of(await wrapped(native(desk)))
    await table.assert_registry_answers(view, desk, case)


async def test_their_slow_tool_is_cancelled_with_its_call() -> None:
    desk = Desk()
    view = table.view_of(await wrapped(native(desk)))
    await table.assert_cancelled(desk, view.execute([{"id": "1", "name": "hold", "args": {}}]))


async def test_what_their_tools_raise_and_return_becomes_a_result() -> None:
    server: FastMCP[Any] = FastMCP("masked", mask_error_details=True)

    @server.tool
    def stated() -> str:
        """Fail with a message."""
        raise ToolError("out of paper")

    @server.tool
    def masked() -> str:
        """Fail with a secret."""
        raise ValueError("password=hunter2")

    @server.tool
    def data() -> dict[str, int]:
        """Return data."""
        return {"rows": 2}

    names = ["stated", "masked", "data"]
    view = table.view_of(await from_fastmcp(server), names)
    results = await view.execute([{"id": name, "name": name, "args": {}} for name in names])
    first, second, third = results
    assert (first.text, first.ok) == ("out of paper", False)
    assert not second.ok
    assert "hunter2" not in second.text
    assert third.result.structured == {"rows": 2}
    assert all(result.untrusted for result in results)
