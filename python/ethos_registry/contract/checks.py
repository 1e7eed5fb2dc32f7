"""Checks of arguments: the error is one line with the name, the value and the way out."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping
from typing import Any

from ethos_registry.contract.errors import ConfigError

__all__ = [
    "boolean",
    "brief",
    "finite_number",
    "has_lone_surrogate",
    "one_of",
    "optional_text",
    "optional_unicode_text",
    "path",
    "strings",
    "text",
    "unicode_text",
]

MAX_VALUE_CHARS = 80
"""The most characters of a value in a message."""


def _fail(what: str, expected: str, value: object) -> ConfigError:
    return ConfigError(
        f"`{what}` must be {expected}: {brief(value)}", context={"field": what, "value": value}
    )


def brief(value: object) -> str:
    """A value for a message: its `repr` on one line, at most `MAX_VALUE_CHARS` characters."""
    if type(value) is str:
        value = value[:MAX_VALUE_CHARS]
    try:
        shown = " ".join(repr(value).split("\n"))
    except Exception:  # a `repr` that raises, or an int that is too long for one
        shown = f"a value of type {type(value).__name__}"
    return shown if len(shown) <= MAX_VALUE_CHARS else f"{shown[: MAX_VALUE_CHARS - 3]}..."


def text(value: object, what: str) -> str:
    """`value` if it is a string."""
    if not isinstance(value, str):
        raise _fail(what, "a string", value)
    return value


def optional_text(value: object, what: str) -> str | None:
    """`value` if it is a string or `None`."""
    return None if value is None else text(value, what)


def unicode_text(value: object, what: str) -> str:
    """`value` if it is a string without lone surrogates, which UTF-8 cannot encode."""
    checked = text(value, what)
    if has_lone_surrogate(checked):
        raise _fail(what, "text without lone surrogates, which UTF-8 cannot encode", value)
    return checked


def optional_unicode_text(value: object, what: str) -> str | None:
    """The same, or `None`."""
    return None if value is None else unicode_text(value, what)


def has_lone_surrogate(value: str) -> bool:
    """Whether UTF-8 cannot encode the text."""
    if value.isascii():
        return False
    try:
        value.encode()
    except UnicodeEncodeError:
        return True
    return False


def path(value: object, what: str) -> str:
    """A path as a string, from a string or `os.PathLike`; not empty and without NUL."""
    checked = os.fspath(value) if isinstance(value, os.PathLike) else value
    if not isinstance(checked, str) or not checked or "\0" in checked:
        raise _fail(what, "a path", value)
    return checked


def boolean(value: object, what: str) -> bool:
    """`value` if it is `True` or `False`; truthiness is not enough."""
    if not isinstance(value, bool):
        raise _fail(what, "True or False", value)
    return value


def one_of(value: object, choices: Iterable[str], what: str) -> str:
    """`value` if it is one of the `choices`."""
    choices = tuple(choices)
    if not isinstance(value, str) or value not in choices:
        raise _fail(what, f"one of {', '.join(map(repr, choices))}", value)
    return value


def finite_number(
    value: object, what: str, *, minimum: float = 0, whole: bool = False
) -> int | float:
    """`value` if it is a finite number of at least `minimum` (no bool, no NaN)."""
    kinds: tuple[type, ...] = (int,) if whole else (int, float)
    expected = f"a {'whole' if whole else 'finite'} number >= {minimum:g}"
    if isinstance(value, bool) or not isinstance(value, kinds):
        raise _fail(what, expected, value)
    assert isinstance(value, int | float)
    if value < minimum or not (whole or _is_finite(value)):
        raise _fail(what, expected, value)
    return value


def _is_finite(number: float) -> bool:
    try:
        return math.isfinite(number)
    except OverflowError:  # an integer that is too large for a float
        return False


def strings(value: object, what: str) -> tuple[str, ...]:
    """`value` as a tuple if it is a list, tuple or set of strings; one string is refused."""
    if isinstance(value, str):
        shown = brief(value)
        raise ConfigError(
            f"`{what}` must be a list of strings: {shown}; write [{shown}]",
            context={"field": what, "value": value},
        )
    if isinstance(value, bytes | Mapping) or not isinstance(value, Iterable):
        raise _fail(what, "a list of strings", value)
    items: tuple[Any, ...] = tuple(value)
    for item in items:
        if not isinstance(item, str):
            raise _fail(what, "a list of strings", value)
    return tuple(sorted(items)) if isinstance(value, set | frozenset) else items
