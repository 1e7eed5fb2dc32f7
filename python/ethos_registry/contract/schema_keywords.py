"""The keywords of JSON Schema whose values are schemas, drafts 4 to 2020-12."""

from __future__ import annotations

__all__ = ["SCHEMA", "SCHEMAS_BY_NAME", "SCHEMA_LISTS", "holds_schema_list"]

SCHEMA = frozenset(
    {
        "additionalItems",
        "additionalProperties",
        "contains",
        "contentSchema",
        "else",
        "if",
        "items",
        "not",
        "propertyNames",
        "then",
        "unevaluatedItems",
        "unevaluatedProperties",
    }
)
"""Keywords of one schema; before draft 2020-12 `items` may hold a list of them."""

SCHEMA_LISTS = frozenset({"allOf", "anyOf", "oneOf", "prefixItems"})
"""Keywords of a list of schemas."""

SCHEMAS_BY_NAME = frozenset(
    {"$defs", "definitions", "dependentSchemas", "patternProperties", "properties"}
)
"""Keywords of an object whose values are schemas."""


def holds_schema_list(keyword: str, value: object) -> bool:
    """Whether `value` of `keyword` should be a list of schemas.

    >>> holds_schema_list("items", [{}]), holds_schema_list("items", {})
    (True, False)
    """
    return keyword in SCHEMA_LISTS or (keyword == "items" and isinstance(value, list))
