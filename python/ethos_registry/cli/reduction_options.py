"""The options of commands that reduce text."""

from __future__ import annotations

from typing import Annotated, get_args

import typer

from ethos_registry import ReductionLevel, ReductionPolicy
from ethos_registry.cli.errors import CommandError
from ethos_registry.cli.numbers import positive_number

__all__ = ["Level", "TargetChars", "read_policy"]

_LEVELS = get_args(ReductionLevel)

TargetChars = Annotated[
    int | None,
    typer.Option(
        "--target-chars",
        parser=positive_number,
        metavar="N",
        help="Characters up to which nothing is left out. Default: as much as can be is left out.",
    ),
]
Level = Annotated[
    str | None,
    typer.Option(
        "--level",
        metavar="LEVEL",
        help="What is kept: lossless, facts or verdict. Default with --target-chars: facts.",
        autocompletion=lambda incomplete: [
            level for level in _LEVELS if level.startswith(incomplete)
        ],
    ),
]


def read_policy(target_chars: int | None, level: str | None) -> ReductionPolicy | None:
    """The policy of a command line; `None` if it names none.

    Raises:
        CommandError: The level is unknown.

    """
    if target_chars is None and level is None:
        return None
    for known in _LEVELS:
        if level in (None, known):
            return ReductionPolicy(target_chars, "facts" if level is None else known)
    raise CommandError(f"`--level` must be one of {', '.join(_LEVELS)}: {level}")
