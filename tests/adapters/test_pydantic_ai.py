"""pydantic-ai: the table in both directions, with its `FunctionModel`."""

from __future__ import annotations

from typing import Any

import pytest

from adapters import table
from adapters.table import BUDGET_CHARS, OPTIONS, PNG, TABLE, Answer, Call, Desk
from ethos_registry import CallResult, ConfigError, Personality, ToolContext, ToolRegistry

table.needs("pydantic_ai")

from pydantic_ai import (
    Agent,
    BinaryContent,
    DeferredToolRequests,
    DeferredToolResults,
    FunctionToolset,
    ModelRetry,
    RunContext,
    ToolDenied,
    ToolReturn,
)
from pydantic_ai.exceptions import ApprovalRequired, ToolFailed
from pydantic_ai.messages import ModelRequest, ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import FunctionModel
from pydantic_ai.models.test import TestModel
from pydantic_ai.usage import RunUsage

from ethos_registry.adapters.pydantic_ai import ToolProgress, from_pydantic_ai, to_pydantic_ai

NAME = "pydantic-ai"


def model_of(turns: list[tuple[Call, ...]], parts: list[list[Any]]) -> FunctionModel:
    """A model that calls the turns one after the other, and keeps what it reads."""
    waiting = list(turns)

    def reply(messages: list[Any], info: Any) -> ModelResponse:
        last = messages[-1]
        if isinstance(last, ModelRequest):
            read = [part for part in last.parts if isinstance(part, ToolReturnPart)]
            if read:
                parts.append(read)
        if not waiting:
            return ModelResponse(parts=[TextPart("done")])
        calls = waiting.pop(0)
        return ModelResponse(
            parts=[ToolCallPart(call.name, call.args, tool_call_id=call.id) for call in calls]
        )

    return FunctionModel(reply)


def answer_of(part: ToolReturnPart) -> Answer:
    content = part.content if isinstance(part.content, list) else [part.content]
    images = tuple(item.data for item in content if isinstance(item, BinaryContent))
    text = "\n".join(item for item in content if isinstance(item, str))
    return Answer(text, part.outcome != "success", images)


async def run(toolset: Any, *turns: tuple[Call, ...], **options: Any) -> list[list[Answer]]:
    parts: list[list[Any]] = []
    agent = Agent(model_of(list(turns), parts), toolsets=[toolset], **options)
    await agent.run("go")
    return [[answer_of(part) for part in read] for read in parts]


def toolset_of(desk: Desk, **options: Any) -> Any:
    return to_pydantic_ai(desk.view, turn_budget_chars=BUDGET_CHARS, **OPTIONS, **options)


@pytest.mark.parametrize("case", table.cases(NAME))
async def test_the_model_reads_what_the_view_answers(case: str) -> None:
    desk = Desk()
    [answers] = await run(toolset_of(desk), TABLE[case])
    table.compare(answers, await table.expected(desk, case))


@pytest.mark.parametrize("case", table.cases(NAME, first=True))
async def test_the_framework_answers_first(case: str) -> None:
    desk = Desk()
    if case == "duplicate id":
        with pytest.raises(Exception, match="unique `tool_call_id`"):
            await run(toolset_of(desk), TABLE[case])
    else:
        [[answer]] = await run(toolset_of(desk), TABLE[case])
        assert answer.text.startswith("Unknown tool name:")
    assert not desk.batches


async def test_the_calls_of_a_turn_are_one_batch() -> None:
    desk = Desk()
    await run(toolset_of(desk), TABLE["a turn"], TABLE["ok"])
    assert desk.batches == [4, 1]


async def test_a_slow_call_is_cancelled_with_its_run() -> None:
    desk = Desk()
    await table.assert_cancelled(desk, run(toolset_of(desk), (Call("hold"),)))


async def test_the_result_is_the_metadata_of_a_success() -> None:
    desk = Desk()
    parts: list[list[Any]] = []
    agent = Agent(model_of([TABLE["ok"]], parts), toolsets=[toolset_of(desk)])
    await agent.run("go")
    remaining = CallResult.from_wire(parts[0][0].metadata)
    assert (remaining.tool_call_id, remaining.ok) == ("c1", True)


async def test_the_context_comes_from_the_dependencies() -> None:
    registry = ToolRegistry()

    @registry.tool
    async def who(context: ToolContext) -> str:
        """Name the agent."""
        return f"{context.agent_id} {context.tool_call_id}"

    toolset = to_pydantic_ai(
        registry.view(Personality("worker")),
        context_factory=lambda ctx: ToolContext(agent_id=ctx.deps),
    )
    parts: list[list[Any]] = []
    agent = Agent(model_of([(Call("who", id="7"),)], parts), toolsets=[toolset], deps_type=str)
    await agent.run("go", deps="ada")
    assert parts[0][0].content == "ada 7"


async def test_progress_is_an_event_of_the_run() -> None:
    registry = ToolRegistry()

    @registry.tool
    async def build(context: ToolContext) -> str:
        """Build."""
        context.report("half way", percent=50)
        return "built"

    seen: list[ToolProgress] = []

    async def handler(ctx: Any, events: Any) -> None:
        seen.extend([event async for event in events if isinstance(event, ToolProgress)])

    async def stream(messages: list[Any], info: Any) -> Any:
        from pydantic_ai.models.function import DeltaToolCall

        if len(messages) == 1:
            yield {0: DeltaToolCall(name="build", json_args="{}", tool_call_id="b1")}
        else:
            yield "done"

    toolset = to_pydantic_ai(registry.view(Personality("worker")))
    agent = Agent(FunctionModel(stream_function=stream), toolsets=[toolset])
    await agent.run("go", event_stream_handler=handler)
    assert [(event.message, event.percent, event.tool_call_id) for event in seen] == [
        ("half way", 50.0, "b1")
    ]


async def test_a_call_that_needs_approval_waits_for_the_resumed_run() -> None:
    desk = Desk()
    toolset = toolset_of(desk, needs_approval=["add"])
    parts: list[list[Any]] = []
    calls = (Call("add", {"a": 1, "b": 2}, "yes"), Call("add", {"a": 3, "b": 4}, "no"))
    agent = Agent(
        model_of([calls], parts), toolsets=[toolset], output_type=[str, DeferredToolRequests]
    )
    first = await agent.run("go")
    assert isinstance(first.output, DeferredToolRequests)
    assert [call.tool_call_id for call in first.output.approvals] == ["yes", "no"]
    assert not desk.batches
    results = DeferredToolResults(approvals={"yes": True, "no": ToolDenied("not today")})
    await agent.run(message_history=first.all_messages(), deferred_tool_results=results)
    assert [part.content for part in parts[-1]] == ["3", "not today"]
    with pytest.raises(ConfigError, match="`needs_approval` names 'ad'"):
        toolset_of(desk, needs_approval=["ad"])


async def test_invalid_arguments_cost_retries_only_when_asked_for() -> None:
    desk = Desk()
    invalid = TABLE["invalid"]
    parts: list[list[Any]] = []
    agent = Agent(model_of([invalid] * 4, parts), toolsets=[toolset_of(desk, argument_retries=2)])
    await agent.run("go")
    assert [read[0].outcome for read in parts] == ["retried", "retried", "failed", "failed"]
    assert len({read[0].content for read in parts}) == 1


async def test_a_prefixed_toolset_calls_the_tool_by_its_own_name() -> None:
    desk = Desk()
    [[answer]] = await run(toolset_of(desk).prefixed("desk"), (Call("desk_add", {"a": 1, "b": 1}),))
    assert answer.text == "2"


async def test_an_unchanged_view_is_listed_once_and_a_schema_is_a_copy() -> None:
    desk = Desk()
    view = desk.view
    toolset = to_pydantic_ai(view)
    ctx = RunContext(deps=None, model=TestModel(), usage=RunUsage())
    first = await toolset.get_tools(ctx)
    assert await toolset.get_tools(ctx) is first
    first["add"].tool_def.parameters_json_schema["properties"].clear()
    shown = {item["name"]: item for item in view.definitions()}
    assert set(shown["add"]["parameters"]["properties"]) == {"a", "b"}


# Theirs in a registry


def native(desk: Desk) -> FunctionToolset[Any]:
    toolset: FunctionToolset[Any] = FunctionToolset(id="desk", max_retries=3)
    for function in desk.functions.values():
        toolset.add_function(function)

    async def chart() -> ToolReturn:
        """Draw a chart."""
        image = BinaryContent(PNG, media_type="image/png")
        return ToolReturn(["the chart", image], metadata={"kind": "chart"})

    toolset.add_function(chart)
    return toolset


@pytest.mark.parametrize("case", TABLE)
async def test_the_registry_answers_for_their_tools_as_for_its_own(case: str) -> None:
    desk = Desk()
    toolset = native(desk)
    untrusted = await from_pydantic_ai(toolset, names=["page"])
    trusted = await from_pydantic_ai(
        toolset, names={*desk.functions, "chart"} - {"page"}, trusted=True
    )
    assert {tool.toolset for tool in (*trusted, *untrusted)} == {"pydantic-ai:desk"}
    answers = await table.answered(table.view_of([*trusted, *untrusted]), case)
    table.compare(answers, await table.expected(desk, case))


async def test_their_slow_tool_is_cancelled_with_its_call() -> None:
    desk = Desk()
    view = table.view_of(await from_pydantic_ai(native(desk)))
    await table.assert_cancelled(desk, view.execute([{"id": "1", "name": "hold", "args": {}}]))


async def test_what_their_tools_raise_and_return_becomes_a_result() -> None:
    toolset: FunctionToolset[Any] = FunctionToolset()

    @toolset.tool_plain
    def retry() -> str:
        """Ask for a retry."""
        raise ModelRetry("use metres")

    @toolset.tool_plain
    def failed() -> str:
        """Fail."""
        raise ToolFailed("out of paper")

    @toolset.tool_plain
    def approval() -> str:
        """Ask a person."""
        raise ApprovalRequired

    @toolset.tool
    def deps(ctx: RunContext[Any], extra: list[int]) -> dict[str, Any]:
        """Return the dependencies."""
        return {"deps": ctx.deps, "id": ctx.tool_call_id, "name": ctx.tool_name, "extra": extra}

    names = ["retry", "failed", "approval"]
    tools = await from_pydantic_ai(toolset, deps="db", trusted=True)
    view = table.view_of(tools, [*names, "deps"])
    calls = [{"id": name, "name": name, "args": {}} for name in names]
    calls.append({"id": "7", "name": "deps", "args": {"extra": ["1"]}})
    retried, failed_result, approved, made = await view.execute(calls)
    assert (retried.text, retried.result.code) == ("use metres", "input_invalid")
    assert (failed_result.text, failed_result.result.code) == ("out of paper", "execution_failed")
    assert approved.result.code == "not_available"
    assert "only an agent of pydantic-ai can answer" in approved.text
    assert made.result.structured == {"deps": "db", "id": "7", "name": "deps", "extra": [1]}
