"""Conversations with our calls are saved as JSON, loaded and continued, in every framework."""

from __future__ import annotations

import importlib
import json
from typing import Any

from adapters.table import PNG, Call
from ethos_registry import CallResult, Personality, ToolOk, ToolRegistry, View, err, ok
from ethos_registry.types import Image

FIRST = (Call("report", {}, "c1"), Call("fail", {}, "c2"))
SECOND = (Call("report", {}, "c3"),)


def view() -> View:
    registry = ToolRegistry()

    @registry.tool
    async def report() -> ToolOk:
        """Write a report."""
        rows = [{"name": "tea", "tags": ("green", "loose")}]
        return ok("the report", structured={"rows": rows}, cost_usd=0.25, content=[Image(PNG)])

    @registry.tool
    async def fail() -> Any:
        """Fail."""
        return err("out of paper", structured={"sheets": 0})

    return registry.view(Personality("worker"))


def module(name: str) -> Any:
    """The test module of an adapter, which skips where its framework is not installed."""
    return importlib.import_module(f"adapters.test_{name}")


def saved(value: Any) -> Any:
    """What is left of a value that was saved as JSON."""
    return json.loads(json.dumps(value))


async def test_pydantic_ai() -> None:
    adapter = module("pydantic_ai")
    from pydantic_ai import Agent
    from pydantic_ai.messages import ModelMessagesTypeAdapter

    read: list[Any] = []
    toolset = adapter.to_pydantic_ai(view())
    first = await Agent(adapter.model_of([FIRST], read), toolsets=[toolset]).run("go")
    history = ModelMessagesTypeAdapter.validate_json(first.all_messages_json())
    for loaded, remaining in zip(history[2].parts, first.all_messages()[2].parts, strict=True):
        assert (loaded.metadata, loaded.outcome) == (remaining.metadata, remaining.outcome)
    agent = Agent(adapter.model_of([SECOND], read), toolsets=[toolset])
    second = await agent.run("again", message_history=history)
    assert [part.tool_call_id for turn in read for part in turn] == ["c1", "c2", "c3"]
    assert ModelMessagesTypeAdapter.validate_json(second.all_messages_json())
    report = CallResult.from_wire(read[0][0].metadata).result
    assert report.structured == {"rows": [{"name": "tea", "tags": ["green", "loose"]}]}


async def test_langchain() -> None:
    adapter = module("langchain")
    from langchain_core.messages import messages_from_dict, messages_to_dict
    from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

    tools = adapter.to_langchain(view())
    state = await adapter.graph_of(tools, FIRST).ainvoke({"messages": [("user", "go")]})
    history = messages_from_dict(saved(messages_to_dict(state["messages"])))
    assert history == state["messages"]
    serializer = JsonPlusSerializer(allowed_msgpack_modules=[])  # nothing but plain values
    assert (
        serializer.loads_typed(serializer.dumps_typed(history[2].artifact)) == history[2].artifact
    )
    state = await adapter.graph_of(tools, SECOND).ainvoke(
        {"messages": [*history, ("user", "more")]}
    )
    found = [message.tool_call_id for message in adapter.read(state)]
    assert found == ["c1", "c2", "c3"]


async def test_openai_agents() -> None:
    adapter = module("openai_agents")
    from agents import Agent, Runner

    tools = adapter.to_openai_agents(view())
    model = adapter.TurnModel(FIRST)
    agent = Agent(name="worker", model=model, tools=tools)
    first = await Runner.run(agent, "go", run_config=adapter.QUIET)
    state = saved(first.to_state().to_json())
    assert state["$schemaVersion"]
    history = saved(first.to_input_list())
    assert history == first.to_input_list()
    model.turns = [SECOND]
    await Runner.run(
        agent, [*history, {"role": "user", "content": "more"}], run_config=adapter.QUIET
    )
    assert [item["call_id"] for item in model.read] == ["c1", "c2", "c3"]


async def test_agent_framework() -> None:
    adapter = module("agent_framework")
    from agent_framework import Agent, AgentSession, Message

    client = adapter.TurnClient(FIRST)
    agent = Agent(client, tools=adapter.to_agent_framework(view()))
    session = agent.create_session()
    first = await agent.run("go", session=session)
    restored = AgentSession.from_dict(saved(session.to_dict()))
    assert restored.to_dict() == session.to_dict()
    history = [Message.from_dict(saved(message.to_dict())) for message in first.messages]
    assert [each.to_dict() for each in history] == [each.to_dict() for each in first.messages]
    client.turns = [SECOND]
    await agent.run("more", session=restored)
    assert [part.call_id for part in client.read] == ["c3"]


async def test_google_adk() -> None:
    adapter = module("google_adk")
    from google.adk.agents import LlmAgent
    from google.adk.runners import InMemoryRunner
    from google.adk.sessions import Session
    from google.genai import types

    toolset = adapter.to_google_adk(view())
    model = adapter.TurnModel(model="turns", turns=[FIRST])

    async def turn(runner: Any, session: Any, text: str) -> None:
        message = types.Content(role="user", parts=[types.Part(text=text)])
        async for _ in runner.run_async(user_id="ada", session_id=session.id, new_message=message):
            pass

    async def fresh() -> tuple[Any, Any]:
        runner = InMemoryRunner(agent=LlmAgent(name="worker", model=model, tools=[toolset]))
        service = runner.session_service
        return runner, await service.create_session(app_name=runner.app_name, user_id="ada")

    runner, session = await fresh()
    await turn(runner, session, "go")
    ended = await runner.session_service.get_session(
        app_name=runner.app_name, user_id="ada", session_id=session.id
    )
    restored = Session.model_validate_json(ended.model_dump_json())
    assert restored == ended
    runner, session = await fresh()
    for event in restored.events:
        await runner.session_service.append_event(session, event)
    model.turns = [SECOND]
    await turn(runner, session, "more")
    assert [part.id for part in model.read] == ["c3"]


async def test_anthropic() -> None:
    adapter = module("anthropic")
    import httpx2
    from anthropic import AsyncAnthropic

    tools = adapter.to_anthropic(view())
    api = adapter.Api(FIRST)
    transport = httpx2.MockTransport(api)
    async with (
        httpx2.AsyncClient(transport=transport) as http,
        AsyncAnthropic(api_key="none", http_client=http) as client,
    ):
        runner = client.beta.messages.tool_runner(tools=tools, **adapter.ASK)
        history = [*adapter.ASK["messages"]]
        async for message in runner:
            history.append({"role": "assistant", "content": message.to_dict()["content"]})
            answer = await runner.generate_tool_call_response()
            if answer is not None:
                history.append(answer)
        loaded = saved(history)
        assert loaded == history
        api.turns = [SECOND]
        options = {**adapter.ASK, "messages": [*loaded, {"role": "user", "content": "more"}]}
        await client.beta.messages.tool_runner(tools=tools, **options).until_done()
    assert api.requests[-2]["messages"][:-1] == loaded
    assert [block["tool_use_id"] for block in api.read] == ["c3"]


async def test_claude_agent_sdk() -> None:
    adapter = module("claude_agent_sdk")
    import dataclasses

    from claude_agent_sdk import UserMessage
    from offline_claude import OfflineClaude

    tools = adapter.to_claude_agent_sdk(view())
    claude = OfflineClaude(adapter.on_the_wire(FIRST), adapter.on_the_wire(SECOND))
    messages = await adapter.messages_of(tools, claude)
    history = [dataclasses.asdict(message) for message in messages]
    assert saved(history) == history
    read = [message for message in messages if isinstance(message, UserMessage)]
    assert [block.is_error for message in read for block in message.content] == [False, True, False]


async def test_fastmcp() -> None:
    adapter = module("fastmcp")
    import mcp_types
    from fastmcp import Client

    server = adapter.server_of(adapter.to_fastmcp(view()))
    async with Client(server) as client:
        results = [await client.call_tool_mcp(call.name, {}) for call in (*FIRST, *SECOND)]
    for result in results:
        loaded = mcp_types.CallToolResult.model_validate_json(result.model_dump_json(by_alias=True))
        assert loaded == result
    direct = await server.call_tool("report", {})
    assert saved(direct.structured_content) == results[0].structured_content
