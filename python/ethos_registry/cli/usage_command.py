"""`ethos-registry usage`: who called which tools, as a table, JSON, CSV or a page."""

from __future__ import annotations

from typing import Annotated

import typer

from ethos_registry import UsageReport, read_usage
from ethos_registry.cli.errors import CommandError
from ethos_registry.cli.numbers import positive_number
from ethos_registry.cli.output import write_file, write_json, write_rendered, write_text
from ethos_registry.cli.usage_csv import csv_text
from ethos_registry.cli.usage_server import serve
from ethos_registry.cli.usage_table import RenderedUsage

__all__ = ["usage"]


def _days(text: str) -> float:
    try:
        days = float(text)
    except ValueError:
        raise typer.BadParameter(f"{text!r} is not a number") from None
    if not 0 <= days < 1e6:
        raise typer.BadParameter(f"{text} is not a number of days")
    return days


def _port(text: str) -> int:
    try:
        port = int(text)
    except ValueError:
        raise typer.BadParameter(f"{text!r} is not a port") from None
    if not 0 <= port < 65536:
        raise typer.BadParameter(f"{port} is not a port")
    return port


def usage(
    place: Annotated[
        str | None,
        typer.Argument(
            metavar="[LEDGER]",
            help="File or PostgreSQL URL of the ledger. Default: $ETHOS_REGISTRY_USAGE, else the "
            "one of `UsageLedger.default()`.",
        ),
    ] = None,
    days: Annotated[
        int | None,
        typer.Option(parser=positive_number, metavar="N", help="Only the last N days, UTC."),
    ] = None,
    agent: Annotated[
        str | None, typer.Option(metavar="ID", help="Only the calls of this agent.")
    ] = None,
    tool: Annotated[
        str | None, typer.Option(metavar="NAME", help="Only the calls of this tool.")
    ] = None,
    dead_after: Annotated[
        float,
        typer.Option(
            parser=_days,
            metavar="DAYS",
            help="A tool that was registered so long ago and never called since is dead.",
        ),
    ] = 30.0,
    json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
    csv: Annotated[bool, typer.Option("--csv", help="Print CSV instead of a table.")] = False,
    html: Annotated[
        str | None, typer.Option(metavar="FILE", help="Write a page that needs nothing else.")
    ] = None,
    serve_: Annotated[
        bool, typer.Option("--serve", help="Show the page live, on this machine only.")
    ] = False,
    port: Annotated[
        int,
        typer.Option(parser=_port, metavar="N", help="With --serve; 0 takes one that is free."),
    ] = 0,
) -> None:
    """Show who called which tools: invocations, refusals, failures, times, characters, cost."""
    if sum((json, csv, html is not None, serve_)) > 1:
        raise CommandError("choose one of `--json`, `--csv`, `--html` and `--serve`")

    def report() -> UsageReport:
        return read_usage(place, days=days, agent=agent, tool=tool, dead_after_days=dead_after)

    if serve_:
        serve(report, port)
        return
    made = report()
    if json:
        write_json(made.to_wire())
    elif csv:
        write_text(csv_text(made))
    elif html is not None:
        write_file(html, made.to_html())
    else:
        write_rendered(RenderedUsage(made))
