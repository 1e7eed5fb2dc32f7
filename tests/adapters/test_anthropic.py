"""Anthropic SDK: the table in both directions, with its tool runner over a mocked transport."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from adapters import table
from adapters.table import BUDGET_CHARS, OPTIONS, PNG, TABLE, Answer, Call, Desk
from ethos_registry import Personality, ToolContext, ToolRegistry

table.needs("anthropic")

import httpx2
from anthropic import Anthropic, AsyncAnthropic, beta_async_tool, beta_tool
from anthropic.lib.tools import ToolError

from ethos_registry.adapters.anthropic import from_anthropic, to_anthropic

NAME = "anthropic"
ASK = {
    "model": "claude-opus-4-8",
    "max_tokens": 1024,
    "messages": [{"role": "user", "content": "go"}],
}


class Api:
    """An API that calls the turns one after the other, and keeps what it is sent."""

    def __init__(self, *turns: tuple[Call, ...]) -> None:
        self.turns = list(turns)
        self.requests: list[dict[str, Any]] = []

    def __call__(self, request: httpx2.Request) -> httpx2.Response:
        self.requests.append(json.loads(request.content))
        content: list[dict[str, Any]] = [{"type": "text", "text": "done"}]
        reason = "end_turn"
        if self.turns:
            reason = "tool_use"
            content = [
                {"type": "tool_use", "id": call.id, "name": call.name, "input": call.args}
                for call in self.turns.pop(0)
            ]
        message = {
            "id": "m",
            "type": "message",
            "role": "assistant",
            "model": ASK["model"],
            "content": content,
            "stop_reason": reason,
            "stop_sequence": None,
            "usage": {"input_tokens": 1, "output_tokens": 1},
        }
        return httpx2.Response(200, json=message)

    @property
    def read(self) -> list[dict[str, Any]]:
        last: list[dict[str, Any]] = self.requests[-1]["messages"][-1]["content"]
        return last


def answer_of(block: dict[str, Any]) -> Answer:
    content = block["content"]
    parts = [{"type": "text", "text": content}] if isinstance(content, str) else content
    text = "\n".join(part["text"] for part in parts if part["type"] == "text")
    images = [part["source"]["data"] for part in parts if part["type"] == "image"]
    return Answer(text, block.get("is_error", False), tuple(map(base64.b64decode, images)))


async def run(tools: list[Any], *turns: tuple[Call, ...]) -> Api:
    api = Api(*turns)
    transport = httpx2.MockTransport(api)
    async with (
        httpx2.AsyncClient(transport=transport) as http,
        AsyncAnthropic(api_key="none", http_client=http) as client,
    ):
        await client.beta.messages.tool_runner(tools=tools, **ASK).until_done()
    return api


def tools_of(desk: Desk, case: str = "ok", **options: Any) -> list[Any]:
    count = len(TABLE[case])
    return to_anthropic(desk.view, call_budget_chars=BUDGET_CHARS // count, **OPTIONS, **options)


@pytest.mark.parametrize("case", table.cases(NAME))
async def test_the_model_reads_what_the_view_answers(case: str) -> None:
    desk = Desk()
    api = await run(tools_of(desk, case), TABLE[case])
    table.compare([answer_of(block) for block in api.read], await table.expected(desk, case))
    assert [block["tool_use_id"] for block in api.read] == [call.id for call in TABLE[case]]


@pytest.mark.parametrize("case", table.cases(NAME, first=True))
async def test_the_framework_answers_first(case: str) -> None:
    desk = Desk()
    with pytest.warns(UserWarning, match="not found in tool runner"):
        api = await run(tools_of(desk, case), TABLE[case])
    assert "not found" in answer_of(api.read[0]).text
    assert not desk.batches


async def test_the_runner_calls_one_tool_after_the_other() -> None:
    desk = Desk()
    await run(tools_of(desk, "a turn"), TABLE["a turn"])
    assert desk.batches == [1] * 4


async def test_the_definitions_are_those_of_the_view() -> None:
    desk = Desk()
    api = await run(tools_of(desk), TABLE["ok"])
    sent = json.dumps(api.requests[0]["tools"], separators=(",", ":"), ensure_ascii=False)
    assert sent.encode() == desk.view.definitions_bytes("anthropic")


def test_the_runner_of_a_sync_client_runs_sync_tools() -> None:
    registry = ToolRegistry()

    @registry.tool
    async def who(context: ToolContext) -> str:
        """Name the agent."""
        return str(context.agent_id)

    tools = to_anthropic(
        registry.view(Personality("worker")),
        is_async=False,
        context_factory=lambda: ToolContext(agent_id="ada"),
    )
    api = Api((Call("who"),))
    with (
        httpx2.Client(transport=httpx2.MockTransport(api)) as http,
        Anthropic(api_key="none", http_client=http) as client,
    ):
        client.beta.messages.tool_runner(tools=tools, **ASK).until_done()
    assert answer_of(api.read[0]).text == "ada"


async def test_a_slow_call_is_cancelled_with_its_run() -> None:
    desk = Desk()
    await table.assert_cancelled(desk, run(tools_of(desk), (Call("hold"),)))


# Theirs in a registry


def native(desk: Desk) -> list[Any]:
    tools: list[Any] = [beta_async_tool(function) for function in desk.functions.values()]

    @beta_tool
    def chart() -> Any:
        """Draw a chart."""
        source = {
            "type": "base64",
            "media_type": "image/png",
            "data": base64.b64encode(PNG).decode(),
        }
        return [{"type": "text", "text": "the chart"}, {"type": "image", "source": source}]

    return [*tools, chart]


def wrapped(tools: list[Any]) -> list[Any]:
    return [tool for each in tools for tool in from_anthropic([each], trusted=each.name != "page")]


@pytest.mark.parametrize("case", TABLE)
async def test_the_registry_answers_for_their_tools_as_for_its_own(case: str) -> None:
    desk = Desk()
    view = table.view_of(wrapped(native(desk)))
    await table.assert_registry_answers(view, desk, case)


async def test_their_slow_tool_is_cancelled_with_its_call() -> None:
    desk = Desk()
    view = table.view_of(wrapped(native(desk)))
    await table.assert_cancelled(desk, view.execute([{"id": "1", "name": "hold", "args": {}}]))


async def test_a_tool_error_of_the_sdk_is_an_error_with_its_text() -> None:
    @beta_tool
    def failed() -> str:
        """Fail."""
        raise ToolError("out of paper")

    view = table.view_of(from_anthropic([failed]), ["failed"])
    [result] = await view.execute([{"id": "1", "name": "failed", "args": {}}])
    assert (result.text, result.ok, result.untrusted) == ("out of paper", False, True)
