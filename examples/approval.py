"""A person approves what cannot be undone: a filter asks before the tool runs.

Answers are scripted here; `--ask` asks you. While a person thinks, the clock of the tool stands
still, and the other calls of the batch run on.
"""

import asyncio
import sys
from collections.abc import Awaitable, Callable
from dataclasses import replace

from ethos_registry import Invocation, InvocationFilter, ToolRegistry, ToolResult, err

Ask = Callable[[str], Awaitable[str]]
registry = ToolRegistry()


@registry.tool(timeout_seconds=0.5)
def delete_folder(path: str) -> str:
    """Delete a folder and all that is in it."""
    return f"{path} is deleted (not really: this is an example)"


@registry.tool
def list_folder(path: str) -> list[str]:
    """The names in a folder."""
    return [f"{path}/notes.txt"]


def approval(ask: Ask) -> InvocationFilter:
    """A filter that lets a call go on only when the person says yes."""
    one_question_at_a_time = asyncio.Lock()

    async def before(invocation: Invocation) -> ToolResult | None:
        with invocation.clock_paused():
            async with one_question_at_a_time:
                answer = await ask(f"{invocation.tool_name} {invocation.args}?")
        if answer.strip().lower() in ("y", "yes"):
            return None
        return err("The user said no. Do not try again; ask what to do instead.", "not_available")

    def after(invocation: Invocation, result: ToolResult) -> ToolResult | None:
        return replace(result, value=f"{result.value} [approved]") if result.ok else None

    return InvocationFilter(before, after, tool_names=["delete_folder"])


async def scripted(question: str) -> str:
    """A person who thinks longer than the tool's clock allows."""
    await asyncio.sleep(0.8)
    return "no" if "photos" in question else "yes"


async def at_the_keyboard(question: str) -> str:
    """`input` in a thread, so that the event loop goes on."""
    return await asyncio.to_thread(input, f"{question} [y/N] ")


async def main(ask: Ask) -> None:
    """Three calls at once; two of them need a person."""
    calls = [
        {"id": "1", "name": "delete_folder", "args": {"path": "build"}},
        {"id": "2", "name": "delete_folder", "args": {"path": "photos"}},
        {"id": "3", "name": "list_folder", "args": {"path": "photos"}},
    ]
    for result in await registry.execute_parallel(calls, filters=[approval(ask)]):
        print(f"{result.name}: {'ok' if result.ok else 'error'}: {result.text}")


if __name__ == "__main__":
    asyncio.run(main(at_the_keyboard if "--ask" in sys.argv else scripted))
