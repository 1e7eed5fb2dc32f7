"""`ethos-registry demo`: one recorded turn, run by a plain loop and by a registry, side by side."""

from __future__ import annotations

import gzip
import threading
import time
from collections.abc import Callable, Iterator
from importlib.resources import files
from typing import Annotated, Any, TypedDict

import typer
from rich import box
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from ethos_registry import Personality, ToolContext, ToolError, ToolRegistry, default_reducers, err
from ethos_registry._cli.console import (
    json_text,
    make_app,
    visible,
    write_json,
    write_output,
    write_rendered,
)
from ethos_registry._cli.options import AsJson

app = make_app()


# The tools of a shop's repository. The output of its tests was recorded; nothing is changed.

TEST_COMMAND = "python -m pytest -v"
TILL = '''\
"""What a customer pays."""

from decimal import ROUND_HALF_EVEN, Decimal

CENT = Decimal("0.01")


def total(prices, discount=Decimal(0)):
    """The sum of the prices after the discount, in whole cents."""
    return (sum(prices) * (1 - discount)).quantize(CENT, ROUND_HALF_EVEN)
'''
BUDGET_CHARS = 6_000
TIMEOUT_SECONDS = 0.5


def recorded_output() -> str:
    """The output of pytest in the repository: 1,983 lines, two failures among 1,952 tests."""
    data = files("ethos_registry._cli").joinpath("demo_output.txt.gz").read_bytes()
    return gzip.decompress(data).decode()


def terminal(command: str) -> ToolError:
    """Run a command."""
    return err(recorded_output(), exit_code=1)


def read_file(path: str) -> str:
    """Read a file of the repository."""
    return TILL


def find_usages(name: str) -> list[str]:
    """List the lines that use a name."""
    return ["shop/receipt.py:12", "shop/receipt.py:40", "shop/till.py:8"]


def fetch_rates(currency: str) -> str:
    """Get the exchange rate of a currency from the bank."""
    time.sleep(60)
    return "1.08"


def delete_branch(branch: str) -> str:
    """Delete a branch and its work."""
    return f"Deleted branch {branch}."


TOOLS: dict[str, Callable[..., Any]] = {
    tool.__name__: tool for tool in (terminal, read_file, find_usages, fetch_rates, delete_branch)
}
CALLS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("terminal", {"command": TEST_COMMAND}),
    ("delete_branch", {"branch": "release"}),
    ("read_file", {"file": "shop/till.py"}),
    ("fetch_rates", {"currency": "USD"}),
    ("read_file", {"path": "shop/till.py"}),
    ("find_usages", {"name": "total"}),
)
PERSONALITY = Personality("coder", toolset=["toolset:code"])


class ComparedCall(TypedDict):
    """One call: what a loop without a registry would send to the model, and what is sent."""

    name: str
    args: dict[str, Any]
    before: str
    after: str
    ok: bool


def run_turn() -> list[ComparedCall]:
    """Run the turn both ways: every function is called for real in both."""
    registry = ToolRegistry(reducer_registry=default_reducers())
    for name, function in TOOLS.items():
        toolset = "admin" if name == "delete_branch" else "code"
        registry.tool(toolset=toolset, timeout_seconds=TIMEOUT_SECONDS)(function)
    calls = [
        {"id": str(number), "name": name, "args": args}
        for number, (name, args) in enumerate(CALLS, 1)
    ]
    context = ToolContext(result_budget_chars=BUDGET_CHARS)
    results = registry.view(PERSONALITY).execute_sync(calls, context)
    return [
        {"name": name, "args": args, "before": before, "after": result.text, "ok": result.ok}
        for (name, args), before, result in zip(
            CALLS, [_without_registry(*call) for call in CALLS], results, strict=True
        )
    ]


def _without_registry(name: str, args: dict[str, Any]) -> str:
    """What `str(tools[name](**args))` gives."""
    ended: list[str] = []

    def call() -> None:
        try:
            answer = TOOLS[name](**args)
            ended.append(answer.text if isinstance(answer, ToolError) else str(answer))
        except Exception as error:
            ended.append(f"{type(error).__name__}: {error}")

    thread = threading.Thread(target=call, daemon=True)
    thread.start()
    thread.join(TIMEOUT_SECONDS)
    return ended[0] if ended else "(no answer: the loop still waits)"


# The two columns.

_BEFORE_LINES = 12
_MIN_COLUMN_WIDTH = 36


def drawn_turn(turn: list[ComparedCall], width: int) -> Iterator[RenderableType]:
    """Each call with both answers side by side, below each other where it is narrow."""
    yield Text(
        f"A model's reply has {len(turn)} tool calls. Each runs twice: as a plain "
        f"function, and in a registry with a budget of {BUDGET_CHARS:,} characters for all "
        "results."
    )
    yield Text()
    if width >= 2 * _MIN_COLUMN_WIDTH + 5:
        table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, show_lines=True)
        table.add_column("Without a registry", ratio=1, overflow="fold")
        table.add_column("What the model reads", ratio=1, overflow="fold")
        for call in turn:
            title = _title(call)
            table.add_row(
                Text.assemble(title, "\n", _before(call)),
                Text.assemble(title, "\n", _after(call)),
            )
        yield table
    else:
        for call in turn:
            yield _title(call)
            yield Text("Without a registry", style="dim")
            yield _before(call)
            yield Text("What the model reads", style="dim")
            yield _after(call)
            yield Text()
    yield Text()
    yield from _summary(turn)


def _title(call: ComparedCall) -> Text:
    values = ", ".join(f"{name}={value!r}" for name, value in call["args"].items())
    return Text(f"{call['name']}({values})", style="bold")


def _before(call: ComparedCall) -> Text:
    lines = call["before"].splitlines()
    shown = lines[:_BEFORE_LINES]
    if len(lines) > len(shown):
        rest = sum(map(len, lines[_BEFORE_LINES:]))
        shown.append(f"... and {len(lines) - len(shown):,} more lines, {rest:,} characters")
    return _lines(shown, "")


def _after(call: ComparedCall) -> Text:
    return _lines(call["after"].splitlines(), "" if call["ok"] else "yellow")


def _lines(lines: list[str], style: str) -> Text:
    return Text("\n".join(visible(line) for line in lines), style=style)


def _summary(turn: list[ComparedCall]) -> Iterator[Text]:
    before = sum(len(call["before"]) for call in turn)
    after = sum(len(call["after"]) for call in turn)
    yield Text(
        f"{before:,} characters without a registry, {after:,} with one: both failures, their "
        "places and the counts are kept. The branch was not deleted, the wrong argument is named, "
        f"the call that hangs was answered after {TIMEOUT_SECONDS} s, and no other call waited."
    )


@app.command(short_help="Show one turn without a registry and with one.")
def demo(
    json: AsJson = False,
    save: Annotated[
        str | None, typer.Option(metavar="FILE", help="Write the JSON of this run to a file too.")
    ] = None,
) -> None:
    """Run one recorded turn without a registry and with one, and show both side by side."""
    turn = run_turn()
    report = {"budget_chars": BUDGET_CHARS, "calls": turn}
    if save is not None:
        write_output(save, json_text(report))
    if json:
        write_json(report)
    else:
        write_rendered(drawn_turn, turn)
