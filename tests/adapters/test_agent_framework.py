"""Microsoft Agent Framework: the table in both directions, with a chat client of its interface."""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Awaitable, Mapping, Sequence
from typing import Any

import pytest

from adapters import table
from adapters.table import BUDGET_CHARS, OPTIONS, PNG, TABLE, Answer, Call, Desk
from ethos_registry import ConfigError, Personality, Tool, ToolContext, ToolRegistry, ok
from ethos_registry.types import Audio, Document

table.needs("agent_framework")

from agent_framework import (
    Agent,
    BaseChatClient,
    ChatResponse,
    Content,
    FunctionInvocationContext,
    FunctionInvocationLayer,
    FunctionTool,
    Message,
    tool,
)
from agent_framework.exceptions import UserInputRequiredException

from ethos_registry.adapters.agent_framework import from_agent_framework, to_agent_framework

NAME = "agent-framework"


class TurnClient(FunctionInvocationLayer, BaseChatClient):  # type: ignore[misc]
    """Calls the turns one after the other, and keeps what it reads."""

    def __init__(self, *turns: tuple[Call, ...]) -> None:
        super().__init__()
        self.turns = list(turns)
        self.read: list[Any] = []

    def _inner_get_response(
        self, *, messages: Sequence[Any], stream: bool, options: Mapping[str, Any], **others: Any
    ) -> Awaitable[Any]:
        async def respond() -> Any:
            contents = messages[-1].contents
            self.read = [part for part in contents if part.type == "function_result"]
            if not self.turns:
                return ChatResponse(messages=[Message(role="assistant", contents=["done"])])
            calls = [
                Content.from_function_call(call.id, call.name, arguments=json.dumps(call.args))
                for call in self.turns.pop(0)
            ]
            return ChatResponse(messages=[Message(role="assistant", contents=calls)])

        return respond()


def answer_of(item: Any) -> Answer:
    text = "\n".join(part.text for part in item.items if part.type == "text")
    uris = [part.uri for part in item.items if part.type == "data"]
    return Answer(text, None, tuple(base64.b64decode(uri.partition(",")[2]) for uri in uris))


async def run(tools: list[Any], *turns: tuple[Call, ...], **options: Any) -> list[Any]:
    client = TurnClient(*turns)
    await Agent(client, tools=tools).run("go", **options)
    return client.read


def tools_of(desk: Desk, **options: Any) -> list[Any]:
    return to_agent_framework(desk.view, turn_budget_chars=BUDGET_CHARS, **OPTIONS, **options)


@pytest.mark.parametrize("case", table.cases(NAME))
async def test_the_model_reads_what_the_view_answers(case: str) -> None:
    desk = Desk()
    read = await run(tools_of(desk), TABLE[case])
    table.compare([answer_of(item) for item in read], await table.expected(desk, case))
    assert [item.call_id for item in read] == [call.id for call in TABLE[case]]


@pytest.mark.parametrize("case", table.cases(NAME, first=True))
async def test_the_framework_answers_first(case: str) -> None:
    desk = Desk()
    [item] = await run(tools_of(desk), TABLE[case])
    assert item.exception
    assert item.result.startswith(("Error: Argument parsing failed", "Error: Requested function"))
    assert not desk.batches


async def test_the_calls_of_a_turn_are_one_batch() -> None:
    desk = Desk()
    await run(tools_of(desk), TABLE["a turn"], (Call("add", {"a": 1, "b": 2}, "c9"),))
    assert desk.batches == [4, 1]


async def test_a_slow_call_is_cancelled_with_its_run() -> None:
    desk = Desk()
    await table.assert_cancelled(desk, run(tools_of(desk), (Call("hold"),)))


async def test_the_context_comes_from_the_run() -> None:
    registry = ToolRegistry()

    @registry.tool
    async def who(context: ToolContext) -> str:
        """Name the agent."""
        return f"{context.agent_id} {context.tool_call_id}"

    tools = to_agent_framework(
        registry.view(Personality("worker")),
        context_factory=lambda invocation: ToolContext(agent_id=invocation.kwargs["user"]),
    )
    options = {"function_invocation_kwargs": {"user": "ada"}}
    read = await run(tools, (Call("who", id="7"), Call("who", id="8")), **options)
    assert [item.result for item in read] == ["ada 7", "ada 8"]


async def test_arguments_may_have_any_name() -> None:
    registry = ToolRegistry()
    names = ("self", "invocation", "arguments", "context", "ctx", "cls")

    async def echo(args: Any, context: ToolContext) -> Any:
        return ok(json.dumps(args))

    schema = {"type": "object", "properties": {name: {"type": "string"} for name in names}}
    registry.register(Tool("echo", "Repeat the arguments.", schema, echo))
    args = {name: name for name in names}
    tools = to_agent_framework(registry.view(Personality("worker")))
    [item] = await run(tools, (Call("echo", args),))
    assert json.loads(item.result) == args


async def test_a_call_that_needs_approval_is_asked_for() -> None:
    desk = Desk()
    tools = tools_of(desk, needs_approval=["add"])
    calls = (Call("add", {"a": 1, "b": 2}, "yes"), Call("add", {"a": 3, "b": 4}, "no"))
    client = TurnClient(calls)
    agent = Agent(client, tools=tools)
    session = agent.create_session()
    first = await agent.run("go", session=session)
    requests = first.user_input_requests
    assert [request.type for request in requests] == ["function_approval_request"] * 2
    assert not desk.batches
    answers = [
        request.to_function_approval_response(request.function_call.call_id == "yes")
        for request in requests
    ]
    await agent.run(Message(role="user", contents=answers), session=session)
    assert desk.batches == [1]
    with pytest.raises(ConfigError, match="`needs_approval` names 'ad'"):
        tools_of(desk, needs_approval=["ad"])


async def test_documents_and_audio_are_data() -> None:
    registry = ToolRegistry()

    @registry.tool
    async def report() -> Any:
        """Write a report."""
        blocks = [Document(b"%PDF-1.7", name="report.pdf"), Audio(b"RIFF....WAVE")]
        return ok("see", content=blocks)

    [item] = await run(to_agent_framework(registry.view(Personality("worker"))), (Call("report"),))
    assert item.result == "see"
    types = [part.media_type for part in item.items if part.type == "data"]
    assert types == ["application/pdf", "audio/wav"]


def test_the_schema_stays_as_the_view_shows_it() -> None:
    desk = Desk()
    shown = {item["name"]: item["parameters"] for item in desk.view.definitions()}
    for each in tools_of(desk):
        assert each.parameters() == shown[each.name]


# Theirs in a registry


def native(desk: Desk) -> list[Any]:
    tools: list[Any] = [tool(function) for function in desk.functions.values()]

    @tool
    async def chart() -> Any:
        """Draw a chart."""
        return [Content.from_text("the chart"), Content.from_data(PNG, "image/png")]

    return [*tools, chart]


def wrapped(tools: list[Any]) -> list[Any]:
    return [
        made for each in tools for made in from_agent_framework([each], trusted=each.name != "page")
    ]


@pytest.mark.parametrize("case", TABLE)
async def test_the_registry_answers_for_their_tools_as_for_its_own(case: str) -> None:
    desk = Desk()
    view = table.view_of(wrapped(native(desk)))
    await table.assert_registry_answers(view, desk, case)


async def test_their_slow_tool_is_cancelled_with_its_call() -> None:
    desk = Desk()
    view = table.view_of(wrapped(native(desk)))
    await table.assert_cancelled(desk, view.execute([{"id": "1", "name": "hold", "args": {}}]))


async def test_their_tools_receive_kwargs_and_return_data() -> None:
    @tool
    async def who(ctx: FunctionInvocationContext) -> dict[str, Any]:
        """Name the user."""
        return {"user": ctx.kwargs["user"]}

    view = table.view_of(
        from_agent_framework([who], kwargs_factory=lambda context: {"user": context.agent_id}),
        ["who"],
    )
    call = {"id": "7", "name": "who", "args": {}}
    [result] = await view.execute([call], ToolContext(agent_id="ada"))
    assert result.result.structured == {"user": "ada"}
    assert result.untrusted


async def test_a_factory_that_blocks_is_named(caplog: pytest.LogCaptureFixture) -> None:
    @tool
    async def who() -> str:
        """Name the user."""
        return "ada"

    def slow(context: ToolContext) -> dict[str, Any]:
        time.sleep(0.3)
        return {}

    view = table.view_of(from_agent_framework([who], kwargs_factory=slow), ["who"])
    await view.execute([{"id": "7", "name": "who", "args": {}}])
    assert "`kwargs_factory` blocked the event loop for 0." in caplog.text


async def test_their_approvals_and_questions_are_not_given() -> None:
    @tool(approval_mode="always_require")
    async def asked() -> str:
        """Be approved."""
        raise AssertionError

    @tool
    async def asks() -> str:
        """Ask."""
        raise UserInputRequiredException(contents=[])

    view = table.view_of(from_agent_framework([asked, asks]), ["asked", "asks"])
    results = await view.execute(
        [{"id": name, "name": name, "args": {}} for name in ("asked", "asks")]
    )
    assert [result.result.code for result in results] == ["not_available"] * 2


async def test_a_type_error_of_their_tool_is_its_own() -> None:
    @tool
    async def breaks() -> str:
        """Break."""
        raise TypeError("unhashable")

    view = table.view_of(from_agent_framework([breaks]), ["breaks"])
    [result] = await view.execute([{"id": "1", "name": "breaks", "args": {}}])
    assert "unhashable" in result.text
    assert result.result.code != "input_invalid"


def test_tools_that_a_registry_cannot_run_are_refused() -> None:
    with pytest.raises(ConfigError, match="`declared` has no function"):
        from_agent_framework([FunctionTool(name="declared")])
    with pytest.raises(ConfigError, match="got function"):
        from_agent_framework([test_the_schema_stays_as_the_view_shows_it])  # type: ignore[list-item]
