"""Reading replies and writing texts, whatever library they come from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ethos_registry import _core
from ethos_registry.contract.call import CallResult

__all__ = ["NO_MESSAGE", "NO_OUTPUT", "call_id", "items", "read", "sent_text"]

NO_OUTPUT = "(no output)"
"""Stands for a blank result: several endpoints refuse a request that holds an empty one, or one of
white space alone."""

NO_MESSAGE = "(no message)"
"""The same for a blank error."""


def read(value: object, name: str) -> Any:
    """A field of an SDK's object or of a dict; `None` when there is none."""
    if isinstance(value, Mapping):
        return value.get(name)
    return getattr(value, name, None)


def items(value: object) -> Sequence[Any] | None:
    """`value` if it is a list or tuple."""
    return value if isinstance(value, list | tuple) else None


def call_id(given: object, position: int) -> str:
    """The provider's id, or `call_{position}` when it is missing or empty."""
    return given if isinstance(given, str) and given else f"call_{position}"


def sent_text(result: CallResult) -> str:
    """The text of a result as it may leave: never blank, no lone surrogate."""
    text = result.text
    if not text or text.isspace():
        return NO_OUTPUT if result.ok else NO_MESSAGE
    return text if text.isascii() else _core.replace_surrogates(text)
