"""The options that several commands share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Annotated, cast, get_args

import typer

from ethos_registry._cli.console import CommandError
from ethos_registry.reduction import DefaultPolicy, ReductionLevel, ReductionPolicy

# Whole numbers as options.

LARGEST = 2**63 - 1


def any_whole_number(text: str) -> int:
    """A whole number of 64 bits: exit codes are that large on some systems."""
    return _between(text, -LARGEST - 1)


def positive_number(text: str) -> int:
    """A whole number from 1 on, of 64 bits."""
    return _between(text, 1)


def _between(text: str, least: int) -> int:
    try:
        number = int(text)
    except ValueError:
        raise typer.BadParameter(f"{text!r} is not a whole number") from None
    if not least <= number <= LARGEST:
        raise typer.BadParameter(f"{number} is not from {least} to {LARGEST}")
    return number


# For shell completion.

_PROVIDERS = (
    "anthropic",
    "openai",
    "openai_responses",
    "gemini",
    "ollama",
    "bedrock",
    "cohere",
)


def complete_from(choices: Sequence[str]) -> Callable[[str], list[str]]:
    """For shell completion."""
    return lambda incomplete: [choice for choice in choices if choice.startswith(incomplete)]


complete_provider = complete_from(_PROVIDERS)

# Options that several commands share: which tools, and for whom.

PersonalityFile = Annotated[
    str | None,
    typer.Option("--personality", metavar="FILE", help="YAML file of what an agent may use."),
]
PersonalityId = Annotated[
    str | None,
    typer.Option("--id", metavar="ID", help="Personality to use if the file has several."),
]
ToolReferences = Annotated[
    list[str] | None,
    typer.Option(
        "--tools",
        metavar="MODULE:ATTRIBUTE",
        help="A Tool, a list of tools, a ToolRegistry, or a function that returns one; can be "
        "repeated. Default: the ready tools, ethos_registry.tools:ready_tools.",
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


_LEVELS = get_args(ReductionLevel)

TargetChars = Annotated[
    int | None,
    typer.Option(
        "--target-chars",
        parser=positive_number,
        metavar="N",
        help="Longest reduced output, in characters. Default: 16000 for the output of commands.",
    ),
]
Level = Annotated[
    str | None,
    typer.Option(
        "--level",
        metavar="LEVEL",
        help="What to keep: lossless, facts or verdict. Default: facts.",
        autocompletion=complete_from(_LEVELS),
    ),
]
ExitCode = Annotated[
    int | None,
    typer.Option(parser=any_whole_number, metavar="N", help="Exit code of the command."),
]
WorkingDir = Annotated[
    str | None,
    typer.Option(
        metavar="FOLDER", help="Working directory of the tools. Default: the current one."
    ),
]


def read_policy(target_chars: int | None, level: str | None) -> ReductionPolicy | DefaultPolicy:
    """The policy of a command line.

    Raises:
        CommandError: The level is unknown.

    """
    if target_chars is None and level is None:
        return "default"
    if level not in (None, *_LEVELS):
        raise CommandError(f"`--level` must be one of {', '.join(_LEVELS)}: {level}")
    policy = ReductionPolicy(level=cast("ReductionLevel", level or "facts"))
    return policy if target_chars is None else replace(policy, target_chars=target_chars)
