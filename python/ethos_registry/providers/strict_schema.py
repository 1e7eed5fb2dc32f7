"""Schemas made fit for a provider's strict mode, where that can be done without harm."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ethos_registry.contract.read_only import freeze, thaw
from ethos_registry.contract.schema_order import ordered_schema
from ethos_registry.providers.strict_subset import StrictSubset

__all__ = ["described", "strict_schema"]

_ANNOTATIONS = frozenset({"$schema", "$comment", "deprecated", "readOnly", "writeOnly"})
"""Keywords that no call depends on: they are left out."""

_TO_DESCRIPTION = frozenset(
    {
        "default",
        "dependentRequired",
        "dependentSchemas",
        "else",
        "examples",
        "exclusiveMaximum",
        "exclusiveMinimum",
        "contains",
        "format",
        "if",
        "maxContains",
        "maxItems",
        "maxLength",
        "maxProperties",
        "maximum",
        "minContains",
        "minItems",
        "minLength",
        "minProperties",
        "minimum",
        "multipleOf",
        "not",
        "pattern",
        "then",
        "uniqueItems",
    }
)
"""Keywords that the model reads in the description where the provider does not take them."""


class _CannotError(Exception):
    """The schema has no form that the provider takes and that means the same."""


def strict_schema(schema: Mapping[str, Any], subset: StrictSubset) -> dict[str, Any] | None:
    """The schema as the provider takes it for `strict`, or `None` where it has no such form.

    Objects that list their properties and say nothing of others are closed, `oneOf` becomes
    `anyOf`, and keywords that the provider does not take move into the description. Where all
    properties have to be required, an optional one is if it may be null or has a default, which
    the description then names. Every call that fits the new schema, and heeds what moved into
    descriptions, fits the tool's own schema, which the registry checks in any case.
    """
    if subset.holds(schema):
        plain: dict[str, Any] = thaw(schema)
        return plain
    try:
        converted = _converted(thaw(schema), subset, is_root=True)
    except _CannotError:
        return None
    ordered: Mapping[str, Any] = ordered_schema(freeze(converted, "schema"))
    if not subset.holds(ordered):
        return None
    fitting: dict[str, Any] = thaw(ordered)
    return fitting


def described(schema: dict[str, Any], notes: Mapping[str, Any]) -> None:
    """Put keywords into a schema's description: `{minimum: 1, maxLength: 5}`."""
    if not notes:
        return
    note = ", ".join(f"{name}: {_compact(value)}" for name, value in notes.items())
    description = schema.get("description")
    schema["description"] = f"{description}\n\n{{{note}}}" if description else f"{{{note}}}"


def _compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _converted(schema: object, subset: StrictSubset, *, is_root: bool = False) -> dict[str, Any]:
    if not isinstance(schema, dict):
        raise _CannotError
    node = {name: value for name, value in schema.items() if name not in _ANNOTATIONS}
    if "oneOf" in node and "anyOf" not in node:
        node["anyOf"] = node.pop("oneOf")
    notes = {name: value for name, value in node.items() if not _takes(name, value, node, subset)}
    for name in notes:
        if name not in _TO_DESCRIPTION:
            raise _CannotError
        del node[name]
    for name in ("$defs", "definitions"):
        if name in node:
            node[name] = {key: _converted(item, subset) for key, item in node[name].items()}
    if "anyOf" in node:
        node["anyOf"] = [_converted(item, subset) for item in node["anyOf"]]
    if "items" in node:
        node["items"] = _converted(node["items"], subset)
    if _is_object(node):
        _close(node, subset, is_root=is_root)
    described(node, notes)
    return node


def _takes(name: str, value: Any, node: dict[str, Any], subset: StrictSubset) -> bool:
    """Whether the provider takes a keyword with this value."""
    if name not in subset.keywords:
        return False
    if "$ref" in node and name not in ("$ref", "description", "$defs", "definitions"):
        return False
    if name == "format":
        return value in subset.formats
    if name == "minItems":
        return bool(value <= subset.most_min_items)
    return name != "pattern" or subset.takes_pattern(value)


def _is_object(node: dict[str, Any]) -> bool:
    kinds = node.get("type")
    return kinds == "object" or (isinstance(kinds, list) and "object" in kinds)


def _close(node: dict[str, Any], subset: StrictSubset, *, is_root: bool) -> None:
    """List all that may be in an object, and require what has to be required."""
    properties = node.get("properties", {})
    is_closed = node.get("additionalProperties") is False
    if not is_closed and ("additionalProperties" in node or not (properties or is_root)):
        raise _CannotError
    node["additionalProperties"] = False
    required = node.get("required", [])
    converted = {name: _converted(item, subset) for name, item in properties.items()}
    if properties:
        node["properties"] = converted
    if subset.requires_all_properties:
        for name, item in properties.items():
            if name not in required and not _may_be_required(item):
                raise _CannotError
        node["required"] = list(properties)


def _may_be_required(schema: Any) -> bool:
    """Whether a model that has to give an optional property can give it without a change."""
    return isinstance(schema, dict) and ("default" in schema or _may_be_null(schema))


def _may_be_null(schema: Any) -> bool:
    if not isinstance(schema, dict):
        return False
    kinds = schema.get("type")
    if kinds == "null" or (isinstance(kinds, list) and "null" in kinds):
        return "enum" not in schema or None in schema["enum"]
    choices: list[Any] = schema.get("anyOf") or schema.get("oneOf") or []
    return any(_may_be_null(choice) for choice in choices)
