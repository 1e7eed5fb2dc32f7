"""The commands `recordings list`, `recordings show` and `recordings replay`."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import Annotated, Any

import typer
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from ethos_registry import Tool, ToolContext, ToolRegistry, default_reducers, err, ok
from ethos_registry._cli.console import (
    NOTHING_FOUND,
    CommandError,
    is_terminal,
    make_group,
    print_line,
    visible,
    write_json,
    write_rendered,
    write_report,
    write_stdout,
)
from ethos_registry._cli.options import AsJson, any_whole_number, positive_number
from ethos_registry.recording import (
    RecordedCall,
    RecordedTurn,
    Recording,
    read_recording,
    recorded_turns,
)
from ethos_registry.types import DEFAULT_BUDGET_CHARS

# Recorded turns and calls as tables.

_NAME_CHARS = 40
_ARGS_CHARS = 200


def started(seconds: float) -> str:
    """A time as people read it, in UTC."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M:%S")


def drawn_turns(turns: list[RecordedTurn], width: int) -> Iterator[RenderableType]:
    """Turns in the order of their first calls."""
    rows = [
        {
            "session": visible(turn.session_id, _NAME_CHARS) or "-",
            "turn": str(turn.turn),
            "started": started(turn.started_at_seconds),
            "calls": f"{turn.calls:,}",
            "failed": f"{turn.failed_calls:,}",
            "raw": f"{turn.raw_chars:,}",
            "sent": f"{turn.sent_chars:,}",
            "numbers": f"{turn.first_number}-{turn.last_number}",
        }
        for turn in turns
    ]
    yield _table(rows) if rows else Text("No calls are recorded.")


def drawn_calls(calls: Iterable[RecordedCall], width: int) -> Iterator[RenderableType]:
    """Calls in the order in which they were recorded."""
    rows = [
        {
            "number": str(call.number),
            "turn": str(call.turn),
            "tool": visible(call.tool_name, _NAME_CHARS),
            "outcome": "ok" if call.ok else str(call.reason or call.code),
            "raw": f"{call.raw_chars:,}",
            "sent": f"{call.sent_chars:,}",
            "seconds": f"{call.duration_seconds:.3f}",
            "args": visible(call.args, _ARGS_CHARS),
        }
        for call in calls
    ]
    yield _table(rows) if rows else Text("No such calls are recorded.")


def _table(rows: list[dict[str, str]]) -> Table:
    table = Table(box=None, pad_edge=False)
    for name in rows[0]:
        is_text = name in ("session", "started", "tool", "outcome", "args")
        table.add_column(
            name, justify="left" if is_text else "right", overflow="fold", no_wrap=not is_text
        )
    for row in rows:
        table.add_row(*row.values())
    return table


app = make_group(
    "List, show and replay recorded calls.",
    "List, show and replay recorded calls.",
)

Place = Annotated[
    str, typer.Argument(metavar="RECORDING", help="SQLite file, Parquet file or folder of them.")
]
Number = Annotated[
    int, typer.Argument(metavar="NUMBER", parser=positive_number, help="As `list` shows it.")
]


@app.command("list", short_help="List the turns, or the calls of a session.")
def list_(
    place: Place,
    session: Annotated[
        str | None, typer.Option(metavar="ID", help="List the calls of this session.")
    ] = None,
    turn: Annotated[
        int | None,
        typer.Option(metavar="N", parser=any_whole_number, help="List the calls of this turn."),
    ] = None,
    tool: Annotated[
        str | None, typer.Option(metavar="NAME", help="List the calls of this tool.")
    ] = None,
    json: AsJson = False,
) -> None:
    """List the turns of a recording; or the calls of a session, a turn or a tool."""
    recording = read_recording(place)
    if (session, turn, tool) == (None, None, None):
        write_report(recorded_turns(recording.calls()), drawn_turns, as_json=json)
        return
    calls = recording.calls(session_id=session, turn=turn, tool=tool)
    if json:
        write_json([_without_output(call) for call in calls])
    else:
        write_rendered(drawn_calls, calls)


@app.command(short_help="Show one call.")
def show(
    place: Place,
    number: Number,
    raw: Annotated[bool, typer.Option("--raw", help="Print the tool's output unreduced.")] = False,
    json: AsJson = False,
) -> None:
    """Show one call; exit code 3 if the recording has none of that number."""
    call = _found(read_recording(place), number)
    if json:
        write_json(call)
        return
    if raw:
        _write(_raw_of(call))
        return
    lines = {
        "tool": call.tool_name,
        "call": f"{call.tool_call_id}, turn {call.turn} of session {call.session_id or '-'}",
        "agent": call.caller_id or "-",
        "started": f"{started(call.started_at_seconds)} UTC, {call.duration_seconds:.3f} s",
        "outcome": _outcome(call),
        "args": call.args,
        "size": f"{call.raw_chars:,} characters, {call.reduced_chars:,} reduced, "
        f"{call.sent_chars:,} sent",
    }
    if call.cost_usd is not None:
        lines["cost"] = f"${call.cost_usd:.6f}"
    write_stdout("".join(f"{name:<8} {visible(text)}\n" for name, text in lines.items()))
    write_stdout("\n")
    _write(call.value)


@app.command(short_help="Reduce a recorded result again.")
def replay(
    place: Place,
    number: Number,
    budget: Annotated[
        int,
        typer.Option(metavar="N", parser=positive_number, help="Longest result, in characters."),
    ] = DEFAULT_BUDGET_CHARS,
    json: AsJson = False,
) -> None:
    """Reduce a recorded result again, with the present reducers, and compare the sizes."""
    call = _found(read_recording(place), number)
    result = _replayed(call, budget)
    if json:
        write_json(
            {
                "number": call.number,
                "tool": call.tool_name,
                "same": result.text == call.value,
                "raw_chars": call.raw_chars,
                "recorded_chars": call.sent_chars,
                "replayed_chars": result.sent_chars,
                "text": result.text,
            }
        )
        return
    _write(result.text)
    same = "the same text" if result.text == call.value else "another text"
    print_line(
        f"{call.raw_chars:,} characters: {call.sent_chars:,} sent when it was recorded, "
        f"{result.sent_chars:,} now: {same}"
    )


def _found(recording: Recording, number: int) -> RecordedCall:
    call = recording.call(number)
    if call is None:
        raise CommandError(
            f"{recording.place} has no call {number}; `ethos-registry recordings list` shows them",
            NOTHING_FOUND,
        )
    return call


def _raw_of(call: RecordedCall) -> str:
    if call.raw is None:
        raise CommandError(f"call {call.number} has no output: {_outcome(call)}", NOTHING_FOUND)
    return call.raw


def _replayed(call: RecordedCall, budget_chars: int) -> Any:
    """The result of a tool of this name that returns the recorded output."""
    text = _raw_of(call)
    exit_code: dict[str, Any] = {} if call.exit_code is None else {"exit_code": call.exit_code}
    answer = ok(text, structured=exit_code) if call.ok else err(text, **exit_code)
    recorded = Tool(call.tool_name, "", {"type": "object"}, lambda args, context: answer)
    registry = ToolRegistry([recorded], reducer_registry=default_reducers())
    args = json.loads(call.args)
    again = {"id": call.tool_call_id, "name": call.tool_name, "args": args or {}}
    context = ToolContext(current_turn=call.turn, result_budget_chars=budget_chars)
    return registry.execute_parallel_sync([again], context)[0]


def _outcome(call: RecordedCall) -> str:
    exit_code = "" if call.exit_code is None else f", exit code {call.exit_code}"
    if call.ok:
        return f"ok{exit_code}"
    reason = "" if call.reason is None else f" ({call.reason})"
    return f"{call.code}{reason}{exit_code}"


def _without_output(call: RecordedCall) -> dict[str, Any]:
    fields = dataclasses.asdict(call)
    del fields["raw"], fields["value"]
    fields["started_at"] = datetime.fromtimestamp(call.started_at_seconds, UTC).isoformat()
    return fields


def _write(text: str) -> None:
    """Recorded output; a terminal gets its control characters escaped."""
    if is_terminal():
        text = "\n".join(visible(line).replace("\\t", "\t") for line in text.split("\n"))
    write_stdout(text if text.endswith("\n") or not text else f"{text}\n")
