"""`ethos-registry recall` without an id: what is kept, as a table."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from rich.console import Console, ConsoleOptions, RenderResult
from rich.table import Table
from rich.text import Text

from ethos_registry.cli.outputs import KeptOutput
from ethos_registry.cli.visible import visible

__all__ = ["RenderedOutputs"]


class RenderedOutputs:
    """Outputs, the newest first: id, time, exit code, size, command."""

    def __init__(self, kept: Sequence[KeptOutput], folder: Path) -> None:
        self._kept = kept
        self._folder = folder

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        if not self._kept:
            place = visible(repr(str(self._folder)))
            yield Text(f"Nothing is kept in {place}: `ethos-registry run -- COMMAND` keeps there.")
            return
        table = Table(box=None, pad_edge=False)
        table.add_column("id", no_wrap=True)
        table.add_column("started", no_wrap=True)
        table.add_column("exit", justify="right")
        table.add_column("bytes", justify="right")
        table.add_column("command", overflow="fold")
        for kept in self._kept:
            started = datetime.fromtimestamp(kept.started).strftime("%Y-%m-%d %H:%M:%S")
            table.add_row(
                kept.id,
                started,
                str(kept.exit_code),
                f"{kept.size_bytes:,}",
                visible(kept.command, 200),
            )
        yield table
