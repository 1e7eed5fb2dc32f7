"""Schemas that are a list of values, and the types of values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ethos_registry.schema._conjunction import compact, is_same, types_of


def fixed_values(schema: Any) -> list[Any] | None:
    """The values of a schema that is a list of them and nothing else."""
    if not isinstance(schema, dict) or schema.keys() - {"const", "enum", "type"}:
        return None
    if "const" in schema and "enum" not in schema:
        return [schema["const"]]
    return schema.get("enum") if "const" not in schema else None


_CHOICE = frozenset({"const", "enum", "type", "title", "description"})


def choices_of(branches: list[Any]) -> tuple[list[Any], list[str]] | None:
    """The values of branches that are one described value each, and a line for each."""
    values: list[Any] = []
    lines: list[str] = []
    for branch in branches:
        if not isinstance(branch, dict) or branch.keys() - _CHOICE:
            return None
        found = fixed_values({name: branch[name] for name in branch if name in ("const", "enum")})
        if found is None or len(found) != 1 or any(is_same(found[0], item) for item in values):
            return None
        if "type" in branch and not fits_type(found[0], types_of(branch)):
            return None
        values += found
        about = branch.get("description")
        shown = found[0] if isinstance(found[0], str) else compact(found[0])
        lines.append(f"{shown}: {about}" if about else shown)
    return (values, lines) if any("description" in item for item in branches) else None


def listed_values(schema: Mapping[str, Any]) -> Any:
    """The values that a schema lists, by `const` or `enum`; `None` if it lists none."""
    return [schema["const"]] if "const" in schema else schema.get("enum")


def type_of(value: Any) -> str:
    """The JSON type of a value; `number` for one that is not whole."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int | float):
        return "number" if isinstance(value, float) and not value.is_integer() else "integer"
    if isinstance(value, str):
        return "string"
    return "object" if isinstance(value, Mapping) else "array"


def fits_type(value: Any, types: list[str]) -> bool:
    """Whether a value is of one of the types."""
    found = type_of(value)
    return found in types or (found == "integer" and "number" in types)


def value_types(values: list[Any]) -> list[str]:
    """The types of the values, each once."""
    types = list(dict.fromkeys(map(type_of, values)))
    if "number" in types and "integer" in types:
        types.remove("integer")
    return types


def add_type(node: dict[str, Any]) -> None:
    """The type of the enum's values, where there is none."""
    if "type" not in node:
        types = value_types(node["enum"])
        node["type"] = types[0] if len(types) == 1 else types
