"""A usage report drawn for a terminal."""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Annotated, Any

import typer
from rich import box
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from ethos_registry import EthosRegistryError
from ethos_registry._cli.console import (
    CommandError,
    first_line,
    json_text,
    make_app,
    print_line,
    visible,
    write_json,
    write_output,
    write_rendered,
    write_stdout,
)
from ethos_registry._cli.options import AsJson, positive_number
from ethos_registry.usage import ToolUsage, UsageReport, read_usage

app = make_app()


# A report's tools as CSV.

_COLUMNS = (
    "name",
    "owner",
    "description",
    "parameter_count",
    "calls",
    "invocations",
    "refusals",
    "failures",
    "median_seconds",
    "p95_seconds",
    "total_seconds",
    "raw_chars",
    "sent_chars",
    "saved_chars",
    "cost_usd",
    "repaired",
    "is_dead",
    "is_hot",
    "registered_at",
)
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


def csv_text(report: UsageReport) -> str:
    """One line for each tool, with a heading (RFC 4180)."""
    file = io.StringIO()
    writer = csv.writer(file)
    writer.writerow(_COLUMNS)
    for tool in report.tools:
        writer.writerow(_cell(getattr(tool, column)) for column in _COLUMNS)
    return file.getvalue().replace("\r\n", "\n")


def _cell(value: object) -> object:
    """A value; spreadsheets run text that starts like a formula, and models choose names."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str) and value.startswith(_FORMULA_STARTS):
        return f"'{value}"
    return value


# The usage page, live, for this machine only.

ADDRESS = "127.0.0.1"
_HOSTS = frozenset({ADDRESS, "localhost"})


def serve(report: Callable[[], UsageReport], port: int) -> None:
    """Serve until an interrupt; a report that cannot be made is an error before that."""
    report()
    server = make_server(report, port)
    with server:
        print_line(f"usage at http://{ADDRESS}:{server.server_port}/ until Ctrl-C")
        server.serve_forever()


def make_server(report: Callable[[], UsageReport], port: int) -> ThreadingHTTPServer:
    """A server of `/` (the page) and `/usage.json`, on the loopback address."""

    class Handler(_Handler):
        make_report = staticmethod(report)

    try:
        return _Server((ADDRESS, port), Handler)
    except OSError as error:
        raise CommandError(
            f"port {port} of {ADDRESS} cannot be used: {error.strerror}; choose another `--port`"
        ) from None


class _Server(ThreadingHTTPServer):
    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore a browser that went away before it had its answer."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    make_report: Callable[[], UsageReport]
    timeout = 30

    def do_GET(self) -> None:
        """Answer with the page, its figures, or an error."""
        if not self._is_for_us():
            # A page elsewhere may let its own name point here, to read what it may not see.
            self._answer(HTTPStatus.FORBIDDEN, "text/plain", "ask for 127.0.0.1 or localhost\n")
            return
        if self.path not in ("/", "/usage.json"):
            self._answer(HTTPStatus.NOT_FOUND, "text/plain", "there are / and /usage.json\n")
            return
        try:
            made = type(self).make_report()
        except EthosRegistryError as error:
            self._answer(HTTPStatus.SERVICE_UNAVAILABLE, "text/plain", f"{error}\n")
            return
        if self.path == "/":
            self._answer(HTTPStatus.OK, "text/html", made.to_html(is_live=True))
        else:
            self._answer(HTTPStatus.OK, "application/json", json_text(made.to_wire()))

    def _is_for_us(self) -> bool:
        host, _, port = self.headers.get("Host", "").partition(":")
        return host in _HOSTS and port == str(self.server.server_port)  # type: ignore[attr-defined]

    def _answer(self, status: HTTPStatus, kind: str, text: str) -> None:
        body = text.encode("utf-8", "replace")
        self.send_response(status)
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "no-store")
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("Cross-Origin-Resource-Policy", "same-origin")
        self.send_header("X-Frame-Options", "DENY")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name is the base's
        """Write nothing: the terminal shows the address, and that is all one needs."""


TABLE_MIN_WIDTH = 110
"""Below it the figures of a tool are listed under its name."""
_MAX_DESCRIPTION_CHARS = 60
_MAX_OTHERS = 20


def drawn_usage(report: UsageReport, width: int) -> Iterator[RenderableType]:
    """The tools, then dead and hot ones, then calls by others than the owner."""
    tools = sorted(report.tools, key=lambda tool: (-tool.invocations, tool.name))
    if not tools:
        yield Text("no tools were registered or called")
    elif width >= TABLE_MIN_WIDTH:
        yield _table(tools)
    else:
        yield from _lines(tools)
    yield Text()
    yield from _summary(report)


def _table(tools: Sequence[ToolUsage]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for heading in ("Tool", "Owner", "Description"):
        table.add_column(heading, overflow="fold")
    for heading in _figures(tools[0]):
        table.add_column(heading, justify="right", no_wrap=True)
    for tool in tools:
        table.add_row(_name(tool), _owner(tool), _description(tool), *_figures(tool).values())
    return table


def _lines(tools: Iterable[ToolUsage]) -> Iterator[RenderableType]:
    for tool in tools:
        of = _figures(tool)
        yield _name(tool)
        yield Text(f"  {_owner(tool)}, {_parameters(tool)}: {_description(tool)}")
        yield Text(
            f"  {of['Invocations']} invocations, {of['Refused']} refused, {of['Failed']} failed"
        )
        if tool.repaired:
            yield Text(f"  arguments repaired in {of['Repaired']} of them")
        yield Text(
            f"  median {of['Median']}, 95th {of['95th']}, {of['Saved']} characters saved, "
            f"cost {of['Cost']}"
        )


def _name(tool: ToolUsage) -> Text:
    name = Text(visible(tool.name, 64), style="bold")
    if tool.is_dead:
        name.append(" (dead)", style="not bold yellow")
    if tool.is_hot:
        name.append(" (hot)", style="not bold red")
    return name


def _owner(tool: ToolUsage) -> Text:
    return Text("-" if tool.owner is None else visible(tool.owner, 40))


def _description(tool: ToolUsage) -> Text:
    return Text(visible(first_line(tool.description), _MAX_DESCRIPTION_CHARS))


def _parameters(tool: ToolUsage) -> str:
    if tool.parameter_count is None:
        return "never registered"
    return "1 parameter" if tool.parameter_count == 1 else f"{tool.parameter_count} parameters"


def _figures(tool: ToolUsage) -> dict[str, str]:
    return {
        "Params": "-" if tool.parameter_count is None else str(tool.parameter_count),
        "Invocations": f"{tool.invocations:,}",
        "Refused": f"{tool.refusals:,}",
        "Failed": f"{tool.failures:,}",
        "Median": _seconds(tool.median_seconds),
        "95th": _seconds(tool.p95_seconds),
        "Saved": f"{tool.saved_chars:,}",
        "Cost": _dollars(tool.cost_usd),
        "Repaired": f"{tool.repair_rate:.1%}" if tool.repaired else "-",
    }


def _seconds(seconds: float | None) -> str:
    """A duration as people read it.

    >>> _seconds(None), _seconds(0.000_02), _seconds(0.0164), _seconds(12.3456)
    ('-', '20 µs', '16 ms', '12.3 s')
    """
    if seconds is None:
        return "-"
    if seconds < 0.001:
        return f"{seconds * 1e6:.0f} µs"
    return f"{seconds * 1e3:.0f} ms" if seconds < 1 else f"{seconds:.1f} s"


def _dollars(amount: float) -> str:
    return f"${amount:.4f}" if amount else "-"


def _summary(report: UsageReport) -> Iterator[Text]:
    refusals = sum(tool.refusals for tool in report.tools)
    failures = sum(tool.failures for tool in report.tools)
    cost = sum(tool.cost_usd for tool in report.tools)
    yield Text(
        f"Calls:  {report.calls:,}: {report.invocations:,} invocations ({failures:,} failed), "
        f"{refusals:,} refused; cost {_dollars(cost)}"
    )
    saved = sum(tool.saved_chars for tool in report.tools)
    yield Text(f"Saved:  {saved:,} characters that models did not have to read")
    if report.dead_tools:
        yield Text(f"Dead:   {_names(report.dead_tools)}", style="yellow")
    if report.hot_tools:
        yield Text(f"Hot:    {_names(report.hot_tools)}")
    others = sorted(
        (tool for tool in report.tools if tool.called_by_others),
        key=lambda tool: -sum(tool.called_by_others.values()),
    )
    for tool in others[:_MAX_OTHERS]:
        yield Text(
            f"Others: `{visible(tool.name, 64)}` of {_owner(tool)} was called by "
            f"{_callers(tool.called_by_others)}"
        )
    if len(others) > _MAX_OTHERS:
        left_out = len(others) - _MAX_OTHERS
        yield Text(f"Others: {left_out:,} more tools; `--json` has all of them")
    yield Text(f"Ledger: {visible(report.place)}", style="dim")


def _names(tools: Iterable[ToolUsage]) -> str:
    return ", ".join(
        f"{visible(tool.name, 64)} ({tool.refusals:,} refused)"
        if tool.is_dead and tool.refusals
        else visible(tool.name, 64)
        for tool in tools
    )


def _callers(calls: Mapping[str, int]) -> str:
    return ", ".join(
        f"{visible(agent, 64) or '(no agent)'} ({count:,})" for agent, count in calls.items()
    )


# `ethos-registry usage`: who called which tools, as a table, JSON, CSV or a page.


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


@app.command(short_help="Show who called which tools.")
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
            help="Age from which a registered tool that was never called is dead.",
        ),
    ] = 30.0,
    json: AsJson = False,
    csv: Annotated[bool, typer.Option("--csv", help="Print CSV.")] = False,
    html: Annotated[
        str | None, typer.Option(metavar="FILE", help="Write a self-contained HTML page.")
    ] = None,
    serve_: Annotated[
        bool, typer.Option("--serve", help="Serve the page live, on this machine only.")
    ] = False,
    port: Annotated[
        int,
        typer.Option(parser=_port, metavar="N", help="Port for --serve; 0 chooses a free one."),
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
        write_stdout(csv_text(made))
    elif html is not None:
        write_output(html, made.to_html())
    else:
        write_rendered(drawn_usage, made)
