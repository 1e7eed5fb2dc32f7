"""Reading replies and writing text, whatever library they come from."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from ethos_registry import _core
from ethos_registry.contract.call import CallResult
from ethos_registry.contract.content import Audio, Document, Image, Link

__all__ = [
    "NO_MESSAGE",
    "NO_OUTPUT",
    "DataBlock",
    "EchoingId",
    "call_id",
    "echoed",
    "items",
    "read",
    "sent_parts",
    "sent_text",
    "word",
]

NO_OUTPUT = "(no output)"
"""Replaces a blank result: several endpoints refuse a request that holds an empty one, or one of
white space alone."""

NO_MESSAGE = "(no message)"
"""The same for a blank error."""

DataBlock: TypeAlias = Image | Document | Audio


def read(value: object, *names: str) -> Any:
    """The first of some fields that an SDK's object or a dict has; `None` if it has none."""
    for name in names:
        found = value.get(name) if isinstance(value, Mapping) else getattr(value, name, None)
        if found is not None:
            return found
    return None


def items(value: object) -> Sequence[Any] | None:
    """`value` if it is a list or tuple."""
    return value if isinstance(value, list | tuple) else None


def word(value: object) -> str | None:
    """A field that is one of a few words: a string, or a member of an enumeration of strings."""
    value = getattr(value, "value", value)
    return str(value) if isinstance(value, str) else None


class EchoingId(str):
    """The id of a call whose result has to repeat more of it than the id."""

    echo: Mapping[str, Any]

    __slots__ = ("__dict__",)


def call_id(given: object, position: int, **echo: Any) -> str:
    """The provider's id, or `call_{position}` when it is missing or empty.

    With fields to `echo` that are not `None`, the id carries them to the message that answers it.
    """
    identifier = given if isinstance(given, str) and given else f"call_{position}"
    fields = {name: _plain(value) for name, value in echo.items() if value is not None}
    if not fields:
        return identifier
    echoing = EchoingId(identifier)
    echoing.echo = fields
    return echoing


def echoed(identifier: str) -> dict[str, Any]:
    """What the message that answers a call has to repeat."""
    return dict(identifier.echo) if isinstance(identifier, EchoingId) else {}


def _plain(value: Any) -> Any:
    """The field of a reply as JSON values."""
    dump = getattr(value, "model_dump", None)
    return dump(mode="json", exclude_none=True) if callable(dump) else value


def sent_text(result: CallResult) -> str:
    """The text of a result as it may leave: never blank, no lone surrogate."""
    text = result.text
    if not text or text.isspace():
        return NO_OUTPUT if result.ok else NO_MESSAGE
    return text if text.isascii() else _core.replace_surrogates(text)


def sent_parts(
    result: CallResult, shows: Callable[[DataBlock], bool]
) -> tuple[str, list[DataBlock]]:
    """The text of a result, and the blocks beside it that the provider `shows`.

    Links and what cannot be shown become lines of the text.
    """
    if not result.content:
        return sent_text(result), []
    lines = [] if not result.text or result.text.isspace() else [sent_text(result)]
    shown: list[DataBlock] = []
    for block in result.content:
        if isinstance(block, Link):
            lines.append(block.line())
        elif shows(block):
            shown.append(block)
        else:
            lines.append(f"[not shown: {block.describe()}]")
    if not lines:
        lines = [block.describe() for block in shown]
    return "\n".join(lines), shown
