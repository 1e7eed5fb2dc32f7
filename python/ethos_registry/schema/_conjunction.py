"""One schema that means the same as two together."""

from __future__ import annotations

import json
from typing import Any

ABOUT = frozenset({"title", "description", "default", "examples", "deprecated"})
_OBJECT = frozenset(
    {
        "properties",
        "patternProperties",
        "additionalProperties",
        "unevaluatedProperties",
    }
)
_ARRAY = frozenset({"prefixItems", "items", "unevaluatedItems"})
_CONTAINS = frozenset({"contains", "minContains", "maxContains"})
_IF = frozenset({"if", "then", "else"})
_LARGEST = frozenset({"minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties"})
_SMALLEST = frozenset({"maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties"})


def compact(value: Any) -> str:
    """JSON without spaces."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def paragraphs(*parts: str | None) -> str:
    """The strings that are not empty, with blank lines between them."""
    return "\n\n".join(filter(None, parts))


def is_same(first: Any, second: Any) -> bool:
    """Whether two values are the same JSON: `1` and `true` are not."""
    return first == second and compact(first) == compact(second)


def types_of(schema: dict[str, Any]) -> list[str]:
    """The types that a schema names; none if it has no `type`."""
    given = schema.get("type")
    return list(given) if isinstance(given, list) else [] if given is None else [given]


def both(first: Any, second: Any) -> Any:
    """The conjunction of two schemas as one, or `None` where only `allOf` can state it.

    Titles, descriptions and defaults are those of the second where both have them.

    >>> both({"type": "string", "minLength": 1}, {"minLength": 2})
    {'type': 'string', 'minLength': 2}
    """
    if isinstance(first, bool) or isinstance(second, bool):
        return second if first is True else first if second is True else None
    if not _are_independent(first, second):
        return None
    merged = dict(first)
    for keyword, value in second.items():
        if keyword not in merged or keyword in ABOUT:
            merged[keyword] = value
            continue
        found = _both_values(keyword, merged[keyword], value)
        if found is None:
            return None
        merged[keyword] = found
    return merged


def _are_independent(first: dict[str, Any], second: dict[str, Any]) -> bool:
    """Whether each keyword of one means the same beside those of the other."""
    for group in (_OBJECT, _ARRAY, _CONTAINS, _IF):
        in_first, in_second = group & first.keys(), group & second.keys()
        if not in_first or not in_second:
            continue
        only = {"properties"} if group is _OBJECT else {"items"}
        if in_first | in_second != only and not (
            in_first == in_second and all(is_same(first[name], second[name]) for name in in_first)
        ):
            return False
    for one, other in ((first, second), (second, first)):
        if "$ref" in one and other.keys() - ABOUT - {"$ref"}:
            return False
        # These look at all that is beside them.
        if {"unevaluatedProperties", "unevaluatedItems"} & one.keys() and other.keys() - ABOUT:
            return False
    return True


def _both_values(keyword: str, first: Any, second: Any) -> Any:
    if is_same(first, second):
        return first
    if keyword == "type":
        return _both_types(first, second)
    if keyword == "enum":
        return [value for value in first if any(is_same(value, item) for item in second)] or None
    if keyword in _LARGEST:
        return max(first, second)
    if keyword in _SMALLEST:
        return min(first, second)
    if keyword == "required":
        return list(dict.fromkeys([*first, *second]))
    if keyword == "uniqueItems":
        return first or second
    if keyword == "items":
        return both(first, second)
    if keyword == "properties":
        merged = dict(first)
        for name, schema in second.items():
            if name in merged:
                found = both(merged[name], schema)
                merged[name] = {"allOf": [merged[name], schema]} if found is None else found
            else:
                merged[name] = schema
        return merged
    return None


def _both_types(first: Any, second: Any) -> Any:
    one, other = types_of({"type": first}), types_of({"type": second})
    found = [name for name in one if name in other]
    for types, others in ((one, other), (other, one)):
        if "integer" in types and "number" in others and "integer" not in found:
            found.append("integer")
    if not found:
        return None
    return found[0] if len(found) == 1 else found
