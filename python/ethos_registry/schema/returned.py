"""Converts the return value of a function to a tool's result."""

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

    A `ToolResult` is returned unchanged, and so is a mapping in its shape (`{"ok": True, "value":
    "..."}`). A `str` becomes the value. Everything else becomes compact JSON in `value`, and the
    same in `structured`: mappings as they are, other values as `{"result": ...}`. A value without a
    JSON form (an object, NaN, a coroutine) is an `execution_failed` error with reason `bad_result`.
    A content block alone is a result without text.

    >>> to_result([1, 2])
    ToolOk(value='[1,2]', structured={'result': [1, 2]}, cost_usd=None, extra=mappingproxy({}))
    >>> to_result(object()).error
    'the tool returned a value of type object, which has no JSON form'
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
            pass  # a mapping of the tool that happens to have a key `ok`
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
        # lone surrogates, mappings other than dicts: slower, and JSON as Python reads it
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
        returned.close()  # avoids a RuntimeWarning about a coroutine that was never awaited
    if hasattr(returned, "__aiter__"):
        text = f"the tool returned a value of type {kind}; it should return a list"
    elif inspect.isawaitable(returned):
        text = f"the tool returned a {kind} that was never awaited; make its function `async def`"
    elif isinstance(returned, GeneratorType):
        text = "the tool returned a generator; it should return a list"
    elif isinstance(returned, float):
        text = f"the tool returned {returned!r}, which is not a JSON number"
    elif isinstance(returned, bytes | bytearray | memoryview):
        text = (
            f"the tool returned {kind} that are not UTF-8 text; "
            "decode them, or encode them as base64"
        )
    else:
        text = f"the tool returned a value of type {kind}, which has no JSON form"
    return ToolError(text, "execution_failed", "bad_result")
