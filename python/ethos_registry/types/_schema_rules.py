"""Checks that a JSON value is a JSON Schema: every keyword has a value that the drafts allow.

A provider refuses a whole request because of one invalid schema, so the author gets the error when
the tool is made. Where drafts 4 to 2020-12 differ, either form passes; unknown keywords pass.
References within the schema must resolve; references to other documents and the run time of
patterns are not checked.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any
from urllib.parse import unquote

from ethos_registry import _core
from ethos_registry._suggest import did_you_mean
from ethos_registry.types._checks import brief, brief_path
from ethos_registry.types._errors import ConfigError
from ethos_registry.types._json_values import ReadOnlyDict, ReadOnlyList

# The keywords of JSON Schema whose values are schemas, drafts 4 to 2020-12.

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


_HOLDERS = SCHEMA | SCHEMA_LISTS | SCHEMAS_BY_NAME | {"dependencies"}
"""Keywords that hold schemas, each in its way."""


def holds_schema_list(keyword: str, value: object) -> bool:
    """Whether `value` of `keyword` should be a list of schemas.

    >>> holds_schema_list("items", [{}]), holds_schema_list("items", {})
    (True, False)
    """
    return keyword in SCHEMA_LISTS or (keyword == "items" and isinstance(value, list))


# A fixed order of the keys of a schema.

KEYWORD_ORDER: tuple[str, ...] = (
    "$schema",
    "$id",
    "$anchor",
    "$ref",
    "type",
    "title",
    "description",
    "format",
    "enum",
    "const",
    "anyOf",
    "oneOf",
    "allOf",
    "not",
    "if",
    "then",
    "else",
    "properties",
    "required",
    "additionalProperties",
    "patternProperties",
    "propertyNames",
    "unevaluatedProperties",
    "minProperties",
    "maxProperties",
    "dependentRequired",
    "dependentSchemas",
    "prefixItems",
    "items",
    "additionalItems",
    "unevaluatedItems",
    "contains",
    "minContains",
    "maxContains",
    "minItems",
    "maxItems",
    "uniqueItems",
    "pattern",
    "minLength",
    "maxLength",
    "minimum",
    "exclusiveMinimum",
    "maximum",
    "exclusiveMaximum",
    "multipleOf",
    "default",
    "examples",
    "deprecated",
    "readOnly",
    "writeOnly",
    "$comment",
    "definitions",
    "$defs",
)
"""The order of keywords; others come last, by code point."""

_PLACES = {keyword: place for place, keyword in enumerate(KEYWORD_ORDER)}


def ordered_schema(schema: Any) -> Any:
    """A frozen, checked schema with its keys in a fixed order at every depth.

    `required` lists its names in the order of `properties`. Definitions and other schemas by name
    are sorted by code point; data (`default`, `const`, `enum`, `examples` and unknown keywords)
    keeps its order.

    >>> schema = {"required": ["b", "a"], "properties": {"a": {}, "b": {}}, "type": "object"}
    >>> ordered_schema(schema)
    {'type': 'object', 'properties': {'a': {}, 'b': {}}, 'required': ['a', 'b']}
    """
    if not isinstance(schema, dict):  # true or false
        return schema
    return ReadOnlyDict({keyword: _value(keyword, schema) for keyword in in_order(schema)})


def in_order(schema: Mapping[str, Any]) -> list[str]:
    """The keywords of one schema in their order."""
    last = len(_PLACES)
    return sorted(schema, key=lambda keyword: (_PLACES.get(keyword, last), keyword))


def _value(keyword: str, schema: dict[str, Any]) -> Any:
    value = schema[keyword]
    if keyword == "properties":
        return ReadOnlyDict({name: ordered_schema(inner) for name, inner in value.items()})
    if keyword == "required":
        return _required(value, schema.get("properties"))
    if holds_schema_list(keyword, value):
        return ReadOnlyList(map(ordered_schema, value))
    if keyword in SCHEMA:
        return ordered_schema(value)
    if keyword in SCHEMAS_BY_NAME:
        return ReadOnlyDict({name: ordered_schema(value[name]) for name in sorted(value)})
    if keyword == "dependentRequired" and isinstance(value, dict):
        return ReadOnlyDict({name: value[name] for name in sorted(value)})
    return value


def _required(names: Any, properties: Any) -> Any:
    """The names in the order of the properties, then all others in their own order."""
    if not isinstance(names, list) or not isinstance(properties, dict):
        return names
    places = {name: place for place, name in enumerate(properties)}
    return ReadOnlyList(sorted(names, key=lambda name: places.get(name, len(places))))


# References within a JSON Schema: each must lead to a schema in it.

_REFERENCES = ("$ref", "$dynamicRef")
_ANCHORS = ("$anchor", "$dynamicAnchor")
_IDS = ("$id", "id")


def check_references(schema: Any, what: str) -> None:
    """Raise `ConfigError` for a reference into the schema that leads nowhere.

    References to other documents pass: nothing is fetched. `schema` has passed the keyword checks.
    """
    places = list(_schemas(schema, what))
    found = [
        (place, inner, keyword)
        for place, inner in places
        for keyword in _REFERENCES
        if keyword in inner
    ]
    if not found:
        return
    inside = [inner for _, inner in places]
    anchors = {inner[name] for inner in inside for name in _ANCHORS if name in inner}
    ids = {inner[name] for inner in inside for name in _IDS if isinstance(inner.get(name), str)}
    anchors |= {name.removeprefix("#") for name in ids if name.startswith("#")}  # draft 4 to 7
    roots = {schema.get("$id", schema.get("id"))} if isinstance(schema, dict) else set()
    has_embedded = bool({name for name in ids if not name.startswith("#")} - roots)
    for place, inner, keyword in found:
        document, _, fragment = inner[keyword].partition("#")
        if document and document not in roots:
            continue
        if not _resolves(schema, unquote(fragment), anchors, has_embedded=has_embedded):
            raise ConfigError(
                f"`{brief_path(place)}.{keyword}` leads nowhere: {brief(inner[keyword])}; "
                "define it, as under `$defs`",
                context={"field": f"{place}.{keyword}", "value": inner[keyword]},
            )


def _resolves(schema: Any, fragment: str, anchors: set[str], *, has_embedded: bool) -> bool:
    """Whether a fragment names the whole schema, an anchor, or the place of a schema."""
    if not fragment or fragment in anchors:
        return True
    if not fragment.startswith("/"):
        return False
    value = schema
    for step in fragment[1:].split("/"):
        key = step.replace("~1", "/").replace("~0", "~")
        if isinstance(value, dict) and key in value:
            value = value[key]
        elif isinstance(value, list) and key.isascii() and key.isdigit() and int(key) < len(value):
            value = value[int(key)]
        else:
            return has_embedded  # it may be relative to an embedded document
    return isinstance(value, dict | bool)


def _schemas(schema: Any, place: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each schema that is an object, with its place."""
    if isinstance(schema, dict):
        yield place, schema
        for keyword, value in schema.items():
            if keyword in _HOLDERS:
                for inner_place, inner in _inner(keyword, value, place):
                    yield from _schemas(inner, inner_place)


def _inner(keyword: str, value: Any, place: str) -> Iterator[tuple[str, Any]]:
    """The schemas that a keyword of the schema at `place` holds, with their places."""
    if holds_schema_list(keyword, value):
        for index, inner in enumerate(value):
            yield f"{place}.{keyword}[{index}]", inner
    elif keyword in SCHEMA:
        yield f"{place}.{keyword}", value
    elif keyword in SCHEMAS_BY_NAME or keyword == "dependencies":
        for name, inner in value.items():
            if keyword != "dependencies" or not isinstance(inner, list):
                yield f"{place}.{keyword}.{name}", inner


_PATTERN = "a regular expression of JSON Schema (ECMA-262)"
_TYPES = ("array", "boolean", "integer", "null", "number", "object", "string")


def check_schema(schema: Any, what: str) -> None:
    """Raise `ConfigError` with the place, the keyword's rule and the value, if `schema` is invalid.

    `schema` is a frozen value, so the depth of the recursion is bounded.
    """
    _check_keywords(schema, what)
    check_references(schema, what)


_VENDOR = ("x-", "x_", "$")
"""How keywords of vendors start."""


def doubts(schema: Any, where: str = "schema") -> Iterator[str]:
    """What is valid, and most likely a mistake: misspelt keywords and required names without one.

    >>> list(doubts({"type": "object", "property": {}, "required": ["a"]}))
    ["`schema` has no keyword 'property' (did you mean 'properties'?)"]
    """
    if not isinstance(schema, dict):
        return
    for keyword, value in schema.items():
        if keyword not in KEYWORD_ORDER and keyword not in _RULES:
            if not keyword.startswith(_VENDOR) and (hint := did_you_mean(keyword, _RULES)):
                yield f"`{where}` has no keyword {brief(keyword)}{hint}"
        elif keyword == "properties":
            for name, inner in value.items():
                yield from doubts(inner, f"{where}.properties.{name}")
        elif keyword == "items":
            yield from doubts(value, f"{where}.items")
    required, properties = schema.get("required"), schema.get("properties")
    if isinstance(required, list) and isinstance(properties, dict):
        for name in required:
            if name not in properties:
                yield f"`{where}.required` has {brief(name)}, which `properties` does not have" + (
                    did_you_mean(name, properties)
                )


def _check_keywords(schema: Any, what: str) -> None:
    if isinstance(schema, bool):
        return
    if not isinstance(schema, dict):
        raise _wrong(what, "a JSON Schema (an object, true or false)", schema)
    for keyword, value in schema.items():
        rule = _RULES.get(keyword)
        if rule is not None:
            expected, holds = rule
            if not holds(value):
                raise _wrong(f"{what}.{keyword}", expected, value)
        if keyword == "patternProperties":
            for name in value:
                if not _is_pattern(name):
                    raise _wrong(f"{what}.{keyword}.{name}", f"named by {_PATTERN}", name)
        if keyword in _HOLDERS:
            for place, inner in _inner(keyword, value, what):
                _check_keywords(inner, place)


def _wrong(place: str, expected: str, value: object) -> ConfigError:
    return ConfigError(
        f"`{brief_path(place)}` must be {expected}: {brief(value)}",
        context={"field": place, "value": value},
    )


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_size(value: Any) -> bool:
    return _is_number(value) and value >= 0 and value == int(value)


def _is(kind: type) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, kind)


def _matches(pattern: str) -> Callable[[Any], bool]:
    matched = re.compile(pattern).fullmatch
    return lambda value: isinstance(value, str) and matched(value) is not None


def _is_object_of(holds: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, dict) and all(map(holds, value.values()))


_is_text, _is_boolean = _is(str), _is(bool)


def _is_pattern(value: object) -> bool:
    return isinstance(value, str) and _is_known_pattern(value)


_NAMED = re.compile(r"\(\?<(?=[A-Za-z_$])")  # ECMA-262 and Python spell named groups differently
_NAME_AGAIN = re.compile(r"\\k<(\w+)>")


@functools.lru_cache(maxsize=256)
def _is_known_pattern(pattern: str) -> bool:
    """Whether one of two engines accepts it: neither implements all of ECMA-262."""
    try:
        if _core.is_pattern(pattern):
            return True
        re.compile(_NAME_AGAIN.sub(r"(?P=\1)", _NAMED.sub("(?P<", pattern)))
    except (UnicodeEncodeError, re.error, RecursionError, OverflowError):
        return False
    return True


def _is_list_of_names(value: object) -> bool:
    return isinstance(value, list) and all(map(_is_text, value)) and len({*value}) == len(value)


def _is_dependency(value: object) -> bool:
    return isinstance(value, dict | bool) or _is_list_of_names(value)


def _is_type(value: object) -> bool:
    if isinstance(value, list):
        return bool(value) and _is_list_of_names(value) and all(item in _TYPES for item in value)
    return isinstance(value, str) and value in _TYPES


_COUNTED = ("Length", "Items", "Properties", "Contains")
_BY_RULE: tuple[tuple[str, Callable[[Any], bool], Iterable[str]], ...] = (
    (f"one of {', '.join(_TYPES)}, or a list of different ones", _is_type, ("type",)),
    ("a list", _is(list), ("enum", "examples")),
    ("a list of different strings", _is_list_of_names, ("required",)),
    (
        "an object of lists of different strings",
        _is_object_of(_is_list_of_names),
        ("dependentRequired",),
    ),
    (
        "an object of schemas and lists of different strings",
        _is_object_of(_is_dependency),
        ("dependencies",),
    ),
    ("a number > 0", lambda value: _is_number(value) and value > 0, ("multipleOf",)),
    (_PATTERN, _is_pattern, ("pattern",)),
    (
        "an absolute URI",
        _matches(r"[A-Za-z][A-Za-z0-9+.-]*:[^\s<>\"{}|\\^`]*"),
        ("$schema",),
    ),
    ("an object of booleans", _is_object_of(_is_boolean), ("$vocabulary",)),
    (
        "a letter or _, then letters, digits, - _ . :",
        _matches(r"[A-Za-z_][-A-Za-z0-9._:]*"),
        ("$anchor", "$dynamicAnchor"),
    ),
    ("a string", _is_text, ("title", "description", "format", "$comment")),
    ("a string", _is_text, ("contentEncoding", "contentMediaType")),
    ("a URI reference", _matches(r"[^\s<>\"{}|\\^`]*"), ("$ref", "$dynamicRef", "$id")),
    ("true or false", _is_boolean, ("uniqueItems", "readOnly", "writeOnly", "deprecated")),
    ("true or false", _is_boolean, ("$recursiveAnchor",)),
    ("a number", _is_number, ("minimum", "maximum")),
    (
        "a number",
        lambda value: isinstance(value, bool) or _is_number(value),
        ("exclusiveMinimum", "exclusiveMaximum"),
    ),
    ("a whole number >= 0", _is_size, (f"{end}{of}" for end in ("min", "max") for of in _COUNTED)),
    ("an object of schemas", _is(dict), SCHEMAS_BY_NAME),
    (
        "a list of one schema or more",
        lambda value: isinstance(value, list) and bool(value),
        SCHEMA_LISTS,
    ),
)
_RULES = {keyword: (expected, holds) for expected, holds, names in _BY_RULE for keyword in names}
