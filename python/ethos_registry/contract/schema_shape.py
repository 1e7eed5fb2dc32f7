"""Checks that a JSON value is a JSON Schema: every keyword has a value that the drafts allow.

A provider refuses a whole request because of one invalid schema, so the author gets the error when
the tool is made. Where drafts 4 to 2020-12 differ, either form passes; unknown keywords pass.
References within the schema must resolve; references to other documents and the run time of
patterns are not checked.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from typing import Any

from ethos_registry import _core
from ethos_registry.contract.checks import brief
from ethos_registry.contract.errors import ConfigError
from ethos_registry.contract.schema_keywords import (
    SCHEMA,
    SCHEMA_LISTS,
    SCHEMAS_BY_NAME,
    holds_schema_list,
)
from ethos_registry.contract.schema_references import check_references

__all__ = ["check_schema"]

_PATTERN = "a regular expression of JSON Schema (ECMA-262)"
_TYPES = ("array", "boolean", "integer", "null", "number", "object", "string")


def check_schema(schema: Any, what: str) -> None:
    """Raise `ConfigError` with the place, the keyword's rule and the value, if `schema` is invalid.

    `schema` is a frozen value, so the depth of the recursion is bounded.
    """
    _check_keywords(schema, what)
    check_references(schema, what)


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
        if holds_schema_list(keyword, value):
            for index, inner in enumerate(value):
                _check_keywords(inner, f"{what}.{keyword}[{index}]")
        elif keyword in SCHEMA:
            _check_keywords(value, f"{what}.{keyword}")
        elif keyword in SCHEMAS_BY_NAME:
            for name, inner in value.items():
                if keyword == "patternProperties" and not _is_pattern(name):
                    raise _wrong(f"{what}.{keyword}.{name}", f"named by {_PATTERN}", name)
                _check_keywords(inner, f"{what}.{keyword}.{name}")
        elif keyword == "dependencies":
            for name, inner in value.items():
                if not isinstance(inner, list):
                    _check_keywords(inner, f"{what}.{keyword}.{name}")


def _wrong(place: str, expected: str, value: object) -> ConfigError:
    shown = brief(place)
    shown = shown[1:] if shown.endswith("...") else shown[1:-1]
    return ConfigError(
        f"`{shown}` must be {expected}: {brief(value)}", context={"field": place, "value": value}
    )


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_size(value: Any) -> bool:
    return _is_number(value) and value >= 0 and value == int(value)


def _is_text(value: object) -> bool:
    return isinstance(value, str)


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


def _is_dependent_required(value: object) -> bool:
    return isinstance(value, dict) and all(map(_is_list_of_names, value.values()))


def _is_dependencies(value: object) -> bool:
    return isinstance(value, dict) and all(
        isinstance(item, dict | bool) or _is_list_of_names(item) for item in value.values()
    )


def _is_boolean(value: object) -> bool:
    return isinstance(value, bool)


def _is_list(value: object) -> bool:
    return isinstance(value, list)


def _is_vocabulary(value: object) -> bool:
    return isinstance(value, dict) and all(map(_is_boolean, value.values()))


def _is_anchor(value: object) -> bool:
    return isinstance(value, str) and _ANCHOR.fullmatch(value) is not None


def _is_uri(value: object) -> bool:
    return isinstance(value, str) and _URI.fullmatch(value) is not None


def _is_reference(value: object) -> bool:
    return isinstance(value, str) and _REFERENCE.fullmatch(value) is not None


_ANCHOR = re.compile(r"[A-Za-z_][-A-Za-z0-9._:]*")
_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[^\s<>\"{}|\\^`]*")
_REFERENCE = re.compile(r"[^\s<>\"{}|\\^`]*")


def _is_type(value: object) -> bool:
    if isinstance(value, list):
        return bool(value) and _is_list_of_names(value) and all(item in _TYPES for item in value)
    return isinstance(value, str) and value in _TYPES


_Rule = tuple[str, Callable[[Any], bool]]


def _rules() -> dict[str, _Rule]:
    text: _Rule = ("a string", _is_text)
    size: _Rule = ("a whole number >= 0", _is_size)
    number: _Rule = ("a number", _is_number)
    limit: _Rule = ("a number", lambda value: isinstance(value, bool) or _is_number(value))
    by_name: _Rule = ("an object of schemas", lambda value: isinstance(value, dict))
    schemas: _Rule = (
        "a list of one schema or more",
        lambda value: isinstance(value, list) and bool(value),
    )
    names: _Rule = ("a list of different strings", _is_list_of_names)
    flag: _Rule = ("true or false", _is_boolean)
    values: _Rule = ("a list", _is_list)
    reference: _Rule = ("a URI reference", _is_reference)
    rules: dict[str, _Rule] = {
        "type": (f"one of {', '.join(_TYPES)}, or a list of different ones", _is_type),
        "enum": values,
        "examples": values,
        "required": names,
        "dependentRequired": ("an object of lists of different strings", _is_dependent_required),
        "dependencies": ("an object of schemas and lists of different strings", _is_dependencies),
        "multipleOf": ("a number > 0", lambda value: _is_number(value) and value > 0),
        "pattern": (_PATTERN, _is_pattern),
        "$schema": ("an absolute URI", _is_uri),
        "$vocabulary": ("an object of booleans", _is_vocabulary),
        "$anchor": ("a letter or _, then letters, digits, - _ . :", _is_anchor),
        "$dynamicAnchor": ("a letter or _, then letters, digits, - _ . :", _is_anchor),
    }
    rules |= dict.fromkeys(
        (
            "title",
            "description",
            "format",
            "$comment",
            "contentEncoding",
            "contentMediaType",
        ),
        text,
    )
    rules |= dict.fromkeys(("$ref", "$dynamicRef", "$id"), reference)
    rules |= dict.fromkeys(("uniqueItems", "readOnly", "writeOnly", "deprecated"), flag)
    rules["$recursiveAnchor"] = flag
    rules |= dict.fromkeys(("minimum", "maximum"), number)
    rules |= dict.fromkeys(("exclusiveMinimum", "exclusiveMaximum"), limit)
    rules |= {f"{end}{of}": size for end in ("min", "max") for of in _COUNTED}
    rules |= dict.fromkeys(SCHEMAS_BY_NAME, by_name)
    return rules | dict.fromkeys(SCHEMA_LISTS, schemas)


_COUNTED = ("Length", "Items", "Properties", "Contains")
_RULES = _rules()
