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
        ({"required": "a"}, "`schema.required` must be a list of different strings: 'a'"),
        ({"required": [1]}, r"`schema.required` must be a list of different strings: \[1\]"),
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
        (
            {"properties": {"a": {"pattern": "\ud800("}}},
            "schema.properties.a.pattern contains a lone",
        ),
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


@pytest.mark.parametrize(
    ("schema", "message"),
    [
        ({"dependentRequired": ["a"]}, "`schema.dependentRequired` must be an object of lists"),
        ({"dependentRequired": {"a": "b"}}, "`schema.dependentRequired` must be"),
        ({"dependentRequired": {"a": ["b", "b"]}}, "`schema.dependentRequired` must be"),
        ({"dependencies": {"a": 5}}, "`schema.dependencies` must be"),
        ({"dependencies": {"a": {"type": "x"}}}, "`schema.dependencies.a.type` must be one of"),
        ({"examples": {"a": 1}}, "`schema.examples` must be a list"),
        ({"readOnly": "yes"}, "`schema.readOnly` must be true or false: 'yes'"),
        ({"writeOnly": 1}, "`schema.writeOnly` must be true or false: 1"),
        ({"deprecated": None}, "`schema.deprecated` must be true or false: None"),
        ({"$schema": 5}, r"`schema.\$schema` must be an absolute URI: 5"),
        ({"$schema": "draft 7"}, r"`schema.\$schema` must be an absolute URI: 'draft 7'"),
        ({"$anchor": "#a"}, r"`schema.\$anchor` must be a letter or _"),
        ({"$anchor": 5}, r"`schema.\$anchor` must be a letter or _"),
        ({"$dynamicAnchor": "1"}, r"`schema.\$dynamicAnchor` must be"),
        ({"contentEncoding": 8}, "`schema.contentEncoding` must be a string: 8"),
        ({"contentMediaType": []}, "`schema.contentMediaType` must be a string"),
        ({"contentSchema": 5}, "`schema.contentSchema` must be a JSON Schema"),
        ({"$comment": 5}, r"`schema.\$comment` must be a string: 5"),
        ({"$vocabulary": {"a": 1}}, r"`schema.\$vocabulary` must be an object of booleans"),
        ({"required": ["a", "a"]}, "`schema.required` must be a list of different strings"),
        ({"properties": {"a": {"type": ["null", "null"]}}}, "`schema.properties.a.type` must be"),
        (
            {"properties": {"a": {"$ref": "#/$defs/a"}}},
            r"`schema.properties.a.\$ref` leads nowhere",
        ),
        ({"properties": {"a": {"$ref": "#a"}}}, r"`schema.properties.a.\$ref` leads nowhere: '#a'"),
        ({"$id": "x:y", "items": {"$ref": "x:y#b"}}, r"`schema.items.\$ref` leads nowhere"),
        (
            {"required": ["a"], "allOf": [{"$ref": "#/required"}]},
            r"`schema.allOf\[0\].\$ref` leads",
        ),
        ({"$defs": {"a": {"$ref": "#/$defs/%62"}}}, r"`schema.\$defs.a.\$ref` leads nowhere"),
        ({"$ref": 5}, r"`schema.\$ref` must be a URI reference: 5"),
        ({"$dynamicRef": "#nobody"}, r"`schema.\$dynamicRef` leads nowhere"),
    ],
    ids=range(28),
)
@pytest.mark.parametrize("strict", [False, True])
def test_no_invalid_schema_is_accepted_strict_or_not(
    schema: dict[str, Any], message: str, strict: bool
) -> None:
    with pytest.raises(ConfigError, match=f"^tool `t`: {message}") as refusal:
        Tool("t", "", {"type": "object"} | schema, print, strict=strict)
    assert "\n" not in str(refusal.value)
    inner = {"type": "object", "properties": {"inner": {"type": "object"} | schema}}
    if "$" not in str(schema):
        with pytest.raises(ConfigError, match=r"schema\.properties\.inner"):
            Tool("t", "", inner, print, strict=strict)


@pytest.mark.parametrize(
    "schema",
    [
        {"$defs": {"a b": {"type": "string"}}, "properties": {"x": {"$ref": "#/$defs/a%20b"}}},
        {"$defs": {"n": {"$anchor": "n"}}, "properties": {"x": {"$ref": "#n"}}},
        {"definitions": {"n": {"$id": "#n"}}, "properties": {"x": {"$ref": "#n"}}},
        {"properties": {"x": {"$ref": "#"}, "y": {"$ref": "#/properties/x"}}},
        {"properties": {"x": {"anyOf": [{"$ref": "#/properties/x/anyOf/1"}, {}]}}},
        {"properties": {"x": {"$ref": "https://example.org/other.json#/a"}}},
        {"$defs": {"e": {"$id": "https://example.org/e", "$ref": "#/$defs/f", "$defs": {"f": {}}}}},
        {"$id": "https://example.org/a", "properties": {"x": {"$ref": "https://example.org/a#"}}},
        {"$schema": "https://json-schema.org/draft/2020-12/schema", "$comment": "x"},
        {"$schema": "http://json-schema.org/draft-07/schema#", "dependencies": {"a": ["b"]}},
        {"examples": [], "readOnly": True, "deprecated": False, "contentEncoding": "base64"},
        {"x-ref": {"$ref": "#/nowhere"}, "default": {"$ref": "#/nowhere"}},
    ],
    ids=range(12),
)
def test_references_that_lead_somewhere_pass(schema: dict[str, Any]) -> None:
    assert made(**schema).schema == {"type": "object"} | schema
