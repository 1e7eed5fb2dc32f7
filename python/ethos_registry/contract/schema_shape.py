"""Whether a JSON value is a JSON Schema: each keyword holds what the drafts let it hold.

A provider refuses a whole request because of one bad schema, so the author hears of it when the
tool is made. Where drafts 4 to 2020-12 differ, either form passes; unknown keywords pass. What a
reference points to is not looked at, nor what time a pattern takes.
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

__all__ = ["check_schema"]

_PATTERN = "a regular expression that JSON Schema knows (ECMA-262)"
_TYPES = ("array", "boolean", "integer", "null", "number", "object", "string")


def check_schema(schema: Any, what: str) -> None:
    """Nothing, or `ConfigError` with the place, the keyword's rule and the value.

    `schema` is a frozen value, so the depth of this recursion is bounded.
    """
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
                check_schema(inner, f"{what}.{keyword}[{index}]")
        elif keyword in SCHEMA:
            check_schema(value, f"{what}.{keyword}")
        elif keyword in SCHEMAS_BY_NAME:
            for name, inner in value.items():
                if keyword == "patternProperties" and not _is_pattern(name):
                    raise _wrong(f"{what}.{keyword}.{name}", f"named by {_PATTERN}", name)
                check_schema(inner, f"{what}.{keyword}.{name}")


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


_NAMED = re.compile(r"\(\?<(?=[A-Za-z_$])")  # what ECMA-262 writes otherwise than Python
_NAME_AGAIN = re.compile(r"\\k<(\w+)>")


@functools.lru_cache(maxsize=256)
def _is_known_pattern(pattern: str) -> bool:
    """Whether one of two engines reads it: neither knows all that ECMA-262 permits."""
    try:
        if _core.is_pattern(pattern):
            return True
        re.compile(_NAME_AGAIN.sub(r"(?P=\1)", _NAMED.sub("(?P<", pattern)))
    except (UnicodeEncodeError, re.error, RecursionError, OverflowError):
        return False
    return True


def _is_list_of_text(value: object) -> bool:
    return isinstance(value, list) and all(map(_is_text, value))


def _is_type(value: object) -> bool:
    if isinstance(value, list):
        return bool(value) and all(item in _TYPES for item in value)
    return value in _TYPES


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
    rules: dict[str, _Rule] = {
        "type": (f"one of {', '.join(_TYPES)}, or a list of them", _is_type),
        "enum": ("a list", lambda value: isinstance(value, list)),
        "required": ("a list of strings", _is_list_of_text),
        "uniqueItems": ("true or false", lambda value: isinstance(value, bool)),
        "multipleOf": ("a number > 0", lambda value: _is_number(value) and value > 0),
        "pattern": (_PATTERN, _is_pattern),
    }
    rules |= dict.fromkeys(("title", "description", "format", "$ref", "$id"), text)
    rules |= dict.fromkeys(("minimum", "maximum"), number)
    rules |= dict.fromkeys(("exclusiveMinimum", "exclusiveMaximum"), limit)
    rules |= {f"{end}{of}": size for end in ("min", "max") for of in _COUNTED}
    rules |= dict.fromkeys(SCHEMAS_BY_NAME, by_name)
    return rules | dict.fromkeys(SCHEMA_LISTS, schemas)


_COUNTED = ("Length", "Items", "Properties", "Contains")
_RULES = _rules()
