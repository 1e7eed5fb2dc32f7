"""Ask a person for approval before a tool runs, with a filter.

    pip install .
    python examples/approval.py

The answers are scripted; `--ask` asks you on the terminal. While a person decides, the tool's
timeout is paused and the other calls of the batch continue.
"""

import asyncio
import sys
from collections.abc import Awaitable, Callable
from dataclasses import replace

from ethos_registry import Invocation, InvocationFilter, ToolOk, ToolRegistry, ToolResult, err

Ask = Callable[[str], Awaitable[str]]
registry = ToolRegistry()


@registry.tool(timeout_seconds=0.5)
def delete_folder(path: str) -> str:
    """Delete a folder with its content."""
    return f"{path} was deleted (simulated)"


@registry.tool
def list_folder(path: str) -> list[str]:
    """List the files in a folder."""
    return [f"{path}/notes.txt"]


def approval(ask: Ask) -> InvocationFilter:
    """Return a filter that runs the call only if the person agrees."""
    one_question_at_a_time = asyncio.Lock()

    async def before(invocation: Invocation) -> ToolResult | None:
        with invocation.clock_paused():
            async with one_question_at_a_time:
                answer = await ask(f"{invocation.tool_name} {invocation.args}?")
        if answer.strip().lower() in ("y", "yes"):
            return None
        return err("The user declined. Do not try again; ask what to do instead.", "not_available")

    def after(invocation: Invocation, result: ToolResult) -> ToolResult | None:
        if not isinstance(result, ToolOk):
            return None
        return replace(result, value=f"{result.value} [approved]")

    return InvocationFilter(before, after, tool_names=["delete_folder"])


async def scripted(question: str) -> str:
    """Answer after more time than the tool's timeout."""
    await asyncio.sleep(0.8)
    return "no" if "photos" in question else "yes"


async def at_the_keyboard(question: str) -> str:
    """Call `input` in a thread, so that the event loop is not blocked."""
    return await asyncio.to_thread(input, f"{question} [y/N] ")


async def main(ask: Ask) -> None:
    """Run three calls at once; two of them need approval."""
    calls = [
        {"id": "1", "name": "delete_folder", "args": {"path": "build"}},
        {"id": "2", "name": "delete_folder", "args": {"path": "photos"}},
        {"id": "3", "name": "list_folder", "args": {"path": "photos"}},
    ]
    for result in await registry.execute_parallel(calls, filters=[approval(ask)]):
        print(f"{result.name}: {'ok' if result.ok else 'error'}: {result.text}")


if __name__ == "__main__":
    asyncio.run(main(at_the_keyboard if "--ask" in sys.argv else scripted))
