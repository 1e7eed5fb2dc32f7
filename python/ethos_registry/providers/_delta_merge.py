"""JSON values that a stream sends in pieces, put together without knowing their fields."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_REPLACED = frozenset({"type", "id", "role", "name", "format", "object", "model", "status"})
"""Strings that a server repeats whole; all others are pieces of a longer one."""
_CONTINUED = frozenset({"text", "thinking", "reasoning.text", "reasoning.summary"})
"""Types of list items that go on in the next event although nothing numbers them."""


def fields_of(value: Any) -> Mapping[str, Any]:
    """The fields of a dict or of an SDK's object, those that the SDK does not declare included."""
    if isinstance(value, Mapping):
        return value
    extra = getattr(value, "model_extra", None)
    declared: dict[str, Any] = getattr(value, "__dict__", {})
    return declared | extra if extra else declared


class DeltaMerge:
    """Merges deltas: strings are joined, objects merged, list items found by their `index`.

    Items of different types may share an index. An item without one is appended, unless it goes on
    with the text or the thinking that the last event ended with. Unknown fields are kept; `null`
    changes nothing.

    >>> merge = DeltaMerge()
    >>> merge.add({"text": "Hel", "details": [{"type": "a", "index": 0, "data": "x"}]})
    >>> merge.add({"text": "lo", "details": [{"type": "a", "index": 0, "data": "y"}]})
    >>> merge.value()
    {'text': 'Hello', 'details': [{'type': 'a', 'index': 0, 'data': 'xy'}]}
    """

    __slots__ = ("_fields",)

    def __init__(self) -> None:
        self._fields: dict[str, Any] = {}

    def add(self, delta: Mapping[str, Any]) -> None:
        """Merge one delta."""
        _merge_fields(self._fields, delta)

    def add_field(self, name: str, value: Any) -> None:
        """Merge one field of a delta."""
        merged = _merged(self._fields.get(name), value, name)
        if merged is not None:
            self._fields[name] = merged

    def value(self) -> dict[str, Any]:
        """The object so far, as plain values."""
        return {name: joined(value) for name, value in self._fields.items()}


class Text:
    """A string in pieces."""

    __slots__ = ("pieces",)

    def __init__(self, text: str) -> None:
        self.pieces = [text]

    def text(self) -> str:
        if len(self.pieces) > 1:
            self.pieces = ["".join(self.pieces)]
        return self.pieces[0]


class _Items:
    """A list in pieces, with its items by index and by type and index."""

    __slots__ = ("by_place", "items")

    def __init__(self) -> None:
        self.items: list[Any] = []
        self.by_place: dict[Any, dict[str, Any]] = {}

    def add(self, values: Any) -> None:
        for number, value in enumerate(values):
            if not _is_object(value):
                merged = _merged(None, value, "")
                if merged is not None:
                    self.items.append(merged)
                continue
            fields = fields_of(value)
            item = self._item_of(fields, is_first=number == 0)
            if item is None:
                if fields.get("type") in _CONTINUED and not _has_content(fields):
                    continue  # an empty piece must not divide the thinking around it
                item = {}
                self.items.append(item)
            _merge_fields(item, fields)
            index = fields.get("index")
            if isinstance(index, int):
                self.by_place[index] = self.by_place[fields.get("type"), index] = item

    def _item_of(self, fields: Mapping[str, Any], *, is_first: bool) -> dict[str, Any] | None:
        """The item that a delta goes on with."""
        index, kind = fields.get("index"), fields.get("type")
        if isinstance(index, int):
            item = self.by_place.get((kind, index))
            if item is None and (latest := self.by_place.get(index)) is not None:
                item = latest if kind is None or "type" not in latest else None
            return item
        last = self.items[-1] if self.items and is_first else None
        if kind not in _CONTINUED or type(last) is not dict or "index" in last:
            return None
        is_signed = isinstance(signature := last.get("signature"), Text) and signature.text()
        return last if joined(last.get("type")) == kind and not is_signed else None


def _has_content(fields: Mapping[str, Any]) -> bool:
    return any(value for name, value in fields.items() if name not in ("type", "index"))


def _is_object(value: Any) -> bool:
    return isinstance(value, Mapping) or hasattr(value, "model_dump")


def _merge_fields(fields: dict[str, Any], delta: Mapping[str, Any]) -> None:
    for name, value in delta.items():
        merged = _merged(fields.get(name), value, name)
        if merged is not None:
            fields[name] = merged


def _merged(known: Any, value: Any, name: str) -> Any:
    """What a field holds after `value` came for it."""
    if isinstance(value, str):
        if isinstance(known, _Items):
            known.add([{"type": "text", "text": value}])
            return known
        if not isinstance(known, Text):
            return Text(value)
        if name in _REPLACED or ("signature" in name and value == known.text()):
            return Text(value) if value else known
        known.pieces.append(value)
        return known
    if value is None or isinstance(value, bool | int | float | bytes):
        return known if value is None else value
    if isinstance(value, list | tuple):
        if not isinstance(known, _Items):
            text = known.text() if isinstance(known, Text) else ""
            known = _Items()
            if text:
                known.add([{"type": "text", "text": text}])
        known.add(value)
        return known
    if _is_object(value):
        fields = fields_of(value)
        if not fields and not isinstance(value, Mapping):
            return known  # the marker of an SDK for a field that was not sent
        merged = known if type(known) is dict else {}
        _merge_fields(merged, fields)
        return merged
    return known


def joined(value: Any) -> Any:
    """A value with its pieces put together."""
    if isinstance(value, Text):
        return value.text()
    if isinstance(value, _Items):
        value = value.items
    if isinstance(value, list):
        return [joined(item) for item in value]
    if isinstance(value, dict):
        return {name: joined(item) for name, item in value.items()}
    return value
