"""The same function as the framework's own tool and as a tool of a view, called in the framework.

Needs the extra `frameworks`; each framework is skipped where it is not installed. One round runs
turns of 1, 8 or 64 calls in the loop of the framework, with a model that answers at once. `listing`
asks for 1,000 unchanged tools, as the framework does at each step.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from beside import beside
from ethos_registry import Personality, ToolRegistry, View

ROUNDS = 7
TURNS = 50
"""Turns in one round, so that a round takes milliseconds."""

COUNTS = pytest.mark.parametrize("count", [1, 8, 64], ids="{} calls".format)


async def add(first: int, second: int) -> str:
    """Add two numbers."""
    return str(first + second)


def view_of(tools: int = 1) -> View:
    registry = ToolRegistry()
    registry.tool(add)
    for number in range(tools - 1):
        registry.tool(name=f"add_{number}")(add)
    return registry.view(Personality("bench"))


def compare(
    benchmark: Any,
    framework: str,
    count: int,
    ours: Callable[[], Coroutine[Any, Any, object]],
    theirs: Callable[[], Coroutine[Any, Any, object]],
) -> None:
    """Time turns of both on one event loop."""
    turns = max(TURNS // count, 5)
    runner = asyncio.Runner()

    async def repeat(turn: Callable[[], Coroutine[Any, Any, object]]) -> None:
        for _ in range(turns):
            await turn()

    with runner:
        assert runner.run(ours()) == runner.run(theirs())
        beside(
            benchmark,
            lambda: lambda: runner.run(repeat(ours)),
            {"native tool": lambda: lambda: runner.run(repeat(theirs))},
            group=f"{framework}, a turn",
            rounds=ROUNDS,
            per_round=turns * count,
        )


@COUNTS
def test_pydantic_ai(benchmark: Any, count: int) -> None:
    pytest.importorskip("pydantic_ai")
    from pydantic_ai import Agent, FunctionToolset
    from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
    from pydantic_ai.models.function import FunctionModel

    from ethos_registry.bridges.pydantic_ai import to_pydantic_ai

    native: FunctionToolset[Any] = FunctionToolset([add])
    parts = [
        ToolCallPart("add", {"first": number, "second": 1}, tool_call_id=str(number))
        for number in range(count)
    ]

    def reply(messages: list[Any], info: Any) -> ModelResponse:
        return ModelResponse(parts=list(parts) if len(messages) == 1 else [TextPart("done")])

    def turn(toolset: Any) -> Callable[[], Coroutine[Any, Any, object]]:
        agent = Agent(FunctionModel(reply), toolsets=[toolset])

        async def run() -> object:
            result = await agent.run("go")
            return [part.content for part in result.all_messages()[2].parts]

        return run

    compare(benchmark, "pydantic-ai", count, turn(to_pydantic_ai(view_of())), turn(native))


@COUNTS
def test_langchain(benchmark: Any, count: int) -> None:
    pytest.importorskip("langgraph")
    from langchain_core.messages import AIMessage
    from langchain_core.tools import StructuredTool
    from langgraph.graph import START, MessagesState, StateGraph
    from langgraph.prebuilt import ToolNode

    from ethos_registry.bridges.langchain import to_langchain

    calls = [
        {"name": "add", "args": {"first": number, "second": 1}, "id": str(number)}
        for number in range(count)
    ]

    def turn(tools: list[Any]) -> Callable[[], Coroutine[Any, Any, object]]:
        graph = StateGraph(MessagesState)
        graph.add_node("tools", ToolNode(tools))
        graph.add_edge(START, "tools")
        app = graph.compile()

        async def run() -> object:
            state = await app.ainvoke({"messages": [AIMessage("", tool_calls=calls)]})
            return [message.content for message in state["messages"][1:]]

        return run

    native = [StructuredTool.from_function(coroutine=add)]
    compare(benchmark, "LangGraph", count, turn(to_langchain(view_of())), turn(native))


@COUNTS
def test_openai_agents(benchmark: Any, count: int) -> None:
    pytest.importorskip("agents")
    from agents import Agent, Model, ModelResponse, RunConfig, Runner, Usage, function_tool
    from openai.types.responses import (
        ResponseFunctionToolCall,
        ResponseOutputMessage,
        ResponseOutputText,
    )

    from ethos_registry.bridges.openai_agents import to_openai_agents

    calls = [
        ResponseFunctionToolCall(
            type="function_call",
            name="add",
            arguments=json.dumps({"first": number, "second": 1}),
            call_id=str(number),
        )
        for number in range(count)
    ]
    text = ResponseOutputText(type="output_text", text="done", annotations=[])
    done = ResponseOutputMessage(
        id="m", type="message", role="assistant", status="completed", content=[text]
    )

    class OneTurn(Model):
        async def get_response(self, *others: Any, **options: Any) -> Any:
            items = options["input"]
            is_first = isinstance(items, str) or len(items) == 1
            output: list[Any] = list(calls) if is_first else [done]
            return ModelResponse(output=output, usage=Usage(), response_id=None)

        def stream_response(self, *others: Any, **options: Any) -> Any:
            raise NotImplementedError

    def turn(tools: list[Any]) -> Callable[[], Coroutine[Any, Any, object]]:
        agent = Agent(name="bench", model=OneTurn(), tools=tools)
        config = RunConfig(tracing_disabled=True)

        async def run() -> object:
            result = await Runner.run(agent, "go", run_config=config)
            return [item.output for item in result.new_items if hasattr(item, "output")]

        return run

    native = [function_tool(add)]
    compare(benchmark, "OpenAI Agents", count, turn(to_openai_agents(view_of())), turn(native))


@COUNTS
def test_fastmcp(benchmark: Any, count: int) -> None:
    pytest.importorskip("fastmcp")
    from fastmcp import Client, FastMCP

    from ethos_registry.bridges.fastmcp import to_fastmcp

    def turn(server: Any) -> Callable[[], Coroutine[Any, Any, object]]:
        async def run() -> object:
            async with Client(server) as client:
                calls = [
                    client.call_tool("add", {"first": number, "second": 1})
                    for number in range(count)
                ]
                return [result.content[0].text for result in await asyncio.gather(*calls)]

        return run

    ours: Any = FastMCP("ours")
    for tool in to_fastmcp(view_of()):
        ours.add_tool(tool)
    native: Any = FastMCP("theirs")
    native.tool(add)
    compare(benchmark, "FastMCP", count, turn(ours), turn(native))


def test_listing_of_pydantic_ai(benchmark: Any) -> None:
    pytest.importorskip("pydantic_ai")
    from pydantic_ai import FunctionToolset, RunContext, Tool
    from pydantic_ai.models.test import TestModel
    from pydantic_ai.usage import RunUsage

    from ethos_registry.bridges.pydantic_ai import to_pydantic_ai

    view = view_of(1_000)
    native: FunctionToolset[Any] = FunctionToolset(
        [Tool(add, name=shown["name"]) for shown in view.definitions()]
    )
    ours = to_pydantic_ai(view)
    ctx = RunContext(deps=None, model=TestModel(), usage=RunUsage())
    runner = asyncio.Runner()

    def listing(toolset: Any) -> Callable[[], Callable[[], object]]:
        assert len(runner.run(toolset.get_tools(ctx))) == 1_000
        return lambda: lambda: runner.run(toolset.get_tools(ctx))

    with runner:
        beside(
            benchmark,
            listing(ours),
            {"native toolset": listing(native)},
            group="pydantic-ai, listing",
            rounds=ROUNDS,
            unit="list",
        )


def test_listing_of_fastmcp(benchmark: Any) -> None:
    pytest.importorskip("fastmcp")
    from fastmcp import FastMCP

    from ethos_registry.bridges.fastmcp import to_fastmcp

    view = view_of(1_000)
    ours: Any = FastMCP("ours")
    native: Any = FastMCP("theirs")
    for tool in to_fastmcp(view):
        ours.add_tool(tool)
        native.tool(add, name=tool.name)
    runner = asyncio.Runner()

    def listing(server: Any) -> Callable[[], Callable[[], object]]:
        assert len(runner.run(server.list_tools())) == 1_000
        return lambda: lambda: runner.run(server.list_tools())

    with runner:
        beside(
            benchmark,
            listing(ours),
            {"native tools": listing(native)},
            group="FastMCP, listing",
            rounds=ROUNDS,
            unit="list",
        )
