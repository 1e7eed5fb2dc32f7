"""Each provider is sent a schema that it takes; what it takes differs, and what is known of it."""

from __future__ import annotations

import contextlib
import json
import logging
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ethos_registry import Personality, Tool, ToolRegistry, _core, provider
from ethos_registry.providers._by_name import PROVIDERS
from ethos_registry.providers._schema_rules import DIALECTS
from ethos_registry.providers._sent_arguments import GivenTwiceError, sent_arguments
from ethos_registry.schema._compilation import NoSchemaError
from ethos_registry.schema._compiler import _Compiler, compile_schema
from ethos_registry.schema._drafts import schema_of_2020_12
from ethos_registry.schema._strict import BudgetUse, strict_form
from ethos_registry.types._json_values import freeze, read_only
from ethos_registry.types._schema_rules import ordered_schema

CASES = json.loads((Path(__file__).parents[1] / "data" / "schema_cases.json").read_text())
PAIRS = [(case, name) for case in CASES["schemas"] for name in case["providers"]]
MESSAGES = {
    "inlined": ("references are inlined", "`$defs` stay"),
    "recursive": ("recursive definitions stay",),
    "recursion cut": ("recursion is cut",),
    "kept $defs: inlining would grow the schema": ("`$defs` stay",),
    "root type": ("the root has the type object",),
    "root allOf merged": ("`allOf` at the root is merged",),
    "allOf merged": ("`allOf` is merged", "references are inlined"),
    "items added": ("`items` is added",),
    "typed": ("any value is written",),
    "forbidden property left out": ("a property that is forbidden is left out",),
    "required name listed": ("a required name is listed",),
    "definitions": ("`definitions` are written",),
    "draft-04 bound": ("is a number",),
    "tuple": ("the tuple is written",),
    "items: false as maxItems": ("`items: false` is written",),
    "dependencies": ("`dependencies` are written",),
    "draft-03 required": ("`required` is a list",),
    "nullable": ("`nullable` is written",),
    "type any": ("the type any is left out",),
    "type case": ("the type's name is written",),
    "null keyword": ("an empty keyword is dropped",),
    "empty enum": ("`enum` is in the description",),
    "choices as enum": ("choices with descriptions",),
    "oneOf as anyOf": ("`oneOf` is written as `anyOf`",),
    "type into anyOf": ("the type is written into",),
    "pattern anchored": ("the pattern is anchored",),
}
"""How the changes of the cases are reported."""


def plain(value: Any) -> Any:
    return json.loads(json.dumps(value))


def case_id(value: Any) -> str:
    return str(value["id"] if isinstance(value, dict) else value)


def messages(report: str) -> tuple[str, ...]:
    """What one of the changes in a case is called here."""
    if report == "renamed":
        return ("is sent as",)
    words = report.removeprefix("root ")
    if words.endswith(" in the description"):
        keyword = words.removesuffix(" in the description")
        return (f"`{keyword}` is in the description", f"`{keyword}` at the root")
    return MESSAGES[report]


@pytest.mark.parametrize(("case", "name"), PAIRS, ids=case_id)
def test_schema_case(case: dict[str, Any], name: str) -> None:
    expected = case["providers"][name]
    if expected["compiled"] is None:
        with pytest.raises(NoSchemaError):
            compile_schema(case["schema"], DIALECTS[name])
        return
    compiled = compile_schema(case["schema"], DIALECTS[name])
    assert plain(compiled.schema) == expected["compiled"]
    assert compiled.tool_note == expected.get("tool_note", "")
    assert compiled.names == expected.get("names", {})
    reported = [change.message for change in compiled.changes]
    for report in expected.get("report") or ():
        known = messages(report)
        assert any(part in message for part in known for message in reported), report
    again = compile_schema(plain(compiled.schema), DIALECTS[name])
    assert plain(again.schema) == plain(compiled.schema)


@pytest.mark.parametrize(("case", "name"), PAIRS, ids=case_id)
def test_valid_arguments_fit_the_compiled_schema(case: dict[str, Any], name: str) -> None:
    if case["providers"][name]["compiled"] is None:
        return
    compiled = compile_schema(case["schema"], DIALECTS[name])
    schema = schema_of_2020_12(plain(compiled.schema))  # `nullable` of Gemini
    jsonschema.Draft202012Validator.check_schema(schema, format_checker=None)
    sent = {own: new for new, own in compiled.names.items()}
    for arguments in case.get("valid") or ():
        assert _is_valid(_renamed(arguments, sent), schema)


def _is_valid(value: Any, schema: Any) -> bool:
    """By the package's engine, which knows no look-around, else by jsonschema."""
    try:
        return _core.SchemaValidator(schema).is_valid(value)
    except ValueError:
        return jsonschema.Draft202012Validator(schema).is_valid(value)


def _renamed(value: Any, names: dict[str, str]) -> Any:
    if isinstance(value, dict):
        return {names.get(key, key): _renamed(item, names) for key, item in value.items()}
    return [_renamed(item, names) for item in value] if isinstance(value, list) else value


@pytest.mark.parametrize("name", DIALECTS)
def test_author_schema_is_not_changed(name: str) -> None:
    for case in CASES["schemas"]:
        before = json.dumps(case["schema"])
        try:
            compile_schema(case["schema"], DIALECTS[name])
        except NoSchemaError:
            continue
        assert json.dumps(case["schema"]) == before


# Strict


def _levels(count: int) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "object", "properties": {"x": {"type": "string"}}}
    for _ in range(count - 1):
        schema = {"type": "object", "properties": {"o": schema}, "required": ["o"]}
    innermost = schema
    while "o" in innermost["properties"]:
        innermost = innermost["properties"]["o"]
    innermost["required"] = ["x"]
    return schema


def _enum(count: int) -> dict[str, Any]:
    values = [f"v{number}" for number in range(count)]
    return {"type": "object", "properties": {"e": {"enum": values}}, "required": ["e"]}


LARGE = {
    "nesting-10": _levels(10),
    "nesting-11": _levels(11),
    "enum-1000": _enum(1_000),
    "enum-1001": _enum(1_001),
}


@pytest.mark.parametrize(
    "case", CASES["strict"], ids=lambda case: f"{case['id']}-{case['provider']}"
)
def test_strict_case(case: dict[str, Any]) -> None:
    dialect = DIALECTS[case["provider"]]
    compiled = compile_schema(LARGE.get(case["id"], case["schema"]), dialect)
    assert dialect.strict is not None
    if not case["strict"]:
        with pytest.raises(NoSchemaError):
            strict_form(compiled.schema, dialect.strict)
        return
    form = strict_form(compiled.schema, dialect.strict)
    assert (form.optional, form.unions) == (case["optional"], case["unions"])
    if "compiled" in case:
        assert plain(form.schema) == case["compiled"]


TEXT = {"type": "string"}
RECURSIVE = CASES["strict"][2]["schema"]


def _tool(name: str, optional: int = 0, unions: int = 0, schema: Any = None) -> Tool:
    properties = {f"o{number}": TEXT for number in range(optional)}
    properties |= {f"u{number}": {"type": ["string", "null"]} for number in range(unions)}
    properties["q"] = TEXT
    required = [key for key in properties if not key.startswith("o")]
    made = {"type": "object", "properties": properties, "required": required}

    async def execute(args: Any, context: Any) -> Any:
        return {"ok": True, "value": json.dumps(args)}

    return Tool(name, "d", made if schema is None else schema, execute, strict=True)


LISTS = {
    "21-tools": [_tool(f"t{number:02}") for number in range(21)],
    "optional-over-24": [_tool("a", 18), _tool("b", 8), _tool("c", 6), _tool("d")],
    "unions-over-16": [_tool("a", 0, 10), _tool("b", 0, 7), _tool("c", 0, 6)],
    "one-tool-too-wide": [_tool("wide", 30), _tool("small", 2)],
    "recursive-first": [_tool("rec", schema=RECURSIVE), _tool("small", 1)],
}


@pytest.mark.parametrize("case", CASES["strict_lists"], ids=case_id)
def test_strict_list_case(case: dict[str, Any], caplog: pytest.LogCaptureFixture) -> None:
    view = ToolRegistry(LISTS[case["id"]]).view(Personality("p"))
    with caplog.at_level(logging.WARNING, "ethos_registry"):
        tools = view.definitions("anthropic", order="registration")
    assert [tool["name"] for tool in tools if tool.get("strict")] == case["strict"]
    plain_notes = [
        note
        for note in view.check_schemas("anthropic", order="registration")
        if note.kind == "plain"
    ]
    assert {note.tool for note in plain_notes} == case["given_up"].keys()
    assert all(case["given_up"][note.tool] in note.message for note in plain_notes)
    assert len(caplog.records) == 1
    assert sum(tool["function"].get("strict", False) for tool in view.definitions("openai")) == len(
        LISTS[case["id"]]
    )


def test_later_tool_never_changes_an_earlier_one() -> None:
    tools = [_tool(f"t{number:02}", optional=3) for number in range(12)]
    before: list[bytes] = []
    for count in range(1, len(tools) + 1):
        view = ToolRegistry(tools[:count]).view(Personality("p"))
        made = [json.dumps(tool) for tool in view.definitions("anthropic", breakpoints=0)]
        assert made[: len(before)] == before
        before = made


def test_budget_without_limits_refuses_nothing() -> None:
    assert BudgetUse(None).refusal(1_000, 1_000) is None


# The way back


@pytest.mark.parametrize("case", CASES["round_trips"], ids=case_id)
def test_round_trip_case(case: dict[str, Any]) -> None:
    back = sent_arguments(freeze(case["schema"], "schema"), strict=case.get("strict", False))
    sent = case["model_sends"]
    if "error" in case:
        assert back is not None
        with pytest.raises(GivenTwiceError, match=f"^{case['error'].replace('$', '[$]')}$"):
            back.restored(sent)
        return
    assert (sent if back is None else back.restored(sent)) == case["tool_gets"]


@pytest.mark.parametrize("freezes", [False, True])
def test_tool_gets_its_own_names(*, freezes: bool) -> None:
    schema = {"type": "object", "properties": {"$top": {"type": "integer"}}}
    registry: Any = ToolRegistry([_tool("t", schema=schema)])
    if freezes:
        registry = registry.freeze()
    calls = [
        {"id": "1", "name": "t", "args": {"top": 5}},
        {"id": "2", "name": "t", "args": '{"$top": 6}'},
        {"id": "3", "name": "t", "args": {"top": 5, "$top": 6}},
        {"id": "4", "name": "t", "args": {"top": None}},
    ]
    texts = [result.text for result in registry.execute_parallel_sync(calls)]
    assert texts == ['{"$top": 5}', '{"$top": 6}', "top: given twice, as top and $top", "{}"]


# What a list holds


def test_tool_without_a_form_is_left_out_and_reported(caplog: pytest.LogCaptureFixture) -> None:
    outside = {"type": "object", "properties": {"x": {"$ref": "https://example.com/s.json"}}}
    tools = [_tool("fine"), _tool("odd", schema=outside).replace(strict=False)]
    view = ToolRegistry(tools).view(Personality("p"))
    for name in PROVIDERS:
        sent = view.definitions(name)
        assert "odd" not in json.dumps(sent)
        assert "fine" in json.dumps(sent)
    assert "left out for anthropic: odd" in caplog.text
    [note] = [note for note in view.check_schemas("anthropic") if note.kind == "left_out"]
    assert str(note) == "odd: left out: $ref leads to another document: https://example.com/s.json"
    assert {note.provider for note in view.check_schemas()} >= {"anthropic", "gemini", "vllm"}


def test_dialect_is_chosen_by_name() -> None:
    assert provider("openai", dialect="moonshot").dialect is DIALECTS["moonshot"]
    assert provider("moonshot").dialect is DIALECTS["moonshot"]
    with pytest.raises(Exception, match="unknown dialect 'x'; known are `anthropic`"):
        provider("openai", dialect="x")


@pytest.mark.parametrize("name", DIALECTS)
@pytest.mark.parametrize("keyword", ["allOf", "anyOf", "oneOf"])
@pytest.mark.parametrize("more", [{}, {"description": "Inner."}, {"type": "object"}])
def test_definitions_of_nothing_but_each_other_end(name: str, keyword: str, more: Any) -> None:
    schema = {
        "type": "object",
        "properties": {"a": {"$ref": "#/$defs/a"}, "b": {keyword: [{"$ref": "#/$defs/b"}]}},
        keyword: [{"$ref": "#/$defs/b"}],
        "$defs": {
            "a": {keyword: [{keyword: [{"$ref": "#/$defs/b"}]}], **more},
            "b": {keyword: [{"$ref": "#/$defs/a"}], **more},
        },
    }
    with contextlib.suppress(NoSchemaError):
        assert compile_schema(schema, DIALECTS[name]).schema["type"] == "object"


# Schemas of plain keywords are compiled in one walk


PLAIN = st.recursive(
    st.fixed_dictionaries(
        {"type": st.sampled_from(["string", "integer", "boolean", "array", "object", "null"])},
        optional={
            "title": st.just("T"),
            "description": st.sampled_from(["", "About."]),
            "format": st.sampled_from(["date-time", "uri", "odd"]),
            "enum": st.sampled_from([["a", "b"], [1, "a"], [None], []]),
            "minimum": st.just(1),
            "exclusiveMinimum": st.sampled_from([0, True]),
            "maxLength": st.just(5),
            "maxItems": st.just(3),
            "additionalProperties": st.sampled_from([True, False, {}, {"type": "string"}]),
            "default": st.just("a"),
            "examples": st.just(["a"]),
            "pattern": st.sampled_from(["a", "^a$", "\\p{L}"]),
            "const": st.sampled_from(["a", 1]),
            "propertyNames": st.just({"pattern": "^a"}),
            "required": st.sampled_from([True, False, ["a"]]),
        },
    )
    | st.sampled_from([{}, True, False, {"const": "a"}, {"const": 1, "description": "One."}]),
    lambda inner: (
        st.builds(lambda items: {"type": "array", "items": items}, inner)
        | st.builds(
            lambda branches, more: {"anyOf": branches} | more,
            st.lists(inner | st.just({"type": "null"}), min_size=1, max_size=3),
            st.sampled_from([{}, {"description": "Any of."}, {"type": "string"}]),
        )
        | st.builds(
            lambda properties, more: {"type": "object", "properties": properties} | more,
            st.dictionaries(st.sampled_from(["a", "$b", "c"]), inner, max_size=3),
            st.fixed_dictionaries(
                {},
                optional={
                    "description": st.just("Inner."),
                    "required": st.sampled_from([["a"], []]),
                    "additionalProperties": st.booleans(),
                    "minProperties": st.just(1),
                },
            ),
        )
    ),
    max_leaves=5,
)


@given(
    st.dictionaries(st.sampled_from(["a", "$b", "c"]), PLAIN, max_size=3),
    st.sampled_from([{}, {"additionalProperties": False}, {"description": "Root."}]),
    st.sampled_from(sorted(DIALECTS)),
)
def test_one_walk_gives_what_the_passes_give(properties: Any, more: Any, name: str) -> None:
    given_schema = {"type": "object", "properties": properties} | more
    schema = plain(ordered_schema(read_only(given_schema)))
    walked = compile_schema(schema, DIALECTS[name])
    passed = _Compiler(schema, DIALECTS[name]).compiled()
    assert json.dumps(walked.schema) == json.dumps(passed.schema)
    assert (walked.tool_note, walked.names) == (passed.tool_note, passed.names)
    assert sorted(walked.changes) == sorted(passed.changes)


@pytest.mark.parametrize("keyword", ["not", "if"])
@pytest.mark.parametrize("name", DIALECTS)
def test_nested_negations_do_not_double_the_time_at_each_level(name: str, keyword: str) -> None:
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(100):
        schema = {keyword: schema}
    compiled = compile_schema({"type": "object", "properties": {"x": schema}}, DIALECTS[name])
    assert "x" in compiled.schema["properties"]


@pytest.mark.parametrize("name", DIALECTS)
def test_over_20_000_schemas_are_refused_without_any_reference(name: str) -> None:
    tree: dict[str, Any] = {"type": "string"}
    for _ in range(15):
        tree = {"prefixItems": [tree], "items": tree}
    with pytest.raises(NoSchemaError, match="has over 20,000 schemas"):
        compile_schema({"type": "object", "properties": {"x": tree}}, DIALECTS[name])


def compile_calls(name: str) -> int:
    """How many functions run while an ordinary schema is compiled."""
    schema = {
        "type": "object",
        "properties": {
            "path": {"type": "string", "description": "Where.", "minLength": 1},
            "limit": {"type": "integer", "minimum": 1, "default": 10, "title": "Limit"},
            "mode": {"type": "string", "enum": ["a", "b"]},
            "tags": {"type": "array", "items": {"type": "string"}},
        },
        "required": ["path"],
        "additionalProperties": False,
    }
    compile_schema(schema, DIALECTS[name])
    seen = 0

    def notice(frame: Any, event: str, argument: Any) -> None:
        nonlocal seen
        seen += event == "call"

    sys.setprofile(notice)
    try:
        compile_schema(schema, DIALECTS[name])
    finally:
        sys.setprofile(None)
    return seen


@pytest.mark.parametrize("name", DIALECTS)
def test_ordinary_schema_needs_no_passes(name: str) -> None:
    assert compile_calls(name) < 150  # the passes take about a thousand


OPTIONAL_BRANCHES = [
    {"type": "string"},
    {"type": "integer", "minimum": 1},
    {"type": "array", "items": {"type": "string"}},
    {"type": "object", "properties": {"b": {"type": "string", "format": "x"}}},
    {"type": "string", "description": "Own."},
    {"type": "string", "enum": ["a"]},
]
AROUND = [{}, {"description": "D."}, {"title": "T", "default": None, "examples": [1]}]
KINDS = [["string", "null"], ["null", "integer"], ["string", "number", "null"], ["object", "null"]]


@pytest.mark.parametrize("name", DIALECTS)
def test_optional_values_take_the_short_way_to_the_same_form(name):
    null = {"type": "null"}
    values = [
        {"anyOf": branches, **around}
        for branch in OPTIONAL_BRANCHES
        for branches in ([branch, null], [null, branch], [branch, {"type": "number"}, null])
        for around in AROUND
    ]
    values += [{"type": kinds, **around} for kinds in KINDS for around in AROUND]
    for value in values:
        properties = {"a": value, "b": {"type": "array", "items": value}}
        schema = ordered_schema({"type": "object", "properties": properties})
        short, long = (
            compile_schema(schema, DIALECTS[name]),
            _Compiler(schema, DIALECTS[name]).compiled(),
        )
        assert json.dumps(short.schema) == json.dumps(long.schema), value
        assert set(short.changes) == set(long.changes), value
