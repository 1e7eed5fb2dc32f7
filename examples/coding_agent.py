"""A coding agent: files of one folder, commands in a sandbox, approvals, and a budget.

    pip install '.[anthropic]' && export ANTHROPIC_API_KEY=...
    python examples/coding_agent.py "Make the failing test pass" --folder my-project

Commands run confined: they read the system and write below the folder, without a network. Each one
is asked for first, except tests. The session ends when it has used --budget tokens.
"""

import argparse
import asyncio
import os
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import anthropic

from ethos_registry import (
    Invocation,
    InvocationFilter,
    Personality,
    ToolContext,
    ToolRegistry,
    ToolResult,
    default_reducers,
    err,
)
from ethos_registry.capabilities import FsReach, NetworkPolicy, standard_backends
from ethos_registry.tools import (
    list_files_tool,
    patch_file_tool,
    read_file_tool,
    search_files_tool,
    terminal_tool,
    write_file_tool,
)

SYSTEM = (
    "You are a coding agent in one folder. Read before you write, change as little as you can, and "
    "run the tests before you say that you are done. Commands may be declined: ask then."
)
WITHOUT_QUESTION = ("pytest", "python -m pytest", "git diff", "git status", "ls", "cat ")
Ask = Callable[[str], Awaitable[str]]


def tools_of(folder: Path) -> tuple[ToolRegistry, Personality]:
    """The tools, and the policy: the files below `folder`, and commands confined to it."""
    registry = ToolRegistry(
        [
            list_files_tool(),
            search_files_tool(),
            read_file_tool(),
            write_file_tool(),
            patch_file_tool(),
            terminal_tool(sandbox="required", default_timeout_seconds=300),
        ],
        capability_backends=standard_backends(),
        reducer_registry=default_reducers(),
    )
    policy = Personality(
        "coder",
        fs_reach=FsReach(read=[str(folder)], write=[str(folder)]),
        network=NetworkPolicy(allow=[]),
    )
    return registry, policy


def approval(ask: Ask) -> InvocationFilter:
    """Ask before a command runs; the clock of its timeout is paused meanwhile."""
    one_question = asyncio.Lock()

    async def before(invocation: Invocation) -> ToolResult | None:
        command = str(invocation.args.get("command", ""))
        if command.startswith(WITHOUT_QUESTION) and not set(command) & set(";|&<>`$\n"):
            return None
        with invocation.clock_paused():
            async with one_question:
                answer = await ask(f"Run `{command}`?")
        if answer.strip().lower() in ("y", "yes"):
            return None
        return err("The user declined this command. Ask what to do instead.", "not_available")

    return InvocationFilter(before, tool_names=["terminal"])


async def work(task: str, folder: Path, ask: Ask, model: str, budget_tokens: int) -> str:
    """Let the model work on the task until it is done or the budget is used."""
    client = anthropic.AsyncAnthropic()
    registry, policy = tools_of(folder)
    view = registry.view(policy)
    messages: list[Any] = [{"role": "user", "content": task}]
    used = 0
    while used < budget_tokens:
        reply = await client.messages.create(
            model=model,
            max_tokens=4096,
            system=SYSTEM,
            messages=messages,
            tools=view.definitions("anthropic"),
        )
        usage = reply.usage
        used += usage.input_tokens + usage.output_tokens
        used += (usage.cache_creation_input_tokens or 0) + (usage.cache_read_input_tokens or 0)
        messages.append({"role": "assistant", "content": reply.content})
        # The results of one reply share 40,000 characters; long outputs are reduced to fit.
        context = ToolContext(
            session_id="coding", working_dir=str(folder), result_budget_chars=40_000
        )
        results = await view.execute(reply, context, filters=[approval(ask)])
        if not results:
            return "".join(block.text for block in reply.content if block.type == "text")
        for result in results:
            first = result.text.partition("\n")[0][:100]
            print(f"{result.name}: {'ok' if result.ok else 'error'}: {first}", flush=True)
        messages.extend(results.to_messages("anthropic"))
    return f"Stopped: {used:,} tokens are used, the budget is {budget_tokens:,}."


async def at_the_keyboard(question: str) -> str:
    """Call `input` in a thread, so that the event loop is not blocked."""
    return await asyncio.to_thread(input, f"{question} [y/N] ")


async def agreed(question: str) -> str:
    """Answer each question with yes."""
    return "yes"


def main() -> int:
    """Read the arguments, and print the model's last message."""
    parser = argparse.ArgumentParser(description="Work on a task in one folder.")
    parser.add_argument("task")
    parser.add_argument("--folder", type=Path, default=Path.cwd())
    parser.add_argument("--model", default="claude-opus-4-8")
    parser.add_argument("--budget", type=int, default=500_000, help="tokens (default 500000)")
    parser.add_argument("--yes", action="store_true", help="run commands without questions")
    chosen = parser.parse_args()
    if "ANTHROPIC_API_KEY" not in os.environ:
        print("set ANTHROPIC_API_KEY to a key of the Anthropic API", file=sys.stderr)
        return 2
    ask = agreed if chosen.yes else at_the_keyboard
    folder = chosen.folder.resolve()
    print(asyncio.run(work(chosen.task, folder, ask, chosen.model, chosen.budget)))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
