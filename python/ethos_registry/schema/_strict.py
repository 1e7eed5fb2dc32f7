"""The second form of a schema, for a provider's strict mode, and how many tools may have it.

A registry validates the arguments of a strict tool in any case, so the provider is asked only
where it can do the same. A schema that it would refuse makes the whole request fail.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from typing import Any, NamedTuple

from ethos_registry.schema._compilation import NoSchemaError, described
from ethos_registry.schema._conjunction import types_of
from ethos_registry.schema._dialect import StrictBudget, StrictRules
from ethos_registry.schema._references import references_in
from ethos_registry.types._json_values import read_only
from ethos_registry.types._schema_rules import ordered_schema

_CANNOT_BE_SAID = frozenset(
    {
        "patternProperties",
        "prefixItems",
        "propertyNames",
        "unevaluatedProperties",
        "unevaluatedItems",
        "allOf",
    }
)
"""Keywords that a description does not replace."""
_DROPPED = frozenset({"deprecated"})
_KINDS = ("type", "anyOf", "enum", "const", "$ref")
_LOOK_AROUND = re.compile(r"\(\?<?[=!]")
_LARGE_ENUM = 250


class StrictForm(NamedTuple):
    """A schema that a provider takes for `strict`, and what it needs of the request's budget."""

    schema: Mapping[str, Any]
    optional: int
    unions: int


def strict_form(schema: Mapping[str, Any], rules: StrictRules) -> StrictForm:
    """The strict form of a compiled schema; raises `NoSchemaError` with the reason if it has none.

    Objects that list their properties are closed; keywords that are not taken move into the
    description. Every call that fits it, and heeds the descriptions, fits the tool's own schema
    once nulls of optional properties are dropped.
    """
    if not rules.takes_recursion and _is_recursive(schema.get("$defs", {})):
        raise NoSchemaError("it is recursive")
    node = _converted(schema, rules, is_root=True)
    _check_size(node, rules)
    frozen: Mapping[str, Any] = ordered_schema(read_only(node))
    optional = unions = 0
    for inner in _schemas({name: node[name] for name in node if name != "$defs"}):
        if "properties" in inner:
            optional += len(inner["properties"].keys() - set(inner.get("required", ())))
        unions += "anyOf" in inner or isinstance(inner.get("type"), list)
    return StrictForm(frozen, optional, unions)


class BudgetUse:
    """What the strict tools of a request need together, in its order.

    A tool that comes later never changes an earlier one, so that cached bytes hold.
    """

    __slots__ = ("_budget", "_optional", "_tools", "_unions")

    def __init__(self, budget: StrictBudget | None) -> None:
        self._budget = budget
        self._tools = self._optional = self._unions = 0

    def refusal(self, optional: int, unions: int) -> str | None:
        """Why the next strict tool is sent plain; `None` if it fits, and is counted."""
        budget = self._budget
        if budget is None:
            return None
        if self._tools + 1 > budget.tools:
            return f"over {budget.tools} strict tools"
        if self._optional + optional > budget.optional:
            return f"over {budget.optional} optional parameters"
        if self._unions + unions > budget.unions:
            return f"over {budget.unions} union parameters"
        self._tools += 1
        self._optional += optional
        self._unions += unions
        return None


def _converted(schema: Any, rules: StrictRules, *, is_root: bool = False) -> dict[str, Any]:
    if not isinstance(schema, Mapping):
        raise NoSchemaError("a value has no type" if schema is True else "a value is forbidden")
    node = {name: value for name, value in schema.items() if name not in _DROPPED}
    if "oneOf" in node and "anyOf" not in node:
        node["anyOf"] = node.pop("oneOf")
    notes: dict[str, Any] = {}
    for name in list(node):
        if not _takes(name, node[name], node, rules):
            if name in _CANNOT_BE_SAID:
                raise NoSchemaError(f"it has {name}")
            notes[name] = node.pop(name)
    if "$ref" in node:
        notes.update({name: node.pop(name) for name in list(node) if name not in _BESIDE_REF})
    if not any(name in node for name in _KINDS):
        raise NoSchemaError("a value has no type")
    if is_root and "anyOf" in node:
        raise NoSchemaError("the root has anyOf")
    if "$defs" in node:
        node["$defs"] = {name: _converted(item, rules) for name, item in node["$defs"].items()}
    if "anyOf" in node:
        node["anyOf"] = [_converted(item, rules) for item in node["anyOf"]]
    if "array" in types_of(node) and node.get("items", {}) in ({}, True):
        raise NoSchemaError("items have no type")
    if "items" in node:
        node["items"] = _converted(node["items"], rules)
    if "object" in types_of(node):
        _close(node, rules, is_root=is_root)
    described(node, notes)
    return node


_BESIDE_REF = frozenset({"$ref", "description", "$defs"})


def _takes(name: str, value: Any, node: Mapping[str, Any], rules: StrictRules) -> bool:
    if name not in rules.keywords:
        return False
    if name == "format":
        return value in rules.formats
    if name == "minItems":
        return bool(value <= rules.max_min_items)
    return name != "pattern" or _LOOK_AROUND.search(value) is None


def _close(node: dict[str, Any], rules: StrictRules, *, is_root: bool) -> None:
    """List all that may be in an object, and require what has to be required."""
    properties = node.get("properties", {})
    if node.get("additionalProperties") is not False and (
        "additionalProperties" in node or not (properties or is_root)
    ):
        raise NoSchemaError("it has a map")
    node["additionalProperties"] = False
    required = node.get("required", ())
    converted = {name: _converted(item, rules) for name, item in properties.items()}
    if rules.optional_is_nullable:
        for name in converted:
            if name not in required:
                converted[name] = _nullable(converted[name])
        node["required"] = list(converted)
    if "properties" in node or is_root:
        node["properties"] = converted


def _nullable(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema, or null."""
    node = dict(schema)
    if "$ref" in node or ("anyOf" in node and "type" in node):
        about = {"description": node.pop("description")} if "description" in node else {}
        return {**about, "anyOf": [node, {"type": "null"}]}
    if "const" in node:
        node["enum"] = [node.pop("const")]
    if "anyOf" in node:
        if not any("null" in types_of(item) for item in node["anyOf"]):
            node["anyOf"] = [*node["anyOf"], {"type": "null"}]
        return node
    types = types_of(node)
    if types and "null" not in types:
        node["type"] = [*types, "null"]
    if "enum" in node and None not in node["enum"]:
        node["enum"] = [*node["enum"], None]
    return node


def _schemas(schema: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Each schema of a strict form; references are not followed."""
    yield schema
    for inner in _inner_schemas(schema):
        yield from _schemas(inner)


def _inner_schemas(schema: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    for keyword in ("properties", "$defs"):
        yield from schema.get(keyword, {}).values()
    yield from schema.get("anyOf", ())
    if "items" in schema:
        yield schema["items"]


def _check_size(node: Mapping[str, Any], rules: StrictRules) -> None:
    if rules.max_object_levels is None:
        return
    if _object_levels(node) > rules.max_object_levels:
        raise NoSchemaError(f"it has more than {rules.max_object_levels} levels of objects")
    properties = values = chars = 0
    for inner in _schemas(node):
        names = inner.get("properties", {})
        listed = inner.get("enum", ())
        properties += len(names)
        values += len(listed)
        value_chars = sum(len(str(value)) for value in listed)
        chars += sum(map(len, names)) + sum(map(len, inner.get("$defs", ()))) + value_chars
        if len(listed) > _LARGE_ENUM and value_chars > (rules.max_large_enum_chars or 0):
            raise NoSchemaError(f"an enum has over {rules.max_large_enum_chars:,} characters")
    for count, limit, what in (
        (properties, rules.max_properties, "properties"),
        (values, rules.max_enum_values, "enum values"),
        (chars, rules.max_name_chars, "characters of names"),
    ):
        if limit is not None and count > limit:
            raise NoSchemaError(f"it has more than {limit:,} {what}")


def _object_levels(schema: Mapping[str, Any]) -> int:
    inner = max(map(_object_levels, _inner_schemas(schema)), default=0)
    return inner + ("object" in types_of(schema))  # type: ignore[arg-type]


def _is_recursive(definitions: Mapping[str, Any]) -> bool:
    """Whether a definition leads back to itself."""
    edges = {f"#/$defs/{name}": references_in(schema) for name, schema in definitions.items()}
    try:
        TopologicalSorter(edges).prepare()
    except CycleError:
        return True
    return False
