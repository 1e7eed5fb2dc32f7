"""What a group of commands, such as `formats`, does without one of its commands."""

from __future__ import annotations

import typer

from ethos_registry.cli.output import write_text

__all__ = ["show_help_without_command"]


def show_help_without_command(context: typer.Context) -> None:
    """Print the help of the group on standard output, as the program itself does."""
    if context.invoked_subcommand is None:
        write_text(f"{context.get_help()}\n")
