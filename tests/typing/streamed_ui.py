"""Results shown as they arrive, then sent back as one message."""

import asyncio
from collections.abc import AsyncIterator

from ethos_registry import CallResult, Personality, ToolRegistry, View

registry = ToolRegistry()


@registry.tool
async def wait(seconds: float) -> str:
    """Wait for some time."""
    await asyncio.sleep(seconds)
    return f"waited {seconds:g} s"


async def lines(view: View, calls: list[dict[str, object]]) -> AsyncIterator[str]:
    """One line per result, in the order in which they end."""
    async for result in view.stream(calls, max_concurrency=8):
        yield f"{result.tool_call_id}: {'ok' if result.ok else 'error'}"


async def main() -> None:
    """Show a batch in two ways."""
    view = registry.view(Personality("ui", toolset=None))
    calls: list[dict[str, object]] = [
        {"id": "a", "name": "wait", "args": {"seconds": 0.05}},
        {"id": "b", "name": "wait", "args": {"seconds": 0}},
    ]
    print([line async for line in lines(view, calls)])

    finished: list[str] = []

    def on_result(result: CallResult) -> None:
        finished.append(result.tool_call_id)

    results = await view.execute(calls, on_result=on_result)
    print(finished, len(results.to_messages("openai")))


if __name__ == "__main__":
    asyncio.run(main())
