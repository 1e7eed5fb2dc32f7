"""A complete turn with a scripted model: send the tools, run the calls, send the results back.

    pip install .
    python examples/scripted_turn.py

Replace `scripted_model` with a call to your provider's SDK.
"""

import asyncio
from typing import Any

from ethos_registry import Personality, ToolContext, ToolRegistry, provider

registry = ToolRegistry()


@registry.tool(toolset="notes")
def search_notes(query: str) -> list[str]:
    """Find notes that contain a phrase."""
    notes = ["buy milk", "call Ada about the demo", "demo on Friday"]
    return [note for note in notes if query in note]


@registry.tool(toolset="notes")
async def today() -> str:
    """Get the day of the week."""
    return "Thursday"


def scripted_model(tools: list[Any], messages: list[Any]) -> dict[str, Any]:
    """Request two calls at once, then answer from their results."""
    if len(messages) == 1:
        return {
            "role": "assistant",
            "stop_reason": "tool_use",
            "content": [
                {"type": "tool_use", "id": "a", "name": "search_notes", "input": {"query": "demo"}},
                {"type": "tool_use", "id": "b", "name": "today", "input": {}},
            ],
        }
    contents = [block["content"] for block in messages[-1]["content"]]
    return {
        "role": "assistant",
        "stop_reason": "end_turn",
        "content": f"It is {contents[1]}: {contents[0]}",
    }


async def turn(question: str) -> str:
    """Run one turn: call the model until it requests no more tools."""
    view = registry.view(Personality("assistant", toolset=["toolset:notes"]))
    anthropic = provider("anthropic")
    messages: list[Any] = [{"role": "user", "content": question}]
    while True:
        reply = scripted_model(view.definitions("anthropic"), messages)
        messages.append({"role": "assistant", "content": reply["content"]})
        if reply["stop_reason"] != "tool_use":
            return str(reply["content"])
        results = await view.execute(anthropic.calls(reply), ToolContext(session_id="example"))
        messages.extend(results.to_messages("anthropic"))


if __name__ == "__main__":
    print(asyncio.run(turn("What is planned for the demo?")))
