"""A fixed order of the keys of a schema.

A provider's prompt cache ends at the first byte that differs, so equal schemas need equal bytes.
`properties` keep the author's order, because models write arguments in it.
"""

from __future__ import annotations

from typing import Any

from ethos_registry.contract.read_only import ReadOnlyDict, ReadOnlyList
from ethos_registry.contract.schema_keywords import (
    SCHEMA,
    SCHEMAS_BY_NAME,
    holds_schema_list,
)

__all__ = ["KEYWORD_ORDER", "ordered_schema"]

KEYWORD_ORDER: tuple[str, ...] = (
    "$schema",
    "$id",
    "$anchor",
    "$ref",
    "type",
    "title",
    "description",
    "format",
    "enum",
    "const",
    "anyOf",
    "oneOf",
    "allOf",
    "not",
    "if",
    "then",
    "else",
    "properties",
    "required",
    "additionalProperties",
    "patternProperties",
    "propertyNames",
    "unevaluatedProperties",
    "minProperties",
    "maxProperties",
    "dependentRequired",
    "dependentSchemas",
    "prefixItems",
    "items",
    "additionalItems",
    "unevaluatedItems",
    "contains",
    "minContains",
    "maxContains",
    "minItems",
    "maxItems",
    "uniqueItems",
    "pattern",
    "minLength",
    "maxLength",
    "minimum",
    "exclusiveMinimum",
    "maximum",
    "exclusiveMaximum",
    "multipleOf",
    "default",
    "examples",
    "deprecated",
    "readOnly",
    "writeOnly",
    "$comment",
    "definitions",
    "$defs",
)
"""The order of keywords; others come last, by code point."""

_PLACES = {keyword: place for place, keyword in enumerate(KEYWORD_ORDER)}


def ordered_schema(schema: Any) -> Any:
    """A frozen, checked schema with its keys in a fixed order at every depth.

    `required` lists its names in the order of `properties`. Definitions and other schemas by name
    are sorted by code point; data (`default`, `const`, `enum`, `examples` and unknown keywords)
    keeps its order.

    >>> schema = {"required": ["b", "a"], "properties": {"a": {}, "b": {}}, "type": "object"}
    >>> ordered_schema(schema)
    {'type': 'object', 'properties': {'a': {}, 'b': {}}, 'required': ['a', 'b']}
    """
    if not isinstance(schema, dict):  # true or false
        return schema
    last = len(_PLACES)
    keywords = sorted(schema, key=lambda keyword: (_PLACES.get(keyword, last), keyword))
    return ReadOnlyDict({keyword: _value(keyword, schema) for keyword in keywords})


def _value(keyword: str, schema: dict[str, Any]) -> Any:
    value = schema[keyword]
    if keyword == "properties":
        return ReadOnlyDict({name: ordered_schema(inner) for name, inner in value.items()})
    if keyword == "required":
        return _required(value, schema.get("properties"))
    if holds_schema_list(keyword, value):
        return ReadOnlyList(map(ordered_schema, value))
    if keyword in SCHEMA:
        return ordered_schema(value)
    if keyword in SCHEMAS_BY_NAME:
        return ReadOnlyDict({name: ordered_schema(value[name]) for name in sorted(value)})
    if keyword == "dependentRequired" and isinstance(value, dict):
        return ReadOnlyDict({name: value[name] for name in sorted(value)})
    return value


def _required(names: Any, properties: Any) -> Any:
    """The names in the order of the properties, then all others in their own order."""
    if not isinstance(names, list) or not isinstance(properties, dict):
        return names
    places = {name: place for place, name in enumerate(properties)}
    return ReadOnlyList(sorted(names, key=lambda name: places.get(name, len(places))))
