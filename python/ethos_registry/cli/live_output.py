"""The last lines of a running command, dimmed, on the terminal of standard error."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable, Iterator

from rich.console import Console, ConsoleOptions, RenderResult
from rich.live import Live
from rich.text import Text

from ethos_registry.cli.visible import visible

__all__ = ["LiveOutput", "live_output"]

MAX_LINES = 8
MAX_LINE_BYTES = 2_000
_TAIL_BYTES = 64 * 1024


class LiveOutput:
    """The end of an output, as lines, and how much it is so far; safe from threads."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._started = clock()
        self._bytes = 0
        self._tail = b""

    def add(self, piece: bytes) -> None:
        """Add the next bytes of the output."""
        self._bytes += len(piece)
        self._tail = (self._tail + piece[-_TAIL_BYTES:])[-_TAIL_BYTES:]

    def lines(self) -> list[str]:
        """The last lines, without terminal commands; of a progress bar its newest state."""
        lines = self._tail.rstrip(b"\r\n").split(b"\n")[-MAX_LINES:]
        newest = (line.rstrip(b"\r").rpartition(b"\r")[2][-MAX_LINE_BYTES:] for line in lines)
        texts = (_plain(line.decode("utf-8", errors="replace")) for line in newest)
        return [text for text in texts if text.strip()]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for line in self.lines():
            yield Text(line, style="dim", no_wrap=True, overflow="crop")
        seconds = self._clock() - self._started
        yield Text(f"running, {self._bytes:,} bytes, {seconds:.0f} s", style="dim italic")


def _plain(text: str) -> str:
    return visible(Text.from_ansi(text).plain.expandtabs(4))


@contextlib.contextmanager
def live_output() -> Iterator[LiveOutput]:
    """Draw the output while the block runs, and remove the drawing at its end.

    Draws nothing if standard error is not a terminal that can move its cursor.
    """
    shown = LiveOutput()
    console = Console(stderr=True, markup=False, highlight=False, emoji=False)
    if sys.stderr is None or not sys.stderr.isatty() or console.is_dumb_terminal:
        yield shown
        return
    with Live(
        shown,
        console=console,
        transient=True,
        refresh_per_second=8,
        redirect_stdout=False,
        redirect_stderr=False,
    ):
        yield shown
