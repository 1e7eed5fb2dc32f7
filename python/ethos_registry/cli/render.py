"""A turn's report drawn for a terminal: a pure function of the JSON document."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rich import box
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.table import Table
from rich.text import Text

from ethos_registry.cli.report import ReportedCall, TurnReport
from ethos_registry.cli.visible import visible

__all__ = ["RenderedReport", "call_title", "milliseconds", "saved"]

TABLE_MIN_WIDTH = 76
"""Below it the figures of a call stand under each other."""
_TEXT_COLUMNS_MIN_WIDTH = 16
_COLUMN_GAP = 2
_MAX_TITLE_CHARS = 120
_FIGURES = ("Raw", "Reduced", "Sent", "Saved", "Time")


class RenderedReport:
    """Draws a report: per call its outcome, characters and time, then the sums."""

    def __init__(self, report: TurnReport) -> None:
        self.report = report

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """A table, or lines where the terminal is narrow."""
        if not self.report["calls"]:
            yield Text("no calls were made")
        elif options.max_width >= max(TABLE_MIN_WIDTH, _table_min_width(self.report)):
            yield _table(self.report)
        else:
            yield from _lines(self.report)
        yield Text()
        yield from _summary(self.report)


def call_title(name: str, args: Any) -> Text:
    """The tool and what it is called for, never read as markup."""
    text = Text(visible(name, _MAX_TITLE_CHARS), style="bold")
    values = list(args.values()) if isinstance(args, dict) else [args]
    for value in values:
        text.append(f" {visible(str(value), _MAX_TITLE_CHARS)}", style="not bold")
    return text


def saved(raw_chars: int, sent_chars: int) -> str:
    """Which part of the characters the model did not have to read, in per cent.

    >>> saved(1000, 250), saved(0, 0)
    ('75 %', '-')
    """
    return f"{100 * (raw_chars - sent_chars) / raw_chars:.0f} %" if raw_chars else "-"


def milliseconds(seconds: float) -> str:
    """A time as people read it.

    >>> milliseconds(0.0164), milliseconds(12.3456)
    ('16 ms', '12.35 s')
    """
    return f"{seconds * 1000:.0f} ms" if seconds < 1 else f"{seconds:.2f} s"


def _table(report: TurnReport) -> Table:
    table = Table(box=box.SIMPLE_HEAD, show_footer=True, pad_edge=False, show_edge=False)
    table.add_column("Call", "Total", overflow="fold")
    table.add_column("Outcome", overflow="fold")
    for heading, footer in zip(_FIGURES, _total_figures(report), strict=True):
        table.add_column(heading, footer, justify="right", no_wrap=True)
    for call in report["calls"]:
        table.add_row(call_title(call["name"], call["args"]), _outcome(call), *_figures(call))
    return table


def _table_min_width(report: TurnReport) -> int:
    """The width in which no figure of a table is cut."""
    rows = [_FIGURES, _total_figures(report), *(_figures(call) for call in report["calls"])]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return _TEXT_COLUMNS_MIN_WIDTH + sum(width + _COLUMN_GAP for width in widths)


def _lines(report: TurnReport) -> Iterator[RenderableType]:
    for call in report["calls"]:
        raw, reduced, sent, part, time = _figures(call)
        yield call_title(call["name"], call["args"])
        yield Text("  ").append_text(_outcome(call))
        yield Text(f"  raw {raw}, reduced {reduced}")
        yield Text(f"  sent {sent}, saved {part}, {time}")


def _total_figures(report: TurnReport) -> tuple[str, str, str, str, str]:
    totals = report["totals"]
    return (
        _count(totals["raw_chars"]),
        _count(totals["reduced_chars"]),
        _count(totals["sent_chars"]),
        saved(totals["raw_chars"], totals["sent_chars"]),
        milliseconds(totals["duration_seconds"]),
    )


def _figures(call: ReportedCall) -> tuple[str, str, str, str, str]:
    return (
        _count(call["raw_chars"]),
        _count(call["reduced_chars"]),
        _count(call["sent_chars"]),
        saved(call["raw_chars"], call["sent_chars"]),
        milliseconds(call["duration_seconds"]),
    )


def _outcome(call: ReportedCall) -> Text:
    if call["outcome"] == "ok":
        cut = ", cut" if call["truncated_from"] is not None else ""
        return Text(f"ok{cut}", style="green")
    reason = f" ({call['reason']})" if call["reason"] else ""
    return Text(visible(f"{call['outcome']}{reason}"), style="red")


def _summary(report: TurnReport) -> Iterator[Text]:
    totals = report["totals"]
    raw, sent, budget = totals["raw_chars"], totals["sent_chars"], report["budget_chars"]
    used = f" ({100 * sent / budget:.0f} %)" if budget else ""
    yield Text(f"Budget: {_count(budget)} characters, used {_count(sent)}{used}")
    yield Text(f"Saved:  {_count(raw - sent)} of {_count(raw)} characters ({saved(raw, sent)})")
    yield Text(
        f"Time:   {milliseconds(report['elapsed_seconds'])} side by side, "
        f"{milliseconds(totals['duration_seconds'])} one after the other"
    )
    for item in report["skipped"]:
        yield Text(f"Not called: {visible(item['call'])}: {visible(item['why'])}", style="yellow")


def _count(number: int) -> str:
    return f"{number:,}"
