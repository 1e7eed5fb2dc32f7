"""A schema that is none is refused when the tool is made."""

from __future__ import annotations

from typing import Annotated, Any

import pydantic
import pytest

from ethos_registry import ConfigError, Tool, ToolRegistry


def made(**schema: Any) -> Tool:
    return Tool("t", "", {"type": "object"} | schema, print)


@pytest.mark.parametrize(
    ("schema", "message"),
    [
        ({"properties": ["a"]}, r"`schema.properties` must be an object of schemas: \['a'\]"),
        ({"properties": {"a": 5}}, "`schema.properties.a` must be a JSON Schema .*: 5"),
        (
            {"properties": {"a": {"type": "strng"}}},
            "`schema.properties.a.type` must be one of array, .*: 'strng'",
        ),
        ({"properties": {"a": {"type": []}}}, r"`schema.properties.a.type`.*: \[\]"),
        ({"properties": {"a": {"type": None}}}, "`schema.properties.a.type`.*: None"),
        ({"required": "a"}, "`schema.required` must be a list of strings: 'a'"),
        ({"required": [1]}, r"`schema.required` must be a list of strings: \[1\]"),
        ({"properties": {"a": {"required": True}}}, "`schema.properties.a.required`"),
        ({"properties": {"a": {"enum": "x"}}}, "`schema.properties.a.enum` must be a list: 'x'"),
        ({"properties": {"a": {"items": 5}}}, "`schema.properties.a.items` must be a JSON Schema"),
        ({"properties": {"a": {"items": [{}, 5]}}}, r"`schema.properties.a.items\[1\]`"),
        ({"anyOf": []}, "`schema.anyOf` must be a list of one schema or more"),
        ({"allOf": [{"type": 1}]}, r"`schema.allOf\[0\].type`"),
        ({"$defs": {"a": {"minimum": "1"}}}, r"`schema.\$defs.a.minimum` must be a number: '1'"),
        ({"minProperties": -1}, "`schema.minProperties` must be a whole number >= 0: -1"),
        ({"maxProperties": True}, "`schema.maxProperties`.*True"),
        ({"multipleOf": 0}, "`schema.multipleOf` must be a number > 0: 0"),
        ({"description": 5}, "`schema.description` must be a string: 5"),
        ({"additionalProperties": "no"}, "`schema.additionalProperties` must be a JSON Schema"),
        ({"properties": {"a\nb": 5}}, r"`schema.properties.a\\nb` must be"),
        (
            {"properties": {"a": {"pattern": "("}}},
            r"`schema.properties.a.pattern` must be a regular expression .*\(ECMA-262\): '\('",
        ),
        (
            {"properties": {"a": {"items": {"pattern": "[a"}}}},
            "`schema.properties.a.items.pattern`",
        ),
        ({"properties": {"a": {"pattern": 5}}}, "`schema.properties.a.pattern` must be .*: 5"),
        ({"properties": {"a": {"pattern": "*a"}}}, "`schema.properties.a.pattern` must be"),
        ({"properties": {"a": {"pattern": "\ud800("}}}, "schema.properties.a.pattern holds a lone"),
        (
            {"patternProperties": {"(": {}}},
            r"`schema.patternProperties.\(` must be named by a regular expression",
        ),
    ],
    ids=range(26),
)
def test_the_place_the_rule_and_the_value_are_named(schema: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=f"^tool `t`: {message}") as refusal:
        made(**schema)
    assert "\n" not in str(refusal.value)
    assert refusal.value.context["field"].startswith("schema.")


@pytest.mark.parametrize(
    "schema",
    [
        {"properties": {"a": True, "b": False, "c": {}}},
        {"properties": {"type": {"type": "string"}, "required": {"enum": [None, {"type": 5}]}}},
        {"properties": {"a": {"type": ["string", "null"], "default": {"type": 5}}}},
        {"properties": {"a": {"items": [{}, True], "minItems": 1.0}}},
        {"properties": {"a": {"minimum": 1, "exclusiveMinimum": True}}},
        {"properties": {"a": {"exclusiveMinimum": 0.5, "maxLength": 10**30}}},
        {"additionalProperties": False, "x-vendor": {"type": 5}, "examples": [{"type": 5}]},
        {"$defs": {"n": {"$ref": "#/$defs/n"}}, "if": True, "then": {}, "else": {"not": {}}},
    ],
    ids=range(8),
)
def test_schemas_of_every_draft_pass_and_data_is_not_looked_at(schema: dict[str, Any]) -> None:
    assert made(**schema).schema == {"type": "object"} | schema


@pytest.mark.parametrize(
    "pattern",
    [
        "",
        "^[a-z]+$",
        r"^\d{3}-\w+$",
        "^(?=.*[0-9])(?!x).{8,}$",
        r"(?<year>\d{4})-\k<year>",
        r"(a)\1",
        "(?<=a)b(?<!c)",
        r"^\p{Lu}\u00e9\/\-\cA$",
        "{a}",
        "[[]",
        "日本|\U0001f600",
    ],
)
def test_patterns_of_ecma_262_pass(pattern: str) -> None:
    assert made(properties={"a": {"pattern": pattern}}, patternProperties={pattern: {}})


def test_a_registry_never_holds_a_tool_with_a_pattern_that_is_none() -> None:
    registry = ToolRegistry()
    with pytest.raises(ConfigError, match=r"`schema.properties.code.pattern` must be"):

        @registry.tool
        def post(code: Annotated[str, pydantic.WithJsonSchema({"type": "string", "pattern": "("})]):
            """Post it."""

    assert registry.all() == []


def test_the_schema_of_a_pydantic_model_passes() -> None:
    class Inner(pydantic.BaseModel):
        size: int = pydantic.Field(gt=0, multiple_of=2)
        either: int | str | None = None
        pair: tuple[int, str] = (1, "a")
        table: dict[str, list[Inner]] = {}

    assert made(**Inner.model_json_schema() | {"type": "object"}).name == "t"
