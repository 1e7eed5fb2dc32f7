"""`ethos-registry run`: a command whose output is shown reduced and kept whole."""

from __future__ import annotations

import os
import re
import shlex
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass

from rich.console import Console

from ethos_registry import reduce_text
from ethos_registry.cli.child import Ended, listen
from ethos_registry.cli.errors import CommandError, say
from ethos_registry.cli.outputs import OTHER_FOLDER, Outputs

__all__ = ["ReducedRun", "run_reduced"]

NOT_EXECUTABLE = 126
NOT_FOUND = 127
_ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=")


@dataclass(frozen=True, slots=True)
class ReducedRun:
    """What came of a command."""

    exit_code: int
    """As a shell reports it: 128 and the signal for a death by signal."""
    text: str
    """What it printed, reduced."""
    account: str
    """One line: how it ended, how much was left out, where the whole output is."""


def run_reduced(argv: Sequence[str]) -> ReducedRun:
    """Run a program with this process's input and environment; both its outputs count as one.

    Ends when the program does, and when this process is told to: then the program is told too, and
    what it printed until its end is the output. A program that cannot be started is a
    `CommandError` with the exit code that a shell gives.
    """
    started = time.time()
    ended = _run(argv)
    exit_code = ended.status if ended.status >= 0 else 128 - ended.status
    whole = ended.output.decode("utf-8", errors="replace")
    command = shlex.join(argv)
    text = reduce_text(whole, command=command, exit_code=exit_code)
    account = f"exit {exit_code}, {len(whole):,} -> {len(text):,} characters"
    try:
        kept = Outputs().keep(command, exit_code, started, ended.output)
        what = f"all but {ended.omitted_bytes:,} bytes" if ended.omitted_bytes else "all"
        account += f", {what} of it: ethos-registry recall {kept.id}"
    except OSError as error:
        place = "" if error.filename is None else f": {error.filename}"
        reason = f"{error.strerror}{place}"
        way_out = "" if OTHER_FOLDER in reason else f"; {OTHER_FOLDER}"
        say(f"warning: the whole output is not kept: {reason}{way_out}")
    return ReducedRun(exit_code, text, account)


def _way_out(argv: Sequence[str]) -> str:
    if _ASSIGNMENT.match(argv[0]):
        return f"; variables are set by: run -- env {shlex.join(argv)}"
    if len(argv) > 1 or not any(sign.isspace() for sign in argv[0]):
        return ""
    return f"; a line of a shell runs as: run -- sh -c {shlex.quote(argv[0])}"


def _run(argv: Sequence[str]) -> Ended:
    console = Console(file=sys.stderr)
    try:
        with console.status("running", spinner="line") as status:
            return listen(argv, lambda heard: status.update(f"running, {heard:,} bytes"))
    except FileNotFoundError:
        if os.path.dirname(argv[0]) and os.path.exists(argv[0]):
            raise CommandError(
                f"cannot run {argv[0]!r}: the program that its first line names is not there",
                NOT_EXECUTABLE,
            ) from None
        raise CommandError(f"command not found: {argv[0]!r}{_way_out(argv)}", NOT_FOUND) from None
    except OSError as error:
        raise CommandError(f"cannot run {argv[0]!r}: {error.strerror}", NOT_EXECUTABLE) from None
