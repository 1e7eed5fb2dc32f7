"""`ethos-registry demo`: a real turn on this folder."""

from __future__ import annotations

from typing import Annotated

import typer

from ethos_registry import DEFAULT_BUDGET_CHARS
from ethos_registry.cli.demo import run_demo
from ethos_registry.cli.numbers import positive_number
from ethos_registry.cli.output import json_text, write_file, write_json, write_rendered
from ethos_registry.cli.render import RenderedReport
from ethos_registry.cli.tool_options import AsJson

__all__ = ["demo"]

_SOME_CALL_FAILED = 1


def demo(
    budget: Annotated[
        int,
        typer.Option(
            parser=positive_number,
            metavar="N",
            help="Characters that all results may have together.",
        ),
    ] = DEFAULT_BUDGET_CHARS,
    json: AsJson = False,
    save: Annotated[
        str | None, typer.Option(metavar="FILE", help="Write the JSON of this run to a file too.")
    ] = None,
) -> None:
    """Run a real turn on this folder: git status, git log, a long file, a folder, a todo list."""
    report = run_demo(budget)
    if save is not None:
        write_file(save, json_text(report))
    if json:
        write_json(report)
    else:
        write_rendered(RenderedReport(report))
    if any(call["outcome"] != "ok" for call in report["calls"]):
        raise typer.Exit(_SOME_CALL_FAILED)
