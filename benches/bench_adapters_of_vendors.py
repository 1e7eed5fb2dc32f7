"""`bench_adapters.py` for the agent SDKs of model vendors.

Needs the extra `frameworks`, and for Google ADK an environment of its own; each framework is
skipped where it is not installed.
"""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from framework_turns import COUNTS, Turn, add, compare, view_of

sys.path.append(str(Path(__file__).parent.parent / "docs" / "frameworks"))


@COUNTS
def test_anthropic(benchmark: Any, count: int) -> None:
    pytest.importorskip("anthropic")
    import httpx2
    from anthropic import AsyncAnthropic, beta_async_tool

    from ethos_registry.adapters.anthropic import to_anthropic

    calls = [
        {"type": "tool_use", "id": str(number), "name": "add", "input": arguments(number)}
        for number in range(count)
    ]
    message = {"id": "m", "type": "message", "role": "assistant", "model": "m", "content": calls}
    message |= {"stop_reason": "tool_use", "usage": {"input_tokens": 1, "output_tokens": 1}}
    response = httpx2.Response(200, json=message).content
    headers = {"content-type": "application/json"}
    transport = httpx2.MockTransport(
        lambda request: httpx2.Response(200, content=response, headers=headers)
    )
    client = AsyncAnthropic(api_key="none", http_client=httpx2.AsyncClient(transport=transport))
    ask: Any = {
        "model": "m",
        "max_tokens": 9,
        "messages": [{"role": "user", "content": "go"}],
        "max_iterations": 1,
    }

    def turn(tools: list[Any]) -> Turn:
        async def run() -> object:
            runner = client.beta.messages.tool_runner(tools=tools, **ask)
            answer: Any = None
            async for _ in runner:  # once; a runner that is left in the middle is not closed
                answer = await runner.generate_tool_call_response()
            return [block["content"] for block in answer["content"]]

        return run

    native = [beta_async_tool(add)]
    compare(benchmark, "Anthropic runner", count, turn(to_anthropic(view_of())), turn(native))


@COUNTS
def test_claude_agent_sdk(benchmark: Any, count: int) -> None:
    pytest.importorskip("claude_agent_sdk")
    from claude_agent_sdk import (
        ClaudeAgentOptions,
        SdkMcpTool,
        UserMessage,
        create_sdk_mcp_server,
        query,
        tool,
    )
    from offline_claude import OfflineClaude

    from ethos_registry.adapters.claude_agent_sdk import to_claude_agent_sdk

    @tool("add", "Add two numbers.", {"first": int, "second": int})
    async def native(args: dict[str, Any]) -> dict[str, Any]:
        return {"content": [{"type": "text", "text": await add(**args)}]}

    calls = [("mcp__desk__add", arguments(number)) for number in range(count)]

    def turn(tools: list[Any]) -> Turn:
        server = create_sdk_mcp_server("desk", tools=tools)
        options = ClaudeAgentOptions(mcp_servers={"desk": server})

        async def run() -> object:
            claude = OfflineClaude(calls, parallel=True)
            read: list[Any] = []
            async for message in query(prompt="go", options=options, transport=claude):
                if isinstance(message, UserMessage):
                    read = [block.content for block in message.content]
            return read

        return run

    ours = to_claude_agent_sdk(view_of())
    # The SDK validates the schema itself at each call, so more keywords take more time.
    same = SdkMcpTool("add", native.description, ours[0].input_schema, native.handler)
    compare(
        benchmark,
        "Claude Agent SDK",
        count,
        turn(ours),
        turn([native]),
        **{"native tool, same schema": turn([same])},
    )


@COUNTS
def test_agent_framework(benchmark: Any, count: int) -> None:
    pytest.importorskip("agent_framework")
    from agent_framework import (
        Agent,
        BaseChatClient,
        ChatResponse,
        Content,
        FunctionInvocationLayer,
        Message,
        tool,
    )

    from ethos_registry.adapters.agent_framework import to_agent_framework

    class OneTurn(FunctionInvocationLayer, BaseChatClient):  # type: ignore[misc]
        async def _inner_get_response(
            self, *, messages: Sequence[Any], options: Mapping[str, Any], **others: Any
        ) -> Any:
            contents: list[Any] = ["done"]
            if messages[-1].role == "user":
                contents = [
                    Content.from_function_call(str(number), "add", arguments=arguments(number))
                    for number in range(count)
                ]
            return ChatResponse(messages=[Message(role="assistant", contents=contents)])

    def turn(tools: list[Any]) -> Turn:
        agent = Agent(OneTurn(), tools=tools)

        async def run() -> object:
            response = await agent.run("go")
            return [part.result for part in response.messages[1].contents]

        return run

    ours = to_agent_framework(view_of())
    compare(benchmark, "Agent Framework", count, turn(ours), turn([tool(add)]))


@COUNTS
def test_google_adk(benchmark: Any, count: int) -> None:
    pytest.importorskip("google.adk")
    from google.adk.agents import LlmAgent
    from google.adk.models import BaseLlm, LlmResponse
    from google.adk.runners import InMemoryRunner
    from google.genai import types

    from ethos_registry.adapters.google_adk import to_google_adk

    class OneTurn(BaseLlm):
        async def generate_content_async(
            self, llm_request: Any, stream: bool = False
        ) -> AsyncIterator[Any]:
            parts = [types.Part(text="done")]
            if llm_request.contents[-1].parts[0].function_response is None:
                calls = [
                    types.FunctionCall(id=str(number), name="add", args=arguments(number))
                    for number in range(count)
                ]
                parts = [types.Part(function_call=call) for call in calls]
            yield LlmResponse(content=types.Content(role="model", parts=parts))

    def turn(tools: list[Any]) -> Turn:
        agent = LlmAgent(name="bench", model=OneTurn(model="one"), tools=tools)
        runner = InMemoryRunner(agent=agent)
        message = types.Content(role="user", parts=[types.Part(text="go")])

        async def run() -> object:
            session = await runner.session_service.create_session(
                app_name=runner.app_name, user_id="ada"
            )
            read: list[Any] = []
            async for event in runner.run_async(
                user_id="ada", session_id=session.id, new_message=message
            ):
                read += [response.response for response in event.get_function_responses()]
            await runner.session_service.delete_session(
                app_name=runner.app_name, user_id="ada", session_id=session.id
            )
            return read

        return run

    ours = [to_google_adk(view_of())]
    compare(benchmark, "Google ADK", count, turn(ours), turn([add]))


def arguments(number: int) -> dict[str, Any]:
    """Those of one call."""
    return {"first": number, "second": 1}
