"""Arguments that a model sent as JSON text."""

from __future__ import annotations

import re
from typing import Any

import pydantic_core

from ethos_registry import _core

__all__ = ["BadArgumentsError", "parse_json_arguments"]

_POSITION = re.compile(r" at line ([0-9]+) column ([0-9]+)$")
_FOREIGN_LITERAL = re.compile(rb"(?:-?NaN|-?Infinity|None|True|False|undefined)\b")
_SURROGATE_ESCAPE = re.compile(r"\\u[dD][89a-fA-F]")
_ESCAPE = re.compile(
    r"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
    r"|(?P<lone>u[dD][89a-fA-F][0-9a-fA-F]{2})|.)",
    re.DOTALL,
)
"""An escape in a JSON string: a pair of surrogates, a lone surrogate (valid in the JSON grammar,
but refused by the parser), or any other."""


class BadArgumentsError(Exception):
    """The arguments are not valid JSON; the message gives the reason and the position."""


def parse_json_arguments(text: str) -> Any:
    """The value of `text`; empty text is `{}`. Raises `BadArgumentsError`.

    Integers stay exact. A lone surrogate, escaped or not, becomes U+FFFD. NaN, infinities,
    duplicate keys in one object and more than 128 levels are refused.

    >>> parse_json_arguments('{"city": "Oslo"}')
    {'city': 'Oslo'}
    """
    if not text or text.isspace():
        return {}
    text = _core.replace_surrogates(text)
    try:
        value = pydantic_core.from_json(text, allow_inf_nan=False)
    except ValueError as error:
        if _SURROGATE_ESCAPE.search(text):
            repaired = _ESCAPE.sub(_well_formed_escape, text)
            if repaired != text:
                return parse_json_arguments(repaired)
        raise BadArgumentsError(f"arguments are not valid JSON: {_reason(text, error)}") from None
    fault = _core.json_fault(text)
    if fault is not None:
        reason, line, column = fault
        raise BadArgumentsError(
            f"arguments are not valid JSON: {reason} at line {line} column {column}"
        )
    return value


def _well_formed_escape(escape: re.Match[str]) -> str:
    """The escape, or that of U+FFFD for a lone surrogate: the same length, so positions stay."""
    return escape[0] if escape["lone"] is None else r"\ufffd"


def _reason(text: str, error: ValueError) -> str:
    """The parser's reason; literals of other languages that JSON does not have are named."""
    reason = str(error)
    position = _POSITION.search(reason)
    if position is None:
        return reason
    line = text.encode().split(b"\n")[int(position[1]) - 1]  # the parser counts bytes, from 1
    start = int(position[2]) - 1
    if line[:start].endswith(b"-"):
        start -= 1
    word = _FOREIGN_LITERAL.match(line, start)
    return reason if word is None else f"{word[0].decode()} is not a JSON value{position[0]}"
