"""The commands `prefix save`, `prefix diff` and `prefix check`."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from ethos_registry import ConfigError, Personality, ToolRegistry, View, provider
from ethos_registry._cli.console import (
    CommandError,
    make_group,
    print_line,
    visible,
    write_json,
    write_lines,
    write_output,
    write_text,
)
from ethos_registry._cli.options import AsJson, PersonalityFile, PersonalityId, ToolReferences
from ethos_registry._cli.sources import make_registry, read_personality
from ethos_registry.providers import Prefix, PrefixDiff, SchemaNote, prefix_diff
from ethos_registry.registry import Registration

# `ethos-registry prefix`: what a request begins with, saved, compared and checked.

HASH_SEEDS = ("0", "1", "2", "3")
"""Enough for an order out of a set to differ: each seed shows most of them."""


def shown_view(
    registry: ToolRegistry, registrations: list[Registration], personality: Personality | None
) -> View:
    """What a personality is shown; without one all tools."""
    if personality is None:
        personality = Personality(
            "everything",
            plugins=tuple({item.plugin_id for item in registrations if item.plugin_id is not None}),
            mcp_servers=tuple(
                {item.mcp_server for item in registrations if item.mcp_server is not None}
            ),
        )
    return registry.view(personality)


def taken_prefix(
    registry: ToolRegistry,
    registrations: list[Registration],
    personality: Personality | None,
    provider_name: str,
    breakpoints: int = 1,
) -> Prefix:
    """The prefix of what is registered now."""
    provider(provider_name)
    view = shown_view(registry, registrations, personality)
    return view.prefix(provider_name, breakpoints=breakpoints)


def note_lines(notes: Iterable[SchemaNote]) -> list[str]:
    """One line for each note; those that are the same for several providers are one.

    >>> note = SchemaNote("list", "gemini", "renamed", "", "`$top` is sent as `top`")
    >>> note_lines([note])
    ['list: `$top` is sent as `top` (gemini)']
    """
    providers: dict[str, list[str]] = {}
    for note in notes:
        providers.setdefault(str(note), []).append(note.provider)
    return [f"{visible(line, 300)} ({', '.join(names)})" for line, names in providers.items()]


def read_prefix(path: str) -> Prefix:
    """A prefix that was saved to a file."""
    try:
        return Prefix.from_json(Path(path).read_bytes())
    except OSError as error:
        raise CommandError(f"{path}: cannot be read: {error.strerror or error}") from None
    except ConfigError as error:
        raise CommandError(f"{path}: {error}") from None


def diff_document(diff: PrefixDiff) -> dict[str, Any]:
    """The difference as JSON values."""
    return {
        "same": diff.same,
        "byte_offset": diff.byte_offset,
        "before_bytes": diff.before_bytes,
        "after_bytes": diff.after_bytes,
        "changes": [asdict(change) for change in diff.changes],
    }


def check_hash_seeds(arguments: list[str]) -> list[PrefixDiff]:
    """Make the prefix in a process of its own for each hash seed; the differences to the first.

    A schema that is made of a set, or of anything else that follows the hash seed, differs: no
    order of keys can mend that.
    """
    prefixes = [_in_process(seed, arguments) for seed in HASH_SEEDS]
    diffs = [prefix_diff(prefixes[0], other) for other in prefixes[1:]]
    return [diff for diff in diffs if not diff.same]


def _in_process(seed: str, arguments: list[str]) -> Prefix:
    done = subprocess.run(
        [sys.executable, "-m", "ethos_registry", "prefix", "save", "-", *arguments],
        env=os.environ | {"PYTHONHASHSEED": seed},
        capture_output=True,
        check=False,
    )
    if done.returncode:
        for line in done.stderr.decode(errors="replace").splitlines():
            print_line(line)
        raise CommandError(f"the tools could not be loaded with the hash seed {seed}")
    return Prefix.from_json(done.stdout)


DIFFERS = 1

app = make_group(
    "Save and compare what a request begins with: the bytes of its tools.",
    "Save and compare the bytes of tool lists.",
)

ProviderOption = Annotated[
    str, typer.Option("--provider", metavar="NAME", help="anthropic, openai, gemini, ollama, ...")
]
Breakpoints = Annotated[
    int, typer.Option("--breakpoints", metavar="N", help="Cache markers: 0, 1 or 2.")
]


@app.command()
def save(
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="Output file; - for standard output.")
    ],
    provider: ProviderOption = "anthropic",
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
    write_output(file, f"{prefix.to_json()}\n")


@app.command(short_help="Show what changed between two requests.")
def diff(
    before: Annotated[str, typer.Argument(metavar="BEFORE", help="File of `prefix save`.")],
    after: Annotated[
        str | None,
        typer.Argument(metavar="AFTER", help="Prefix to compare with. Default: the current tools."),
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
        write_lines(str(found).splitlines())
    if not found.same:
        raise typer.Exit(DIFFERS)


@app.command(short_help="Show what a provider is sent of the schemas.")
def schemas(
    provider: ProviderOption = "anthropic",
    personality: PersonalityFile = None,
    personality_id: PersonalityId = None,
    tools: ToolReferences = None,
    json: AsJson = False,
) -> None:
    """Show what is renamed, rewritten, described or left out; exit 1 if a tool is left out."""
    may = read_personality(personality, personality_id)
    registry, registrations = make_registry(tools or ())
    report_notes(shown_view(registry, registrations, may), provider, json=json)


def report_notes(view: View, provider_name: str, *, json: bool) -> None:
    """Print what a provider is sent in other words; exit code 1 if a tool is left out."""
    notes = view.check_schemas(provider_name)
    if json:
        write_json([asdict(note) for note in notes])
    else:
        lines = note_lines(notes) or ["every schema is sent as its author wrote it"]
        write_text("".join(f"{line}\n" for line in lines))
    if any(note.kind == "left_out" for note in notes):
        raise typer.Exit(DIFFERS)


@app.command(short_help="Find schemas that differ between processes.")
def check(
    provider: ProviderOption = "anthropic",
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
    write_lines(sorted(lines))
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
