"""The calls of a running batch, drawn on standard error."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator, Sequence

from rich.console import Console, ConsoleOptions, RenderResult
from rich.live import Live
from rich.spinner import Spinner
from rich.table import Table
from rich.text import Text

from ethos_registry import CallResult, ToolCall, ToolProgressEvent
from ethos_registry.cli.render import call_title, milliseconds
from ethos_registry.cli.visible import visible

__all__ = ["LiveCalls", "live_calls"]


class LiveCalls:
    """The calls of a batch and their state; safe from threads.

    Progress events name a tool and no call, so the newest one is shown below all calls.
    """

    def __init__(self, calls: Sequence[ToolCall]) -> None:
        self._calls = calls
        self._results: dict[str, CallResult] = {}
        self._message = ""
        self._spinner: Spinner | None = None

    def on_result(self, result: CallResult) -> None:
        """Note that a call has ended."""
        self._results[result.tool_call_id] = result

    def on_event(self, event: ToolProgressEvent) -> None:
        """Note a tool's message to the user."""
        if event.visible_to("user"):
            last_line = event.message.rstrip().rpartition("\n")[2]
            self._message = visible(f"{event.tool_name}: {last_line}", 200)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """One line a call: whether it runs or how it ended, its title, its time."""
        if self._spinner is None:
            self._spinner = Spinner("line" if options.ascii_only else "dots")
        grid = Table.grid(padding=(0, 1))
        grid.add_column(width=6, no_wrap=True)
        grid.add_column(no_wrap=True, overflow="crop")
        grid.add_column(justify="right", no_wrap=True)
        for call in self._calls:
            title = call_title(call.name, call.args)
            result = self._results.get(call.tool_call_id)
            if result is None:
                grid.add_row(self._spinner, title, "")
                continue
            mark = Text("ok", style="green") if result.ok else Text("failed", style="red")
            grid.add_row(mark, title, milliseconds(result.duration_seconds))
        yield grid
        yield Text(self._message, style="dim", no_wrap=True, overflow="crop")


@contextlib.contextmanager
def live_calls(calls: Sequence[ToolCall]) -> Iterator[LiveCalls]:
    """Draw the calls while the block runs, and remove the drawing at its end.

    Draws nothing if standard error is not a terminal that can move its cursor.
    """
    shown = LiveCalls(calls)
    console = Console(stderr=True, markup=False, highlight=False, emoji=False)
    if sys.stderr is None or not sys.stderr.isatty() or console.is_dumb_terminal:
        yield shown
        return
    with Live(shown, console=console, transient=True, redirect_stdout=False, redirect_stderr=False):
        yield shown
