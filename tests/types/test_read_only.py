"""Read-only values: dicts to everybody, changed by nobody, plain when copied."""

from __future__ import annotations

import copy
import enum
import json
import pickle
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ethos_registry import ConfigError
from ethos_registry.types._json_values import MAX_DEPTH, ReadOnlyDict, ReadOnlyList, freeze, thaw

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=12,
)


def plain(value: Any) -> bool:
    """Whether nothing in the value is a subclass of a JSON type."""
    if type(value) is dict:
        return all(type(key) is str and plain(item) for key, item in value.items())
    if type(value) is list:
        return all(map(plain, value))
    return value is None or type(value) in (str, bool, int, float)


@given(JSON)
def test_a_frozen_value_is_the_same_json_and_its_copies_are_plain(value: Any) -> None:
    frozen = freeze(value, "value")
    assert frozen == value
    assert json.dumps(frozen) == json.dumps(value)
    for twin in (copy.deepcopy(frozen), thaw(frozen), pickle.loads(pickle.dumps(frozen))):
        assert twin == value
        assert plain(twin)


def test_a_shallow_copy_is_a_plain_dict_or_list() -> None:
    frozen = freeze({"a": [1]}, "value")
    for twin in (copy.copy(frozen), frozen.copy(), dict(frozen), frozen | {}):
        assert type(twin) is dict
    for twin in (copy.copy(frozen["a"]), frozen["a"].copy(), frozen["a"] + [], frozen["a"][:]):
        assert type(twin) is list


DICT_CHANGES = {
    "__setitem__": ("a", 1),
    "__delitem__": ("a",),
    "__ior__": ({},),
    "clear": (),
    "pop": ("a",),
    "popitem": (),
    "setdefault": ("b", 1),
    "update": ({},),
}
LIST_CHANGES = {
    "__setitem__": (0, 1),
    "__delitem__": (0,),
    "__iadd__": ([],),
    "__imul__": (2,),
    "append": (1,),
    "clear": (),
    "extend": ([],),
    "insert": (0, 1),
    "pop": (),
    "remove": (1,),
    "reverse": (),
    "sort": (),
}


@pytest.mark.parametrize(
    ("value", "method", "arguments"),
    [({"a": 1}, name, given) for name, given in DICT_CHANGES.items()]
    + [([1], name, given) for name, given in LIST_CHANGES.items()],
)
def test_every_change_is_refused_with_the_way_out(
    value: Any, method: str, arguments: tuple[Any, ...]
) -> None:
    frozen = freeze(value, "value")
    with pytest.raises(TypeError, match="read-only; change a copy"):
        getattr(frozen, method)(*arguments)
    assert frozen == value


def test_no_method_that_changes_was_forgotten() -> None:
    readers = {"copy", "fromkeys", "get", "items", "keys", "values", "count", "index"}
    public = {
        name
        for kind in (dict, list)
        for name in dir(kind)
        if not name.startswith("__") and name not in readers
    }
    assert public == {name for name in (*DICT_CHANGES, *LIST_CHANGES) if not name.startswith("__")}
    assert {"__setitem__", "__delitem__", "__ior__"} <= vars(ReadOnlyDict).keys()
    assert {"__setitem__", "__delitem__", "__iadd__", "__imul__"} <= vars(ReadOnlyList).keys()


class Colour(enum.StrEnum):
    RED = "red"


class Number(enum.IntEnum):
    ONE = 1


class Length(float):
    pass


def test_members_of_enumerations_become_what_they_are_in_json() -> None:
    frozen = freeze({Colour.RED: [Colour.RED, Number.ONE, Length(1.5), True]}, "value")
    assert plain(thaw(frozen))
    assert json.dumps(frozen) == '{"red": ["red", 1, 1.5, true]}'


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"a": {1: 2}}, "^schema.a has the key 1; the keys of an object are strings$"),
        ({"a": [float("nan")]}, r"^schema.a\[0\] contains nan, which is not a JSON number$"),
        ({"a": float("-inf")}, "^schema.a contains -inf, which is not a JSON number$"),
        ({"a": {1, 2}}, "^schema.a contains a value of type set, which is not a JSON value;"),
        ({"a": b"x"}, "^schema.a contains a value of type bytes, which is not a JSON value;"),
        ({"a": object()}, "^schema.a contains a value of type object, which is not a JSON value;"),
        ({"a\nb": {1}}, r"^schema.a\\nb contains a value of type set, which is not a JSON value;"),
        (
            {"x" * 500: {1}},
            r"^schema.x{69}\.\.\. contains a value of type set, which is not a JSON value;",
        ),
    ],
)
def test_what_is_no_json_is_refused_with_its_place_on_one_line(value: Any, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        freeze(value, "schema")


def nested(levels: int) -> dict[str, Any]:
    value: dict[str, Any] = {}
    for _ in range(levels - 1):
        value = {"a": value}
    return value


def test_values_are_nested_at_most_128_levels() -> None:
    assert freeze(nested(MAX_DEPTH), "value") == nested(MAX_DEPTH)
    for deep in (nested(MAX_DEPTH + 1), nested(100_000)):
        with pytest.raises(ConfigError, match="nested deeper than 128 levels") as refusal:
            freeze(deep, "value")
        assert len(str(refusal.value)) < 150


def test_a_value_that_holds_itself_is_refused() -> None:
    ring: dict[str, Any] = {}
    ring["ring"] = [ring]
    with pytest.raises(ConfigError, match="nested deeper"):
        freeze(ring, "value")


def test_what_is_frozen_is_a_copy() -> None:
    inner = [1]
    frozen = freeze({"a": inner}, "value")
    inner.append(2)
    assert frozen == {"a": [1]}
