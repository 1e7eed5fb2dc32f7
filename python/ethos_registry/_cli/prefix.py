"""The commands `prefix save`, `prefix diff` and `prefix check`."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer

from ethos_registry import ConfigError, Personality, ToolRegistry, View
from ethos_registry._cli.console import (
    CommandError,
    fail_if,
    file_errors,
    make_group,
    print_line,
    visible,
    write_json_or_lines,
    write_lines,
    write_output,
    write_stdout,
)
from ethos_registry._cli.options import AsJson, PersonalityFile, PersonalityId, ToolReferences
from ethos_registry._cli.sources import make_registry, read_personality, registrations
from ethos_registry.providers import Prefix, PrefixDiff, SchemaNote, prefix_diff

# `ethos-registry prefix`: what a request begins with, saved, compared and checked.

HASH_SEEDS = ("0", "1", "2", "3")
"""Enough for an order out of a set to differ: each seed shows most of them."""


def shown_view(registry: ToolRegistry, personality: Personality | None) -> View:
    """What a personality is shown; without one all tools."""
    if personality is None:
        known = registrations(registry)
        personality = Personality(
            "everything",
            plugins=tuple({item.plugin_id for item in known if item.plugin_id is not None}),
            mcp_servers=tuple({item.mcp_server for item in known if item.mcp_server is not None}),
        )
    return registry.view(personality)


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
    with file_errors(path):
        content = Path(path).read_bytes()
    try:
        return Prefix.from_json(content)
    except ConfigError as error:
        raise CommandError(f"{path}: {error}") from None


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
    view = _view(personality, personality_id, tools)
    content = f"{view.prefix(provider, breakpoints=breakpoints).to_json()}\n"
    if file == "-":
        write_stdout(content)
    else:
        write_output(file, content)


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
        view = _view(personality, personality_id, tools)
        new = view.prefix(old.provider, breakpoints=old.breakpoints)
    else:
        new = read_prefix(after)
    found = prefix_diff(old, new)
    document = {
        "same": found.same,
        "byte_offset": found.byte_offset,
        "before_bytes": found.before_bytes,
        "after_bytes": found.after_bytes,
        "changes": found.changes,
    }
    write_json_or_lines(document, str(found).splitlines(), as_json=json)
    fail_if(not found.same)


@app.command(short_help="Show what a provider is sent of the schemas.")
def schemas(
    provider: ProviderOption = "anthropic",
    personality: PersonalityFile = None,
    personality_id: PersonalityId = None,
    tools: ToolReferences = None,
    json: AsJson = False,
) -> None:
    """Show what is renamed, rewritten, described or left out; exit 1 if a tool is left out."""
    report_notes(_view(personality, personality_id, tools), provider, json=json)


def report_notes(view: View, provider_name: str, *, json: bool) -> None:
    """Print what a provider is sent in other words; exit code 1 if a tool is left out."""
    notes = view.check_schemas(provider_name)
    lines = note_lines(notes) or ["every schema is sent as its author wrote it"]
    write_json_or_lines(notes, lines, as_json=json)
    fail_if(any(note.kind == "left_out" for note in notes))


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
    lines = {
        f"{change.tool} {change.pointer}: {change.kind} differs between hash seeds"
        for found in diffs
        for change in found.changes
    }
    write_lines(sorted(lines) if diffs else ["the bytes are the same for every hash seed"])
    fail_if(diffs)


def _view(personality: str | None, personality_id: str | None, tools: list[str] | None) -> View:
    may = read_personality(personality, personality_id)
    return shown_view(make_registry(tools or ()), may)
