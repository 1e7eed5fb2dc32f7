"""Claude Agent SDK: the table in both directions, with a transport in place of its program."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Sequence
from typing import Any

import pytest

from adapters import table
from adapters.table import BUDGET_CHARS, FRAMEWORK_FIRST, OPTIONS, PNG, TABLE, Answer, Call, Desk
from ethos_registry import Personality, ToolContext, ToolRegistry, ok
from ethos_registry.types import Document

table.needs("claude_agent_sdk")

from claude_agent_sdk import (
    ClaudeAgentOptions,
    ClaudeSDKClient,
    ResultMessage,
    SdkMcpTool,
    UserMessage,
    create_sdk_mcp_server,
    query,
    tool,
)
from offline_claude import OfflineClaude

from ethos_registry.adapters.claude_agent_sdk import from_claude_agent_sdk, to_claude_agent_sdk

NAME = "claude-agent-sdk"


def answer_of(block: Any) -> Answer:
    text = "\n".join(part["text"] for part in block.content if part["type"] == "text")
    images = [part["source"]["data"] for part in block.content if part["type"] == "image"]
    return Answer(text, block.is_error, tuple(map(base64.b64decode, images)))


async def messages_of(tools: list[Any], claude: OfflineClaude) -> list[Any]:
    """The messages of a run of the SDK whose server `desk` has these tools."""
    server = create_sdk_mcp_server("desk", tools=tools)
    options = ClaudeAgentOptions(mcp_servers={"desk": server})
    return [message async for message in query(prompt="go", options=options, transport=claude)]


def on_the_wire(calls: Sequence[Call]) -> list[tuple[str, dict[str, Any]]]:
    return [(f"mcp__desk__{call.name}", call.args) for call in calls]


async def run(tools: list[Any], *turns: tuple[Call, ...], parallel: bool = False) -> list[Answer]:
    """What the model reads of the last turn."""
    claude = OfflineClaude(*map(on_the_wire, turns), parallel=parallel)
    messages = await messages_of(tools, claude)
    assert isinstance(messages[-1], ResultMessage)
    read = [message for message in messages if isinstance(message, UserMessage)]
    assert len(read) == len(turns)
    return [answer_of(block) for block in read[-1].content]


def tools_of(desk: Desk, case: str = "ok", **options: Any) -> list[Any]:
    count = len(TABLE[case])
    return to_claude_agent_sdk(
        desk.view, call_budget_chars=BUDGET_CHARS // count, **OPTIONS, **options
    )


@pytest.mark.parametrize("case", table.cases(NAME))
async def test_the_model_reads_what_the_view_answers(case: str) -> None:
    desk = Desk()
    table.compare(await run(tools_of(desk, case), TABLE[case]), await table.expected(desk, case))


@pytest.mark.parametrize("case", table.cases(NAME, first=True))
async def test_the_framework_answers_first(case: str) -> None:
    desk = Desk()
    [answer] = await run(tools_of(desk, case), TABLE[case])
    assert answer.is_error
    assert answer.text.startswith(("Input validation error: ", "Tool '"))
    assert not desk.batches


@pytest.mark.parametrize("parallel", [False, True])
async def test_the_requests_of_a_turn_are_a_batch_each(parallel: bool) -> None:
    desk = Desk()
    read = await run(tools_of(desk, "a turn"), TABLE["a turn"], parallel=parallel)
    assert desk.batches == [1] * 4
    assert [answer.is_error for answer in read] == [False, True, False, False]


async def test_a_client_that_stays_connected_runs_the_calls_of_its_prompt() -> None:
    desk = Desk()
    server = create_sdk_mcp_server("desk", tools=tools_of(desk))
    options = ClaudeAgentOptions(mcp_servers={"desk": server})
    claude = OfflineClaude(on_the_wire(TABLE["ok"]), on_the_wire(TABLE["raising"]))
    async with ClaudeSDKClient(options, transport=claude) as client:
        await client.query("go")
        messages = [message async for message in client.receive_response()]
    [wanted] = await table.expected(desk, "raising")
    assert messages[-1].result == wanted.text
    assert desk.batches[:2] == [1, 1]


async def test_the_schema_stays_as_the_view_shows_it() -> None:
    desk = Desk()
    claude = OfflineClaude(on_the_wire(TABLE["ok"]))
    await messages_of(tools_of(desk), claude)
    shown = {item["name"]: item["parameters"] for item in desk.view.definitions()}
    found = {each["name"]: each["inputSchema"] for each in claude.listed["desk"]}
    assert found == shown


async def test_no_calls_share_a_batch() -> None:
    desk = Desk()
    add = next(item for item in tools_of(desk) if item.name == "add")
    results = await asyncio.gather(*(add.handler({"a": number, "b": 1}) for number in range(4)))
    assert [result["content"][0]["text"] for result in results] == ["1", "2", "3", "4"]
    assert desk.batches == [1] * 4


async def test_a_slow_call_is_cancelled_with_its_run() -> None:
    desk = Desk()
    await table.assert_cancelled(desk, run(tools_of(desk), (Call("hold"),)))


async def test_a_slow_call_is_cancelled_with_its_handler() -> None:
    desk = Desk()
    hold = next(item for item in tools_of(desk) if item.name == "hold")
    await table.assert_cancelled(desk, hold.handler({}))


async def test_the_context_is_made_for_each_call_and_documents_become_a_line() -> None:
    registry = ToolRegistry()

    @registry.tool
    async def who(context: ToolContext) -> Any:
        """Name the agent."""
        return ok(str(context.agent_id), content=[Document(b"%PDF-1.7")])

    tools = to_claude_agent_sdk(
        registry.view(Personality("worker")), context_factory=lambda: ToolContext(agent_id="ada")
    )
    [answer] = await run(tools, (Call("who"),))
    assert answer.text == "ada\n[not shown: document (application/pdf, 8 bytes)]"


# Theirs in a registry


def native(desk: Desk) -> list[SdkMcpTool[Any]]:
    def handler_of(function: Any) -> Any:
        async def handler(args: dict[str, Any]) -> dict[str, Any]:
            return {"content": [{"type": "text", "text": await function(**args)}]}

        return handler

    shown = {item["name"]: item for item in desk.view.definitions()}
    tools: list[SdkMcpTool[Any]] = [
        SdkMcpTool(
            name,
            function.__doc__ or "",
            dict(shown[name]["parameters"]) if name in shown else {},
            handler_of(function),
        )
        for name, function in desk.functions.items()
    ]

    @tool("chart", "Draw a chart.", {})
    async def chart(args: dict[str, Any]) -> dict[str, Any]:
        data = base64.b64encode(PNG).decode()
        image = {"type": "image", "data": data, "mimeType": "image/png"}
        return {"content": [{"type": "text", "text": "the chart"}, image]}

    return [*tools, chart]


async def wrapped(tools: list[SdkMcpTool[Any]]) -> list[Any]:
    return [
        made
        for each in tools
        for made in await from_claude_agent_sdk([each], trusted=each.name != "page")
    ]


@pytest.mark.parametrize("case", [case for case in TABLE if case != "coerced"])
async def test_the_registry_answers_for_their_tools_as_for_its_own(case: str) -> None:
    desk = Desk()
    view = table.view_of(await wrapped(native(desk)))
    await table.assert_registry_answers(view, desk, case)


async def test_their_slow_tool_is_cancelled_with_its_call() -> None:
    desk = Desk()
    view = table.view_of(await wrapped(native(desk)))
    await table.assert_cancelled(desk, view.execute([{"id": "1", "name": "hold", "args": {}}]))


async def test_their_arguments_are_not_coerced_as_in_the_sdk() -> None:
    assert "coerced" in FRAMEWORK_FIRST[NAME]
    view = table.view_of(await wrapped(native(Desk())))
    [answer] = await table.answered(view, "coerced")
    assert (answer.text, answer.is_error) == ("a: should be a whole number, got '1'", True)


async def test_their_error_flag_makes_an_error() -> None:
    @tool("failed", "Fail.", {"why": str})
    async def failed(args: dict[str, Any]) -> dict[str, Any]:
        return {"content": [{"type": "text", "text": args["why"]}], "is_error": True}

    view = table.view_of(await from_claude_agent_sdk([failed]), ["failed"])
    call = {"id": "1", "name": "failed", "args": {"why": "out of paper"}}
    [result] = await view.execute([call])
    assert (result.text, result.ok, result.untrusted) == ("out of paper", False, True)
