"""Public calls as a type checker sees them without any SDK; a line that ends in `# refused` has an
error, and no other line has one."""

from typing import assert_type

from ethos_registry import (
    FrozenToolRegistry,
    Personality,
    ToolRegistry,
    View,
    create_tool_registry,
    provider,
    tool,
)
from ethos_registry.execution import CallResults
from ethos_registry.providers import Prefix, prefix_diff
from ethos_registry.providers._wire_types import AnthropicMessage, OpenAIChatTool, PlainDefinition
from ethos_registry.registry import PrefixSession

registry = ToolRegistry()
view = registry.view(Personality("p"))


@tool(toolset="numbers")
def add(first: int, second: int) -> int:
    """Add two numbers."""
    return first + second


async def calls(view: View, results: CallResults) -> None:
    await view.execute([], deadline_seconds=1.0)
    await view.execute([], deadline=1.0)  # refused
    async for result in view.stream([], max_concurrency=2):
        print(result.text)
    view.stream([], on_result=print)  # refused
    view.stream([], budget="even")  # refused
    await registry.execute_parallel([], context=None, deadline=1)  # refused
    registry.execute_parallel_sync([], polcy="fill")  # refused
    registry.to_definitions(allowed=["a"])  # refused
    view.definitions("anthropic", markers=2)  # refused
    view.definitions("anthropic", order="alphabet")  # refused
    results.to_messages("anthropic", "openai")  # refused
    create_tool_registry([], validate_argument=True)  # refused
    FrozenToolRegistry([], validate=True)  # refused
    PrefixSession(view, "anthropic", tool_change=True)  # refused
    registry.register(add, override=True)  # refused
    registry.tool(add.function, toolsets="numbers")  # refused
    tool(add.function, toolsets="numbers")  # refused


def types(view: View, results: CallResults) -> None:
    assert_type(view.definitions(), list[PlainDefinition])
    assert_type(view.definitions("openrouter"), list[OpenAIChatTool])
    assert_type(results.to_messages("anthropic"), list[AnthropicMessage])
    assert_type(view.definitions_bytes("gemini"), bytes)
    assert_type(view.prefix("gemini"), Prefix)
    assert_type(prefix_diff(view.prefix("gemini"), view.prefix("gemini")).same, bool)
    assert_type(provider("anthropic").messages(results), list[AnthropicMessage])
    add(1, 2)
    add("1", second=2)  # refused
