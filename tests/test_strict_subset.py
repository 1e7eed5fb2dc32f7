"""A provider is asked for `strict` with a schema that it takes; any other makes it refuse all."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ethos_registry import Personality, Tool, ToolRegistry
from ethos_registry.contract.read_only import freeze
from ethos_registry.providers.strict_schema import strict_schema
from ethos_registry.providers.strict_subset import ANTHROPIC_SUBSET, OPENAI_SUBSET

pytestmark = pytest.mark.every_python


def closed(**properties: Any) -> dict[str, Any]:
    """An object of exactly these properties."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


TEXT = {"type": "string"}

BOTH = {
    "one": closed(a=TEXT),
    "none": closed(),
    "described": closed(a=TEXT | {"description": "A text.", "title": "A"}),
    "listed": closed(a={"enum": ["x", "y"]}, b={"const": 1}),
    "nullable": closed(a={"type": ["string", "null"]}, b={"anyOf": [TEXT, {"type": "null"}]}),
    "nested": closed(a=closed(b={"type": "array", "items": closed(c=TEXT), "minItems": 1})),
    "defined": closed(a={"$ref": "#/$defs/A"}) | {"$defs": {"A": closed(b=TEXT)}},
    "format": closed(a=TEXT | {"format": "date"}),
}
ONLY_OPENAI = {
    "limits": closed(a={"type": "integer", "minimum": 1, "maximum": 5}),
    "pattern": closed(a=TEXT | {"pattern": "^(?:a|b)$"}),
    "many": closed(a={"type": "array", "items": TEXT, "minItems": 2, "maxItems": 5}),
}
ONLY_ANTHROPIC = {
    "optional": closed(a=TEXT) | {"required": []},
    "default": closed(a=TEXT | {"default": "x"}) | {"required": []},
    "uri": closed(a=TEXT | {"format": "uri"}),
}
NEITHER = {
    "open": {"type": "object", "properties": {"a": TEXT}, "required": ["a"]},
    "others": closed(a=TEXT) | {"additionalProperties": True},
    "open inside": closed(a={"type": "object"}),
    "open in a list": closed(a={"type": "array", "items": {"type": "object"}}),
    "open definition": closed(a=TEXT) | {"$defs": {"A": {"type": "object"}}},
    "root choice": closed(a=TEXT) | {"anyOf": [closed(a=TEXT)]},
    "oneOf": closed(a={"oneOf": [TEXT]}),
    "not": closed(a={"not": TEXT}),
    "anything": closed(a={}),
    "any value": closed(a=True),
    "untyped items": closed(a={"type": "array"}),
    "look-around": closed(a=TEXT | {"pattern": "^(?!a)"}),
    "look-behind": closed(a=TEXT | {"pattern": "(?<=a)b"}),
    "reference with more": closed(a={"$ref": "#/$defs/A", "default": 1}) | {"$defs": {"A": TEXT}},
    "unknown keyword": closed(a=TEXT | {"x-order": 1}),
    "unknown format": closed(a=TEXT | {"format": "regex"}),
}
CASES = [
    (name, schema, by_openai, by_anthropic)
    for schemas, by_openai, by_anthropic in (
        (BOTH, True, True),
        (ONLY_OPENAI, True, False),
        (ONLY_ANTHROPIC, False, True),
        (NEITHER, False, False),
    )
    for name, schema in schemas.items()
]


@pytest.mark.parametrize(
    ("name", "schema", "by_openai", "by_anthropic"), CASES, ids=lambda value: str(value)[:20]
)
def test_each_provider_takes_its_own_part_of_json_schema(
    name: str, schema: dict[str, Any], *, by_openai: bool, by_anthropic: bool
) -> None:
    frozen = freeze(schema, "schema")
    assert OPENAI_SUBSET.holds(frozen) is by_openai, name
    assert ANTHROPIC_SUBSET.holds(frozen) is by_anthropic, name


def test_a_strict_tool_with_an_optional_argument_is_still_shown_and_still_checked() -> None:
    registry = ToolRegistry()

    @registry.tool(strict=True)
    def forecast(city: str, days: int = 1) -> str:
        """The weather."""
        return f"{city} {days}"

    view = registry.view(Personality("p"))
    [for_openai] = view.definitions("openai")
    [for_anthropic] = view.definitions("anthropic")
    assert for_openai["function"]["strict"] is True
    assert for_openai["function"]["parameters"]["required"] == ["city", "days"]
    assert for_openai["function"]["parameters"]["properties"]["days"] == {
        "type": "integer",
        "description": "{default: 1}",
    }
    assert for_anthropic["strict"] is True
    assert for_anthropic["input_schema"]["required"] == ["city"]
    [result] = registry.execute_parallel_sync(
        [{"id": "1", "name": "forecast", "args": {"city": "Oslo", "days": "2"}}]
    )
    assert result.text == "days: should be a whole number, got '2'"


def test_a_tool_that_is_not_strict_is_never_told_to_be() -> None:
    async def execute(args: Any, context: Any) -> Any:
        return {"ok": True, "value": "x"}

    view = ToolRegistry([Tool("t", "d", closed(), execute)]).view(Personality("p"))
    assert "strict" not in view.definitions("openai")[0]["function"]
    assert "strict" not in view.definitions("anthropic")[0]


CONVERTED: dict[str, tuple[dict[str, Any], dict[str, Any] | None, dict[str, Any] | None]] = {
    # schema, for OpenAI, for Anthropic
    "an open object is closed": (
        {"type": "object", "properties": {"a": TEXT}, "required": ["a"]},
        closed(a=TEXT),
        closed(a=TEXT),
    ),
    "an optional property that may be null is required": (
        closed(a={"anyOf": [TEXT, {"type": "null"}], "default": None}) | {"required": []},
        closed(a={"description": "{default: null}", "anyOf": [TEXT, {"type": "null"}]}),
        closed(a={"anyOf": [TEXT, {"type": "null"}], "default": None}) | {"required": []},
    ),
    "an optional property without a default stays optional": (
        closed(a=TEXT) | {"required": []},
        None,
        closed(a=TEXT) | {"required": []},
    ),
    "limits move": (
        closed(a={"type": "string", "description": "A.", "minLength": 1, "maxLength": 9}),
        closed(a={"type": "string", "description": "A.\n\n{minLength: 1, maxLength: 9}"}),
        closed(a={"type": "string", "description": "A.\n\n{minLength: 1, maxLength: 9}"}),
    ),
    "numbers and patterns move for Anthropic alone": (
        closed(a={"type": "integer", "minimum": 1}, b=TEXT | {"pattern": "^a"}),
        closed(a={"type": "integer", "minimum": 1}, b=TEXT | {"pattern": "^a"}),
        closed(
            a={"type": "integer", "description": "{minimum: 1}"},
            b=TEXT | {"description": '{pattern: "^a"}'},
        ),
    ),
    "oneOf becomes anyOf": (
        closed(a={"oneOf": [TEXT, {"type": "integer"}]}),
        closed(a={"anyOf": [TEXT, {"type": "integer"}]}),
        closed(a={"anyOf": [TEXT, {"type": "integer"}]}),
    ),
    "a map has no strict form": (
        closed(a={"type": "object", "additionalProperties": TEXT}),
        None,
        None,
    ),
    "what allows others says so": (closed(a=TEXT) | {"additionalProperties": True}, None, None),
}


@pytest.mark.parametrize("name", CONVERTED)
def test_a_schema_is_converted_for_strict_where_it_can_be(name: str) -> None:
    schema, for_openai, for_anthropic = CONVERTED[name]
    frozen = freeze(schema, "schema")
    assert strict_schema(frozen, OPENAI_SUBSET) == for_openai
    assert strict_schema(frozen, ANTHROPIC_SUBSET) == for_anthropic


def test_a_tool_without_arguments_has_a_strict_form() -> None:
    for subset in (OPENAI_SUBSET, ANTHROPIC_SUBSET):
        converted = strict_schema(freeze({"type": "object"}, "schema"), subset)
        assert converted is not None
        assert converted["additionalProperties"] is False


SCALARS = st.sampled_from(
    [TEXT, {"type": "integer"}, {"enum": ["x", 1]}, {"type": ["string", "null"]}]
)
WITH_LIMITS = st.builds(
    lambda schema, extra: schema | extra,
    SCALARS,
    st.fixed_dictionaries(
        {}, optional={"default": st.just("x"), "minLength": st.just(2), "title": st.just("T")}
    ),
)
SCHEMAS = st.recursive(
    WITH_LIMITS,
    lambda inner: (
        st.builds(lambda item: {"type": "array", "items": item}, inner)
        | st.builds(lambda one, two: {"oneOf": [one, two]}, inner, inner)
        | st.builds(
            lambda properties, required, closes: (
                {
                    "type": "object",
                    "properties": properties,
                    "required": [name for name in required if name in properties],
                }
                | closes
            ),
            st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
            st.lists(st.sampled_from("abc"), unique=True),
            st.sampled_from([{}, {"additionalProperties": False}, {"additionalProperties": True}]),
        )
    ),
    max_leaves=8,
)


@given(st.dictionaries(st.sampled_from("abc"), SCHEMAS, max_size=3), st.booleans())
def test_what_is_converted_is_in_the_subset_and_converting_again_changes_nothing(
    properties: dict[str, Any], closes: bool
) -> None:
    schema = {"type": "object", "properties": properties}
    frozen = freeze(schema | ({"additionalProperties": False} if closes else {}), "schema")
    for subset in (OPENAI_SUBSET, ANTHROPIC_SUBSET):
        converted = strict_schema(frozen, subset)
        if converted is not None:
            assert subset.holds(converted)
            assert strict_schema(freeze(converted, "schema"), subset) == converted
