"""A turn's report drawn for a terminal: a pure function of the JSON document."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, TypedDict

from rich import box
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.table import Table
from rich.text import Text

from ethos_registry import CallResult, ToolCall
from ethos_registry._cli.console import visible

__all__ = [
    "RenderedReport",
    "ReportedCall",
    "ReportedTotals",
    "Skipped",
    "TurnReport",
    "call_title",
    "milliseconds",
    "saved_and_cut",
    "share",
    "turn_report",
]


# The report of `demo` on a batch: one JSON document, made of its `CallResult`s.


class Skipped(TypedDict):
    """A call that was not made, and why."""

    call: str
    why: str


class ReportedCall(TypedDict):
    """One call and its `CallResult`; the figures have the names they have there."""

    tool_call_id: str
    name: str
    args: Any
    outcome: str
    """`ok`, or the code of the error."""
    reason: str | None
    raw_chars: int
    reduced_chars: int
    sent_chars: int
    truncated_from: int | None
    duration_seconds: float
    result: dict[str, Any]
    """The result as it goes to the model, in wire format."""


class ReportedTotals(TypedDict):
    """Sums over the calls."""

    raw_chars: int
    reduced_chars: int
    sent_chars: int
    duration_seconds: float


class TurnReport(TypedDict):
    """A turn: its budget in characters, its calls in order, their sums, the skipped calls."""

    budget_chars: int
    elapsed_seconds: float
    """From the start of the batch to its end; the calls run side by side."""
    calls: list[ReportedCall]
    totals: ReportedTotals
    skipped: list[Skipped]


def turn_report(
    calls: Sequence[ToolCall],
    results: Sequence[CallResult],
    *,
    budget_chars: int,
    elapsed_seconds: float,
    skipped: Sequence[Skipped],
) -> TurnReport:
    """The document of a batch; every figure of a call is that of its `CallResult`."""
    return {
        "budget_chars": budget_chars,
        "elapsed_seconds": elapsed_seconds,
        "calls": [_reported(call, result) for call, result in zip(calls, results, strict=True)],
        "totals": {
            "raw_chars": sum(result.raw_chars for result in results),
            "reduced_chars": sum(result.reduced_chars for result in results),
            "sent_chars": sum(result.sent_chars for result in results),
            "duration_seconds": sum(result.duration_seconds for result in results),
        },
        "skipped": list(skipped),
    }


def _reported(call: ToolCall, result: CallResult) -> ReportedCall:
    answer = result.result
    return {
        "tool_call_id": result.tool_call_id,
        "name": result.name,
        "args": call.args,
        "outcome": "ok" if answer.ok else answer.code,
        "reason": None if answer.ok else answer.reason,
        "raw_chars": result.raw_chars,
        "reduced_chars": result.reduced_chars,
        "sent_chars": result.sent_chars,
        "truncated_from": result.truncated_from,
        "duration_seconds": result.duration_seconds,
        "result": answer.to_wire(),
    }


TABLE_MIN_WIDTH = 76
"""In a narrower terminal the figures of a call are listed below each other."""
_TEXT_COLUMNS_MIN_WIDTH = 16
_COLUMN_GAP = 2
_MAX_TITLE_CHARS = 120
_FIGURES = ("Raw", "Reduced", "Sent", "Saved", "Cut", "Time")
_FIRST_LINES_ONLY = frozenset({"read_file"})
"""Tools whose reducer shows the start of a long text: what it leaves out is cut, not reduced."""


class RenderedReport:
    """Draws a report: per call its outcome, characters and time, then the sums."""

    def __init__(self, report: TurnReport) -> None:
        self.report = report

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """A table, or lines in a narrow terminal."""
        if not self.report["calls"]:
            yield Text("no calls were made")
        elif options.max_width >= max(TABLE_MIN_WIDTH, _table_min_width(self.report)):
            yield _table(self.report)
        else:
            yield from _lines(self.report)
        yield Text()
        yield from _summary(self.report)


def call_title(name: str, args: Any) -> Text:
    """The tool and its arguments, never read as markup."""
    text = Text(visible(name, _MAX_TITLE_CHARS), style="bold")
    values = list(args.values()) if isinstance(args, dict) else [args]
    for value in values:
        shown = (
            f"{len(value)} items"
            if isinstance(value, list)
            else visible(str(value), _MAX_TITLE_CHARS)
        )
        text.append(f" {shown}", style="not bold")
    return text


def share(chars: int, raw_chars: int) -> str:
    """The share of `raw_chars` in per cent.

    >>> share(750, 1000), share(0, 0)
    ('75 %', '-')
    """
    return f"{100 * chars / raw_chars:.0f} %" if raw_chars else "-"


def saved_and_cut(call: ReportedCall) -> tuple[int, int]:
    """The characters that the reducer saved with the facts kept, and those that were cut off.

    The rest of a long file after its first lines counts as cut, and what is over the budget.
    """
    raw, reduced, sent = call["raw_chars"], call["reduced_chars"], call["sent_chars"]
    if call["name"] in _FIRST_LINES_ONLY:
        return 0, raw - sent
    return raw - reduced, reduced - sent


def milliseconds(seconds: float) -> str:
    """A duration for people.

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
        raw, reduced, sent, saved, cut, time = _figures(call)
        yield call_title(call["name"], call["args"])
        yield Text("  ").append_text(_outcome(call))
        yield Text(f"  raw {raw}, reduced {reduced}")
        yield Text(f"  sent {sent}, saved {saved}, cut {cut}")
        yield Text(f"  {time}")


def _total_figures(report: TurnReport) -> tuple[str, str, str, str, str, str]:
    totals = report["totals"]
    saved, cut = _saved_and_cut_in_all(report)
    return (
        _count(totals["raw_chars"]),
        _count(totals["reduced_chars"]),
        _count(totals["sent_chars"]),
        share(saved, totals["raw_chars"]),
        share(cut, totals["raw_chars"]),
        milliseconds(totals["duration_seconds"]),
    )


def _saved_and_cut_in_all(report: TurnReport) -> tuple[int, int]:
    pairs = [saved_and_cut(call) for call in report["calls"]]
    return sum(saved for saved, _ in pairs), sum(cut for _, cut in pairs)


def _figures(call: ReportedCall) -> tuple[str, str, str, str, str, str]:
    saved, cut = saved_and_cut(call)
    return (
        _count(call["raw_chars"]),
        _count(call["reduced_chars"]),
        _count(call["sent_chars"]),
        share(saved, call["raw_chars"]),
        share(cut, call["raw_chars"]),
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
    saved, cut = _saved_and_cut_in_all(report)
    yield Text(
        f"Saved:  {_count(saved)} of {_count(raw)} characters ({share(saved, raw)}), reduced"
    )
    yield Text(f"Cut:    {_count(cut)} of {_count(raw)} characters ({share(cut, raw)}), left out")
    yield Text(
        f"Time:   {milliseconds(report['elapsed_seconds'])} side by side, "
        f"{milliseconds(totals['duration_seconds'])} one after the other"
    )
    for item in report["skipped"]:
        yield Text(f"Not called: {visible(item['call'])}: {visible(item['why'])}", style="yellow")


def _count(number: int) -> str:
    return f"{number:,}"
