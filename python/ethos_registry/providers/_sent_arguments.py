"""The way back: arguments under the names that were sent, as the tool knows them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from ethos_registry.providers._schema_rules import DIALECTS
from ethos_registry.schema._compilation import names_at, renamed_properties
from ethos_registry.schema._conjunction import types_of
from ethos_registry.schema._references import item_schema, nodes_of, target_of
from ethos_registry.types._json_values import MAX_DEPTH

_RULES = tuple(
    dict.fromkeys(rule.property_name for rule in DIALECTS.values() if rule.property_name)
)
"""What providers ask of the names of properties."""


class GivenTwiceError(ValueError):
    """One argument under both its names; the message is for the model."""


class SentArguments(NamedTuple):
    """Maps the arguments of one tool back. Text and a flag: nothing can change it."""

    schema_text: str
    has_names: bool
    """Whether a property is sent under another name to some provider."""
    drops_nulls: bool
    """Whether null means absent where the schema does not take it: strict forms add it."""

    def restored(self, args: Any) -> Any:
        """The arguments under the tool's names; raises `GivenTwiceError`.

        Which provider was asked need not be known: the names of all are known, and they do not
        contradict each other. Keys of maps and values stay.

        >>> schema = {"type": "object", "properties": {"$top": {"type": "integer"}}}
        >>> sent_arguments(schema, strict=False).restored({"top": 5})
        {'$top': 5}
        """
        if type(args) is not dict:
            return args
        schema = _parsed(self.schema_text)
        return _Restored(schema, self).value(args, [schema], "", MAX_DEPTH)


def sent_arguments(schema: Mapping[str, Any], *, strict: bool) -> SentArguments | None:
    """What maps the arguments of a tool back; `None` if they arrive as the tool knows them."""
    has_names = _has_refused_name(schema, MAX_DEPTH)
    if not has_names and not (strict and _has_optional(schema, MAX_DEPTH)):
        return None
    return SentArguments(json.dumps(schema), has_names, strict)


def _properties(schema: Any, levels: int) -> Iterator[tuple[Mapping[str, Any], set[str]]]:
    """The properties of each object in a schema, and which of them are required."""
    if levels == 0:
        return
    if isinstance(schema, list):
        for item in schema:
            yield from _properties(item, levels - 1)
    elif isinstance(schema, dict):
        properties, required = schema.get("properties"), schema.get("required")
        if isinstance(properties, dict):
            yield properties, set(required) if isinstance(required, list) else set()
        elif isinstance(required, list):
            yield dict.fromkeys(name for name in required if isinstance(name, str)), set(required)
        for item in schema.values():
            if type(item) is not str:
                yield from _properties(item, levels - 1)


def _has_refused_name(schema: Any, levels: int) -> bool:
    return any(
        rule.fullmatch(name) is None
        for properties, _ in _properties(schema, levels)
        for name in properties
        for rule in _RULES
    )


def _has_optional(schema: Any, levels: int) -> bool:
    return any(properties.keys() - required for properties, required in _properties(schema, levels))


@lru_cache(maxsize=256)
def _parsed(text: str) -> dict[str, Any]:
    schema: dict[str, Any] = json.loads(text)
    return schema


@lru_cache(maxsize=1_024)
def _names_back(names: tuple[str, ...]) -> dict[str, str]:
    """The names that are sent, with the tool's."""
    return {sent: own for rule in _RULES for own, sent in renamed_properties(names, rule).items()}


class _Restored:
    """One walk along the schema of a tool."""

    def __init__(self, root: Mapping[str, Any], rules: SentArguments) -> None:
        self.root = root
        self.rules = rules

    def value(self, value: Any, schemas: Iterable[Any], path: str, levels: int) -> Any:
        if levels == 0 or type(value) not in (dict, list):
            return value
        nodes = nodes_of(self.root, schemas)
        if not nodes:
            return value
        if type(value) is list:
            return [
                self.value(
                    item,
                    [item_schema(node, index) for node in nodes],
                    f"{path}[{index}]",
                    levels - 1,
                )
                for index, item in enumerate(value)
            ]
        names: dict[str, None] = {}
        for node in nodes:
            names.update(names_at({key: node[key] for key in _NAMING if key in node}, _nothing))
        back = _names_back(tuple(names)) if self.rules.has_names else {}
        restored: dict[str, Any] = {}
        for key, item in value.items():
            own = key if key in names else back.get(key, key)
            if own != key and own in value:
                raise GivenTwiceError(f"{path}{key}: given twice, as {key} and {own}")
            inner = _property_schemas(nodes, own)
            if item is None and self._is_absent(own, nodes):
                continue
            restored[own] = self.value(item, inner, f"{path}{key}.", levels - 1)
        return restored

    def _is_absent(self, name: str, nodes: list[Mapping[str, Any]]) -> bool:
        """Whether null means a property that is left out."""
        if not self.rules.drops_nulls or any(name in node.get("required", ()) for node in nodes):
            return False
        given = [node["properties"][name] for node in nodes if name in node.get("properties", ())]
        return bool(given) and not any(self._takes_null(schema, 8) for schema in given)

    def _takes_null(self, schema: Any, levels: int) -> bool:
        """Whether null may fit; a schema that cannot be read counts as one that takes it."""
        if not isinstance(schema, dict) or levels == 0:
            return schema is not False
        if "$ref" in schema:
            return self._takes_null(target_of(self.root, schema["$ref"]), levels - 1)
        if "type" in schema:
            return "null" in types_of(schema)
        if "enum" in schema or "const" in schema:
            return None in schema.get("enum", [schema.get("const")])
        for keyword in ("anyOf", "oneOf"):
            if keyword in schema:
                return any(self._takes_null(branch, levels - 1) for branch in schema[keyword])
        if "allOf" in schema:
            return all(self._takes_null(part, levels - 1) for part in schema["allOf"])
        return True


_NAMING = ("properties", "required", "dependentRequired")


def _nothing(pointer: str) -> None:
    return None


def _property_schemas(nodes: list[Mapping[str, Any]], name: str) -> list[Any]:
    found = []
    for node in nodes:
        if name in node.get("properties", ()):
            found.append(node["properties"][name])
        else:
            found += [node.get("additionalProperties"), *node.get("patternProperties", {}).values()]
    return found
