"""Which schemas a provider takes for `strict`: one that it does not makes it refuse the request.

The registry holds the arguments of a strict tool against its schema whatever the provider does, so
the provider is asked only where it can. The subsets are those that the SDKs of both providers make
of a schema before they send it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

__all__ = ["ANTHROPIC_SUBSET", "OPENAI_SUBSET", "StrictSubset"]

_FORMATS = frozenset(
    {"date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"}
)
_COMMON = frozenset(
    {
        "$defs",
        "$ref",
        "additionalProperties",
        "anyOf",
        "const",
        "definitions",
        "description",
        "enum",
        "format",
        "items",
        "minItems",
        "properties",
        "required",
        "title",
        "type",
    }
)
_LOOK_AROUND = re.compile(r"\(\?<?[=!]")
_SAYS_WHAT = ("type", "anyOf", "enum", "const", "$ref")


@dataclass(frozen=True, slots=True)
class StrictSubset:
    """The part of JSON Schema that one provider takes."""

    keywords: frozenset[str]
    formats: frozenset[str]
    requires_all_properties: bool
    """Optional properties are not known: they would have to be nullable and required."""
    most_min_items: float
    """The largest `minItems`."""

    def takes_pattern(self, pattern: str) -> bool:
        """Whether a `pattern` is one that the provider's engine runs."""
        return _LOOK_AROUND.search(pattern) is None

    def holds(self, schema: Mapping[str, Any]) -> bool:
        """Whether the schema, read-only and so of bounded depth, is in the subset."""
        return "anyOf" not in schema and self._holds(schema)

    def _holds(self, schema: object) -> bool:
        if not isinstance(schema, Mapping) or not self.keywords.issuperset(schema):
            return False
        if not any(keyword in schema for keyword in _SAYS_WHAT):
            return False
        if "$ref" in schema and not {"$ref", "description"}.issuperset(schema):
            return False
        if schema.get("format", "date") not in self.formats:
            return False
        if schema.get("minItems", 0) > self.most_min_items:
            return False
        if not self.takes_pattern(schema.get("pattern", "")):
            return False
        if schema.get("type") == "array" and "items" not in schema:
            return False
        return self._is_closed(schema) and all(map(self._holds, _inner(schema)))

    def _is_closed(self, schema: Mapping[str, Any]) -> bool:
        """Whether an object lists all that may stand in it."""
        kinds = schema.get("type")
        if kinds != "object" and not (isinstance(kinds, list) and "object" in kinds):
            return True
        if schema.get("additionalProperties") is not False:
            return False
        names, required = schema.get("properties", {}), schema.get("required", ())
        return not self.requires_all_properties or set(required) >= set(names)


def _inner(schema: Mapping[str, Any]) -> Iterator[object]:
    for keyword in ("properties", "$defs", "definitions"):
        yield from schema.get(keyword, {}).values()
    yield from schema.get("anyOf", ())
    if "items" in schema:
        yield schema["items"]


OPENAI_SUBSET = StrictSubset(
    _COMMON
    | {
        "exclusiveMaximum",
        "exclusiveMinimum",
        "maxItems",
        "maximum",
        "minimum",
        "multipleOf",
        "pattern",
    },
    _FORMATS,
    requires_all_properties=True,
    most_min_items=float("inf"),
)
ANTHROPIC_SUBSET = StrictSubset(
    _COMMON | {"default"},
    _FORMATS | {"uri"},
    requires_all_properties=False,
    most_min_items=1,
)
