"""Options that several commands share: which tools, and for whom."""

from __future__ import annotations

from typing import Annotated

import typer

__all__ = ["AsJson", "PersonalityFile", "PersonalityId", "ToolReferences"]

PersonalityFile = Annotated[
    str | None,
    typer.Option("--personality", metavar="FILE", help="YAML file of what an agent may use."),
]
PersonalityId = Annotated[
    str | None,
    typer.Option("--id", metavar="ID", help="Which personality, if the file has several."),
]
ToolReferences = Annotated[
    list[str] | None,
    typer.Option(
        "--tools",
        metavar="MODULE:ATTRIBUTE",
        help="A Tool, a list of tools, a ToolRegistry, or a function that returns one; can be "
        "repeated. Default: the ready tools, ethos_registry:ready_tools.",
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]
