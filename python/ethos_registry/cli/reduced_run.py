"""`ethos-registry run`: a command whose output is shown reduced and saved whole."""

from __future__ import annotations

import os
import re
import shlex
import time
from collections.abc import Sequence
from dataclasses import dataclass

from ethos_registry import ReductionPolicy, reduce_text
from ethos_registry.cli.child import ProgramEnd, run_program
from ethos_registry.cli.errors import CommandError, print_line
from ethos_registry.cli.live_output import live_output
from ethos_registry.cli.redaction import redacted_command, redacted_output
from ethos_registry.cli.saved_outputs import OTHER_FOLDER, SavedOutputs

__all__ = ["SAVE_VARIABLE", "ReducedRun", "run_reduced", "saves_by_default"]

NOT_EXECUTABLE = 126
NOT_FOUND = 127
SAVE_VARIABLE = "ETHOS_REGISTRY_SAVE"
_ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=")


@dataclass(frozen=True, slots=True)
class ReducedRun:
    """The result of a command."""

    exit_code: int
    """As a shell reports it: 128 plus the signal if a signal ended it."""
    text: str
    """Its output, reduced."""
    summary: str
    """One line: how it ended, how much was left out, how to read the whole output."""


def saves_by_default() -> bool:
    """Whether outputs are saved: not if `ETHOS_REGISTRY_SAVE` is `0`, `no`, `off` or `false`."""
    return os.environ.get(SAVE_VARIABLE, "").strip().lower() not in ("0", "no", "off", "false")


def run_reduced(
    argv: Sequence[str], *, save: bool = True, policy: ReductionPolicy | None = None
) -> ReducedRun:
    """Run a program with this process's input and environment; both its outputs count as one.

    Returns when the program has ended; see `run_program` for signals. The command line is
    saved without the secrets in it, the output without credentials of known shapes.

    Raises:
        CommandError: The program cannot be started; with the exit code that a shell gives.

    """
    started = time.time()
    end = _run(argv)
    exit_code = end.status if end.status >= 0 else 128 - end.status
    whole = end.output.decode("utf-8", errors="replace")
    text = reduce_text(whole, command=shlex.join(argv), exit_code=exit_code, policy=policy)
    summary = f"exit {exit_code}, {len(whole):,} -> {len(text):,} characters"
    if save:
        command = redacted_command(argv)
        recall = _save(command, exit_code, started, end)
        if recall and (text.rstrip("\n") != whole.rstrip("\n") or end.omitted_bytes):
            summary += recall
    return ReducedRun(exit_code, text, summary)


def _save(command: str, exit_code: int, started: float, end: ProgramEnd) -> str:
    """The part of the summary about the saved output; empty if it could not be saved."""
    try:
        saved = SavedOutputs().save(command, exit_code, started, redacted_output(end.output))
    except OSError as error:
        place = "" if error.filename is None else f": {error.filename}"
        reason = f"{error.strerror}{place}"
        way_out = "" if OTHER_FOLDER in reason else f"; {OTHER_FOLDER}"
        print_line(f"warning: the whole output is not saved: {reason}{way_out}")
        return ""
    what = f"all but {end.omitted_bytes:,} bytes" if end.omitted_bytes else "all"
    return f", {what} of it: ethos-registry recall {saved.id}"


def _hint(argv: Sequence[str]) -> str:
    if _ASSIGNMENT.match(argv[0]):
        return f"; set variables with: run -- env {shlex.join(argv)}"
    if len(argv) > 1 or not any(character.isspace() for character in argv[0]):
        return ""
    return f"; run a shell line with: run -- sh -c {shlex.quote(argv[0])}"


def _run(argv: Sequence[str]) -> ProgramEnd:
    try:
        with live_output() as live:
            return run_program(argv, live.add)
    except FileNotFoundError:
        if os.path.dirname(argv[0]) and os.path.exists(argv[0]):
            raise CommandError(
                f"cannot run {argv[0]!r}: the interpreter in its first line does not exist",
                NOT_EXECUTABLE,
            ) from None
        raise CommandError(f"command not found: {argv[0]!r}{_hint(argv)}", NOT_FOUND) from None
    except OSError as error:
        raise CommandError(f"cannot run {argv[0]!r}: {error.strerror}", NOT_EXECUTABLE) from None
