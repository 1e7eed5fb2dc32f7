"""What a JSON Schema expected: phrases for each keyword, the same as for pydantic."""

from __future__ import annotations

import functools
import json
from collections.abc import Iterable

from ethos_registry.schema.expectations import one_of_a_kind, phrase
from ethos_registry.schema.shown import shown

__all__ = ["keyword_phrases"]

_SAID_AS: dict[str, tuple[str, str]] = {
    "const": ("literal_error", "expected"),
    "enum": ("enum", "expected"),
    "minimum": ("greater_than_equal", "ge"),
    "maximum": ("less_than_equal", "le"),
    "exclusiveMinimum": ("greater_than", "gt"),
    "exclusiveMaximum": ("less_than", "lt"),
    "multipleOf": ("multiple_of", "multiple_of"),
    "minLength": ("string_too_short", "min_length"),
    "maxLength": ("string_too_long", "max_length"),
    "pattern": ("string_pattern_mismatch", "pattern"),
    "minItems": ("too_short", "min_length"),
    "maxItems": ("too_long", "max_length"),
    "additionalItems": ("too_long", "max_length"),
    "required": ("missing", ""),
    "key": ("invalid_key", ""),
    "finite": ("finite_number", ""),
    "surrogate": ("string_unicode", ""),
    "depth": ("recursion_loop", ""),
}
"""Keyword -> pydantic's kind of the same meaning, and the name of its value in the phrase."""

_TYPES = {
    "integer": "int_type",
    "number": "float_type",
    "boolean": "bool_type",
    "null": "none_required",
    "string": "string_type",
    "array": "list_type",
    "object": "dict_type",
}

_OTHERS = {
    "anyOf": "should fit one of the alternatives",
    "contains": "does not hold the items that it should",
    "falseSchema": "is not allowed",
    "json": "should be a JSON value",
    "large": "should be a shorter number",
    "maxProperties": "should have at most {} fields",
    "minProperties": "should have at least {} fields",
    "names": "is not an allowed name",
    "not": "is excluded",
    "oneOf": "should fit one of the alternatives, and that one alone",
    "schema": "should match the schema of the tool",
    "unevaluatedItems": "should have fewer items",
    "uniqueItems": "should have no item twice",
}

_MAX_OPTIONS = 20


@functools.lru_cache(maxsize=512)  # a model tends to repeat its errors
def keyword_phrases(keyword: str, expected: str, items: int = 0) -> tuple[str, ...]:
    """What a keyword expected: phrases that follow the field's name, one per type.

    `expected` is the keyword's value as JSON text, `items` the number of items of a list.

    >>> keyword_phrases("minimum", "1"), keyword_phrases("type", '["string", "null"]')
    (('should be at least 1',), ('should be a string', 'should be null'))
    """
    value = json.loads(expected)
    if keyword == "type":
        names = value if isinstance(value, list) else [value]
        return tuple(phrase(_TYPES[name], {}) or name for name in names)
    if keyword in ("enum", "const"):
        value = _options(value if keyword == "enum" else [value])
    if keyword not in _SAID_AS:
        return (one_of_a_kind(_OTHERS.get(keyword, "is not valid").format(value)),)
    kind, name = _SAID_AS[keyword]
    return (phrase(kind, {name: value, "actual_length": items}) or "is not valid",)


def _options(values: Iterable[object]) -> str:
    options = [shown(value) for value in values]
    *others, last = options[:_MAX_OPTIONS] if options else ["nothing"]
    if len(options) > _MAX_OPTIONS:
        return ", ".join([*others, last, "…"])
    return f"{', '.join(others)} or {last}" if others else last
