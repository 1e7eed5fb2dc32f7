"""Whole numbers as options."""

from __future__ import annotations

import typer

__all__ = ["any_whole_number", "positive_number"]

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
