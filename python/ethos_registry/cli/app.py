"""The commands and their options."""

from __future__ import annotations

from typing import Annotated

import typer

from ethos_registry import DEFAULT_BUDGET_CHARS, __version__, provider
from ethos_registry.cli.calls import read_calls, run_calls
from ethos_registry.cli.demo import run_demo
from ethos_registry.cli.errors import CommandError
from ethos_registry.cli.listing import RenderedListing, definitions, listing
from ethos_registry.cli.output import json_text, write_json, write_rendered, write_text
from ethos_registry.cli.render import RenderedReport
from ethos_registry.cli.sources import make_registry, read_json, read_personality

__all__ = ["app"]

app = typer.Typer(
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    help="The tool registry for LLM agents.",
)

SOME_CALL_FAILED = 1

Budget = Annotated[
    int, typer.Option(min=1, metavar="N", help="Characters that all results may hold together.")
]
PersonalityFile = Annotated[
    str | None, typer.Option("--personality", metavar="FILE", help="YAML file that says who may.")
]
PersonalityId = Annotated[
    str | None, typer.Option("--id", metavar="ID", help="Which one, if the file holds several.")
]
ToolReferences = Annotated[
    list[str] | None,
    typer.Option(
        "--tools",
        metavar="MODULE:ATTRIBUTE",
        help="A Tool, a list of tools, a ToolRegistry, or a function that returns one; may be "
        "given several times. Default: the ready tools, ethos_registry:ready_tools.",
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]


def _print_version(wanted: bool) -> None:
    if wanted:
        write_text(f"ethos-registry {__version__}\n")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def _start(
    context: typer.Context,
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version."
        ),
    ] = False,
) -> None:
    if context.invoked_subcommand is None:
        write_text(f"{context.get_help()}\n")


@app.command()
def demo(
    budget: Budget = DEFAULT_BUDGET_CHARS,
    json: AsJson = False,
    save: Annotated[
        str | None, typer.Option(metavar="FILE", help="Write the JSON of this run to a file too.")
    ] = None,
) -> None:
    """Run a real turn on this folder: git status, git log, a long file, a listing."""
    report = run_demo(budget)
    if save is not None:
        _write_file(save, json_text(report))
    if json:
        write_json(report)
    else:
        write_rendered(RenderedReport(report))
    if any(call["outcome"] != "ok" for call in report["calls"]):
        raise typer.Exit(SOME_CALL_FAILED)


@app.command()
def call(
    file: Annotated[str, typer.Argument(metavar="FILE", help="JSON of the calls; - for stdin.")],
    personality: PersonalityFile = None,
    personality_id: PersonalityId = None,
    tools: ToolReferences = None,
    budget: Budget = DEFAULT_BUDGET_CHARS,
    working_dir: Annotated[
        str | None, typer.Option(metavar="FOLDER", help="Where tools work. Default: here.")
    ] = None,
    messages: Annotated[
        str | None,
        typer.Option(metavar="PROVIDER", help="Print messages for anthropic or openai instead."),
    ] = None,
) -> None:
    """Run calls given as JSON and print their results as JSON; exit 1 if some call failed."""
    if messages is not None:
        provider(messages)
    may = read_personality(personality, personality_id)
    registry, _ = make_registry(tools or ())
    calls = read_calls(read_json(file))
    results = run_calls(calls, registry, may, budget_chars=budget, working_dir=working_dir)
    write_json(results.to_wire() if messages is None else results.to_messages(messages))
    if not all(result.ok for result in results):
        raise typer.Exit(SOME_CALL_FAILED)


@app.command()
def tools(
    personality: PersonalityFile = None,
    personality_id: PersonalityId = None,
    tools: ToolReferences = None,
    json: AsJson = False,
    definitions_for: Annotated[
        str | None,
        typer.Option(
            "--definitions", metavar="PROVIDER", help="Print what the model is shown instead."
        ),
    ] = None,
) -> None:
    """List what is registered and, under a personality, why a tool is hidden."""
    may = read_personality(personality, personality_id)
    registry, registrations = make_registry(tools or ())
    if definitions_for is not None:
        write_json(definitions(registry, registrations, may, definitions_for))
        return
    found = listing(registry, registrations, may)
    if json:
        write_json(found)
    else:
        write_rendered(RenderedListing(found))


def _write_file(path: str, text: str) -> None:
    try:
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise CommandError(f"{path}: cannot be written: {reason}") from None
