"""Google ADK: the table in both directions, with a model of its interface."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
from pydantic import Field

from adapters import table
from adapters.table import BUDGET_CHARS, OPTIONS, PNG, TABLE, Answer, Call, Desk
from ethos_registry import ConfigError, Personality, ToolContext, ToolRegistry, ok
from ethos_registry.types import Audio, Document

table.needs("google.adk", extra="google-adk")

from google.adk.agents import LlmAgent
from google.adk.models import BaseLlm, LlmResponse
from google.adk.runners import InMemoryRunner
from google.adk.tools import BaseTool, FunctionTool, LongRunningFunctionTool
from google.adk.tools import ToolContext as AdkToolContext
from google.adk.tools.base_toolset import BaseToolset
from google.genai import types

from ethos_registry.adapters.google_adk import from_google_adk, to_google_adk

NAME = "google-adk"


class TurnModel(BaseLlm):
    """Calls the turns one after the other, and keeps what it reads."""

    turns: list[Any]
    read: list[Any] = Field(default_factory=list)
    declared: list[Any] = Field(default_factory=list)

    async def generate_content_async(
        self, llm_request: Any, stream: bool = False
    ) -> AsyncIterator[Any]:
        self.declared = [
            declaration
            for listed in llm_request.config.tools or []
            for declaration in listed.function_declarations
        ]
        responses = [part.function_response for part in llm_request.contents[-1].parts]
        self.read = [response for response in responses if response is not None]
        calls = self.turns.pop(0) if self.turns else ()
        parts = [
            types.Part(function_call=types.FunctionCall(id=call.id, name=call.name, args=call.args))
            for call in calls
        ]
        parts = parts or [types.Part(text="done")]
        yield LlmResponse(content=types.Content(role="model", parts=parts))


def answer_of(response: Any) -> Answer:
    assert response.response.keys() <= {"result", "error"}
    images = tuple(part.inline_data.data for part in response.parts or ())
    [(key, text)] = response.response.items()
    return Answer(text, key == "error", images)


async def events_of(model: TurnModel, toolset: Any, **state: Any) -> list[Any]:
    tools = toolset if isinstance(toolset, list) else [toolset]
    runner = InMemoryRunner(agent=LlmAgent(name="worker", model=model, tools=tools))
    session = await runner.session_service.create_session(
        app_name=runner.app_name, user_id="ada", state=state
    )
    message = types.Content(role="user", parts=[types.Part(text="go")])
    run = runner.run_async(user_id="ada", session_id=session.id, new_message=message)
    return [event async for event in run]


async def run(toolset: Any, *turns: tuple[Call, ...], **state: Any) -> list[Any]:
    model = TurnModel(model="turns", turns=list(turns))
    await events_of(model, toolset, **state)
    return model.read


def toolset_of(desk: Desk, **options: Any) -> Any:
    return to_google_adk(desk.view, turn_budget_chars=BUDGET_CHARS, **OPTIONS, **options)


@pytest.mark.parametrize("case", table.cases(NAME))
async def test_the_model_reads_what_the_view_answers(case: str) -> None:
    desk = Desk()
    read = await run(toolset_of(desk), TABLE[case])
    table.compare([answer_of(item) for item in read], await table.expected(desk, case))
    assert [item.id for item in read] == [call.id for call in TABLE[case]]


@pytest.mark.parametrize("case", table.cases(NAME, first=True))
async def test_the_framework_answers_first(case: str) -> None:
    desk = Desk()
    [item] = await run(toolset_of(desk), TABLE[case])
    assert "no tool with that name is available" in item.response["error"]
    assert not desk.batches


async def test_the_calls_of_a_turn_are_one_batch() -> None:
    desk = Desk()
    await run(toolset_of(desk), TABLE["a turn"], (Call("add", {"a": 1, "b": 2}, "c9"),))
    assert desk.batches == [4, 1]


async def test_a_slow_call_is_cancelled_with_its_run() -> None:
    desk = Desk()
    await table.assert_cancelled(desk, run(toolset_of(desk), (Call("hold"),)))


async def test_a_prefix_and_a_filter_of_the_toolset_apply() -> None:
    desk = Desk()
    toolset = toolset_of(desk, tool_name_prefix="desk", tool_filter=["add", "fail"])
    model = TurnModel(model="turns", turns=[(Call("desk_add", {"a": 1, "b": 2}),)])
    await events_of(model, toolset)
    assert [declaration.name for declaration in model.declared] == ["desk_add", "desk_fail"]
    assert model.read[0].response == {"result": "3"}


async def test_the_schema_stays_as_the_view_shows_it() -> None:
    desk = Desk()
    model = TurnModel(model="turns", turns=[])
    await events_of(model, toolset_of(desk))
    shown = {item["name"]: item["parameters"] for item in desk.view.definitions()}
    found = {each.name: each.parameters_json_schema for each in model.declared}
    assert found == shown


async def test_the_toolset_follows_the_view() -> None:
    registry = ToolRegistry()
    is_open = False

    @registry.tool(is_available=lambda: is_open)
    async def buy() -> str:
        """Buy."""
        return "bought"

    toolset = to_google_adk(registry.view(Personality("worker")))
    assert await toolset.get_tools() == []
    is_open = True
    assert [tool.name for tool in await toolset.get_tools()] == ["buy"]


async def test_the_context_comes_from_the_run() -> None:
    registry = ToolRegistry()

    @registry.tool
    async def who(context: ToolContext) -> str:
        """Name the agent."""
        return f"{context.agent_id} {context.tool_call_id}"

    toolset = to_google_adk(
        registry.view(Personality("worker")),
        context_factory=lambda theirs: ToolContext(agent_id=theirs.state["user"]),
    )
    read = await run(toolset, (Call("who", id="7"), Call("who", id="8")), user="ada")
    assert [item.response["result"] for item in read] == ["ada 7", "ada 8"]


async def test_a_call_that_needs_approval_asks_for_a_confirmation() -> None:
    desk = Desk()
    model = TurnModel(model="turns", turns=[(Call("add", {"a": 1, "b": 2}),)])
    events = await events_of(model, toolset_of(desk, needs_approval=["add"]))
    asked = [event.actions.requested_tool_confirmations for event in events]
    assert any("c1" in requests for requests in asked)
    assert not desk.batches
    with pytest.raises(ConfigError, match="`needs_approval` names 'ad'"):
        toolset_of(desk, needs_approval=["ad"])


async def test_documents_are_parts_and_audio_becomes_a_line_of_text() -> None:
    registry = ToolRegistry()

    @registry.tool
    async def report() -> Any:
        """Write a report."""
        blocks = [Document(b"%PDF-1.7", name="report.pdf"), Audio(b"RIFF....WAVE")]
        return ok("see", content=blocks)

    [item] = await run(to_google_adk(registry.view(Personality("worker"))), (Call("report"),))
    assert item.response == {"result": "see\n[not shown: audio (audio/wav, 12 bytes)]"}
    assert [part.inline_data.mime_type for part in item.parts] == ["application/pdf"]


# Theirs in a registry


def native(desk: Desk) -> list[Any]:
    async def chart() -> Any:
        """Draw a chart."""
        return ["the chart", types.Part.from_bytes(data=PNG, mime_type="image/png")]

    return [FunctionTool(function) for function in [*desk.functions.values(), chart]]


async def wrapped(tools: list[Any]) -> list[Any]:
    return [
        made
        for each in tools
        for made in await from_google_adk([each], trusted=each.name != "page")
    ]


@pytest.mark.parametrize("case", [case for case in TABLE if case != "coerced"])
async def test_the_registry_answers_for_their_tools_as_for_its_own(case: str) -> None:
    desk = Desk()
    view = table.view_of(await wrapped(native(desk)))
    await table.assert_registry_answers(view, desk, case)


async def test_their_arguments_are_validated_without_coercion() -> None:
    view = table.view_of(await wrapped(native(Desk())))
    [answer] = await table.answered(view, "coerced")
    assert (answer.text, answer.is_error) == ("a: should be a whole number, got '1'", True)


async def test_their_slow_tool_is_cancelled_with_its_call() -> None:
    desk = Desk()
    view = table.view_of(await wrapped(native(desk)))
    await table.assert_cancelled(desk, view.execute([{"id": "1", "name": "hold", "args": {}}]))


async def one(tools: list[Any], **args: Any) -> Any:
    """The result of the first of their tools in a registry."""
    found = await from_google_adk(tools)
    view = table.view_of(found, [tool.name for tool in found])
    [result] = await view.execute([{"id": "7", "name": found[0].name, "args": args}])
    return result


async def test_their_functions_have_a_context_of_their_own_and_return_data() -> None:
    async def who(tool_context: AdkToolContext) -> dict[str, Any]:
        """Name the call."""
        tool_context.state["seen"] = True
        return {"call": tool_context.function_call_id, "seen": tool_context.state["seen"]}

    result = await one([who])
    assert result.result.structured == {"call": "7", "seen": True}
    assert result.untrusted


async def test_their_error_key_makes_an_error_and_media_leave_the_dict() -> None:
    async def failed() -> dict[str, Any]:
        """Fail."""
        return {"error": "out of paper"}

    async def drawn() -> dict[str, Any]:
        """Draw."""
        part = types.Part.from_bytes(data=PNG, mime_type="image/png")
        return {"result": "drawn", "image": part, "more": [part]}

    result = await one([failed])
    assert (result.text, result.ok) == ("out of paper", False)
    result = await one([drawn])
    assert (result.text, [block.data_bytes for block in result.content]) == ("drawn", [PNG, PNG])


async def test_their_toolset_keeps_its_prefix_and_its_schema_of_gemini() -> None:
    class Shop(BaseToolset):
        async def get_tools(self, readonly_context: Any = None) -> list[Any]:
            return [Price(name="price", description="Price.")]

    class Price(BaseTool):
        def _get_declaration(self) -> Any:
            number = types.Schema(type=types.Type.INTEGER)
            parameters = types.Schema(
                type=types.Type.OBJECT, properties={"count": number}, required=["count"]
            )
            return types.FunctionDeclaration(name="price", parameters=parameters)

        async def run_async(self, *, args: Any, tool_context: Any) -> Any:
            return f"{args['count']} EUR"

    [tool] = await from_google_adk(Shop(tool_name_prefix="shop"))
    view = table.view_of([tool], ["shop_price"])
    answers = await view.execute(
        [{"id": "1", "name": "shop_price", "args": {"count": count}} for count in (3, "three")]
    )
    assert answers[0].text == "3 EUR"
    assert answers[1].text.startswith("count: should be a whole number")


async def test_their_confirmations_are_not_given() -> None:
    async def pay() -> str:
        """Pay."""
        raise AssertionError

    async def ask(tool_context: AdkToolContext) -> str:
        """Ask."""
        tool_context.request_confirmation(hint="really?")
        return "asked"

    for tool in (FunctionTool(pay, require_confirmation=True), FunctionTool(ask)):
        result = await one([tool])
        assert result.result.code == "not_available"


async def test_tools_that_a_registry_cannot_run_are_refused() -> None:
    async def later() -> str:
        """Finish later."""
        return ""

    with pytest.raises(ConfigError, match="`later` is long-running"):
        await from_google_adk([LongRunningFunctionTool(later)])
    with pytest.raises(ConfigError, match="`hosted` has no declaration"):
        await from_google_adk([BaseTool(name="hosted", description="")])
