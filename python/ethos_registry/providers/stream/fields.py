"""Reading events, whether they are plain dicts or an SDK's objects."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

__all__ = ["extra_field", "field", "json_text", "listed", "plain", "sendable_name", "text_of"]

_FOREIGN = re.compile(r"[^a-zA-Z0-9_-]")
_NO_NAME = "unknown_tool"
MAX_NAME_CHARS = 64


def field(value: Any, name: str) -> Any:
    """A field of a dict or of an SDK's object; `None` when there is none."""
    if type(value) is dict:
        return value.get(name)
    if isinstance(value, Mapping):
        return value.get(name)
    return getattr(value, name, None)


def extra_field(value: Any, name: str) -> Any:
    """A field that the SDK does not declare; asking a pydantic object for a missing one is slow."""
    if isinstance(value, Mapping):
        return value.get(name)
    extra = getattr(value, "model_extra", None)
    if isinstance(extra, dict):
        return extra.get(name) or value.__dict__.get(name)
    return getattr(value, name, None)


def text_of(value: Any, name: str) -> str:
    """The same for a string; empty when there is none."""
    found = field(value, name)
    return found if isinstance(found, str) else ""


def json_text(value: Any) -> str:
    """Arguments as JSON text; some servers send the value itself."""
    if isinstance(value, str):
        return value
    return "" if value is None else json.dumps(plain(value), ensure_ascii=False)


def listed(value: Any) -> list[Any]:
    """`value` as a list if it is a list or tuple, else empty."""
    return list(value) if isinstance(value, list | tuple) else []


def plain(value: Any) -> Any:
    """An SDK's object as the plain JSON value that the wire had; other values as they are."""
    dump = getattr(value, "model_dump", None)
    if dump is None:
        return value
    return dump(mode="json", by_alias=True, exclude_unset=True, warnings=False)


def sendable_name(name: str) -> str:
    """A tool name that every provider takes back in a reply, whatever the model made up.

    >>> sendable_name("read_file"), sendable_name("multi_tool_use.parallel"), sendable_name("")
    ('read_file', 'multi_tool_use_parallel', 'unknown_tool')
    """
    return _FOREIGN.sub("_", name)[:MAX_NAME_CHARS] or _NO_NAME
