from __future__ import annotations

import datetime as dt
import enum
import math
import re
import uuid
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import AfterValidator, BaseModel, Field

from ethos_registry import ToolContext, ToolError
from ethos_registry.schema._arguments import Arguments
from ethos_registry.schema._problems import MAX_FIELD_CHARS, MAX_FIELDS

pytestmark = pytest.mark.every_python


class Color(enum.Enum):
    RED = "red"
    BLUE = "blue"


@dataclass
class Point:
    x: int
    y: int = 0


class Cat(BaseModel):
    kind: Literal["cat"]
    name: str


class Dog(BaseModel):
    kind: Literal["dog"]
    age: int


class Node(BaseModel):
    children: list[Node] = []


def even(number: int) -> int:
    if number % 2:
        raise ValueError("should be even,\nreally")
    return number


def search(
    query: str,
    limit: int = 10,
    color: Color = Color.RED,
    mode: Literal["fast", "exact"] = "fast",
    page: Annotated[int, Field(ge=1, le=5)] = 1,
    tag: Annotated[str, Field(min_length=2, max_length=4, pattern="^a")] = "aa",
    point: Point | None = None,
    numbers: Annotated[list[int], Field(max_length=20)] = [],  # noqa: B006
    either: int | list[int] = 0,
    pet: Cat | Dog | None = None,
    tagged: Annotated[Cat | Dog, Field(discriminator="kind")] = None,
    pair: Annotated[int, AfterValidator(even)] = 2,
    node: Node | None = None,
    ratio: float = 0.5,
    flag: bool = False,
    when: dt.datetime | None = None,
    key: uuid.UUID | None = None,
    counts: dict[str, int] | None = None,
) -> None: ...


def open_ended(
    path: str, context: ToolContext, from_: str = Field("", alias="from"), **options: int
): ...


def closed(path: str, from_: str = Field("", alias="from")) -> None: ...


def nothing() -> None: ...


def untyped(value): ...


SEARCH = Arguments(search)
OPEN_ENDED = Arguments(open_ended)
NOTHING = Arguments(nothing)
UNTYPED = Arguments(untyped)


def refusal(arguments: Any, of: Arguments = SEARCH) -> str:
    error = of.bind(arguments)
    assert isinstance(error, ToolError)
    assert (error.code, error.reason) == ("input_invalid", "invalid_args")
    return error.error


def nested(levels: int) -> Any:
    value: Any = {}
    for _ in range(levels):
        value = {"children": [value]}
    return value


class TestBinding:
    def test_text_that_holds_a_number_becomes_the_number(self) -> None:
        assert SEARCH.bind({"query": "q", "limit": "5"})["limit"] == 5

    def test_objects_arrive_as_objects(self) -> None:
        values = SEARCH.bind(
            {
                "query": "q",
                "color": "blue",
                "point": {"x": "3"},
                "pet": {"kind": "dog", "age": 3},
                "when": "2025-01-31T13:45:00Z",
                "key": "12345678-1234-5678-1234-567812345678",
            }
        )
        assert values["color"] is Color.BLUE
        assert values["point"] == Point(3, 0)
        assert values["pet"] == Dog(kind="dog", age=3)
        assert values["when"] == dt.datetime(2025, 1, 31, 13, 45, tzinfo=dt.UTC)
        assert values["key"] == uuid.UUID("12345678-1234-5678-1234-567812345678")

    def test_defaults_are_filled(self) -> None:
        values = SEARCH.bind({"query": "q"})
        assert values["color"] is Color.RED
        assert values["limit"] == 10
        assert set(values) == set(SEARCH.schema["properties"])

    def test_mutable_default_is_fresh_for_each_call(self) -> None:
        SEARCH.bind({"query": "q"})["numbers"].append(1)
        assert SEARCH.bind({"query": "q"})["numbers"] == []

    def test_no_arguments_are_an_empty_object(self) -> None:
        assert NOTHING.bind(None) == NOTHING.bind({}) == {}

    def test_caller_keeps_its_arguments_unchanged(self) -> None:
        given_arguments = {"path": "p", "depth": "3"}
        OPEN_ENDED.bind(given_arguments, ToolContext())
        assert given_arguments == {"path": "p", "depth": "3"}

    def test_context_is_injected(self) -> None:
        context = ToolContext(session_id="s")
        assert OPEN_ENDED.bind({"path": "p"}, context)["context"] is context

    def test_keyword_arguments_are_collected_and_typed(self) -> None:
        values = OPEN_ENDED.bind({"path": "p", "from": "f", "depth": "3", "**": 4})
        assert values == {"path": "p", "from_": "f", "depth": 3, "**": 4, "context": None}

    @pytest.mark.parametrize("name", ["context", "from_"])
    def test_keyword_arguments_cannot_take_a_parameters_name(self, name: str) -> None:
        text = refusal({"path": "p", name: 1}, OPEN_ENDED)
        assert text == f"{name}: unknown argument; the arguments are path, from"

    def test_unconstrained_text_may_hold_a_lone_surrogate(self) -> None:
        assert SEARCH.bind({"query": "\ud83d"})["query"] == "\ud83d"


LINES = {
    "missing": ({}, "query: is required, but missing"),
    "wrong type": ({"limit": "abc"}, "limit: should be a whole number, got 'abc'"),
    "wrong kind": ({"limit": [1]}, "limit: should be a whole number, got a list"),
    "null": ({"limit": None}, "limit: should be a whole number, got null"),
    "fraction": ({"limit": 2.5}, "limit: should be a whole number, got 2.5"),
    "boolean": ({"flag": "perhaps"}, "flag: should be true or false, got 'perhaps'"),
    "text": ({"query": 7}, "query: should be a string, got 7"),
    "enum": ({"color": "green"}, "color: should be 'red' or 'blue', got 'green'"),
    "literal": ({"mode": "slow"}, "mode: should be 'fast' or 'exact', got 'slow'"),
    "too small": ({"page": 0}, "page: should be at least 1, got 0"),
    "too large": ({"page": 9}, "page: should be at most 5, got 9"),
    "too short": ({"tag": "a"}, "tag: should have at least 2 characters, got 'a'"),
    "too long": ({"tag": "abcde"}, "tag: should have at most 4 characters, got 'abcde'"),
    "empty": ({"tag": ""}, "tag: should have at least 2 characters, got an empty string"),
    "pattern": ({"tag": "bb"}, "tag: should match the pattern ^a, got 'bb'"),
    "nested": ({"point": {"x": "q"}}, "point.x: should be a whole number, got 'q'"),
    "nested missing": ({"point": {}}, "point.x: is required, but missing"),
    "nested extra": ({"point": {"x": 1, "z": 1}}, "point.z: unknown field"),
    "nested kind": ({"point": 4}, "point: should be an object, got 4"),
    "item": ({"numbers": [1, "b"]}, "numbers[1]: should be a whole number, got 'b'"),
    "too many items": ({"numbers": [1] * 21}, "numbers: should have at most 20 items, got a list"),
    "anyOf": ({"either": "x"}, "either: should be a whole number or a list, got 'x'"),
    "anyOf, item": ({"either": ["x"]}, "either[0]: should be a whole number, got 'x'"),
    "anyOf, models": (
        {"pet": {}},
        (
            "pet.kind: is required, but missing (as Cat or Dog); pet.name: is required, "
            "but missing (as Cat); pet.age: is required, but missing (as Dog)"
        ),
    ),
    "unknown tag": (
        {"tagged": {"kind": "cow"}},
        "tagged: should have as 'kind' one of 'cat', 'dog', got an object",
    ),
    "tagged": ({"tagged": {"kind": "cat"}}, "tagged.name: is required, but missing"),
    "validator": ({"pair": 3}, "pair: should be even, really, got 3"),
    "NaN": ({"ratio": math.nan}, "ratio: should be a finite number, got nan"),
    "infinity as text": ({"ratio": "inf"}, "ratio: should be a finite number, got 'inf'"),
    "date": (
        {"when": "soon"},
        "when: should be a date and time, as '2025-01-31T13:45:00Z', got 'soon'",
    ),
    "uuid": ({"key": "x"}, "key: should be a UUID, got 'x'"),
    "mapping value": ({"counts": {"a b": "x"}}, "counts.a b: should be a whole number, got 'x'"),
    "mapping key": ({"counts": {1: 1}}, "counts[1] (its name): should be a string, got 1"),
    "key": ({3: 1}, "[3]: should have a string as its name, got 3"),
    "surrogate": ({"tag": "\ud83d"}, "tag: should be text without lone surrogates, got '\\ud83d'"),
}


class TestRefusals:
    @pytest.mark.parametrize("kind", LINES)
    def test_text_says_where_what_was_expected_and_what_came(self, kind: str) -> None:
        arguments, expected = LINES[kind]
        text = refusal(arguments if kind == "missing" else {"query": "q"} | arguments)
        assert text == expected

    @pytest.mark.parametrize(
        ("came", "shown"),
        [([], "a list"), ([1], "a list"), ("text", "'text'"), (3, "3"), (True, "true")],
    )
    def test_arguments_that_are_no_object_are_refused(self, came: Any, shown: str) -> None:
        expected = f"arguments must be a JSON object, got {shown}"
        assert refusal(came) == refusal(came, OPEN_ENDED) == expected

    def test_too_deep_arguments_are_refused(self) -> None:
        text = refusal({"query": "q", "node": nested(1000)})
        assert text.startswith("node.children[0].children[0]")
        assert text.endswith("…: is nested too deeply, got an object")

    def test_arguments_deeper_than_pythons_stack_are_reported(self) -> None:
        assert refusal({"query": nested(100_000)}) == "query: should be a string, got an object"

    def test_arguments_that_hold_themselves_are_refused(self) -> None:
        node: dict[str, Any] = {}
        node["children"] = [node]
        text = refusal({"query": "q", "node": node})
        assert text == "node.children[0]: is nested too deeply, got an object"

    def test_unknown_argument_reads_the_ones_that_exist(self) -> None:
        text = refusal({"path": "p", "from_": "f"}, Arguments(closed))
        assert text == "from_: unknown argument; the arguments are path, from"

    def test_unknown_argument_of_a_function_without_any(self) -> None:
        assert refusal({"x": 1}, NOTHING) == "x: unknown argument; there are none"

    def test_numbers_too_long_to_write_are_reported_by_their_length(self) -> None:
        text = refusal({"query": 10**5000})
        assert text == "query: should be a string, got a whole number of about 5001 digits"

    def test_long_text_is_shown_by_its_start_and_length(self) -> None:
        text = refusal({"query": "q", "limit": "x" * 5000})
        assert text.endswith("…' (5000 characters)")
        assert len(text) <= MAX_FIELD_CHARS

    def test_five_fields_are_reported_and_the_rest_counted(self) -> None:
        text = refusal({"query": "q", "numbers": ["a"] * 12})
        assert text.count("numbers[") == MAX_FIELDS
        assert text.endswith("; and 7 more")


short_text = st.text("a1é😀\ud83d\n'\"\x00", max_size=300)
names = st.sampled_from([*SEARCH.schema["properties"], "x", "kind", "children"]) | short_text
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | short_text,
    lambda inner: st.lists(inner, max_size=8) | st.dictionaries(names, inner, max_size=4),
    max_leaves=12,
)


class TestProperties:
    @given(st.dictionaries(names, json_values, max_size=12) | json_values)
    def test_any_json_is_bound_or_refused_within_the_bounds(self, arguments: Any) -> None:
        for candidate in (SEARCH, OPEN_ENDED, NOTHING):
            bound = candidate.bind(arguments)
            if isinstance(bound, dict):
                continue
            assert 0 < len(bound.error) <= MAX_FIELDS * (MAX_FIELD_CHARS + 2) + 20
            assert "\n" not in bound.error
            assert "pydantic" not in re.sub(r"'[^']*'", "", bound.error)

    @given(json_values)
    def test_any_json_reaches_an_unannotated_parameter_unchanged(self, value: Any) -> None:
        assert UNTYPED.bind({"value": value})["value"] is value

    @settings(max_examples=50)
    @given(
        st.fixed_dictionaries(
            {"query": st.text()},
            optional={
                "limit": st.integers(),
                "color": st.sampled_from(["red", "blue"]),
                "mode": st.sampled_from(["fast", "exact"]),
                "page": st.integers(1, 5),
                "tag": st.from_regex(r"\Aa[a-z]{1,3}\Z"),
                "point": st.none()
                | st.fixed_dictionaries({"x": st.integers()}, optional={"y": st.integers()}),
                "numbers": st.lists(st.integers(), max_size=20),
                "either": st.integers() | st.lists(st.integers()),
                "pet": st.none()
                | st.fixed_dictionaries({"kind": st.just("dog"), "age": st.integers()}),
                "ratio": st.floats(allow_nan=False, allow_infinity=False) | st.integers(),
                "flag": st.booleans(),
                "when": st.none() | st.datetimes().map(lambda when: when.isoformat()),
                "counts": st.none() | st.dictionaries(st.text(), st.integers()),
            },
        )
    )
    def test_every_call_that_the_schema_allows_binds(self, arguments: dict[str, Any]) -> None:
        assert isinstance(SEARCH.bind(arguments), dict)
