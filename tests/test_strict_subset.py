"""A provider is asked for `strict` with a schema that it takes; any other makes it refuse all."""

from __future__ import annotations

from typing import Any

import pytest

from ethos_registry import Personality, Tool, ToolRegistry
from ethos_registry.contract.read_only import freeze
from ethos_registry.providers.strict_subset import ANTHROPIC_SUBSET, OPENAI_SUBSET


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
    assert "strict" not in for_openai["function"]
    assert for_anthropic["strict"] is True
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
