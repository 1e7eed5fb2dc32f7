"""`ethos-registry recall` without an id: the saved outputs as a table."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from rich.console import Console, ConsoleOptions, RenderResult
from rich.table import Table
from rich.text import Text

from ethos_registry.cli.saved_outputs import SavedOutput
from ethos_registry.cli.visible import visible

__all__ = ["RecallTable"]


class RecallTable:
    """Saved outputs, the newest first: id, time, exit code, size, command."""

    def __init__(self, outputs: Sequence[SavedOutput], folder: Path) -> None:
        self._outputs = outputs
        self._folder = folder

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        if not self._outputs:
            place = visible(repr(str(self._folder)))
            yield Text(
                f"No outputs are saved in {place}; `ethos-registry run -- COMMAND` saves one."
            )
            return
        table = Table(box=None, pad_edge=False)
        table.add_column("id", no_wrap=True)
        table.add_column("started", no_wrap=True)
        table.add_column("exit", justify="right")
        table.add_column("bytes", justify="right")
        table.add_column("command", overflow="fold")
        for output in self._outputs:
            started = datetime.fromtimestamp(output.started).strftime("%Y-%m-%d %H:%M:%S")
            table.add_row(
                output.id,
                started,
                str(output.exit_code),
                f"{output.size_bytes:,}",
                visible(output.command, 200),
            )
        yield table
