"""1,000 unchanged tools, of a view and the framework's own, listed as for a request to a model.

Needs the extra `frameworks`, and for Google ADK an environment of its own; each framework is
skipped where it is not installed. Every test asks for what the framework sends, in its words.
"""

from __future__ import annotations

from typing import Any

import pytest

from framework_turns import LISTED, Listing, add, compare_listings, view_of


def names() -> list[str]:
    """Those of the tools."""
    return ["add", *(f"add_{number}" for number in range(LISTED - 1))]


def named(name: str) -> Any:
    """The function with another name, as each tool of an application has its own."""

    async def tool(first: int, second: int) -> str:
        """Add two numbers."""
        return await add(first, second)

    tool.__name__ = tool.__qualname__ = name
    return tool


def test_pydantic_ai(benchmark: Any) -> None:
    pytest.importorskip("pydantic_ai")
    from pydantic_ai import FunctionToolset, RunContext, Tool
    from pydantic_ai.models.test import TestModel
    from pydantic_ai.usage import RunUsage

    from ethos_registry.adapters.pydantic_ai import to_pydantic_ai

    native: FunctionToolset[Any] = FunctionToolset([Tool(add, name=name) for name in names()])
    ctx = RunContext(deps=None, model=TestModel(), usage=RunUsage())

    def listing(toolset: Any) -> Listing:
        async def run() -> list[str]:
            return list(await toolset.get_tools(ctx))

        return run

    ours = to_pydantic_ai(view_of(LISTED))
    compare_listings(benchmark, "pydantic-ai", listing(ours), listing(native))


def test_langchain(benchmark: Any) -> None:
    pytest.importorskip("langchain_core")
    from langchain_core.tools import StructuredTool
    from langchain_core.utils.function_calling import convert_to_openai_tool

    from ethos_registry.adapters.langchain import to_langchain

    def listing(tools: list[Any]) -> Listing:
        async def run() -> list[str]:  # what `bind_tools` of a model does at each step of an agent
            return [convert_to_openai_tool(tool)["function"]["name"] for tool in tools]

        return run

    native = [StructuredTool.from_function(coroutine=add, name=name) for name in names()]
    ours = to_langchain(view_of(LISTED))
    compare_listings(benchmark, "LangChain", listing(ours), listing(native))


def test_openai_agents(benchmark: Any) -> None:
    pytest.importorskip("agents")
    from agents import Agent, RunContextWrapper, function_tool
    from agents.models.openai_responses import Converter

    from ethos_registry.adapters.openai_agents import to_openai_agents

    def listing(tools: list[Any]) -> Listing:
        agent = Agent(name="bench", tools=tools)

        async def run() -> list[str]:
            listed = await agent.get_all_tools(RunContextWrapper(None))
            sent: Any = Converter.convert_tools(listed, []).tools
            return [tool["name"] for tool in sent]

        return run

    native = [function_tool(add, name_override=name) for name in names()]
    ours = to_openai_agents(view_of(LISTED))
    compare_listings(benchmark, "OpenAI Agents", listing(ours), listing(native))


def test_fastmcp(benchmark: Any) -> None:
    pytest.importorskip("fastmcp")
    from fastmcp import FastMCP

    from ethos_registry.adapters.fastmcp import to_fastmcp

    ours: Any = FastMCP("ours")
    native: Any = FastMCP("theirs")
    for tool in to_fastmcp(view_of(LISTED)):
        ours.add_tool(tool)
        native.tool(add, name=tool.name)

    def listing(server: Any) -> Listing:
        async def run() -> list[str]:
            return [tool.name for tool in await server.list_tools()]

        return run

    compare_listings(benchmark, "FastMCP", listing(ours), listing(native))


def test_anthropic(benchmark: Any) -> None:
    pytest.importorskip("anthropic")
    from anthropic import beta_async_tool

    from ethos_registry.adapters.anthropic import to_anthropic

    def listing(tools: list[Any]) -> Listing:
        async def run() -> list[str]:  # what the runner does for a request
            return [tool.to_dict()["name"] for tool in tools]

        return run

    native: list[Any] = [beta_async_tool(add, name=name) for name in names()]
    ours = to_anthropic(view_of(LISTED))
    compare_listings(benchmark, "Anthropic runner", listing(ours), listing(native))


def test_claude_agent_sdk(benchmark: Any) -> None:
    pytest.importorskip("claude_agent_sdk")
    from claude_agent_sdk import create_sdk_mcp_server, tool
    from mcp import Client

    from ethos_registry.adapters.claude_agent_sdk import to_claude_agent_sdk

    def native(name: str) -> Any:
        @tool(name, "Add two numbers.", {"first": int, "second": int})
        async def handler(args: dict[str, Any]) -> dict[str, Any]:
            return {"content": [{"type": "text", "text": await add(**args)}]}

        return handler

    def listing(tools: list[Any]) -> Listing:
        server: Any = create_sdk_mcp_server("desk", tools=tools)

        async def run() -> list[str]:
            async with Client(server["instance"]) as client:
                return [tool.name for tool in (await client.list_tools()).tools]

        return run

    ours = to_claude_agent_sdk(view_of(LISTED))
    natives = [native(name) for name in names()]
    compare_listings(benchmark, "Claude Agent SDK", listing(ours), listing(natives))


def test_agent_framework(benchmark: Any) -> None:
    pytest.importorskip("agent_framework")
    from agent_framework import normalize_tools, tool

    from ethos_registry.adapters.agent_framework import to_agent_framework

    def listing(tools: list[Any]) -> Listing:
        async def run() -> list[str]:
            listed: list[Any] = list(normalize_tools(tools))
            return [each.to_json_schema_spec()["function"]["name"] for each in listed]

        return run

    native = [tool(add, name=name) for name in names()]
    ours = to_agent_framework(view_of(LISTED))
    compare_listings(benchmark, "Agent Framework", listing(ours), listing(native))


def test_google_adk(benchmark: Any) -> None:
    pytest.importorskip("google.adk")
    from google.adk.agents import LlmAgent
    from google.adk.models import LlmRequest

    from ethos_registry.adapters.google_adk import to_google_adk

    def listing(tools: list[Any]) -> Listing:
        agent = LlmAgent(name="bench", model="gemini-2.5-flash", tools=tools)

        async def run() -> list[str]:
            request = LlmRequest()
            request.append_tools(await agent.canonical_tools())
            [listed] = request.config.tools or []
            return [each.name for each in listed.function_declarations]  # type: ignore[union-attr]

        return run

    native = [named(name) for name in names()]
    ours = [to_google_adk(view_of(LISTED))]
    compare_listings(benchmark, "Google ADK", listing(ours), listing(native))
