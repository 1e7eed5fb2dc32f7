"""Recorded turns and calls as tables."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime

from rich.console import Console, ConsoleOptions, RenderResult
from rich.table import Table
from rich.text import Text

from ethos_registry import RecordedCall, RecordedTurn
from ethos_registry.cli.visible import visible

__all__ = ["CallTable", "TurnTable", "started"]

_NAME_CHARS = 40
_ARGS_CHARS = 200


def started(seconds: float) -> str:
    """A time as people read it, in UTC."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M:%S")


class TurnTable:
    """Turns in the order of their first calls."""

    def __init__(self, turns: Iterable[RecordedTurn]) -> None:
        self._turns = list(turns)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        if not self._turns:
            yield Text("No calls are recorded.")
            return
        table = _table(("session", "turn", "started", "calls", "failed", "raw", "sent", "numbers"))
        for turn in self._turns:
            table.add_row(
                visible(turn.session_id, _NAME_CHARS) or "-",
                str(turn.turn),
                started(turn.started_at_seconds),
                f"{turn.calls:,}",
                f"{turn.failed_calls:,}",
                f"{turn.raw_chars:,}",
                f"{turn.sent_chars:,}",
                f"{turn.first_number}-{turn.last_number}",
            )
        yield table


class CallTable:
    """Calls in the order in which they were recorded."""

    def __init__(self, calls: Iterable[RecordedCall]) -> None:
        self._calls = calls

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        table = _table(("number", "turn", "tool", "outcome", "raw", "sent", "seconds", "args"))
        for call in self._calls:
            table.add_row(
                str(call.number),
                str(call.turn),
                visible(call.tool_name, _NAME_CHARS),
                "ok" if call.ok else str(call.reason or call.code),
                f"{call.raw_chars:,}",
                f"{call.sent_chars:,}",
                f"{call.duration_seconds:.3f}",
                visible(call.args, _ARGS_CHARS),
            )
        if table.row_count:
            yield table
        else:
            yield Text("No such calls are recorded.")


def _table(names: Iterable[str]) -> Table:
    table = Table(box=None, pad_edge=False)
    for name in names:
        is_text = name in ("session", "started", "tool", "outcome", "args")
        table.add_column(
            name, justify="left" if is_text else "right", overflow="fold", no_wrap=not is_text
        )
    return table
