"""`ethos-registry tools`: the registered tools, and what a personality may do with them."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, TypedDict

import typer
from rich import box
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from ethos_registry import Personality, ToolRegistry, __version__
from ethos_registry._cli.console import (
    CommandError,
    fail_if,
    first_line,
    make_app,
    visible,
    write_json,
    write_rendered,
    write_report,
)
from ethos_registry._cli.cost import drawn_cost, prompt_cost
from ethos_registry._cli.options import (
    AsJson,
    PersonalityFile,
    PersonalityId,
    ToolReferences,
    complete_provider,
)
from ethos_registry._cli.prefix import report_notes, shown_view
from ethos_registry._cli.sources import (
    check_personality,
    make_registry,
    read_personality,
    registrations,
    registry_to_check,
)
from ethos_registry.capabilities import containment, sandbox_support
from ethos_registry.registry import CapabilityFinding, Registration
from ethos_registry.types import installed_extras

app = make_app()


# `ethos-registry tools --check`: what the tools of a personality will not get here.


class CapabilityReport(TypedDict):
    """What is declared and not covered, and how strong commands are confined."""

    personality: str
    sandbox: str
    sandbox_reason: str
    findings: Sequence[CapabilityFinding]


def capability_report(registry: ToolRegistry, personality: Personality) -> CapabilityReport:
    """The document that `--json` prints."""
    support = sandbox_support()
    return {
        "personality": personality.id,
        "sandbox": support.level,
        "sandbox_reason": support.reason,
        "findings": registry.validate_for(personality),
    }


_REFUSED = ("no_backend", "not_bindable")
"""The findings for which calls are refused."""


def drawn_capabilities(report: CapabilityReport, width: int) -> Iterator[RenderableType]:
    """One line for each finding, then the level of the sandbox."""
    for finding in report["findings"]:
        named = f"{visible(finding.tool)}: " if finding.tool else ""
        line = f"{finding.kind}: {named}{visible(finding.message)}"
        yield Text(line, style="red" if finding.kind in _REFUSED else "yellow")
    if not report["findings"]:
        yield Text(f"`{visible(report['personality'])}` covers what its tools declare")
    reason = report["sandbox_reason"]
    yield Text(f"sandbox: {report['sandbox']}" + (f" ({reason})" if reason else ""))


# `doctor`: what this machine can enforce and what is installed.

_LEVELS = {
    "namespaces": "bubblewrap: files as seen, no network, processes apart",
    "landlock": "Landlock and seccomp: files and sockets by rule; metadata is not covered",
    "seatbelt": "Seatbelt: files and network by rule",
    "none": "nothing: commands of restricted personalities are refused",
}
_CONTAINMENT = {
    "tree": "everything that a command started is ended with it",
    "group": "its process group is ended; what left the group is not",
    "process": "only the program itself is ended",
}


@app.command(short_help="Show what this machine can enforce.")
def doctor() -> None:
    """Show what this machine can enforce, and which extras are installed."""
    support = sandbox_support()
    table = Table(show_header=False, box=None, pad_edge=False)
    table.add_row("ethos-registry", __version__)
    table.add_row("Python", f"{platform.python_version()} on {sys.platform}")
    table.add_row("user", "root" if hasattr(os, "geteuid") and os.geteuid() == 0 else "not root")
    table.add_row("sandbox", f"{support.level}: {_LEVELS[support.level]}")
    if support.reason:
        table.add_row("", support.reason)
    for limit in support.limits:
        table.add_row("not enforced", limit)
    contained = containment()
    table.add_row("processes", f"{contained}: {_CONTAINMENT[contained]}")
    for extra, is_there in installed_extras().items():
        missing = f"missing: pip install 'ethos-registry[{extra}]'"
        hint = "installed" if is_there else missing
        table.add_row(f"extra {extra}", hint)
    write_rendered(lambda table, width: [table], table)


TABLE_MIN_WIDTH = 76


class ListedTool(TypedDict):
    """One tool; `outcome` and `why` are `None` without a personality."""

    name: str
    toolset: str | None
    segment: str
    description: str
    outcome: str | None
    why: str | None


class ToolsReport(TypedDict):
    """All tools, and the entries of the personality that match none of them, by field."""

    personality: str | None
    tools: list[ListedTool]
    unmatched: Mapping[str, list[str]]


def listing(registry: ToolRegistry, personality: Personality | None) -> ToolsReport:
    """The document that `--json` prints and the table draws."""
    return {
        "personality": None if personality is None else personality.id,
        "tools": [_listed(registry, item, personality) for item in registrations(registry)],
        "unmatched": {} if personality is None else registry.check(personality),
    }


def _listed(
    registry: ToolRegistry, item: Registration, personality: Personality | None
) -> ListedTool:
    explanation = None if personality is None else registry.explain(item.tool.name, personality)
    return {
        "name": item.tool.name,
        "toolset": item.tool.toolset,
        "segment": item.segment,
        "description": first_line(item.tool.description),
        "outcome": None if explanation is None else explanation.outcome,
        "why": None if explanation is None else explanation.text,
    }


def drawn_listing(listing: ToolsReport, width: int) -> Iterator[RenderableType]:
    """The tools, then what is hidden and why, then entries that match nothing."""
    tools = listing["tools"]
    if not tools:
        yield Text("no tools are registered")
    elif width >= TABLE_MIN_WIDTH:
        yield _table(tools, with_outcome=listing["personality"] is not None)
    else:
        for tool in tools:
            outcome = f", {tool['outcome']}" if tool["outcome"] else ""
            yield Text(visible(tool["name"]), style="bold")
            yield Text(f"  {visible(tool['toolset'] or '-')}, {tool['segment']}{outcome}")
            yield Text(f"  {visible(tool['description'])}")
    for tool in tools:
        if tool["why"] is not None and tool["outcome"] != "visible":
            yield Text(visible(tool["why"]), style="yellow")
    for field, entries in listing["unmatched"].items():
        names = ", ".join(f"`{visible(entry)}`" for entry in entries)
        if field == "undeclared":
            yield Text(f"no policy binds what declares no capability: {names}", style="yellow")
            continue
        yield Text(f"`{field}` has entries that match nothing: {names}", style="red")


def _table(tools: list[ListedTool], *, with_outcome: bool) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for heading in ("Tool", "Toolset", "Segment", *(("Outcome",) if with_outcome else ())):
        table.add_column(heading, overflow="fold")
    table.add_column("Description", overflow="fold")
    for tool in tools:
        cells = [tool["name"], tool["toolset"] or "-", tool["segment"]]
        if with_outcome:
            cells.append(tool["outcome"] or "-")
        table.add_row(*(Text(visible(cell)) for cell in (*cells, tool["description"])))
    return table


# `ethos-registry tools`.


@app.command(short_help="List what is registered, and why a tool is hidden.")
def tools(
    personality: PersonalityFile = None,
    personality_id: PersonalityId = None,
    tools: ToolReferences = None,
    check: Annotated[
        bool,
        typer.Option(
            "--check",
            help="Print the capabilities that tools declare but do not get; with --provider, what "
            "that provider is sent of their schemas.",
        ),
    ] = False,
    json: AsJson = False,
    definitions_for: Annotated[
        str | None,
        typer.Option(
            "--definitions",
            metavar="PROVIDER",
            help="Print the definitions for the models of a provider instead.",
            autocompletion=complete_provider,
        ),
    ] = None,
    cost_for: Annotated[
        str | None,
        typer.Option(
            "--provider",
            metavar="PROVIDER",
            help="Print bytes and estimated tokens of each tool.",
            autocompletion=complete_provider,
        ),
    ] = None,
) -> None:
    """List what is registered and, for a personality, why a tool is hidden.

    Exit code 2 if the personality names something that is not registered; with --check, 1 if
    calls of a tool would be refused for want of a backend, or a provider takes no form of its
    schema.
    """
    may = read_personality(personality, personality_id)
    if check and cost_for is None:
        if may is None:
            raise CommandError("`--check` needs `--personality FILE`: whose tools to check")
        checked = registry_to_check(tools or ())
        check_personality(checked, may)
        report = capability_report(checked, may)
        write_report(report, drawn_capabilities, as_json=json)
        fail_if(any(finding.kind in _REFUSED for finding in report["findings"]))
        return
    registry = make_registry(tools or ())
    if cost_for is not None and check:
        report_notes(shown_view(registry, may), cost_for, json=json)
    elif cost_for is not None:
        cost = prompt_cost(shown_view(registry, may).prefix(cost_for))
        write_report(cost, drawn_cost, as_json=json)
    elif definitions_for is not None:
        write_json(shown_view(registry, may).definitions(definitions_for))
    else:
        write_report(listing(registry, may), drawn_listing, as_json=json)
        check_personality(registry, may)
