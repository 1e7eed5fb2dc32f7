"""Arguments against a JSON Schema: the native validator beside `jsonschema`, and hostile input."""

import socket
import sys
import time
from collections.abc import Iterator, Mapping
from itertools import pairwise
from types import MappingProxyType
from typing import Any

import jsonschema
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from ethos_registry import ConfigError, Tool, _core
from ethos_registry.schema._problems import MAX_FIELD_CHARS, MAX_FIELDS
from ethos_registry.schema._validate import ArgumentValidator

NAMES = ("a", "b", "0", "")
PATTERNS = ("^a", "b$", "^[a-c]*$", "x|y", "^(ab)+$", "^.{2,3}$", "[0-9]", r"^\d+$", r"a\.b")
NUMBERS = st.one_of(
    st.integers(-4, 8),
    st.integers(-(2**70), 2**70),
    st.sampled_from([2**53 + 1, 2**63, 2**64, -(2**63) - 1, 1.0, 0.5, -1.5, 1e3, 1e30]),
)
TEXTS = st.text("abcxy01.é😀", max_size=4)
SCALARS = st.one_of(st.none(), st.booleans(), NUMBERS, TEXTS)
VALUES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=3)
    ),
    max_leaves=8,
)
TYPES = st.sampled_from(["integer", "number", "string", "boolean", "null", "array", "object"])
SIZES = st.integers(0, 3)


def schemas(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    several = st.lists(inner, min_size=1, max_size=3)
    fields = st.dictionaries(st.sampled_from(NAMES), inner, max_size=3)
    return st.fixed_dictionaries(
        {},
        optional={
            "type": TYPES | st.lists(TYPES, min_size=1, max_size=3, unique=True),
            "enum": st.lists(VALUES, min_size=1, max_size=3),
            "const": VALUES,
            "required": st.lists(st.sampled_from(NAMES), max_size=2, unique=True),
            "properties": fields,
            "patternProperties": st.dictionaries(st.sampled_from(PATTERNS), inner, max_size=2),
            "additionalProperties": inner,
            "propertyNames": inner,
            "minProperties": SIZES,
            "maxProperties": SIZES,
            "items": inner,
            "prefixItems": several,
            "contains": inner,
            "uniqueItems": st.booleans(),
            "minItems": SIZES,
            "maxItems": SIZES,
            "minimum": NUMBERS,
            "maximum": NUMBERS,
            "exclusiveMinimum": NUMBERS,
            "exclusiveMaximum": NUMBERS,
            "multipleOf": st.integers(1, 4),
            "minLength": SIZES,
            "maxLength": SIZES,
            "pattern": st.sampled_from(PATTERNS),
            "format": st.just("email"),
            "anyOf": several,
            "oneOf": several,
            "allOf": several,
            "not": inner,
            "if": inner,
            "then": inner,
            "$ref": st.sampled_from(["#/$defs/a", "#/$defs/b"]),
        },
    ).map(lambda schema: dict(list(schema.items())[:4]))


SUBSCHEMAS = st.recursive(st.booleans() | schemas(st.booleans()), schemas, max_leaves=5)


@st.composite
def documents(draw: st.DrawFn) -> dict[str, Any]:
    document = draw(schemas(SUBSCHEMAS))
    return document | {"$defs": {"a": draw(SUBSCHEMAS), "b": draw(SUBSCHEMAS)}}


@st.composite
def near(draw: st.DrawFn, schema: Any, depth: int = 3) -> Any:
    """A value that the schema may well accept."""
    if not isinstance(schema, dict) or depth == 0 or draw(st.integers(0, 5)) == 0:
        return draw(VALUES)
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        return draw(st.sampled_from(schema["enum"]))
    for keyword in ("anyOf", "oneOf", "allOf"):
        if keyword in schema:
            return draw(near(draw(st.sampled_from(schema[keyword])), depth - 1))
    if "properties" in schema or "required" in schema:
        fields = schema.get("properties", {})
        names = [*fields, *schema.get("required", [])]
        return {name: draw(near(fields.get(name), depth - 1)) for name in names}
    if "items" in schema or "prefixItems" in schema:
        first = [draw(near(item, depth - 1)) for item in schema.get("prefixItems", [])]
        return first + draw(st.lists(near(schema.get("items"), depth - 1), max_size=2))
    for keyword in ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"):
        if keyword in schema:
            return schema[keyword] + draw(st.integers(-1, 1))
    kinds = schema.get("type")
    kind = draw(st.sampled_from(kinds)) if isinstance(kinds, list) else kinds
    by_kind = {"string": TEXTS, "integer": NUMBERS, "number": NUMBERS, "null": st.none()}
    return draw(by_kind.get(str(kind), VALUES))


def loops(schema: dict[str, Any]) -> bool:
    """Whether a reference leads to itself without a step into the value: no answer is right."""

    def targets(part: Any) -> set[str]:
        if isinstance(part, list):
            return set().union(*map(targets, part)) if part else set()
        if not isinstance(part, dict):
            return set()
        found = {part["$ref"][-1]} if "$ref" in part else set()
        in_place = ("anyOf", "oneOf", "allOf", "not", "if", "then", "propertyNames")
        return found.union(*(targets(part[keyword]) for keyword in in_place if keyword in part))

    leads = {name: targets(part) for name, part in schema["$defs"].items()}
    both = "b" in leads["a"] and "a" in leads["b"]
    return both or any(name in leads[name] for name in leads)


class Text(str):
    """A string of a class of its own."""

    __slots__ = ()


def aside(value: Any) -> Any:
    """The same JSON in objects that are not looked at in place."""
    if isinstance(value, dict):
        return MappingProxyType({aside(name): aside(item) for name, item in value.items()})
    if isinstance(value, list):
        return tuple(map(aside, value))
    return Text(value) if type(value) is str else value


@pytest.mark.slow
@settings(max_examples=60)  # the reference takes most of a second for some
@given(st.data(), documents())
def test_it_accepts_what_the_python_reference_accepts_in_place_and_turned_into_json(
    data: st.DataObject, schema: dict[str, Any]
) -> None:
    assume(not loops(schema))
    oracle = jsonschema.Draft202012Validator(schema)
    validator = _core.SchemaValidator(schema)
    for _ in range(3):
        value = data.draw(near(schema))
        expected = oracle.is_valid(value)
        problems = validator.validate(value)
        assert validator.is_valid(value) is expected
        assert (problems is None) is expected
        assert validator.validate(aside(value)) == problems
        assert validator.is_valid(aside(value)) is expected
        text = ArgumentValidator("tool", schema).problems({"v": 1} if problems is None else value)
        assert text is None or 0 < len(text.error) <= MAX_FIELDS * (MAX_FIELD_CHARS + 2) + 20


@pytest.mark.parametrize(
    ("schema", "value", "valid"),
    [
        ({"type": "integer"}, 2**63, True),
        ({"type": "integer"}, -(2**200), True),
        ({"maximum": 2**64}, 2**64 + 1, False),
        ({"maximum": 2**53}, 2**53 + 1, False),
        ({"maximum": float(2**53)}, 2**53 + 1, False),
        ({"exclusiveMinimum": 0.1}, 0.1, False),
        ({"exclusiveMinimum": 0}, 5e-324, True),
        ({"multipleOf": 0.1}, 0.3, True),
        ({"multipleOf": 0.01}, 19.99, True),
        ({"type": "integer"}, 1.0, True),
        ({"type": "integer"}, 1e300, True),
        ({"type": "integer"}, -0.0, True),
        ({"type": "integer"}, True, False),
        ({"type": "number"}, False, False),
        ({"type": "boolean"}, 1, False),
        ({"enum": [1]}, True, False),
        ({"enum": [1]}, 1.0, True),
        ({"const": {"a": [1, {"b": None}]}}, {"a": [1.0, {"b": None}]}, True),
        ({"const": False}, 0, False),
        ({"uniqueItems": True}, [1, True, "1", 1.5], True),
        ({"uniqueItems": True}, [{"a": 1, "b": 2}, {"b": 2.0, "a": 1}], False),
        ({"maxLength": 2}, "\U0001f600\U0001f600", True),
        ({"maxLength": 2}, "e\u0301e\u0301", False),
        ({"pattern": "^\\d$"}, "\u0663", False),
        ({"propertyNames": {"maxLength": 1}}, {"日": 1, "é": 2}, True),
        ({"propertyNames": {"maxLength": 1}}, {"日本": 1}, False),
        ({"required": ["é"]}, {"é": None}, True),
        ({"type": "null"}, None, True),
        ({"x-unknown": 1}, {"a": float("inf")}, False),
        ({"x-unknown": 1}, {"a": ["\ud800"]}, False),
        ({"x-unknown": 1}, {"\ud800": 1}, False),
        ({"x-unknown": 1}, {1: 1}, False),
        ({"x-unknown": 1}, {"a": b""}, False),
    ],
)
def test_numbers_texts_and_foreign_values_are_checked_as_json_says(
    schema: dict[str, Any], value: Any, valid: bool
) -> None:
    validator = _core.SchemaValidator(schema)
    assert validator.is_valid(value) is valid
    assert (validator.validate(value) is None) is valid
    assert validator.is_valid(aside(value)) is valid


class Loud(str):
    """A key that would say anything to be found."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        raise AssertionError("no code of the arguments runs")

    __hash__ = str.__hash__


def test_no_code_of_the_arguments_runs() -> None:
    validator = _core.SchemaValidator({"required": ["a"], "properties": {"a": {"const": "x"}}})
    assert validator.is_valid({Loud("a"): Loud("x")})
    assert not validator.is_valid({Loud("a"): Loud("y")})


@pytest.mark.parametrize("depth", [1, 60, 127])
def test_long_chains_of_schemas_find_room_on_the_stack(depth: int) -> None:
    names = [f"n{number}" for number in range(100)]
    definitions = {
        name: {"allOf": [{"$ref": f"#/$defs/{after}"}]} for name, after in pairwise(names)
    }
    definitions[names[-1]] = {"properties": {"next": {"$ref": "#/$defs/n0"}}, "type": "object"}
    validator = _core.SchemaValidator({"$ref": "#/$defs/n0", "$defs": definitions})
    args: Any = {}
    for _ in range(depth - 1):
        args = {"next": args}
    assert validator.validate(args) is None
    wrong: Any = 1
    for _ in range(depth - 1):
        wrong = {"next": wrong}
    problems = validator.validate(wrong)
    assert problems is not None
    assert problems[0][0] == ("next",) * (depth - 1)


def compiled(properties: Mapping[str, Any], **root: Any) -> ArgumentValidator:
    return ArgumentValidator("tool", {"type": "object", "properties": properties, **root})


def reported(validator: ArgumentValidator, args: object) -> str:
    problem = validator.problems(args)
    assert problem is not None
    assert (problem.code, problem.reason) == ("input_invalid", "invalid_args")
    return problem.error


def refused(**schema: Any) -> str:
    with pytest.raises(ConfigError) as caught:
        ArgumentValidator("search", {"type": "object", **schema})
    assert caught.value.context["tool_name"] == "search"
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize(
    ("schema", "value", "text"),
    [
        ({"type": "integer"}, "5", "n: should be a whole number, got '5'"),
        ({"type": "integer"}, True, "n: should be a whole number, got true"),
        ({"type": "integer"}, 1.5, "n: should be a whole number, got 1.5"),
        ({"type": ["string", "null"]}, 1, "n: should be null or a string, got 1"),
        (
            {"anyOf": [{"type": "string"}, {"type": "null"}]},
            1,
            "n: should be a string or null, got 1",
        ),
        ({"enum": ["fast", "slow", 3]}, "x", "n: should be 'fast', 'slow' or 3, got 'x'"),
        ({"const": 1}, 2, "n: should be 1, got 2"),
        ({"minimum": 1}, 0, "n: should be at least 1, got 0"),
        ({"exclusiveMaximum": 1.5}, 2, "n: should be less than 1.5, got 2"),
        ({"multipleOf": 5}, 2, "n: should be a multiple of 5, got 2"),
        ({"maxLength": 1}, "ab", "n: should have at most 1 character, got 'ab'"),
        ({"pattern": "^a"}, "b", "n: should match the pattern ^a, got 'b'"),
        ({"minItems": 2}, [1], "n: should have at least 2 items, has 1, got a list"),
        ({"items": {"type": "string"}}, ["a", 1], "n[1]: should be a string, got 1"),
        ({"uniqueItems": True}, [1, 1], "n: should have no item twice, got a list"),
        ({"required": ["x"]}, {}, "n.x: is required, but missing"),
        ({"additionalProperties": False}, {"x": 1}, "n.x: unknown field"),
        ({"minProperties": 1}, {}, "n: should have at least 1 field, got an object"),
        ({"propertyNames": {"pattern": "^a"}}, {"b": 1}, "n.b: is not an allowed name"),
        ({"not": {}}, 1, "n: is excluded, got 1"),
        (
            {"oneOf": [{}, {}]},
            1,
            "n: should fit one of the alternatives, and that one alone, got 1",
        ),
        (False, 1, "n: is not allowed, got 1"),
    ],
)
def test_a_text_says_the_field_what_was_expected_and_what_came(
    schema: Any, value: object, text: str
) -> None:
    assert reported(compiled({"n": schema}), {"n": value}) == text


def test_an_unknown_argument_reads_those_that_exist() -> None:
    closed = compiled({"path": {}, "limit": {}}, additionalProperties=False)
    assert reported(closed, {"limt": 1}) == "limt: unknown argument; the arguments are path, limit"
    empty = compiled({}, additionalProperties=False)
    assert reported(empty, {"x": 1}) == "x: unknown argument; there are none"


def test_the_text_names_five_fields() -> None:
    validator = compiled({}, additionalProperties={"type": "string"})
    text = reported(validator, {f"field{number}": number for number in range(9)})
    assert text.count("should be a string") == MAX_FIELDS
    assert text.endswith("; and 4 more")


def test_arguments_that_are_no_object_are_reported() -> None:
    validator = compiled({"a": {}}, required=["a"])
    assert reported(validator, [1]) == "arguments must be a JSON object, got a list"
    assert reported(validator, None) == "a: is required, but missing"
    assert compiled({}).problems(None) is None


def test_a_whole_float_is_an_integer() -> None:
    assert compiled({"n": {"type": "integer"}}).problems({"n": 1.0}) is None


def test_read_only_and_foreign_mappings_are_objects() -> None:
    tool = Tool("t", "", {"type": "object", "required": ["a"]}, lambda args, context: {"ok": True})
    validator = ArgumentValidator(tool.name, tool.schema)
    assert validator.problems(MappingProxyType({"a": (1, [2])})) is None
    assert reported(validator, MappingProxyType({})) == "a: is required, but missing"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({1}, "a[0]: should be a JSON value, got a list"),
        (b"x", "a[0]: should be a JSON value, got a bytes"),
        (float("nan"), "a[0]: should be a finite number, got nan"),
        ({1: 2}, "a[0]: should have a string as its name"),
        ("\ud800", "a[0]: should be text without lone surrogates, got '\\ud800'"),
        ({"\ud800": 1}, "a[0]: should be text without lone surrogates, got an object"),
    ],
)
def test_what_is_no_json_is_a_problem_and_no_exception(value: object, text: str) -> None:
    validator = compiled({})
    assert reported(validator, {"a": [value]}) == text
    assert not validator.compiled.is_valid({"a": [value]})


def test_huge_integers_are_exact_up_to_four_thousand_digits() -> None:
    validator = compiled({"n": {"maximum": 10**4000}})
    assert validator.problems({"n": 10**4000}) is None
    assert "got a whole number of about" in reported(validator, {"n": 10**4000 + 1})
    assert "should be a shorter number" in reported(validator, {"n": 1 << 1_000_000})


def test_deep_nesting_is_a_problem_and_ends_nothing() -> None:
    deep: Any = []
    for _ in range(10_000):
        deep = [deep]
    assert "is nested too deeply" in reported(compiled({}), {"a": deep})
    assert "10" not in refused(properties={"a": {"const": deep}})


def test_a_value_that_holds_itself_is_a_problem() -> None:
    loop: dict[str, Any] = {}
    loop["self"] = loop
    assert "is nested too deeply" in reported(compiled({}), loop)


def test_patterns_take_linear_time() -> None:
    validator = compiled({"a": {"pattern": "^(a+)+$"}})
    started = time.perf_counter()
    assert "should match the pattern ^(a+)+$" in reported(validator, {"a": "a" * 100_000 + "!"})
    assert time.perf_counter() - started < 100


@pytest.mark.parametrize("pattern", ["^(?=a)b", "(?<!a)b", r"(a)\1", "("])
def test_a_pattern_that_cannot_take_linear_time_is_refused_by_name(pattern: str) -> None:
    text = refused(properties={"a": {"pattern": pattern}})
    assert pattern.replace("\\", "\\\\") in text
    assert "/properties/a/pattern" in text


@pytest.mark.parametrize("target", ["http://127.0.0.1:9/a.json", "file:///etc/hostname", "b.json"])
def test_references_out_of_the_schema_are_refused_without_network(
    target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.2)
        target = target.replace(":9/", f":{server.getsockname()[1]}/")
        assert target in refused(properties={"a": {"$ref": target}})
        with pytest.raises(TimeoutError):
            server.accept()


def test_an_invalid_schema_is_refused_with_tool_and_place() -> None:
    text = refused(properties={"a": {"type": "strin"}})
    assert text.startswith("tool `search`: `schema` cannot be compiled at `/properties/a/type`: ")
    with pytest.raises(ValueError, match="at `/a/0`: it is not valid JSON"):
        _core.SchemaValidator({"a": [object()]})


def test_a_schema_that_cannot_be_compiled_is_refused_at_once() -> None:
    with pytest.raises(ConfigError, match="tool `search`"):
        ArgumentValidator("search", {"type": 5})


def test_force_changes_no_validator() -> None:
    validator = compiled({"a": {"type": "integer"}})
    for name in ("compiled", "property_names", "problems", "__dict__"):
        with pytest.raises((AttributeError, TypeError)):
            object.__setattr__(validator, name, None)
    assert reported(validator, {"a": "x"}) == "a: should be a whole number, got 'x'"


def test_an_older_draft_is_honoured() -> None:
    items = {"items": [{"type": "string"}], "additionalItems": False}
    older = compiled({"a": items}, **{"$schema": "http://json-schema.org/draft-07/schema#"})
    assert older.problems({"a": ["x"]}) is None
    assert "a: should have at most 1 item" in reported(older, {"a": ["x", 1]})


def test_a_recursive_schema_ends_and_a_tree_is_reported_by_its_leaf() -> None:
    tree = {
        "type": "object",
        "properties": {
            "children": {"type": "array", "items": {"$ref": "#"}},
            "n": {"type": "integer"},
        },
    }
    validator = ArgumentValidator("tool", tree)
    args: dict[str, Any] = {"n": "x"}
    for _ in range(3):
        args = {"children": [args]}
    assert reported(validator, args).startswith("children[0].children[0].children[0].n: should be")
    ArgumentValidator("tool", {"type": "object", "$ref": "#"}).problems({"a": 1})


def test_exponentially_many_reasons_take_little_time() -> None:
    half = {"type": "object", "properties": {"next": {"$ref": "#/$defs/n"}}}
    validator = ArgumentValidator(
        "tool",
        {"$ref": "#/$defs/n", "$defs": {"n": {"anyOf": [half, half | {"minProperties": 1}]}}},
    )
    args: Any = 1
    for _ in range(100):
        args = {"next": args}
    started = time.perf_counter()
    assert reported(validator, args) == "arguments: should match the schema of the tool"
    assert time.perf_counter() - started < 100


class Hostile(Mapping[str, Any]):
    def __getitem__(self, key: str) -> Any:
        raise OSError("gone")

    def __iter__(self) -> Iterator[str]:
        raise OSError("gone")

    def __len__(self) -> int:
        return 1


def test_a_mapping_that_fails_is_a_problem() -> None:
    assert reported(compiled({}), Hostile()) == "arguments: should be a JSON value, got an object"


def test_arguments_do_not_pass_unchecked_when_the_core_fails() -> None:
    class Failing:
        def validate(self, args: object) -> None:
            raise RuntimeError("the native core failed on this input; the input is unchanged")

    failing: Any = Failing()
    validator = compiled({})._replace(compiled=failing)
    assert "could not be checked" in reported(validator, {})


def test_valid_arguments_leave_no_references() -> None:
    validator = compiled({"a": {"type": "array"}})
    args = {"a": ["x" * 100, {"k": 1}]}
    before = sys.getrefcount(args["a"])
    answers = [validator.problems(args) for _ in range(100)]
    after = sys.getrefcount(args["a"])
    assert (answers, after) == ([None] * 100, before)
