"""`ethos-registry reduce`: the output of a command, from standard input."""

from __future__ import annotations

import shlex
from typing import Annotated

import typer

from ethos_registry import reduce_text
from ethos_registry._cli.console import (
    CommandError,
    is_terminal,
    make_app,
    read_output,
    write_stdout,
)
from ethos_registry._cli.formats import load_own_formats
from ethos_registry._cli.options import (
    ExitCode,
    Level,
    TargetChars,
    complete_from,
    positive_number,
    read_policy,
)

app = make_app()

_REDUCERS = ("terminal", "read_file", "kanban_list", "head_tail", "generic")


@app.command(
    short_help="Reduce the output of a command.", context_settings={"allow_extra_args": True}
)
def reduce(
    context: typer.Context,
    tool: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="Reducer: terminal, read_file, kanban_list, head_tail or generic.",
            autocompletion=complete_from(_REDUCERS),
        ),
    ] = "terminal",
    command: Annotated[
        str | None, typer.Option(metavar="LINE", help="Command that printed the output.")
    ] = None,
    exit_code: ExitCode = None,
    budget: Annotated[
        int | None,
        typer.Option(parser=positive_number, metavar="N", help="Longest result, in characters."),
    ] = None,
    target_chars: TargetChars = None,
    level: Level = None,
) -> None:
    """Reduce the output of a command: standard input in, reduced text out."""
    policy = read_policy(target_chars, level)
    if context.args not in ([], ["-"]):
        files = shlex.join(context.args)
        reduced = f"ethos-registry reduce < {files}"
        if len(context.args) > 1:
            reduced = f"cat {files} | ethos-registry reduce"
        raise CommandError(f"the input is read from standard input: {reduced}")
    load_own_formats()
    text = reduce_text(
        read_output(),
        tool_name=tool,
        command=command,
        exit_code=exit_code,
        budget_chars=budget,
        policy=policy,
    )
    # Otherwise the shell's prompt would follow on the last line.
    ends_line = text.endswith("\n") or not text or not is_terminal()
    write_stdout(text if ends_line else f"{text}\n")
