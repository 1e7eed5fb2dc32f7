"""What a model reads about wrong arguments: the same words, whoever finds them wrong.

Each failure of the table goes through `@tool`, which binds by pydantic, and through the schema, as
for `strict` tools. The two differ in one place: a schema says all that is wrong with a value.
"""

from __future__ import annotations

import json
import math
from typing import Annotated, Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, Field

import ethos_registry
from ethos_registry import CallResult, ToolError, ToolRegistry, _core, tool
from ethos_registry.execution._arguments import BadArgumentsError, parse_json_arguments
from ethos_registry.schema._problems import MAX_FIELD_CHARS, MAX_FIELDS
from ethos_registry.schema._validate import ArgumentValidator

pytestmark = pytest.mark.every_python


class Edit(BaseModel):
    model_config = ConfigDict(extra="forbid")

    line: int
    text: str = ""


@ethos_registry.tool
def act(
    path: Annotated[str, Field(pattern="^[a-z/]+$")],
    limit: Annotated[int, Field(ge=1, le=9)] = 5,
    mode: Literal["r", "w"] = "r",
    name: Annotated[str, Field(min_length=2, max_length=4)] = "none",
    edits: tuple[Edit, ...] = (),
    tags: Annotated[list[str], Field(max_length=3)] = [],  # noqa: B006
    when: int | list[str] = 0,
    ratio: float = 1.0,
    anything: Any = None,
) -> str:
    """Take arguments of every kind."""
    return "ran"


VALIDATOR = ArgumentValidator("act", act.schema)
REGISTRIES = {
    "pydantic": ToolRegistry([act]),
    "schema": ToolRegistry([act], validate_arguments=True),
}
ARGUMENTS = "path, limit, mode, name, edits, tags, when, ratio, anything"

BOTH: dict[str, list[tuple[Any, str]]] = {
    "missing": [
        ({}, "path: is required, but missing"),
        ({"limit": 1}, "path: is required, but missing"),
    ],
    "extra": [
        ({"path": "a", "lmit": 3}, f"lmit: unknown argument; the arguments are {ARGUMENTS}"),
        ({"path": "a", "edits": [{"line": 1, "row": 1}]}, "edits[0].row: unknown field"),
    ],
    "wrong type": [
        ({"path": "a", "limit": "many"}, "limit: should be a whole number, got 'many'"),
        ({"path": "a", "limit": 1.5}, "limit: should be a whole number, got 1.5"),
        ({"path": 5}, "path: should be a string, got 5"),
        ({"path": None}, "path: should be a string, got null"),
        ({"path": {"a": 1}}, "path: should be a string, got an object"),
        ({"path": "a", "tags": "x"}, "tags: should be a list, got 'x'"),
    ],
    "enum": [({"path": "a", "mode": "x"}, "mode: should be 'r' or 'w', got 'x'")],
    "range": [
        ({"path": "a", "limit": 0}, "limit: should be at least 1, got 0"),
        ({"path": "a", "limit": 10}, "limit: should be at most 9, got 10"),
    ],
    "length": [
        ({"path": "a", "name": "x"}, "name: should have at least 2 characters, got 'x'"),
        ({"path": "a", "name": "names"}, "name: should have at most 4 characters, got 'names'"),
        ({"path": "a", "tags": ["x"] * 4}, "tags: should have at most 3 items, got a list"),
    ],
    "pattern": [({"path": "A B"}, "path: should match the pattern ^[a-z/]+$, got 'A B'")],
    "nested": [
        ({"path": "a", "edits": [{}]}, "edits[0].line: is required, but missing"),
        (
            {"path": "a", "edits": [{"line": 1}, {"line": "x"}]},
            "edits[1].line: should be a whole number, got 'x'",
        ),
    ],
    "array item": [({"path": "a", "tags": ["x", 5]}, "tags[1]: should be a string, got 5")],
    "anyOf": [
        ({"path": "a", "when": "soon"}, "when: should be a whole number or a list, got 'soon'"),
        ({"path": "a", "when": [1]}, "when[0]: should be a string, got 1"),
    ],
    "not JSON": [
        (
            "{path: 1}",
            "arguments are not valid JSON: key must be a string at line 1 column 2",
        ),
        (
            '{"path": "a"',
            "arguments are not valid JSON: EOF while parsing an object at line 1 column 12",
        ),
        (
            '{"path":\n None}',
            "arguments are not valid JSON: None is not a JSON value at line 2 column 2",
        ),
        ("[1]", "arguments must be a JSON object, got a list"),
        ('"path"', "arguments must be a JSON object, got 'path'"),
    ],
    "duplicate key": [
        (
            '{"path": "a",\n "path": "b"}',
            ('arguments are not valid JSON: duplicate key "path" in one object at line 2 column 2'),
        ),
        (
            '{"path": "a", "edits": [{"line": 1, "l\\u0069ne": 2}]}',
            (
                'arguments are not valid JSON: duplicate key "line" in one object '
                "at line 1 column 37"
            ),
        ),
    ],
    "NaN": [
        (
            '{"path": "a", "ratio": NaN}',
            "arguments are not valid JSON: NaN is not a JSON value at line 1 column 24",
        ),
        (
            '{"path": "a", "ratio": -Infinity}',
            "arguments are not valid JSON: -Infinity is not a JSON value at line 1 column 25",
        ),
        (
            '{"path": "a", "ratio": 1e999}',
            "arguments are not valid JSON: the number is too large at line 1 column 24",
        ),
        ({"path": "a", "ratio": math.nan}, "ratio: should be a finite number, got nan"),
    ],
    "too deep": [
        (
            '{"path": "a", "anything": ' + "[" * 200 + "]" * 200 + "}",
            (
                "arguments are not valid JSON: it is nested deeper than 128 levels "
                "at line 1 column 154"
            ),
        ),
        (
            '{"path": "a", "anything": ' + "[" * 9_000 + "]" * 9_000 + "}",
            "arguments are not valid JSON: recursion limit exceeded at line 1 column 227",
        ),
    ],
    "empty": [
        ("", "path: is required, but missing"),
        (" \n", "path: is required, but missing"),
        ("{}", "path: is required, but missing"),
        (None, "path: is required, but missing"),
    ],
}


def called(path: str, args: Any) -> CallResult:
    call = {"id": "1", "name": "act", "args": args}
    [result] = REGISTRIES[path].execute_parallel_sync([call])
    return result


def test_the_table_holds_fifteen_failures() -> None:
    assert len(BOTH) == 15


@pytest.mark.parametrize("path", REGISTRIES)
@pytest.mark.parametrize(
    ("args", "reported"),
    [
        pytest.param(*row, id=f"{failure} {number}")
        for failure, rows in BOTH.items()
        for number, row in enumerate(rows)
    ],
)
def test_a_failure_is_reported_in_these_words(path: str, args: Any, reported: str) -> None:
    result = called(path, args)
    assert result.text == reported
    assert isinstance(result.result, ToolError)
    assert (result.result.code, result.result.reason) == ("input_invalid", "invalid_args")


def test_a_value_that_is_too_deep_is_reported_by_the_schema() -> None:
    deep: Any = 1
    for _ in range(200):
        deep = [deep]
    reported = called("schema", {"path": "a", "anything": deep}).text
    assert reported == f"anything{'[0]' * 17}…: is nested too deeply, got a list"


def test_a_schema_tells_all_that_is_wrong_with_a_value() -> None:
    @ethos_registry.tool(strict=True)
    def name(text: Annotated[str, Field(min_length=1, pattern="^[a-z]+$")]) -> str:
        """Take a name."""
        return text

    [result] = ToolRegistry([name]).execute_parallel_sync(
        [{"id": "1", "name": "name", "args": {"text": ""}}]
    )
    assert result.text == (
        "text: should have at least 1 character and should match the pattern ^[a-z]+$, "
        "got an empty string"
    )


@pytest.mark.parametrize("path", REGISTRIES)
def test_at_most_five_fields_are_named(path: str) -> None:
    wrong = {
        "path": "A",
        "limit": 0,
        "mode": "x",
        "name": "x",
        "tags": 1,
        "when": None,
        "ratio": "",
    }
    reported = called(path, wrong).text
    assert reported.endswith("; and 2 more")
    assert reported.count(": should") == MAX_FIELDS == 5


NAMES = st.sampled_from([*ARGUMENTS.split(", "), "x" * 500, "\n" * 300, "ü", ""])
VALUES = st.recursive(
    st.sampled_from([None, True, 0, -5, 10**400, 1.5, math.nan, "", "many", "é\n" * 300, "\ud800"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=6,
)


@given(st.dictionaries(NAMES, VALUES, max_size=12))
def test_a_text_is_one_short_line_whatever_came(args: dict[str, Any]) -> None:
    by_schema = VALIDATOR.problems(args)
    for result in (act.arguments.bind(args), by_schema):
        if isinstance(result, ToolError):
            assert "\n" not in result.error
            assert "pydantic" not in result.error
            assert "http" not in result.error
            assert len(result.error) <= MAX_FIELDS * (MAX_FIELD_CHARS + 2) + len("and 99 more")


@given(
    st.dictionaries(NAMES, VALUES, max_size=3), st.integers(0, 60), st.sampled_from("{}[]:,\"'n-")
)
def test_texts_that_are_no_json_are_reported_with_a_place(
    args: dict[str, Any], position: int, put: str
) -> None:
    text = json.dumps(args)
    text = text[:position] + put + text[position:]
    constants: list[str] = []
    try:
        json.loads(text, parse_constant=constants.append)
    except ValueError:
        constants.append("no JSON at all")
    reported = None
    try:
        parse_json_arguments(text)
    except BadArgumentsError as error:
        reported = str(error)
    if reported is None:
        assert not constants
    else:
        assert reported.startswith("arguments are not valid JSON: ")
        assert " at line 1 column " in reported
        assert "\n" not in reported


OBJECTS = st.recursive(
    st.sampled_from(["1", '"a"', "[]", '"\\"{"', "-1.5e3", "null"]),
    lambda inner: (
        st.lists(inner, max_size=3).map(lambda items: f"[{', '.join(items)}]")
        | st.lists(
            st.tuples(st.sampled_from(['"a"', '"b"', '"\\u0061"', '"\\""']), inner), max_size=3
        ).map(lambda pairs: f"{{{', '.join(f'{key}: {value}' for key, value in pairs)}}}")
    ),
    max_leaves=8,
)


@given(OBJECTS)
def test_a_key_that_appears_twice_is_found_where_python_finds_it(text: str) -> None:
    twice: list[str] = []

    def look(pairs: list[tuple[str, Any]]) -> None:
        names = [name for name, _ in pairs]
        twice.extend({name for name in names if names.count(name) > 1})

    json.loads(text, object_pairs_hook=look)
    fault = _core.json_fault(text)
    assert (fault is None) == (not twice)
    if fault is not None:
        reason, _, column = fault
        key = json.loads(reason.removeprefix("duplicate key ").removesuffix(" in one object"))
        assert key in twice
        assert json.loads(text[column - 1 :].partition(":")[0]) == key


@pytest.mark.parametrize("unknown", [6, 70, 500])
@pytest.mark.parametrize("strict", [False, True])
def test_missing_fields_come_first_then_wrong_ones_then_unknown_ones(
    unknown: int, strict: bool
) -> None:
    @tool(strict=strict)
    def act(name: str, limit: int, place: list[int] | None = None) -> None: ...

    registry = ToolRegistry([act])
    args = {f"x{number}": 1 for number in range(unknown)} | {"limit": "many", "place": ["a"] * 3}
    [result] = registry.execute_parallel_sync([{"id": "1", "name": "act", "args": args}])
    lines = result.text.split("; ")
    assert lines[0] == "name: is required, but missing"
    assert lines[1].startswith("limit: should be a whole number")
    assert all(line.startswith("place[") for line in lines[2:5])
    assert " more" in lines[-1]
    assert "unknown argument" not in result.text


@pytest.mark.parametrize("strict", [False, True])
def test_a_missing_field_is_not_hidden_by_many_wrong_ones(strict: bool) -> None:
    @tool(strict=strict)
    def act(name: str, rows: list[int]) -> None: ...

    registry = ToolRegistry([act])
    call = {"id": "1", "name": "act", "args": {"rows": ["a"] * 300}}
    [result] = registry.execute_parallel_sync([call])
    assert result.text.startswith("name: is required, but missing; rows[0]: ")
