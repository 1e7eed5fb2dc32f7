"""One program run for a model: its output kept and reported, its ending put into words."""

from __future__ import annotations

import os
import signal
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ethos_registry.contract.context import ToolContext
from ethos_registry.toolkit.output import BoundedOutput, OutputProgress
from ethos_registry.toolkit.process import run_process

__all__ = ["Ending", "run_command"]

_ENVIRONMENT = {
    "GIT_PAGER": "cat",
    "GIT_TERMINAL_PROMPT": "0",
    "NO_COLOR": "1",
    "PAGER": "cat",
    "TERM": "dumb",
}
_COLOUR_SWITCHES = ("CLICOLOR_FORCE", "COLORTERM", "FORCE_COLOR", "PY_COLORS")


@dataclass(frozen=True, slots=True)
class Ending:
    """How a program ended, and what it wrote."""

    exit_code: int | None
    """Negative: the signal that ended it; `None`: time was up."""
    output: str
    dropped_bytes: int
    timeout_seconds: float

    @property
    def sentence(self) -> str:
        """The ending in words, for one that is no success."""
        if self.exit_code is None:
            return f"Command was killed after {self.timeout_seconds:g} s: time was up."
        if self.exit_code < 0:
            name = _signal_name(-self.exit_code)
            return f"Command was killed by signal {name} ({-self.exit_code})."
        return f"Command exited with code {self.exit_code}."

    @property
    def error_fields(self) -> Mapping[str, Any]:
        """The extra fields of an error that says so."""
        if self.exit_code is None:
            return {"exit_code": None, "timed_out": True}
        return {"exit_code": self.exit_code}

    @property
    def structured(self) -> dict[str, Any]:
        """What programs are told in either case."""
        return {"dropped_bytes": self.dropped_bytes} if self.dropped_bytes else {}


async def run_command(
    argv: Sequence[str],
    context: ToolContext,
    *,
    directory: str,
    timeout_seconds: float,
    max_output_bytes: int,
    variables: Mapping[str, str] | None = None,
) -> Ending:
    """Run a program as `run_process` does, with this process's environment and `variables`.

    Without pagers, prompts and colours. Of its output at most `max_output_bytes` are kept, the
    start and the end; it is reported to the user while it is written. `OSError` or `ValueError`
    when the program cannot be started.
    """
    output = BoundedOutput(max_output_bytes)
    progress = OutputProgress(lambda text: context.report(text, audience="user"))

    def take(piece: bytes) -> None:
        output.add(piece)
        progress.add(piece)

    kept = {name: value for name, value in os.environ.items() if name not in _COLOUR_SWITCHES}
    try:
        exit_code = await run_process(
            argv,
            directory=directory,
            environment=kept | _ENVIRONMENT | dict(variables or {}),
            timeout_seconds=timeout_seconds,
            on_output=take,
        )
    finally:
        progress.cancel()
    progress.finish()
    text, dropped = output.text()
    return Ending(exit_code, text, dropped, timeout_seconds)


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return "number"
