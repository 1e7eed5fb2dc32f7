"""LangChain and LangGraph: the table in both directions, with `ToolNode` and a fake model."""

from __future__ import annotations

import base64
from typing import Annotated, Any

import pytest

from adapters import table
from adapters.table import BUDGET_CHARS, OPTIONS, PNG, TABLE, Answer, Call, Desk
from ethos_registry import ConfigError, Personality, ToolContext, ToolRegistry, ok
from ethos_registry.types import Audio

table.needs("langgraph")

from langchain.agents import create_agent
from langchain_core.language_models.fake_chat_models import FakeMessagesListChatModel
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.tools import StructuredTool, ToolException
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import InjectedState, ToolNode, tools_condition
from langgraph.types import Command, interrupt

from ethos_registry.adapters.langchain import from_langchain, to_langchain

NAME = "langchain"


def message_of(calls: tuple[Call, ...]) -> AIMessage:
    return AIMessage(
        content="",
        tool_calls=[{"name": call.name, "args": call.args, "id": call.id} for call in calls],
    )


def graph_of(tools: list[Any], *turns: tuple[Call, ...], **options: Any) -> Any:
    """An agent loop whose model calls the turns one after the other."""
    replies = [*map(message_of, turns), AIMessage(content="done")]
    model = FakeMessagesListChatModel(responses=replies)

    async def call_model(state: MessagesState) -> dict[str, Any]:
        return {"messages": [await model.ainvoke(state["messages"])]}

    graph = StateGraph(MessagesState)
    graph.add_node("model", call_model)
    graph.add_node("tools", ToolNode(tools))
    graph.add_edge(START, "model")
    graph.add_conditional_edges("model", tools_condition)
    graph.add_edge("tools", "model")
    return graph.compile(**options)


def answer_of(message: ToolMessage) -> Answer:
    content = message.content
    parts = [{"type": "text", "text": content}] if isinstance(content, str) else content
    text = "\n".join(part["text"] for part in parts if part["type"] == "text")
    images = [base64.b64decode(part["base64"]) for part in parts if part["type"] == "image"]
    return Answer(text, message.status == "error", tuple(images))


def read(state: dict[str, Any]) -> list[ToolMessage]:
    return [message for message in state["messages"] if isinstance(message, ToolMessage)]


async def run(tools: list[Any], *turns: tuple[Call, ...]) -> list[ToolMessage]:
    return read(await graph_of(tools, *turns).ainvoke({"messages": [("user", "go")]}))


def tools_of(desk: Desk, **options: Any) -> list[Any]:
    return to_langchain(desk.view, turn_budget_chars=BUDGET_CHARS, **OPTIONS, **options)


@pytest.mark.parametrize("case", table.cases(NAME))
async def test_the_model_reads_what_the_view_answers(case: str) -> None:
    desk = Desk()
    messages = await run(tools_of(desk), TABLE[case])
    table.compare([answer_of(message) for message in messages], await table.expected(desk, case))
    assert [message.tool_call_id for message in messages] == [call.id for call in TABLE[case]]


@pytest.mark.parametrize("case", table.cases(NAME, first=True))
async def test_the_framework_answers_first(case: str) -> None:
    desk = Desk()
    [message] = await run(tools_of(desk), TABLE[case])
    assert "is not a valid tool" in str(message.content)
    assert not desk.batches


async def test_the_calls_of_a_turn_are_one_batch() -> None:
    desk = Desk()
    await run(tools_of(desk), TABLE["a turn"], TABLE["ok"])
    assert desk.batches == [4, 1]


async def test_the_calls_of_an_agent_are_one_batch() -> None:
    desk = Desk()

    class Model(FakeMessagesListChatModel):
        def bind_tools(self, tools: Any, **options: Any) -> Any:
            return self

    model = Model(responses=[message_of(TABLE["a turn"]), AIMessage(content="done")])
    agent = create_agent(model, tools=tools_of(desk))
    state = await agent.ainvoke({"messages": [("user", "go")]})
    table.compare(
        [answer_of(message) for message in read(state)], await table.expected(desk, "a turn")
    )
    assert desk.batches == [4, 4]  # the agent's, and that of `expected`


async def test_a_slow_call_is_cancelled_with_its_run() -> None:
    desk = Desk()
    await table.assert_cancelled(desk, run(tools_of(desk), (Call("hold"),)))


def test_a_sync_graph_runs_each_call_in_a_batch_with_its_share() -> None:
    desk = Desk()
    tools = tools_of(desk, call_budget_chars=BUDGET_CHARS / 4)
    node = ToolNode(tools)
    graph = StateGraph(MessagesState)
    graph.add_node("tools", node)
    graph.add_edge(START, "tools")
    graph.add_edge("tools", END)
    state = graph.compile().invoke({"messages": [message_of(TABLE["a turn"])]})
    messages = read(state)
    assert desk.batches == [1] * 4
    assert [message.status for message in messages] == ["success", "error", "success", "success"]
    assert len(str(messages[2].content)) < BUDGET_CHARS / 4 + 100


async def test_the_artifact_is_plain_json() -> None:
    desk = Desk()
    [message] = await run(tools_of(desk), TABLE["ok"])
    assert message.artifact == {
        "toolCallId": "c1",
        "name": "add",
        "result": {"ok": True, "value": "3"},
    }


async def test_the_context_comes_from_the_runtime_and_progress_goes_to_its_stream() -> None:
    registry = ToolRegistry()

    @registry.tool
    async def who(context: ToolContext) -> str:
        """Name the agent."""
        context.report("asking", percent=10)
        return f"{context.agent_id} {context.tool_call_id} {context.message_count}"

    tools = to_langchain(
        registry.view(Personality("worker")),
        context_factory=lambda runtime: ToolContext(
            agent_id=runtime.context["user"], message_count=len(runtime.state["messages"])
        ),
    )
    graph = graph_of(tools, (Call("who", id="7"),))
    events = []
    texts = []
    async for mode, value in graph.astream(
        {"messages": [("user", "go")]}, context={"user": "ada"}, stream_mode=["custom", "updates"]
    ):
        if mode == "custom":
            events.append(value)
        elif "tools" in value:
            texts += [message.content for message in value["tools"]["messages"]]
    assert texts == ["ada 7 2"]
    assert events == [
        {
            "type": "progress",
            "toolName": "who",
            "message": "asking",
            "percent": 10,
            "toolCallId": "7",
        }
    ]


@pytest.mark.parametrize(
    ("answer", "text", "status"),
    [
        (True, "3", "success"),
        (False, "Tool add was not approved: no reason was given", "error"),
        (
            {"approved": False, "reason": "not today"},
            "Tool add was not approved: not today",
            "error",
        ),
        ({"approved": True, "args": {"a": 40, "b": 2}}, "42", "success"),
    ],
)
async def test_a_call_that_needs_approval_interrupts_the_graph(
    answer: Any, text: str, status: str
) -> None:
    desk = Desk()
    tools = tools_of(desk, needs_approval=["add"])
    graph = graph_of(tools, TABLE["ok"], checkpointer=InMemorySaver())
    config = {"configurable": {"thread_id": "1"}}
    first = await graph.ainvoke({"messages": [("user", "go")]}, config)
    [question] = first["__interrupt__"]
    assert question.value == {"tool_name": "add", "args": {"a": 1, "b": 2}, "tool_call_id": "c1"}
    assert not desk.batches
    state = await graph.ainvoke(Command(resume=answer), config)
    [message] = read(state)
    assert (message.content, message.status) == (text, status)
    with pytest.raises(ConfigError, match="`needs_approval` names 'ad'"):
        tools_of(desk, needs_approval=["ad"])


async def test_a_tool_may_have_arguments_of_any_name_but_runtime() -> None:
    registry = ToolRegistry()

    @registry.tool
    async def unusual(config: str, run_manager: str, tool_call_id: str, self_: str = "x") -> str:
        """Join the arguments."""
        return f"{config} {run_manager} {tool_call_id} {self_}"

    view = registry.view(Personality("worker"))
    args = {"config": "a", "run_manager": "b", "tool_call_id": "c"}
    [message] = await run(to_langchain(view), (Call("unusual", args),))
    assert message.content == "a b c x"

    @registry.tool
    async def bad(runtime: str) -> str:
        """Take what LangGraph replaces."""
        return runtime

    with pytest.raises(ConfigError, match="tool `bad`: LangGraph replaces an argument `runtime`"):
        to_langchain(registry.view(Personality("worker")))


async def test_outside_a_graph_a_tool_takes_a_call_or_arguments() -> None:
    [tool, *_] = tools_of(Desk())
    message = await tool.ainvoke(
        {"type": "tool_call", "name": "add", "args": {"a": 1, "b": 1}, "id": "9"}
    )
    assert (message.content, message.tool_call_id) == ("2", "9")
    assert await tool.ainvoke({"a": 1, "b": 2}) == "3"
    assert tool.invoke({"a": 2, "b": 2}) == "4"  # blocks this loop, as LangChain's own tools do


async def test_audio_becomes_a_line_of_text() -> None:
    registry = ToolRegistry()

    @registry.tool
    async def speak() -> Any:
        """Speak."""
        return ok("hello", content=[Audio(b"RIFF....WAVE")])

    [message] = await run(to_langchain(registry.view(Personality("worker"))), (Call("speak"),))
    assert message.content == "hello\n[not shown: audio (audio/wav, 12 bytes)]"


# Theirs in a registry


def native(desk: Desk) -> list[Any]:
    tools = [
        StructuredTool.from_function(coroutine=function, name=name)
        for name, function in desk.functions.items()
    ]

    async def chart() -> Any:
        """Draw a chart."""
        image = {
            "type": "image",
            "base64": base64.b64encode(PNG).decode(),
            "mime_type": "image/png",
        }
        return [{"type": "text", "text": "the chart"}, image], {"kind": "chart"}

    tools.append(
        StructuredTool.from_function(coroutine=chart, response_format="content_and_artifact")
    )
    return tools


def wrapped(tools: list[Any]) -> list[Any]:
    """The page is untrusted, as in the table."""
    return [tool for each in tools for tool in from_langchain([each], trusted=each.name != "page")]


@pytest.mark.parametrize("case", TABLE)
async def test_the_registry_answers_for_their_tools_as_for_its_own(case: str) -> None:
    desk = Desk()
    view = table.view_of(wrapped(native(desk)))
    await table.assert_registry_answers(view, desk, case)


async def test_their_slow_tool_is_cancelled_with_its_call() -> None:
    desk = Desk()
    view = table.view_of(wrapped(native(desk)))
    await table.assert_cancelled(desk, view.execute([{"id": "1", "name": "hold", "args": {}}]))


async def test_what_their_tools_raise_and_return_becomes_a_result() -> None:
    def failed() -> str:
        """Fail."""
        raise ToolException("out of paper")

    def handled() -> str:
        """Fail, with a message for the model."""
        raise ToolException("out of ink")

    def asks() -> str:
        """Ask a person."""
        return str(interrupt("sure?"))

    def commands() -> Any:
        """Move the graph."""
        return Command(goto="elsewhere")

    def stateful(state: Annotated[dict[str, Any], InjectedState]) -> str:
        """Need the state of a graph."""
        return str(state)

    def data() -> Any:
        """Return data."""
        return "text", {"rows": 2}

    made = StructuredTool.from_function
    tools = [
        made(failed),
        made(handled, handle_tool_error=True),
        made(commands),
        made(stateful),
        made(data, response_format="content_and_artifact"),
        made(asks),
    ]
    names = [tool.name for tool in tools]
    view = table.view_of(from_langchain(tools), names)
    results = await view.execute([{"id": name, "name": name, "args": {}} for name in names])
    found = dict(zip(names, results, strict=True))
    assert (found["failed"].text, found["failed"].ok) == ("out of paper", False)
    assert (found["handled"].text, found["handled"].ok) == ("out of ink", False)
    assert "returns a Command" in found["commands"].text
    assert not found["stateful"].ok
    assert not found["asks"].ok
    assert found["data"].result.structured == {"rows": 2}
    assert all(result.untrusted for result in results)
