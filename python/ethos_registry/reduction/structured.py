"""The JSON parts of a result: no lone surrogates, and a limit in bytes."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from ethos_registry import _core
from ethos_registry.contract.read_only import MAX_DEPTH

__all__ = ["MAX_STRUCTURED_BYTES", "clean_extra", "clean_structured", "is_plain", "isolated"]

MAX_STRUCTURED_BYTES = 1_048_576
"""The largest `structured`, as compact JSON in UTF-8."""

_SCALARS = frozenset({int, float, bool, type(None)})


def is_plain(value: Mapping[str, Any]) -> bool:
    """Whether a small object holds numbers, booleans and ASCII keys only: nothing to clean.

    The quick answer for the usual case, as `{"exit_code": 0}`.
    """
    if len(value) > 4:
        return False
    for key, item in value.items():
        if type(item) not in _SCALARS or type(key) is not str or not key.isascii():
            return False
    return True


def clean_structured(value: Mapping[str, Any]) -> Mapping[str, Any]:
    """`value` with each lone surrogate replaced; the same object when there is none.

    One that is larger than 1 MiB, circular, too deep or no JSON is replaced by
    `{"dropped": reason}`: it must neither fill a store nor break its reader.
    """
    try:
        text = _ENCODER.encode(value)
    except Exception as error:
        return {"dropped": f"structured was no JSON value: {type(error).__name__}"}
    try:
        size = len(text) if text.isascii() else len(text.encode())
    except UnicodeEncodeError:
        value = _cleaned(value)
        size = len(text.encode(errors="surrogatepass"))
    if size > MAX_STRUCTURED_BYTES:
        limit = f"{MAX_STRUCTURED_BYTES:,}"
        return {"dropped": f"structured was {size:,} bytes; the limit is {limit}"}
    return value


def clean_extra(value: Mapping[str, Any]) -> Mapping[str, Any]:
    """`value` with each lone surrogate replaced; the same object when there is none."""
    try:
        _ENCODER.encode(value).encode()
    except Exception:
        return _cleaned(value)
    return value


def isolated(value: Any) -> Any:
    """A copy of the containers in `value`, so that changes to it stay in it.

    Mappings become dicts; what is no container is shared, and so is what lies deeper than 128.
    """
    return _copied(value, _unchanged, {}, MAX_DEPTH)


def _copied(
    value: Any, leaf: Callable[[Any], Any], seen: dict[int, tuple[Any, Any]], depth: int
) -> Any:
    """A copy of the containers, with `leaf` over keys and what is no container.

    `seen` maps the identity of a container to it and its copy: one that holds itself is copied
    once, and stays alive so that its identity is not given to another.
    """
    if not isinstance(value, Mapping | list | tuple):
        return leaf(value)
    if depth == 0:
        return value
    known = seen.get(id(value))
    if known is not None:
        return known[1]
    if isinstance(value, Mapping):
        mapping: dict[Any, Any] = {}
        seen[id(value)] = value, mapping
        for key, item in value.items():
            mapping[leaf(key)] = _copied(item, leaf, seen, depth - 1)
        return mapping
    items: list[Any] = []
    seen[id(value)] = value, items
    items.extend(_copied(item, leaf, seen, depth - 1) for item in value)
    return tuple(items) if isinstance(value, tuple) else items


def _unchanged(value: Any) -> Any:
    return value


def _well_formed(value: Any) -> Any:
    if not isinstance(value, str) or value.isascii():
        return value
    return _core.replace_surrogates(value)


def _cleaned(value: Mapping[str, Any]) -> Mapping[str, Any]:
    copy: Mapping[str, Any] = _copied(value, _well_formed, {}, MAX_DEPTH)
    return copy


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    return str(value)


_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), default=_plain)
