"""The commands `prefix save`, `prefix diff` and `prefix check`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ethos_registry import Prefix, prefix_diff
from ethos_registry.cli.errors import CommandError
from ethos_registry.cli.groups import show_help_without_command
from ethos_registry.cli.output import write_json, write_text
from ethos_registry.cli.prefixes import (
    check_hash_seeds,
    diff_document,
    read_prefix,
    taken_prefix,
)
from ethos_registry.cli.sources import make_registry, read_personality
from ethos_registry.cli.tool_options import (
    AsJson,
    PersonalityFile,
    PersonalityId,
    ToolReferences,
)
from ethos_registry.cli.visible import visible

__all__ = ["prefix_app"]

DIFFERS = 1

prefix_app = typer.Typer(
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    callback=show_help_without_command,
    invoke_without_command=True,
    help="Save and compare what a request begins with: the bytes of its tools.",
    short_help="Save and compare the bytes of tool lists.",
)

ProviderName = Annotated[
    str, typer.Option("--provider", metavar="NAME", help="anthropic, openai, gemini, ollama, ...")
]
Breakpoints = Annotated[
    int, typer.Option("--breakpoints", metavar="N", help="Cache markers: 0, 1 or 2.")
]


@prefix_app.command()
def save(
    file: Annotated[str, typer.Argument(metavar="FILE", help="Where to; - for stdout.")],
    provider: ProviderName = "anthropic",
    breakpoints: Breakpoints = 1,
    personality: PersonalityFile = None,
    personality_id: PersonalityId = None,
    tools: ToolReferences = None,
) -> None:
    """Save the tools of a request as JSON."""
    prefix = _of_now(provider, breakpoints, personality, personality_id, tools)
    if file == "-":
        write_text(f"{prefix.to_json()}\n")
        return
    try:
        Path(file).write_text(f"{prefix.to_json()}\n", encoding="utf-8")
    except OSError as error:
        raise CommandError(f"{file}: cannot be written: {error.strerror or error}") from None


@prefix_app.command(short_help="Show what changed between two requests.")
def diff(
    before: Annotated[str, typer.Argument(metavar="BEFORE", help="A file of `prefix save`.")],
    after: Annotated[
        str | None, typer.Argument(metavar="AFTER", help="Another one. Default: the tools now.")
    ] = None,
    personality: PersonalityFile = None,
    personality_id: PersonalityId = None,
    tools: ToolReferences = None,
    json: AsJson = False,
) -> None:
    """Say what changed between two requests, and at which byte; exit 1 if something did."""
    old = read_prefix(before)
    if after is None:
        new = _of_now(old.provider, old.breakpoints, personality, personality_id, tools)
    else:
        new = read_prefix(after)
    found = prefix_diff(old, new)
    if json:
        write_json(diff_document(found))
    else:
        write_text("".join(f"{visible(line)}\n" for line in str(found).splitlines()))
    if not found.same:
        raise typer.Exit(DIFFERS)


@prefix_app.command(short_help="Find schemas that differ between processes.")
def check(
    provider: ProviderName = "anthropic",
    personality: PersonalityFile = None,
    personality_id: PersonalityId = None,
    tools: ToolReferences = None,
) -> None:
    """Find schemas that differ from process to process; exit 1 if there are some."""
    arguments = ["--provider", provider]
    for name, value in (("--personality", personality), ("--id", personality_id)):
        arguments += [] if value is None else [name, value]
    for reference in tools or ():
        arguments += ["--tools", reference]
    diffs = check_hash_seeds(arguments)
    if not diffs:
        write_text("the bytes are the same for every hash seed\n")
        return
    lines = {
        f"{change.tool} {change.pointer}: {change.kind} differs between hash seeds"
        for found in diffs
        for change in found.changes
    }
    write_text("".join(f"{visible(line)}\n" for line in sorted(lines)))
    raise typer.Exit(DIFFERS)


def _of_now(
    provider: str,
    breakpoints: int,
    personality: str | None,
    personality_id: str | None,
    tools: list[str] | None,
) -> Prefix:
    may = read_personality(personality, personality_id)
    registry, registrations = make_registry(tools or ())
    return taken_prefix(registry, registrations, may, provider, breakpoints)
