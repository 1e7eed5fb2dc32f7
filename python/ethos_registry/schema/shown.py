"""Values in a few characters, for messages; nested values are not walked."""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["clipped", "shown"]

MAX_VALUE_CHARS = 60
"""The most characters of a value in a message."""

_MAX_SHOWN_BITS = 128  # longer numbers are shown by their length: `str` refuses huge ones


def shown(value: object) -> str:
    """A value in the terms of JSON, in about `MAX_VALUE_CHARS` characters at most.

    >>> shown("abc"), shown(None), shown([1, 2]), shown({})
    ("'abc'", 'null', 'a list', 'an object')
    """
    if isinstance(value, str):
        return _shown_text(str.__str__(value))
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        if value.bit_length() > _MAX_SHOWN_BITS:
            return f"a whole number of about {value.bit_length() * 30103 // 100000 + 1} digits"
        return int.__repr__(value)
    if isinstance(value, float):
        return float.__repr__(value)
    if isinstance(value, Mapping):
        return "an object"
    if isinstance(value, list | tuple | set | frozenset):
        return "a list"
    return clipped(f"a {type(value).__name__}", MAX_VALUE_CHARS)


def clipped(text: str, limit_chars: int) -> str:
    """The text on one line, shortened with an ellipsis to `limit_chars` characters.

    >>> clipped("a long story", 7)
    'a long…'
    """
    if len(text) > limit_chars or "\n" in text:
        text = " ".join(text[: 4 * limit_chars].split())
    return text if len(text) <= limit_chars else text[: limit_chars - 1] + "…"


def _shown_text(text: str) -> str:
    if not text:
        return "an empty string"
    quoted = repr(text[:MAX_VALUE_CHARS])
    if len(text) <= MAX_VALUE_CHARS and len(quoted) <= MAX_VALUE_CHARS:
        return quoted
    return f"{quoted[: MAX_VALUE_CHARS - 2]}…{quoted[0]} ({len(text)} characters)"
