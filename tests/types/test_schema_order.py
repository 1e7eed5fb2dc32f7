"""Schemas that differ in the order of keys only have the same bytes (contract 5; ETH-35)."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ethos_registry import Personality, Tool, ToolRegistry
from ethos_registry.types._schema_rules import KEYWORD_ORDER


async def execute(args: Any, context: Any) -> Any:
    """Never called."""


def shown(schema: dict[str, Any]) -> str:
    """The bytes of the schema in a definition."""
    return json.dumps(Tool("t", "d", schema, execute).definition["parameters"])


def test_properties_keep_the_authors_order_required_follows_and_unknown_keywords_are_last() -> None:
    schema = {
        "x-vendor": {"b": 1, "a": 2},
        "$defs": {"b": {}, "a": {"minimum": 1, "type": "integer"}},
        "additionalProperties": False,
        "required": ["other", "a", "b"],
        "a-vendor": 1,
        "description": "d",
        "properties": {
            "b": {"maximum": 5, "type": "integer"},
            "a": {"default": {"z": 1, "y": 2}, "enum": [{"z": 1, "y": 2}], "type": "object"},
        },
        "type": "object",
    }
    assert shown(schema) == (
        '{"type": "object", "description": "d", '
        '"properties": {"b": {"type": "integer", "maximum": 5}, '
        '"a": {"type": "object", "enum": [{"z": 1, "y": 2}], "default": {"z": 1, "y": 2}}}, '
        '"required": ["b", "a", "other"], "additionalProperties": false, '
        '"$defs": {"a": {"type": "integer", "minimum": 1}, "b": {}}, '
        '"a-vendor": 1, "x-vendor": {"b": 1, "a": 2}}'
    )


def test_a_property_may_be_named_like_a_keyword() -> None:
    inner = {"properties": {"type": {"enum": [1]}, "required": {}, "properties": {}}}
    assert shown({"properties": {"inner": inner}, "type": "object"}) == json.dumps(
        {"type": "object", "properties": {"inner": inner}}
    )


def test_required_names_without_properties_stand_as_they_were() -> None:
    tool = Tool("t", "d", {"type": "object", "required": ["b", "a"]}, execute)
    assert tool.schema["required"] == ["b", "a"]


SCHEMAS = st.deferred(lambda: st.booleans() | OBJECTS)
NAMES = st.sampled_from(["a", "b", "type", "é", "default"])
DATA = st.recursive(st.none() | st.integers() | st.text(max_size=3), st.lists, max_leaves=3)
OBJECTS = st.fixed_dictionaries(
    {},
    optional={
        "type": st.sampled_from(["object", "array", ["string", "null"]]),
        "description": st.text("ab", max_size=3),
        "properties": st.dictionaries(NAMES, SCHEMAS, max_size=3),
        "required": st.lists(NAMES, unique=True, max_size=3),
        "additionalProperties": SCHEMAS,
        "items": SCHEMAS | st.lists(SCHEMAS, max_size=2),
        "anyOf": st.lists(SCHEMAS, min_size=1, max_size=2),
        "$defs": st.dictionaries(NAMES, SCHEMAS, max_size=2),
        "patternProperties": st.dictionaries(st.sampled_from(["^a", "b$"]), SCHEMAS, max_size=2),
        "dependentRequired": st.dictionaries(
            NAMES, st.lists(NAMES, unique=True, max_size=2), max_size=2
        ),
        "enum": st.lists(DATA, min_size=1, max_size=2),
        "default": DATA,
        "x-b": DATA,
        "x-a": DATA,
    },
)


def shuffled(value: Any, dice: random.Random, *, keeps_order: bool = False) -> Any:
    """The schema with its keys in another order, but for those of `properties`, and of data."""
    if isinstance(value, list):
        return [shuffled(item, dice) for item in value]
    if not isinstance(value, dict):
        return value
    items = list(value.items())
    if not keeps_order:
        dice.shuffle(items)
    return {
        key: inner
        if key in ("enum", "default", "x-a", "x-b", "required") and not keeps_order
        else shuffled(inner, dice, keeps_order=key == "properties" and not keeps_order)
        for key, inner in items
    }


def unordered(value: Any) -> Any:
    """The schema without the order of `required`."""
    if isinstance(value, list):
        return [unordered(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {
        key: sorted(inner) if key == "required" and isinstance(inner, list) else unordered(inner)
        for key, inner in value.items()
    }


@settings(max_examples=max(settings().max_examples // 4, 20))
@given(OBJECTS, st.randoms(use_true_random=False))
def test_the_order_of_keys_changes_no_byte(schema: dict[str, Any], dice: random.Random) -> None:
    schema = schema | {"type": "object"}
    once = shown(schema)
    assert shown(shuffled(schema, dice)) == shown(json.loads(once)) == once
    assert unordered(json.loads(once)) == unordered(schema)


@pytest.mark.parametrize("provider", ["anthropic", "openai"])
def test_the_bytes_of_a_request_do_not_depend_on_how_a_schema_was_written(provider: str) -> None:
    one = {"type": "object", "properties": {"a": {"type": "string", "minLength": 1}}}
    other = {"properties": {"a": {"minLength": 1, "type": "string"}}, "type": "object"}
    first, second = (
        ToolRegistry([Tool("t", "d", schema, execute)]).view(Personality("p")).definitions(provider)
        for schema in (one, other)
    )
    assert json.dumps(first) == json.dumps(second)


def test_no_keyword_appears_twice_in_the_written_order() -> None:
    assert len(set(KEYWORD_ORDER)) == len(KEYWORD_ORDER)
