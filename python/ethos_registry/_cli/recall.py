"""Whole outputs of commands, saved on this machine so that what was left out can be read again."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from typing import Annotated

import typer
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from ethos_registry import _core
from ethos_registry._cli.console import (
    NOTHING_FOUND,
    CommandError,
    EndedError,
    make_app,
    visible,
    write_rendered,
    write_stdout,
)

app = make_app()


FOLDER_VARIABLE = "ETHOS_REGISTRY_OUTPUTS"
MAX_OUTPUTS = 200
MAX_AGE_DAYS = 7
SAVE_VARIABLE = "ETHOS_REGISTRY_SAVE"
OTHER_FOLDER = f"{FOLDER_VARIABLE} may name another folder"
SAVING = (
    f"The whole output is saved on this machine for {MAX_AGE_DAYS} days (the last {MAX_OUTPUTS}, "
    f"at most 1 GiB), readable by you only, in the folder {FOLDER_VARIABLE}, by default "
    "ethos-registry/outputs where programs keep their state (Linux: ~/.local/state). Secrets that "
    "are recognised in the command line or the output are not saved. --no-save or "
    f"{SAVE_VARIABLE}=0 saves nothing."
)
"""For the help of commands."""
_ID = re.compile(r"[0-9a-f]{8}")


# `ethos-registry recall` without an id: the saved outputs as a table.


def drawn_outputs(archive: _core.OutputArchive, width: int) -> Iterator[RenderableType]:
    """Saved outputs, the newest first: id, time, exit code, size, command."""
    outputs = archive.all()
    if not outputs:
        place = visible(repr(str(archive.folder)))
        yield Text(f"No outputs are saved in {place}; `ethos-registry run -- COMMAND` saves one.")
        return
    table = Table(box=None, pad_edge=False)
    table.add_column("id", no_wrap=True)
    table.add_column("started", no_wrap=True)
    table.add_column("exit", justify="right")
    table.add_column("bytes", justify="right")
    table.add_column("command", overflow="fold")
    for output_id, command, exit_code, started, size_bytes in outputs:
        time = datetime.fromtimestamp(started).strftime("%Y-%m-%d %H:%M:%S")
        table.add_row(output_id, time, str(exit_code), f"{size_bytes:,}", visible(command, 200))
    yield table


# `ethos-registry recall` and `show`: the whole output of a command.


@app.command(short_help="Print the complete output of an earlier `run`.", epilog=SAVING)
def recall(
    output_id: Annotated[
        str | None, typer.Argument(metavar="ID", help="Output to print. Default: list all.")
    ] = None,
    exit_code: Annotated[
        bool, typer.Option("--exit-code", help="Exit with the exit code of the command.")
    ] = False,
) -> None:
    """Print the complete output of an earlier `run` or hook; exit code 3 if it is not saved."""
    archive = _core.OutputArchive()
    if output_id is None:
        write_rendered(drawn_outputs, archive)
        return
    # Read before: printing takes a while, and another process may remove the output.
    codes = {each[0]: each[2] for each in archive.all()}
    show(output_id)
    if exit_code:
        raise EndedError(codes.get(output_id, 0) & 0xFF)


@app.command(short_help="Print the complete output that a result refers to.")
def show(
    output_id: Annotated[str, typer.Argument(metavar="ID", help="Output to print.")],
) -> None:
    """Print the complete output that a result refers to; exit code 3 if it is not saved."""
    if not _ID.fullmatch(output_id):
        raise CommandError(
            f"not an id: {output_id!r}: ids are 8 digits of 0-9 and a-f; "
            "`ethos-registry recall` lists them"
        )
    archive = _core.OutputArchive()
    content = archive.read(output_id)
    if content is None:
        raise CommandError(
            f"no output {output_id} in {str(archive.folder)!r}, where the last {MAX_OUTPUTS} of "
            f"{MAX_AGE_DAYS} days are kept; `ethos-registry recall` lists them",
            NOTHING_FOUND,
        )
    archive.note_recall(output_id, len(content.decode("utf-8", errors="replace")))
    write_stdout(content)
