"""Values as JSON: what has a JSON form is converted, the rest is dropped and reported."""

from __future__ import annotations

import copy
import dataclasses
import enum
import hashlib
import json
import numbers
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from types import MappingProxyType
from typing import Any, NoReturn

from pydantic_core import to_jsonable_python

from ethos_registry import _core
from ethos_registry.types._checks import brief, brief_path, guarded, has_lone_surrogate
from ethos_registry.types._errors import ConfigError

# Canonical JSON: the same string for equal values, whatever their key order; and checksums.


def canonical_json(value: Any) -> str:
    """The value as JSON with sorted keys at every depth and no spaces.

    Numbers are written as `json.dumps` writes them. Raises `ConfigError` for a value that is not
    JSON: other types, cycles, keys of mixed types.
    """
    try:
        return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError) as error:
        raise ConfigError(f"a checksum is taken of JSON values: {error}: {brief(value)}") from None


def sha256_hex(text: str) -> str:
    """SHA-256 of the text in UTF-8 as 64 hex digits; lone surrogates are encoded as they are."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def call_checksum(name: str, args: Any) -> str:
    """The identity of a call: SHA-256 hex over the canonical JSON of `{tool, args}`.

    The order of keys does not matter, the order of lists does. `args` are what the model sent,
    before any conversion.

    >>> call_checksum("add", {"a": 1, "b": 2}) == call_checksum("add", {"b": 2, "a": 1})
    True
    """
    return sha256_hex(canonical_json({"tool": name, "args": args}))


# Read-only dicts and lists that `json` and every SDK accept as plain ones.

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

    __copy__ = copy

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

    __copy__ = copy

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
        return _frozen_text(value, what, keeps_surrogates)
    if isinstance(value, int):
        return int.__index__(value)
    if isinstance(value, float):
        if value - value != 0:
            raise ConfigError(
                f"{brief_path(what)} contains {value!r}, which is not a JSON number",
                context={"field": what, "value": value},
            )
        return float.__float__(value)
    if depth == 0:
        raise ConfigError(f"{brief_path(what)} is nested deeper than {MAX_DEPTH} levels")
    if isinstance(value, Mapping):
        for key in value:
            if not isinstance(key, str):
                raise ConfigError(
                    f"{brief_path(what)} has the key {brief(key)}; "
                    "the keys of an object are strings",
                    context={"field": what, "value": key},
                )
        return ReadOnlyDict(
            {
                _frozen_text(key, what, keeps_surrogates): freeze(
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
        f"{brief_path(what)} contains a value of type {type(value).__name__}, which is not a JSON "
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


def _frozen_text(value: str, what: str, keeps_surrogates: bool) -> str:
    text = value if type(value) is str else str.__str__(value)
    if not keeps_surrogates and has_lone_surrogate(text):
        raise ConfigError(
            f"{brief_path(what)} contains a lone surrogate, which UTF-8 cannot encode: "
            f"{brief(text)}",
            context={"field": what, "value": text},
        )
    return text


def thaw(value: Any) -> Any:
    """A plain, mutable deep copy of a read-only value."""
    return copy.deepcopy(value)


MAX_JSON_BYTES = 1_048_576
"""The largest `structured`, and the largest sum of all extra fields, as compact JSON in UTF-8."""

_TOO_LARGE = f"structured is larger than {MAX_JSON_BYTES:,} bytes as JSON, which is the limit"

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
            return {DROPPED: _TOO_LARGE}
    converter = _Converter(MAX_JSON_BYTES, _Dropped())
    converter.enter(value)
    try:
        converted = converter.mapping(value, ())
    except _TooLargeError:
        return {DROPPED: _TOO_LARGE}
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # a mapping may be of the tool's own class
        return {DROPPED: f"structured could not be read: {type(error).__name__}"}
    if _core.json_size(converted, MAX_JSON_BYTES)[0] > MAX_JSON_BYTES:
        return {DROPPED: _TOO_LARGE}
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
            converter = _Converter(left, dropped)
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

    def measured() -> tuple[int, bool]:
        return _core.json_size(value if type(value) is dict else dict(value), MAX_JSON_BYTES)

    return guarded(lambda _: (0, False), measured)  # a mapping may be of the tool's own class


class _TooLargeError(Exception):
    """The value has more bytes than it may."""


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

    def __init__(self, limit_bytes: int, dropped: _Dropped) -> None:
        self.dropped = dropped
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

    def value(self, value: Any, path: tuple[str | int, ...]) -> Any:
        self._spend(2)
        try:
            return self._converted(value, path)
        except (KeyboardInterrupt, _TooLargeError):
            raise
        except BaseException:  # objects have code of their own
            self.dropped.add(path, f"a value of type {_kind(value)} could not be read")
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
                self.dropped.add(
                    path, f"a whole number of about {digits:,} digits is too long for JSON"
                )
                return None
            self._spend(number.bit_length() // 4)
            return number
        if isinstance(value, float):
            real = float.__float__(value)
            if real - real != 0:
                self.dropped.add(path, f"{real!r} is not a JSON number")
                return None
            return real
        if isinstance(value, enum.Enum):
            return self.value(value.value, path)
        if isinstance(value, bytes | bytearray | memoryview):
            self.dropped.add(path, f"{_kind(value)} has no JSON form")
            return None
        return self._container(value, path)

    def _container(self, value: Any, path: tuple[str | int, ...]) -> Any:
        if len(path) > MAX_DEPTH:
            self.dropped.add(path, f"nested deeper than {MAX_DEPTH} levels")
            return None
        if id(value) in self._open:
            self.dropped.add(path, "contains itself")
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
        if hasattr(type(value), "dtype") and callable(getattr(value, "tolist", None)):
            self._spend(getattr(value, "size", 0))
            return self.value(value.tolist(), path)
        if isinstance(value, Iterable) and not hasattr(type(value), "__fspath__"):
            self.dropped.add(path, f"a value of type {_kind(value)} has no JSON form")
            return None
        fspath = getattr(value, "__fspath__", None)
        try:
            plain = fspath() if callable(fspath) else to_jsonable_python(value)
        except Exception:
            plain = None
        if not isinstance(plain, str | int | float):
            self.dropped.add(path, f"a value of type {_kind(value)} has no JSON form")
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
