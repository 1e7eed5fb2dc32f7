"""What a JSON Schema permits, as far as its types, listed values and fields show it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

__all__ = ["alternatives", "parts", "permitted_types", "permitted_values"]

# Schemas are frozen: their objects are dicts, and checking for a dict costs a fraction of checking
# for a mapping.

_MAX_STEPS = 32
"""How many alternatives and references are followed."""


def parts(
    schema: Any, definitions: Mapping[str, Any], steps: int = _MAX_STEPS
) -> list[Mapping[str, Any]]:
    """The schemas that a value must all match: this one, its `$ref` and its `allOf`.

    `True` has none. A reference that leads out of the definitions is left out.

    >>> parts({"allOf": [{"$ref": "#/$defs/a"}, {"minimum": 1}]}, {"a": {"type": "integer"}})[1:]
    [{'$ref': '#/$defs/a'}, {'type': 'integer'}, {'minimum': 1}]
    """
    if not isinstance(schema, dict) or steps <= 0:
        return []
    found: list[Mapping[str, Any]] = [schema]
    place = schema.get("$ref")
    if isinstance(place, str) and place.startswith("#/$defs/"):
        found += parts(definitions.get(place.rpartition("/")[2]), definitions, steps - 1)
    for inner in schema.get("allOf", ()):
        found += parts(inner, definitions, steps - 1)
    return found


def permitted_types(
    schema: Any, definitions: Mapping[str, Any], steps: int = _MAX_STEPS
) -> frozenset[str] | None:
    """The JSON types that a value may have; `None` if the schema does not restrict them.

    >>> sorted(permitted_types({"anyOf": [{"type": "integer"}, {"const": None}]}, {}))
    ['integer', 'null']
    """
    permitted: frozenset[str] | None = None
    for part in parts(schema, definitions, steps):
        for types in _types_of_part(part, definitions, steps):
            if types is not None:
                permitted = types if permitted is None else _both(permitted, types)
    return permitted


def _types_of_part(
    part: Mapping[str, Any], definitions: Mapping[str, Any], steps: int
) -> Iterator[frozenset[str] | None]:
    declared = part.get("type")
    if declared is not None:
        yield frozenset([declared] if isinstance(declared, str) else declared)
    values = _listed(part)
    if values is not None:
        yield frozenset(map(_type_of, values))
    for union in alternatives(part):
        types = [permitted_types(alternative, definitions, steps - 1) for alternative in union]
        known = [item for item in types if item is not None]
        yield frozenset().union(*known) if len(known) == len(types) else None


def _both(left: frozenset[str], right: frozenset[str]) -> frozenset[str]:
    """The types in both; a whole number is a number."""
    both = left & right
    if "integer" in left | right and "number" in left | right:
        both |= {"integer"}
    return both


def permitted_values(
    schema: Any, definitions: Mapping[str, Any], steps: int = _MAX_STEPS
) -> dict[str, Any] | None:
    """The values that are listed, by their JSON text; `None` if other values are permitted too.

    >>> permitted_values({"anyOf": [{"enum": ["a", 1]}, {"type": "null"}]}, {})
    {'"a"': 'a', '1': 1, 'null': None}
    """
    permitted: dict[str, Any] | None = None
    for part in parts(schema, definitions, steps):
        for values in _values_of_part(part, definitions, steps):
            if values is None:
                continue
            if permitted is None:
                permitted = values
            else:
                permitted = {key: item for key, item in permitted.items() if key in values}
    return permitted


def _values_of_part(
    part: Mapping[str, Any], definitions: Mapping[str, Any], steps: int
) -> Iterator[dict[str, Any] | None]:
    values = _listed(part)
    if values is not None:
        yield {json.dumps(value, sort_keys=True): value for value in values}
    if part.get("type") == "null":
        yield {"null": None}
    for union in alternatives(part):
        merged: dict[str, Any] = {}
        for alternative in union:
            listed = permitted_values(alternative, definitions, steps - 1)
            if listed is None:
                break
            merged |= listed
        else:
            yield merged


def alternatives(schema: Mapping[str, Any]) -> list[list[Any]]:
    """The lists of alternatives; a value must match one of each list."""
    return [schema[keyword] for keyword in ("anyOf", "oneOf") if schema.get(keyword)]


def _listed(schema: Mapping[str, Any]) -> list[Any] | None:
    if "const" in schema:
        return [schema["const"]]
    values: list[Any] | None = schema.get("enum")
    return values


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
