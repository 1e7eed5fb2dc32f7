"""A usage report drawn for a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from rich import box
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.table import Table
from rich.text import Text

from ethos_registry import ToolUsage, UsageReport
from ethos_registry.cli.visible import first_line, visible

__all__ = ["RenderedUsage"]

TABLE_MIN_WIDTH = 110
"""Below it the figures of a tool are listed under its name."""
_MAX_DESCRIPTION_CHARS = 60
_MAX_OTHERS = 20
_HEADINGS = ("Params", "Invocations", "Refused", "Failed", "Median", "95th", "Saved", "Cost")


class RenderedUsage:
    """Draws a report: its tools, then dead and hot ones, then calls by others than the owner."""

    def __init__(self, report: UsageReport) -> None:
        self.report = report

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """A table, or lines where the terminal is narrow."""
        report = self.report
        tools = sorted(report.tools, key=lambda tool: (-tool.invocations, tool.name))
        if not tools:
            yield Text("no tools were registered or called")
        elif options.max_width >= TABLE_MIN_WIDTH:
            yield _table(tools)
        else:
            yield from _lines(tools)
        yield Text()
        yield from _summary(report)


def _table(tools: Iterable[ToolUsage]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for heading in ("Tool", "Owner", "Description"):
        table.add_column(heading, overflow="fold")
    for heading in _HEADINGS:
        table.add_column(heading, justify="right", no_wrap=True)
    for tool in tools:
        table.add_row(_name(tool), _owner(tool), _description(tool), *_figures(tool))
    return table


def _lines(tools: Iterable[ToolUsage]) -> Iterator[RenderableType]:
    for tool in tools:
        parameters, invocations, refused, failed, median, p95, saved, cost = _figures(tool)
        yield _name(tool)
        yield Text(f"  {_owner(tool)}, {parameters} parameters: {_description(tool)}")
        yield Text(f"  {invocations} invocations, {refused} refused, {failed} failed")
        yield Text(f"  median {median}, 95th {p95}, {saved} characters saved, cost {cost}")


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


def _figures(tool: ToolUsage) -> tuple[str, ...]:
    return (
        str(tool.parameter_count),
        f"{tool.invocations:,}",
        f"{tool.refusals:,}",
        f"{tool.failures:,}",
        _seconds(tool.median_seconds),
        _seconds(tool.p95_seconds),
        f"{tool.saved_chars:,}",
        _dollars(tool.cost_usd),
    )


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
