"""JSON lines between a pool and its workers."""

from __future__ import annotations

import json
from typing import Any

from pydantic_core import PydanticSerializationError, from_json, to_json

__all__ = ["exact_json_bytes", "json_bytes", "read_line"]


def read_line(line: bytes) -> Any:
    """The value of a line."""
    try:
        return from_json(line, cache_strings="keys")
    except ValueError:  # a lone surrogate, which the fast parser refuses
        return json.loads(line)


def json_bytes(value: Any) -> bytes:
    """A value that is JSON already, as compact JSON."""
    try:
        return to_json(value)
    except PydanticSerializationError:  # a lone surrogate
        return json.dumps(value, separators=(",", ":")).encode("ascii")


def exact_json_bytes(value: Any) -> bytes:
    """A value as compact JSON. `TypeError` or `ValueError` for what would arrive as something else.

    >>> exact_json_bytes({"a": [1, None]})
    b'{"a":[1,null]}'
    """
    return json.dumps(value, separators=(",", ":"), allow_nan=False).encode("ascii")
