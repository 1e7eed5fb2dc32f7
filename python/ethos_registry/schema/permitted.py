"""What a JSON Schema permits, as far as types and listed values tell it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

__all__ = ["permitted_types", "permitted_values"]

# Schemas come frozen: their objects are dicts, and asking for a dict costs a fraction of asking for
# a mapping.

_MAX_STEPS = 32
"""How many alternatives and references deep it is looked."""


def permitted_types(
    schema: Any, definitions: Mapping[str, Any], steps: int = _MAX_STEPS
) -> frozenset[str] | None:
    """The JSON types that a value may have; `None` where the schema does not tell.

    >>> sorted(permitted_types({"anyOf": [{"type": "integer"}, {"const": None}]}, {}))
    ['integer', 'null']
    """
    schema = _target(schema, definitions, steps)
    if schema is None:
        return None
    declared = schema.get("type")
    if declared is not None:
        return frozenset([declared] if isinstance(declared, str) else declared)
    values = _listed(schema)
    if values is not None:
        return frozenset(map(_type_of, values))
    union: frozenset[str] = frozenset()
    for alternative in _alternatives(schema):
        types = permitted_types(alternative, definitions, steps - 1)
        if types is None:
            return None
        union |= types
    return union or None


def permitted_values(
    schema: Any, definitions: Mapping[str, Any], steps: int = _MAX_STEPS
) -> dict[str, Any] | None:
    """The values that are listed, by their JSON text; `None` where others are permitted too.

    >>> permitted_values({"anyOf": [{"enum": ["a", 1]}, {"type": "null"}]}, {})
    {'"a"': 'a', '1': 1, 'null': None}
    """
    schema = _target(schema, definitions, steps)
    if schema is None:
        return None
    values = _listed(schema)
    if values is not None:
        return {json.dumps(value, sort_keys=True): value for value in values}
    if schema.get("type") == "null":
        return {"null": None}
    union: dict[str, Any] = {}
    for alternative in _alternatives(schema):
        listed = permitted_values(alternative, definitions, steps - 1)
        if listed is None:
            return None
        union |= listed
    return union or None


def _target(schema: Any, definitions: Mapping[str, Any], steps: int) -> Mapping[str, Any] | None:
    """The schema that a reference to a definition leads to; `None` where nothing can be told."""
    while isinstance(schema, dict) and "$ref" in schema and steps > 0:
        place = str(schema["$ref"])
        schema = definitions.get(place.rpartition("/")[2]) if place.startswith("#/$defs/") else None
        steps -= 1
    return schema if isinstance(schema, dict) and steps > 0 else None


def _listed(schema: Mapping[str, Any]) -> list[Any] | None:
    if "const" in schema:
        return [schema["const"]]
    values: list[Any] | None = schema.get("enum")
    return values


def _alternatives(schema: Mapping[str, Any]) -> list[Any]:
    found: list[Any] = schema.get("anyOf") or schema.get("oneOf") or []
    return found


def _type_of(value: object) -> str:
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, str):
        return "string"
    if isinstance(value, int):
        return "integer"
    if isinstance(value, float):
        return "integer" if value.is_integer() else "number"
    if value is None:
        return "null"
    return "object" if isinstance(value, Mapping) else "array"
