"""`ethos-registry recall`: the whole output of a command that `run` ran."""

from __future__ import annotations

from typing import Annotated

import typer

from ethos_registry.cli.output import write_bytes, write_rendered
from ethos_registry.cli.recall_table import RecallTable
from ethos_registry.cli.saved_outputs import SavedOutputs

__all__ = ["recall"]


def recall(
    output_id: Annotated[
        str | None, typer.Argument(metavar="ID", help="Without it: list what is saved.")
    ] = None,
) -> None:
    """Print the whole output of a command that `run` ran; exit code 3 if it is not saved."""
    outputs = SavedOutputs()
    if output_id is None:
        write_rendered(RecallTable(outputs.all(), outputs.folder))
    else:
        write_bytes(outputs.read(output_id))
