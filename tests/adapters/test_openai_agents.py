"""OpenAI Agents SDK: the table in both directions, with a model of its interface."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from adapters import table
from adapters.table import BUDGET_CHARS, OPTIONS, PNG, TABLE, Answer, Call, Desk
from ethos_registry import ConfigError, Personality, ToolContext, ToolRegistry, ok
from ethos_registry.types import Audio, Document

table.needs("agents")

from agents import (
    Agent,
    FunctionTool,
    ModelResponse,
    RunConfig,
    Runner,
    ToolOutputImage,
    ToolOutputText,
    Usage,
    function_tool,
    set_trace_processors,
    tool_input_guardrail,
)
from agents.exceptions import ModelBehaviorError
from agents.models.interface import Model
from agents.tracing import FunctionSpanData, TracingProcessor
from openai.types.responses import (
    ResponseFunctionToolCall,
    ResponseOutputMessage,
    ResponseOutputText,
)

from ethos_registry.adapters.openai_agents import from_openai_agents, to_openai_agents

NAME = "openai-agents"
QUIET = RunConfig(tracing_disabled=True)


class TurnModel(Model):
    """Calls the turns one after the other, and keeps what it reads."""

    def __init__(self, *turns: tuple[Call, ...]) -> None:
        self.turns = list(turns)
        self.read: list[dict[str, Any]] = []

    async def get_response(self, *others: Any, **options: Any) -> Any:
        items = options["input"]
        self.read = [
            item
            for item in (items if isinstance(items, list) else [])
            if item.get("type") == "function_call_output"
        ]
        output: list[Any]
        if self.turns:
            output = [
                ResponseFunctionToolCall(
                    type="function_call",
                    name=call.name,
                    arguments=call.args if isinstance(call.args, str) else json.dumps(call.args),
                    call_id=call.id,
                )
                for call in self.turns.pop(0)
            ]
        else:
            text = ResponseOutputText(type="output_text", text="done", annotations=[])
            output = [
                ResponseOutputMessage(
                    id="m", type="message", role="assistant", status="completed", content=[text]
                )
            ]
        return ModelResponse(output=output, usage=Usage(), response_id=None)

    def stream_response(self, *others: Any, **options: Any) -> Any:
        raise NotImplementedError


def answer_of(item: dict[str, Any]) -> Answer:
    output = item["output"]
    parts = [{"type": "input_text", "text": output}] if isinstance(output, str) else output
    text = "\n".join(part["text"] for part in parts if part["type"] == "input_text")
    urls = [part["image_url"] for part in parts if part["type"] == "input_image"]
    return Answer(text, None, tuple(base64.b64decode(url.partition(",")[2]) for url in urls))


async def run(tools: list[Any], *turns: tuple[Call, ...], **options: Any) -> list[Any]:
    model = TurnModel(*turns)
    agent = Agent(name="worker", model=model, tools=tools)
    await Runner.run(agent, "go", run_config=QUIET, **options)
    return model.read


def tools_of(desk: Desk, **options: Any) -> list[Any]:
    return to_openai_agents(desk.view, turn_budget_chars=BUDGET_CHARS, **OPTIONS, **options)


@pytest.mark.parametrize("case", table.cases(NAME))
async def test_the_model_reads_what_the_view_answers(case: str) -> None:
    desk = Desk()
    read = await run(tools_of(desk), TABLE[case])
    table.compare([answer_of(item) for item in read], await table.expected(desk, case))
    assert [item["call_id"] for item in read] == [call.id for call in TABLE[case]]


@pytest.mark.parametrize("case", table.cases(NAME, first=True))
async def test_the_framework_answers_first(case: str) -> None:
    desk = Desk()
    with pytest.raises(ModelBehaviorError, match=r"not found in agent|reused a tool call ID"):
        await run(tools_of(desk), TABLE[case])
    assert not desk.batches


async def test_the_calls_of_a_turn_are_one_batch() -> None:
    desk = Desk()
    await run(tools_of(desk), TABLE["a turn"], (Call("add", {"a": 1, "b": 2}, "c9"),))
    assert desk.batches == [4, 1]


async def test_a_slow_call_is_cancelled_with_its_run() -> None:
    desk = Desk()
    await table.assert_cancelled(desk, run(tools_of(desk), (Call("hold"),)))


async def test_the_trace_shows_a_failed_call_as_failed() -> None:
    spans: list[Any] = []

    class Processor(TracingProcessor):
        def on_span_end(self, span: Any) -> None:
            if isinstance(span.span_data, FunctionSpanData):
                spans.append((span.span_data.name, span.error))

        def on_trace_start(self, trace: Any) -> None: ...
        def on_trace_end(self, trace: Any) -> None: ...
        def on_span_start(self, span: Any) -> None: ...
        def shutdown(self) -> None: ...
        def force_flush(self) -> None: ...

    set_trace_processors([Processor()])
    try:
        calls = (Call("add", {"a": 1, "b": 2}, "c1"), Call("fail", {}, "c2"))
        agent = Agent(name="worker", model=TurnModel(calls), tools=tools_of(Desk()))
        await Runner.run(agent, "go")
    finally:
        set_trace_processors([])
    found = dict(spans)
    assert found["add"] is None
    assert found["fail"]["data"] == {"tool_name": "fail", "error": "the disk is full"}


async def test_arguments_that_are_not_json_are_answered_with_the_position() -> None:
    desk = Desk()
    [item] = await run(tools_of(desk), (Call("add", '{"a": 1,'),))  # type: ignore[arg-type]
    assert "not valid JSON" in item["output"] or "JSON" in item["output"]
    assert not item["output"].startswith("An error occurred")


async def test_the_context_comes_from_the_run() -> None:
    registry = ToolRegistry()

    @registry.tool
    async def who(context: ToolContext) -> str:
        """Name the agent."""
        return f"{context.agent_id} {context.tool_call_id}"

    tools = to_openai_agents(
        registry.view(Personality("worker")),
        context_factory=lambda ctx: ToolContext(agent_id=ctx.context["user"]),
    )
    [item] = await run(tools, (Call("who", id="7"),), context={"user": "ada"})
    assert item["output"] == "ada 7"


async def test_a_call_that_needs_approval_interrupts_the_run() -> None:
    desk = Desk()
    tools = tools_of(desk, needs_approval=["add"])
    calls = (Call("add", {"a": 1, "b": 2}, "yes"), Call("add", {"a": 3, "b": 4}, "no"))
    model = TurnModel(calls)
    agent = Agent(name="worker", model=model, tools=tools)
    first = await Runner.run(agent, "go", run_config=QUIET)
    assert len(first.interruptions) == 2
    assert not desk.batches
    state = first.to_state()
    state.approve(first.interruptions[0])
    state.reject(first.interruptions[1])
    await Runner.run(agent, state, run_config=QUIET)
    outputs = {item["call_id"]: item["output"] for item in model.read}
    assert outputs["yes"] == "3"
    assert "not approved" in outputs["no"]
    with pytest.raises(ConfigError, match="`needs_approval` names 'ad'"):
        tools_of(desk, needs_approval=["ad"])


async def test_documents_are_files_and_audio_becomes_a_line_of_text() -> None:
    registry = ToolRegistry()

    @registry.tool
    async def report() -> Any:
        """Write a report."""
        return ok(
            "see",
            content=[Document(b"%PDF-1.7", name="report.pdf"), Audio(b"RIFF....WAVE")],
        )

    [item] = await run(to_openai_agents(registry.view(Personality("worker"))), (Call("report"),))
    text, file = item["output"]
    assert text["text"] == "see\n[not shown: audio (audio/wav, 12 bytes)]"
    assert (file["type"], file["filename"]) == ("input_file", "report.pdf")


def test_the_schema_stays_as_the_view_shows_it() -> None:
    desk = Desk()
    shown = {item["name"]: item["parameters"] for item in desk.view.definitions()}
    for tool in tools_of(desk):
        assert tool.params_json_schema == shown[tool.name]


# Theirs in a registry


def native(desk: Desk) -> list[Any]:
    tools: list[Any] = [
        function_tool(function, failure_error_function=None) for function in desk.functions.values()
    ]

    @function_tool(failure_error_function=None)
    async def chart() -> Any:
        """Draw a chart."""
        url = "data:image/png;base64," + base64.b64encode(PNG).decode()
        return [ToolOutputText(text="the chart"), ToolOutputImage(image_url=url)]

    return [*tools, chart]


def wrapped(tools: list[Any]) -> list[Any]:
    return [
        tool for each in tools for tool in from_openai_agents([each], trusted=each.name != "page")
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


async def test_their_tools_receive_the_context_and_approval_is_not_given() -> None:
    @function_tool(failure_error_function=None)
    async def who(ctx: Any) -> dict[str, Any]:
        """Name the user."""
        return {"user": ctx}

    async def invoke(ctx: Any, text: str) -> str:
        return f"{ctx.context} {ctx.tool_call_id} {text}"

    schema = {"type": "object", "properties": {}}
    plain = FunctionTool("plain", "Plain.", schema, invoke)
    asked = FunctionTool("asked", "Asked.", schema, invoke, needs_approval=True)
    off = FunctionTool("off", "Off.", schema, invoke, is_enabled=False)
    tools = from_openai_agents(
        [plain, asked, off], context_factory=lambda context: context.agent_id
    )
    assert [tool.name for tool in tools] == ["plain", "asked"]
    view = table.view_of(tools, ["plain", "asked"])
    calls = [{"id": "7", "name": tool.name, "args": {}} for tool in tools]
    first, second = await view.execute(calls, ToolContext(agent_id="ada"))
    assert first.text == "ada 7 {}"
    assert second.result.code == "not_available"


def test_tools_that_need_a_run_of_the_sdk_are_refused() -> None:
    @function_tool
    async def hides() -> str:
        """Hide errors."""
        return ""

    with pytest.raises(ConfigError, match="`hides` reports its errors as successes"):
        from_openai_agents([hides])

    @tool_input_guardrail
    def guard(data: Any) -> Any:
        raise AssertionError

    @function_tool(failure_error_function=None, tool_input_guardrails=[guard])
    async def guarded() -> str:
        """Be guarded."""
        return ""

    with pytest.raises(ConfigError, match="`guarded` has guardrails"):
        from_openai_agents([guarded])

    @function_tool(failure_error_function=None, is_enabled=lambda ctx, agent: True)
    async def decides() -> str:
        """Decide."""
        return ""

    with pytest.raises(ConfigError, match="`decides` decides in `is_enabled`"):
        from_openai_agents([decides])
