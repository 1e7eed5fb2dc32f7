"""`ethos-registry call`: calls given as JSON, run and answered."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Mapping
from typing import Annotated, Any

import typer

from ethos_registry import Personality, ToolContext, ToolRegistry, provider
from ethos_registry._cli.console import CommandError, fail_if, make_app, write_json
from ethos_registry._cli.options import (
    PersonalityFile,
    PersonalityId,
    ToolReferences,
    WorkingDir,
    complete_provider,
    positive_number,
)
from ethos_registry._cli.sources import (
    check_personality,
    make_registry,
    read_json,
    read_personality,
)
from ethos_registry.execution import CallResults
from ethos_registry.types import DEFAULT_BUDGET_CHARS

app = make_app()


def read_calls(document: Any) -> list[Any]:
    """The calls of a JSON value.

    One call or a list of calls, each plain, Anthropic `tool_use` or OpenAI `tool_calls`; or a whole
    reply of either provider: a message with `content`, a completion with `choices`, an assistant
    message with `tool_calls`, or the content blocks of a message alone.
    """
    if isinstance(document, list):
        return provider("anthropic").calls({"content": document}) if _blocks(document) else document
    if not isinstance(document, Mapping):
        raise CommandError(
            "calls are a JSON object, a list of objects or a whole reply, "
            f"got {type(document).__name__}"
        )
    if "choices" in document or "message" in document:
        return list(provider("openai").calls(document))
    if "tool_calls" in document:
        return list(provider("openai").calls({"role": "assistant", **document}))
    if "content" in document and "name" not in document:
        return list(provider("anthropic").calls(document))
    return [document]


def _blocks(items: list[Any]) -> bool:
    """Whether the items are blocks of one message: `tool_use` beside text and thinking."""
    kinds = [item.get("type") if isinstance(item, Mapping) else None for item in items]
    return "tool_use" in kinds and "function" not in kinds and None not in kinds


def run_calls(
    calls: list[Any],
    registry: ToolRegistry,
    personality: Personality | None,
    *,
    budget_chars: int,
    working_dir: str | None,
) -> CallResults:
    """Run the calls, under a personality if given; the output of tools goes to standard error."""
    folder = os.getcwd() if working_dir is None else os.path.abspath(working_dir)
    if not os.path.isdir(folder):
        raise CommandError(f"`--working-dir` is not a folder: {working_dir!r}")
    context = ToolContext(
        working_dir=folder,
        result_budget_chars=budget_chars,
        personality_id=None if personality is None else personality.id,
        network_policy=None if personality is None else personality.network,
    )
    with contextlib.redirect_stdout(sys.stderr):
        if personality is None:
            return registry.execute_parallel_sync(calls, context)
        return registry.view(personality).execute_sync(calls, context)


Budget = Annotated[
    int,
    typer.Option(
        parser=positive_number, metavar="N", help="Longest sum of all results, in characters."
    ),
]


@app.command(short_help="Run calls given as JSON.")
def call(
    file: Annotated[str, typer.Argument(metavar="FILE", help="JSON of the calls; - for stdin.")],
    personality: PersonalityFile = None,
    personality_id: PersonalityId = None,
    tools: ToolReferences = None,
    budget: Budget = DEFAULT_BUDGET_CHARS,
    working_dir: WorkingDir = None,
    messages: Annotated[
        str | None,
        typer.Option(
            metavar="PROVIDER",
            help="Print messages for anthropic or openai instead.",
            autocompletion=complete_provider,
        ),
    ] = None,
) -> None:
    """Run calls given as JSON and print their results as JSON; exit 1 if some call failed."""
    if messages is not None:
        provider(messages)
    may = read_personality(personality, personality_id)
    registry = make_registry(tools or ())
    check_personality(registry, may)
    calls = read_calls(read_json(file))
    results = run_calls(calls, registry, may, budget_chars=budget, working_dir=working_dir)
    write_json(results.to_wire() if messages is None else results.to_messages(messages))
    fail_if(not all(result.ok for result in results))
