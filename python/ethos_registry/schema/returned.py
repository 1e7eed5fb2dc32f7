"""What a function returned, as a tool's result."""

from __future__ import annotations

import dataclasses
import enum
import inspect
import json
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from types import GeneratorType
from typing import Any

from pydantic import BaseModel
from pydantic_core import from_json, to_json, to_jsonable_python

from ethos_registry.contract.content import Audio, Document, Image, Link
from ethos_registry.contract.errors import ConfigError
from ethos_registry.contract.result import ToolError, ToolOk, ToolResult, result_from_wire

__all__ = ["to_result"]


def to_result(returned: Any) -> ToolResult:
    """The result that a returned value means; never raises.

    A `ToolResult` stays what it is, and so does a mapping that reads as one (`{"ok": True, "value":
    "..."}`). A `str` is the value as it stands. All else becomes compact JSON in `value`, with the
    same in `structured`: mappings as they are, other values as `{"result": ...}`. A content block
    alone is a result without text. What JSON cannot
    hold (objects, NaN, a coroutine) is an `execution_failed` error, reason `bad_result`.

    >>> to_result([1, 2])
    ToolOk(value='[1,2]', structured={'result': [1, 2]}, cost_usd=None, extra=mappingproxy({}))
    >>> to_result(object()).error
    'the tool returned a value of type object, which is no JSON'
    """
    if isinstance(returned, ToolOk | ToolError):
        return returned
    if isinstance(returned, str):
        return ToolOk(str.__str__(returned))
    if isinstance(returned, Image | Document | Audio | Link):
        return ToolOk("", content=(returned,))
    if isinstance(returned, dict | Mapping) and isinstance(returned.get("ok"), bool):
        try:
            return result_from_wire(returned)
        except ConfigError:
            pass  # a mapping of the tool's own that has a key `ok`
    try:
        text, plain = _written(returned)
    except Exception:
        return _bad(returned)
    return ToolOk(text, plain if isinstance(plain, dict) else {"result": plain})


def _written(value: Any) -> tuple[str, Any]:
    """Compact JSON of a value, and the plain value that this JSON holds."""
    if isinstance(value, GeneratorType):
        raise TypeError("a generator may never end")
    try:
        raw = to_json(value)
        return raw.decode(), from_json(raw, allow_inf_nan=False)
    except Exception:
        # lone surrogates, mappings that are no dicts: slower, and JSON as Python reads it
        text = _ENCODER.encode(value)
        return text, json.loads(text)


def _plain(value: Any) -> Any:
    """One level of a value in terms of dict and list."""
    if isinstance(value, BaseModel):
        return value.model_dump(by_alias=True)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {item.name: getattr(value, item.name) for item in dataclasses.fields(value)}
    if isinstance(value, enum.Enum):
        return value.value
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, Sequence | AbstractSet) and not isinstance(value, bytes | bytearray):
        return list(value)
    return to_jsonable_python(value)


_ENCODER = json.JSONEncoder(
    ensure_ascii=False, separators=(",", ":"), allow_nan=False, default=_plain
)


def _bad(returned: Any) -> ToolError:
    kind = type(returned).__name__
    if inspect.iscoroutine(returned):
        returned.close()  # else Python warns, far away, that nobody awaited it
    if hasattr(returned, "__aiter__"):
        text = f"the tool returned a value of type {kind}; it should return a list"
    elif inspect.isawaitable(returned):
        text = f"the tool returned a {kind} that nobody awaits; its function should be `async def`"
    elif isinstance(returned, GeneratorType):
        text = "the tool returned a generator; it should return a list"
    elif isinstance(returned, float):
        text = f"the tool returned {returned!r}, and JSON has no such number"
    else:
        text = f"the tool returned a value of type {kind}, which is no JSON"
    return ToolError(text, "execution_failed", "bad_result")
