"""The arguments of a model, checked by hand: each error names what to send instead."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from ethos_registry.contract.result import ErrorCode, ToolError, err

__all__ = [
    "RefusalError",
    "known_arguments",
    "optional_flag",
    "optional_number",
    "optional_whole_number",
    "required_text",
    "shown",
]

_SHOWN_CHARS = 200
_MAX_DIGITS = 18
"""The longest number that is read from a string."""


class RefusalError(Exception):
    """A call that cannot be served; `error` is the result for the model."""

    def __init__(self, text: str, code: ErrorCode = "input_invalid") -> None:
        super().__init__(text)
        self.error: ToolError = err(text, code)


def shown(value: object) -> str:
    """Quote a value for a message: at most 200 characters, on one line, in backticks."""
    text = value if isinstance(value, str) else repr(value)
    if len(text) > _SHOWN_CHARS:
        text = f"{text[:_SHOWN_CHARS]}..."
    if not text.isprintable():
        text = ascii(text)[1:-1]
    return f"`{text}`"


def known_arguments(args: object, known: tuple[str, ...], tool_name: str) -> Mapping[str, Any]:
    """Check the names of arguments and drop those that are `null`.

    `None` counts as an empty object. An unknown name is refused, because a misspelt `line_start`
    would silently read everything.

    Raises:
        RefusalError: `args` is not an object, or has a name that is not in `known`.

    """
    args = {} if args is None else args
    if not isinstance(args, Mapping):
        raise RefusalError(
            f"the arguments of {tool_name} must be an object, got {type(args).__name__}"
        )
    for name in args:
        if name not in known:
            raise RefusalError(
                f"{tool_name} has no argument {shown(name)}; it takes {', '.join(known)}"
            )
    return {name: value for name, value in args.items() if value is not None}


def required_text(args: Mapping[str, Any], name: str, example: str) -> str:
    """A string that is not blank; `example` is shown in the error."""
    value = args.get(name, "")
    if not isinstance(value, str):
        raise RefusalError(f"`{name}` must be a string, got {type(value).__name__}")
    if not value.strip():
        raise RefusalError(f"`{name}` is missing; give one, such as `{example}`")
    return value


def optional_whole_number(args: Mapping[str, Any], name: str, *, minimum: int) -> int | None:
    """A whole number of at least `minimum`, also as digits in a string; `None` when absent."""
    if name not in args:
        return None
    number = _number(args[name])
    if number is None or number != int(number) or number < minimum:
        raise RefusalError(f"`{name}` must be a whole number >= {minimum}, got {shown(args[name])}")
    return int(number)


def optional_number(args: Mapping[str, Any], name: str, *, maximum: float) -> float | None:
    """A number over 0 and up to `maximum`, also in a string; `None` when absent."""
    if name not in args:
        return None
    number = _number(args[name])
    if number is None or not 0 < number <= maximum:
        raise RefusalError(
            f"`{name}` must be a number over 0 and up to {maximum:g}, got {shown(args[name])}"
        )
    return float(number)


def optional_flag(args: Mapping[str, Any], name: str) -> bool:
    """`true` or `false`, also spelt as a string; `False` when absent."""
    value = args.get(name, False)
    if isinstance(value, str) and value.strip().lower() in ("true", "false"):
        return value.strip().lower() == "true"
    if not isinstance(value, bool):
        raise RefusalError(f"`{name}` must be true or false, got {shown(value)}")
    return value


def _number(value: object) -> int | float | None:
    """A finite number, or `None` if the value is not one."""
    if isinstance(value, str):
        text = value.strip()
        if len(text) > _MAX_DIGITS or not text.isascii():
            return None
        try:
            return int(text) if text.isdigit() else _finite(float(text))
        except ValueError:
            return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return value if isinstance(value, int) else _finite(value)


def _finite(number: float) -> float | None:
    return number if math.isfinite(number) else None
