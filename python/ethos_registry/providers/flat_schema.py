"""Schemas for servers that keep only the top of one: the rest moves into descriptions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ethos_registry.contract.read_only import thaw
from ethos_registry.providers.strict_schema import described

__all__ = ["flat_parameters"]

_ROOT = ("type", "required", "properties", "$defs")
"""What is flat of the root, in the order in which Ollama's SDK sends it."""
_PROPERTY = ("type", "items", "description", "enum")
"""The same of a property."""
_UNSAID = frozenset({"$schema", "$id", "$comment", "title", "additionalProperties"})
"""Keywords of the root that a model needs not read."""


def flat_parameters(schema: Mapping[str, Any], description: str) -> tuple[dict[str, Any], str]:
    """The parameters and the description of a function, without a loss to the model.

    >>> flat_parameters({"type": "object", "properties": {"n": {"minimum": 1}}}, "Count.")
    ({'type': 'object', 'properties': {'n': {'description': '{minimum: 1}'}}}, 'Count.')
    """
    plain: dict[str, Any] = thaw(schema)
    flat = {name: plain[name] for name in _ROOT if name in plain}
    if "properties" in flat:
        flat["properties"] = {name: _flat(item) for name, item in flat["properties"].items()}
    function = {"description": description}
    described(function, {n: v for n, v in plain.items() if n not in _ROOT and n not in _UNSAID})
    return flat, function["description"]


def _flat(schema: Any) -> dict[str, Any]:
    if not isinstance(schema, dict):
        return {}
    schema = _with_types(schema)
    flat = {name: schema[name] for name in _PROPERTY if name in schema}
    described(flat, {n: v for n, v in schema.items() if n not in _PROPERTY and n != "title"})
    return {name: flat[name] for name in _PROPERTY if name in flat}


def _with_types(schema: dict[str, Any]) -> dict[str, Any]:
    """A choice between plain types as a list of types, which is flat."""
    choices = schema.get("anyOf")
    if "type" in schema or not isinstance(choices, list):
        return schema
    types = [choice.get("type") for choice in choices if isinstance(choice, dict)]
    is_plain = all(
        isinstance(choice, dict) and choice.keys() == {"type"} and isinstance(choice["type"], str)
        for choice in choices
    )
    if not is_plain:
        return schema
    return {"type": types} | {name: item for name, item in schema.items() if name != "anyOf"}
