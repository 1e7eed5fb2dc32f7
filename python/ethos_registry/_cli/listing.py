"""`ethos-registry tools`: the registered tools, and what a personality may do with them."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any, TypedDict

from rich import box
from rich.console import Console, ConsoleOptions, RenderResult
from rich.table import Table
from rich.text import Text

from ethos_registry import Personality, ToolRegistry, __version__, provider
from ethos_registry._cli.console import first_line, visible, write_rendered
from ethos_registry._cli.prefix import shown_view
from ethos_registry.capabilities import containment, sandbox_support
from ethos_registry.providers import Prefix
from ethos_registry.registry import Explanation, Registration
from ethos_registry.types import installed_extras

__all__ = [
    "CapabilityReport",
    "ListedTool",
    "PromptCost",
    "RenderedCapabilities",
    "RenderedCost",
    "RenderedListing",
    "ToolCost",
    "ToolsReport",
    "capability_report",
    "definitions",
    "doctor",
    "listing",
    "prompt_cost",
]


# `ethos-registry tools --check`: what the tools of a personality will not get here.


class CapabilityReport(TypedDict):
    """What is declared and not covered, and how strong commands are confined."""

    personality: str
    sandbox: str
    sandbox_reason: str
    findings: list[dict[str, Any]]


def capability_report(registry: ToolRegistry, personality: Personality) -> CapabilityReport:
    """The document that `--json` prints."""
    support = sandbox_support()
    findings = [asdict(finding) for finding in registry.validate_for(personality)]
    return {
        "personality": personality.id,
        "sandbox": support.level,
        "sandbox_reason": support.reason,
        "findings": findings,
    }


_STYLES = {
    "no_backend": "red",
    "not_bindable": "red",
    "not_covered": "yellow",
    "undeclared": "yellow",
    "runs_later": "yellow",
}


class RenderedCapabilities:
    """Draws a report: one line for each finding."""

    def __init__(self, report: CapabilityReport) -> None:
        self.report = report

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """The findings, then the level of the sandbox."""
        for finding in self.report["findings"]:
            named = f"{visible(finding['tool'])}: " if finding["tool"] else ""
            line = f"{finding['kind']}: {named}{visible(finding['message'])}"
            yield Text(line, style=_STYLES.get(finding["kind"], "yellow"))
        if not self.report["findings"]:
            yield Text(f"`{visible(self.report['personality'])}` covers what its tools declare")
        reason = self.report["sandbox_reason"]
        yield Text(f"sandbox: {self.report['sandbox']}" + (f" ({reason})" if reason else ""))


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
    write_rendered(table)


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


def listing(
    registry: ToolRegistry, registrations: list[Registration], personality: Personality | None
) -> ToolsReport:
    """The document that `--json` prints and the table draws."""
    return {
        "personality": None if personality is None else personality.id,
        "tools": [
            _listed(
                item, None if personality is None else registry.explain(item.tool.name, personality)
            )
            for item in registrations
        ],
        "unmatched": {} if personality is None else registry.check(personality),
    }


def definitions(
    registry: ToolRegistry,
    registrations: list[Registration],
    personality: Personality | None,
    provider_name: str,
) -> list[Any]:
    """The definitions for a model of that provider: all tools, or those of the personality."""
    provider(provider_name)
    view = shown_view(registry, registrations, personality)
    return view.definitions(provider_name)


def _listed(item: Registration, explanation: Explanation | None) -> ListedTool:
    return {
        "name": item.tool.name,
        "toolset": item.tool.toolset,
        "segment": item.segment,
        "description": first_line(item.tool.description),
        "outcome": None if explanation is None else explanation.outcome,
        "why": None if explanation is None else explanation.text,
    }


class RenderedListing:
    """Draws a listing: a table, or lines in a narrow terminal."""

    def __init__(self, listing: ToolsReport) -> None:
        self.listing = listing

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """The tools, then what is hidden and why, then entries that match nothing."""
        tools = self.listing["tools"]
        if not tools:
            yield Text("no tools are registered")
        elif options.max_width >= TABLE_MIN_WIDTH:
            yield _table(tools, with_outcome=self.listing["personality"] is not None)
        else:
            for tool in tools:
                outcome = f", {tool['outcome']}" if tool["outcome"] else ""
                yield Text(visible(tool["name"]), style="bold")
                yield Text(f"  {visible(tool['toolset'] or '-')}, {tool['segment']}{outcome}")
                yield Text(f"  {visible(tool['description'])}")
        for tool in tools:
            if tool["why"] is not None and tool["outcome"] != "visible":
                yield Text(visible(tool["why"]), style="yellow")
        for field, entries in self.listing["unmatched"].items():
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


# What the tools cost in a prompt: bytes and estimated tokens of each.

CONTEXT_TOKENS = 200_000
"""The context that the share is of."""
CHARS_PER_TOKEN = 4
ENCODING = "o200k_base"


class ToolCost(TypedDict):
    """One tool in a request."""

    name: str
    segment: str
    bytes: int
    tokens: int


class PromptCost(TypedDict):
    """All tools of a request; tokens are an estimate, by the `counter`."""

    provider: str
    counter: str
    tools: list[ToolCost]
    bytes: int
    tokens: int
    context_tokens: int
    context_share: float


def prompt_cost(prefix: Prefix) -> PromptCost:
    """The cost of each tool, the most expensive first, and of all."""
    counter, count = token_counter()
    tools: list[ToolCost] = [
        {
            "name": tool.name,
            "segment": tool.segment,
            "bytes": len(tool.text.encode()),
            "tokens": count(tool.text),
        }
        for tool in prefix.tools
    ]
    tools.sort(key=lambda tool: (-tool["bytes"], tool["name"]))
    tokens = sum(tool["tokens"] for tool in tools)
    return {
        "provider": prefix.provider,
        "counter": counter,
        "tools": tools,
        "bytes": len(prefix.to_bytes()),
        "tokens": tokens,
        "context_tokens": CONTEXT_TOKENS,
        "context_share": tokens / CONTEXT_TOKENS,
    }


def token_counter() -> tuple[str, Callable[[str], int]]:
    """How tokens are counted: by tiktoken if it is installed and has its tables, else guessed."""
    try:
        import tiktoken

        encoding = tiktoken.get_encoding(ENCODING)
    except Exception:  # not installed, or it cannot load its tables
        return f"characters / {CHARS_PER_TOKEN}", _guessed
    return f"tiktoken {ENCODING}", lambda text: len(encoding.encode(text, disallowed_special=()))


def _guessed(text: str) -> int:
    return -(-len(text) // CHARS_PER_TOKEN)


class RenderedCost:
    """Draws the costs as a table."""

    def __init__(self, cost: PromptCost) -> None:
        self.cost = cost

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """A row a tool, then the total and its share of the context."""
        cost = self.cost
        if not cost["tools"]:
            yield Text("no tools are shown")
            return
        table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, show_footer=True)
        table.add_column("Tool", "total", overflow="fold")
        table.add_column("Segment", overflow="fold")
        table.add_column("Bytes", f"{cost['bytes']:,}", justify="right")
        table.add_column("Tokens (estimate)", f"{cost['tokens']:,}", justify="right")
        for tool in cost["tools"]:
            table.add_row(
                Text(visible(tool["name"])),
                tool["segment"],
                f"{tool['bytes']:,}",
                f"{tool['tokens']:,}",
            )
        yield table
        share = f"{cost['context_share']:.2%} of a context of {cost['context_tokens']:,} tokens"
        yield Text(f"{share}; tokens estimated as {cost['counter']}, for {cost['provider']}")
