"""Read-only dicts and lists that `json` and every SDK accept as plain ones.

Copies of them (`copy`, `deepcopy`, `pickle`, `|`) are plain dicts and lists.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

from ethos_registry.contract.checks import brief, has_lone_surrogate
from ethos_registry.contract.errors import ConfigError

__all__ = ["MAX_DEPTH", "ReadOnlyDict", "ReadOnlyList", "freeze", "read_only", "thaw"]

MAX_DEPTH = 128
"""The deepest nesting of a value: every recursion of the package is bounded by it."""


def _refuse(self: object, *_: object, **__: object) -> NoReturn:
    raise TypeError("this value is read-only; change a copy: `copy.deepcopy(value)`")


class ReadOnlyDict(dict[str, Any]):
    """A dict without mutators; its copies are plain dicts."""

    __slots__ = ()
    __setitem__ = __delitem__ = __ior__ = _refuse
    clear = pop = popitem = setdefault = update = _refuse

    def copy(self) -> dict[str, Any]:
        """A plain dict that holds the same values."""
        return dict(self)

    def __copy__(self) -> dict[str, Any]:
        return dict(self)

    def __deepcopy__(self, memo: dict[int, Any]) -> dict[str, Any]:
        return {key: copy.deepcopy(value, memo) for key, value in self.items()}

    def __reduce_ex__(self, protocol: object) -> tuple[Any, ...]:
        return dict, (dict(self),)


class ReadOnlyList(list[Any]):
    """A list without mutators; its copies are plain lists."""

    __slots__ = ()
    __setitem__ = __delitem__ = __iadd__ = __imul__ = _refuse
    append = clear = extend = insert = pop = remove = reverse = sort = _refuse

    def copy(self) -> list[Any]:
        """A plain list that holds the same values."""
        return list(self)

    def __copy__(self) -> list[Any]:
        return list(self)

    def __deepcopy__(self, memo: dict[int, Any]) -> list[Any]:
        return [copy.deepcopy(value, memo) for value in self]

    def __reduce_ex__(self, protocol: object) -> tuple[Any, ...]:
        return list, (list(self),)


def freeze(value: Any, what: str, depth: int = MAX_DEPTH, *, keeps_surrogates: bool = False) -> Any:
    """A read-only deep copy of a JSON value.

    Mappings become `ReadOnlyDict`, lists and tuples `ReadOnlyList`; other values must be strings,
    finite numbers, booleans or `None`. A string with a lone surrogate is refused, because UTF-8
    cannot encode it, unless `keeps_surrogates` is set. Raises `ConfigError` with the place, which
    begins with `what`, for anything else.
    """
    kind = type(value)
    if (kind is str and value.isascii()) or value is None or kind is bool or kind is int:
        return value
    # Members of enumerations and other subclasses become what they are in JSON.
    if isinstance(value, str):
        return _text(value, what, keeps_surrogates)
    if isinstance(value, int):
        return int.__index__(value)
    if isinstance(value, float):
        if value - value != 0:
            raise ConfigError(
                f"{_place(what)} contains {value!r}, which is not a JSON number",
                context={"field": what, "value": value},
            )
        return float.__float__(value)
    if depth == 0:
        raise ConfigError(f"{_place(what)} is nested deeper than {MAX_DEPTH} levels")
    if isinstance(value, Mapping):
        for key in value:
            if not isinstance(key, str):
                raise ConfigError(
                    f"{_place(what)} has the key {brief(key)}; the keys of an object are strings",
                    context={"field": what, "value": key},
                )
        return ReadOnlyDict(
            {
                _text(key, what, keeps_surrogates): freeze(
                    item, f"{what}.{key}", depth - 1, keeps_surrogates=keeps_surrogates
                )
                for key, item in value.items()
            }
        )
    if isinstance(value, Sequence) and not isinstance(value, bytes | bytearray | memoryview):
        return ReadOnlyList(
            freeze(item, f"{what}[{index}]", depth - 1, keeps_surrogates=keeps_surrogates)
            for index, item in enumerate(value)
        )
    raise ConfigError(
        f"{_place(what)} contains a value of type {type(value).__name__}, which is not a JSON "
        "value; use strings, finite numbers, booleans, None, lists and mappings",
        context={"field": what, "value": value},
    )


def read_only(value: Any) -> Any:
    """A read-only deep copy of what `json.loads` made: no check, because there is nothing to find.

    >>> read_only({"a": [1]})
    {'a': [1]}
    """
    if type(value) is dict:
        copied = ReadOnlyDict(value)
        for key, item in value.items():
            if type(item) is dict or type(item) is list:
                dict.__setitem__(copied, key, read_only(item))
        return copied
    if type(value) is list:
        return ReadOnlyList([read_only(item) for item in value])
    return value


def _text(value: str, what: str, keeps_surrogates: bool) -> str:
    text = value if type(value) is str else str.__str__(value)
    if not keeps_surrogates and has_lone_surrogate(text):
        raise ConfigError(
            f"{_place(what)} contains a lone surrogate, which UTF-8 cannot encode: {brief(text)}",
            context={"field": what, "value": text},
        )
    return text


def _place(path: str) -> str:
    """A path on one line, shortened if it is long."""
    shown = brief(path)
    return shown[1:] if shown.endswith("...") else shown[1:-1]


def thaw(value: Any) -> Any:
    """A plain, mutable deep copy of a read-only value."""
    return copy.deepcopy(value)
