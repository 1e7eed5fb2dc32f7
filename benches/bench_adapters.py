"""The same function as the framework's own tool and as a tool of a view, called in the framework.

Needs the extra `frameworks`; each framework is skipped where it is not installed. One round runs
turns of 1, 8 or 64 calls in the loop of the framework, with a model that answers at once.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from framework_turns import COUNTS, add, compare, view_of


@COUNTS
def test_pydantic_ai(benchmark: Any, count: int) -> None:
    pytest.importorskip("pydantic_ai")
    from pydantic_ai import Agent, FunctionToolset
    from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
    from pydantic_ai.models.function import FunctionModel

    from ethos_registry.adapters.pydantic_ai import to_pydantic_ai

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

    from ethos_registry.adapters.langchain import to_langchain

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

    from ethos_registry.adapters.openai_agents import to_openai_agents

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

    from ethos_registry.adapters.fastmcp import to_fastmcp

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
