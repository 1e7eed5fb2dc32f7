"""Values as JSON: what has a JSON form is converted, the rest is dropped and reported."""

from __future__ import annotations

import dataclasses
import enum
import json
import numbers
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from types import MappingProxyType
from typing import Any

from pydantic_core import to_jsonable_python

from ethos_registry import _core
from ethos_registry.contract.read_only import MAX_DEPTH, ReadOnlyDict

__all__ = ["MAX_JSON_BYTES", "json_fields", "json_object"]

MAX_JSON_BYTES = 1_048_576
"""The largest `structured`, and the largest sum of all extra fields, as compact JSON in UTF-8."""

DROPPED = "dropped"
"""The key under which an object reports what it lost."""

_EXACT = frozenset({dict, ReadOnlyDict, MappingProxyType})
"""Mappings whose copy as a dict runs no code of the tool, unless one wraps another."""

_MAX_REPORTED = 8
_MAX_PATH_CHARS = 60
_MAX_INTEGER_BITS = 14_000
"""Longer integers are not written: Python refuses more than 4,300 digits."""


def json_object(value: Mapping[str, Any]) -> Mapping[str, Any]:
    """`value` as a JSON object; the same object if it is one.

    Dates, times, UUIDs, decimals, paths, enums, dataclasses, pydantic models, sets and other
    mappings and sequences are converted. Any other value becomes `None`, and the key `dropped`
    reports it. An object of more than 1 MiB is replaced by `{"dropped": reason}`; a value that
    occurs several times counts each time. Never raises.

    >>> json_object({"ratio": float("nan"), "seen": {2, 1}})
    {'ratio': None, 'seen': [1, 2], 'dropped': 'ratio: nan is not a JSON number'}
    """
    if type(value) in _EXACT:
        size, is_plain = _measured(value)
        if is_plain and size <= MAX_JSON_BYTES:
            return value
        if size > MAX_JSON_BYTES:
            return {DROPPED: _too_large("structured")}
    converter = _Converter(MAX_JSON_BYTES)
    converter.enter(value)
    try:
        converted = converter.mapping(value, ())
    except _TooLargeError:
        return {DROPPED: _too_large("structured")}
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # a mapping may be of the tool's own class
        return {DROPPED: f"structured could not be read: {type(error).__name__}"}
    if _core.json_size(converted, MAX_JSON_BYTES)[0] > MAX_JSON_BYTES:
        return {DROPPED: _too_large("structured")}
    return _reported(converted, converter.dropped)


def json_fields(fields: Mapping[str, Any]) -> Mapping[str, Any]:
    """The extra fields of a result as JSON; the same mapping if they are.

    As `json_object`, but each field is judged by itself: one that does not fit in what its
    predecessors leave of 1 MiB becomes `None` and is reported, the others stay.
    """
    if type(fields) in _EXACT:
        size, is_plain = _measured(fields)
        if is_plain and size <= MAX_JSON_BYTES:
            return fields
    left = MAX_JSON_BYTES
    converted: dict[str, Any] = {}
    dropped = _Dropped()
    try:
        for key, item in list(fields.items()):
            name = _key(key, (), dropped)
            if name is None:
                continue
            converter = _Converter(left)
            converter.dropped = dropped
            try:
                size, is_plain = _core.json_size(item, left)
                one = item
                if not is_plain and size <= left:
                    one = converter.value(item, (name,))
                    size = _core.json_size(one, left)[0]
            except _TooLargeError:
                size = left + 1
            if size > left:
                dropped.add((name,), f"does not fit in {MAX_JSON_BYTES:,} bytes as JSON")
                one, size = None, 0
            converted[name] = one
            left -= size
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        dropped.add((), f"further fields could not be read: {type(error).__name__}")
    return _reported(converted, dropped)


def _measured(value: Mapping[str, Any]) -> tuple[int, bool]:
    """The size of an object, and whether it is plain JSON."""
    try:
        return _core.json_size(value if type(value) is dict else dict(value), MAX_JSON_BYTES)
    except KeyboardInterrupt:
        raise
    except BaseException:  # a proxy may wrap a mapping of the tool's own class
        return 0, False


class _TooLargeError(Exception):
    """The value has more bytes than it may."""


def _too_large(what: str) -> str:
    return f"{what} is larger than {MAX_JSON_BYTES:,} bytes as JSON, which is the limit"


class _Dropped:
    """What was dropped: the first few places with reasons, and how many more."""

    def __init__(self) -> None:
        self.reasons: list[str] = []
        self.more = 0

    def add(self, path: Sequence[str | int], reason: str) -> None:
        if len(self.reasons) == _MAX_REPORTED:
            self.more += 1
            return
        place = _place(path)
        self.reasons.append(f"{place}: {reason}" if place else reason)

    def text(self) -> str:
        more = [f"and {self.more:,} more"] if self.more else []
        return "; ".join([*self.reasons, *more])


def _reported(converted: dict[str, Any], dropped: _Dropped) -> dict[str, Any]:
    if dropped.reasons:
        key = DROPPED if DROPPED not in converted else f"{DROPPED}_fields"
        converted[key] = dropped.text()
    return converted


def _place(path: Sequence[str | int]) -> str:
    text = ""
    for step in path:
        text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else step
    return text if len(text) <= _MAX_PATH_CHARS else text[: _MAX_PATH_CHARS - 3] + "..."


class _Converter:
    """Converts one value; `_TooLargeError` once it is surely larger than the limit."""

    def __init__(self, limit_bytes: int) -> None:
        self.dropped = _Dropped()
        self._left = limit_bytes
        self._open: set[int] = set()
        """The containers around the current value: one of them inside of it would never end."""

    def enter(self, container: object) -> None:
        """Note a container that is around all values."""
        self._open.add(id(container))

    def _spend(self, size_bytes: int) -> None:
        self._left -= size_bytes
        if self._left < 0:
            raise _TooLargeError

    def _drop(self, path: tuple[str | int, ...], reason: str) -> None:
        self.dropped.add(path, reason)

    def value(self, value: Any, path: tuple[str | int, ...]) -> Any:
        self._spend(2)
        try:
            return self._converted(value, path)
        except (KeyboardInterrupt, _TooLargeError):
            raise
        except BaseException:  # objects have code of their own
            self._drop(path, f"a value of type {_kind(value)} could not be read")
            return None

    def _converted(self, value: Any, path: tuple[str | int, ...]) -> Any:
        if value is None or type(value) is bool:
            return value
        if isinstance(value, str):
            text = _text(value)
            self._spend(len(text))
            return text
        if isinstance(value, int):
            number = int.__index__(value)
            if number.bit_length() > _MAX_INTEGER_BITS:
                digits = number.bit_length() * 30_103 // 100_000 + 1
                self._drop(path, f"a whole number of about {digits:,} digits is too long for JSON")
                return None
            self._spend(number.bit_length() // 4)
            return number
        if isinstance(value, float):
            real = float.__float__(value)
            if real - real != 0:
                self._drop(path, f"{real!r} is not a JSON number")
                return None
            return real
        if isinstance(value, enum.Enum):
            return self.value(value.value, path)
        if isinstance(value, bytes | bytearray | memoryview):
            self._drop(path, f"{_kind(value)} has no JSON form")
            return None
        return self._container(value, path)

    def _container(self, value: Any, path: tuple[str | int, ...]) -> Any:
        if len(path) > MAX_DEPTH:
            self._drop(path, f"nested deeper than {MAX_DEPTH} levels")
            return None
        if id(value) in self._open:
            self._drop(path, "contains itself")
            return None
        self._open.add(id(value))
        try:
            if isinstance(value, Mapping):
                return self.mapping(value, path)
            if isinstance(value, AbstractSet):
                return sorted(self._items(value, path), key=_sort_key)
            if isinstance(value, Sequence):
                return self._items(value, path)
            if callable(getattr(type(value), "model_dump", None)):
                self._spend(_core.json_size(dict(vars(value)), self._left)[0] // 2)
                return self.mapping(value.model_dump(by_alias=True), path)
            if dataclasses.is_dataclass(value) and not isinstance(value, type):
                names = [item.name for item in dataclasses.fields(value)]
                return self.mapping({name: getattr(value, name) for name in names}, path)
        finally:
            self._open.discard(id(value))
        return self._object(value, path)

    def _object(self, value: Any, path: tuple[str | int, ...]) -> Any:
        if isinstance(value, numbers.Integral):
            return self.value(int(value), path)
        if isinstance(value, numbers.Real) and not isinstance(value, numbers.Rational):
            return self.value(float(value), path)
        if isinstance(value, Iterable) and not hasattr(type(value), "__fspath__"):
            self._drop(path, f"a value of type {_kind(value)} has no JSON form")
            return None
        fspath = getattr(value, "__fspath__", None)
        try:
            plain = fspath() if callable(fspath) else to_jsonable_python(value)
        except Exception:
            plain = None
        if not isinstance(plain, str | int | float):
            self._drop(path, f"a value of type {_kind(value)} has no JSON form")
            return None
        return self.value(plain, path)

    def mapping(self, value: Mapping[Any, Any], path: tuple[str | int, ...]) -> dict[str, Any]:
        converted: dict[str, Any] = {}
        for key, item in value.items():
            name = _key(key, path, self.dropped)
            if name is not None:
                self._spend(len(name) + 3)
                converted[name] = self.value(item, (*path, name))
        return converted

    def _items(self, items: Iterable[Any], path: tuple[str | int, ...]) -> list[Any]:
        return [self.value(item, (*path, index)) for index, item in enumerate(items)]


def _sort_key(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


def _text(value: str) -> str:
    text = value if type(value) is str else str.__str__(value)
    return text if text.isascii() else _core.replace_surrogates(text)


def _key(key: Any, path: tuple[str | int, ...], dropped: _Dropped) -> str | None:
    """The key as JSON writes it; `None`, reported, if it has no such form."""
    if isinstance(key, str):
        return _text(key)
    if key is None:
        return "null"
    if isinstance(key, bool):
        return "true" if key else "false"
    if isinstance(key, enum.Enum) and isinstance(key.value, str | int):
        return _key(key.value, path, dropped)
    if isinstance(key, int) and int.bit_length(key) <= _MAX_INTEGER_BITS:
        return int.__repr__(key)
    if isinstance(key, float):
        return float.__repr__(key)
    dropped.add(path, f"a key of type {_kind(key)} has no JSON form")
    return None


def _kind(value: object) -> str:
    return type(value).__name__[:_MAX_PATH_CHARS]
