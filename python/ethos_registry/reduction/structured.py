"""The JSON parts of a result: bounded, and safe to send."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ethos_registry import _core
from ethos_registry.contract.json_values import MAX_JSON_BYTES, json_fields, json_object
from ethos_registry.contract.read_only import MAX_DEPTH

__all__ = [
    "MAX_STRUCTURED_BYTES",
    "clean_extra",
    "clean_structured",
    "is_large",
    "is_plain",
    "isolated",
]

MAX_STRUCTURED_BYTES = MAX_JSON_BYTES
"""The largest `structured`, as compact JSON in UTF-8."""

LARGE_JSON_BYTES = 64 * 1024
"""A larger value is converted on a thread: up to this size it takes about a tenth of a second."""

_SCALARS = frozenset({int, bool, type(None)})
_MAX_SCALAR = 1 << 62


def is_plain(value: Mapping[str, Any]) -> bool:
    """Whether a small object holds short integers, booleans and ASCII keys only.

    The quick answer for the usual case, as `{"exit_code": 0}`.
    """
    if len(value) > 4 or type(value) is not dict:
        return False
    for key, item in value.items():
        if type(item) not in _SCALARS or type(key) is not str or not key.isascii():
            return False
        if item is not None and not -_MAX_SCALAR < item < _MAX_SCALAR:
            return False
    return True


def is_large(value: Mapping[str, Any] | None) -> bool:
    """Whether a value takes so long to convert that the event loop would notice.

    It is measured natively, and only up to the size that decides.
    """
    if not value or is_plain(value):
        return False
    size, _ = _core.json_size(value, LARGE_JSON_BYTES)
    return size > LARGE_JSON_BYTES


clean_structured = json_object
"""`structured` as JSON; the same object if it is: see `json_object`."""

clean_extra = json_fields
"""Extra fields as JSON; the same mapping if they are: see `json_fields`."""


def isolated(value: Any) -> Any:
    """A copy of the containers in `value`, so that changes to it stay in it.

    Mappings become dicts; other values are shared, and so is what is nested deeper than 128 levels.
    """
    return _copied(value, {}, MAX_DEPTH)


def _copied(value: Any, seen: dict[int, tuple[Any, Any]], depth: int) -> Any:
    """A copy of the containers.

    `seen` maps the identity of a container to it and its copy: one that holds itself is copied
    once, and stays alive so that its identity is not given to another.
    """
    if depth == 0 or not isinstance(value, Mapping | list | tuple):
        return value
    known = seen.get(id(value))
    if known is not None:
        return known[1]
    if isinstance(value, Mapping):
        mapping: dict[Any, Any] = {}
        seen[id(value)] = value, mapping
        for key, item in value.items():
            mapping[key] = _copied(item, seen, depth - 1)
        return mapping
    items: list[Any] = []
    seen[id(value)] = value, items
    items.extend(_copied(item, seen, depth - 1) for item in value)
    return tuple(items) if isinstance(value, tuple) else items
