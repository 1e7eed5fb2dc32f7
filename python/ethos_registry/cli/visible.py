"""Untrusted text, made safe for a terminal."""

from __future__ import annotations

__all__ = ["first_line", "visible"]


def visible(text: str, max_chars: int | None = None) -> str:
    r"""Escape everything that a terminal would obey or hide.

    Control characters, ANSI, line ends, direction markers and lone surrogates; text over
    `max_chars` is cut and ends in `...`.

    >>> visible("red \x1b[31m!\n")
    'red \\x1b[31m!\\n'
    """
    if max_chars is not None and len(text) > max_chars:
        text = f"{text[: max(max_chars - 3, 0)]}..."
    if text.isprintable():
        return text
    return "".join(
        character if character.isprintable() else character.encode("unicode_escape").decode("ascii")
        for character in text
    )


def first_line(text: str) -> str:
    """The first line that is not blank, without the space around it."""
    return next((line.strip() for line in text.splitlines() if line.strip()), "")
