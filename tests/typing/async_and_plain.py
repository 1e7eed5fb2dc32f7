"""Async and plain tools in one batch, with a context, a deadline and an abort signal."""

import asyncio

from ethos_registry import Personality, ToolContext, ToolRegistry, default_reducers
from ethos_registry.types import AbortController, ToolProgressEvent

registry = ToolRegistry(reducer_registry=default_reducers(), default_timeout_seconds=10)


@registry.tool(toolset="work", timeout_seconds=2)
async def download(url: str, context: ToolContext) -> str:
    """Download a page."""
    context.report(f"downloading {url}", percent=10)
    await asyncio.sleep(0)
    return f"content of {url}"


@registry.tool(toolset="work")
def parse(text: str) -> dict[str, int]:
    """Count words."""
    return {"words": len(text.split())}


async def main() -> None:
    """Run both, and show progress."""
    messages: list[str] = []

    def emit(event: ToolProgressEvent) -> None:
        messages.append(event.message)

    controller = AbortController()
    context = ToolContext(
        session_id="s1", result_budget_chars=10_000, abort_signal=controller.signal, emit=emit
    )
    view = registry.view(Personality("worker", toolset=["toolset:work"]))
    results = await view.execute(
        [
            {"id": "1", "name": "download", "args": {"url": "https://example.org"}},
            {"id": "2", "name": "parse", "args": {"text": "one two"}},
        ],
        context,
        deadline_seconds=5,
        max_concurrency=4,
        budget_policy="fill",
    )
    print([result.text for result in results], messages)
    content: str = await download("https://example.org", context)
    print(content)


if __name__ == "__main__":
    asyncio.run(main())
