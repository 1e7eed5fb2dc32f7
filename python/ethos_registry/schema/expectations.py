"""What pydantic expected, in the terms of JSON: one phrase for each kind of error."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from pydantic_core import ErrorDetails

__all__ = ["expectation", "one_of_a_kind", "phrase"]

_WHOLE = "should be a whole number"
_NUMBER = "should be a number"
_BOOLEAN = "should be true or false"
_STRING = "should be a string"
_LIST = "should be a list"
_OBJECT = "should be an object"
_DATE = "should be a date, as '2025-01-31'"
_TIME = "should be a time, as '13:45:00'"
_DATE_TIME = "should be a date and time, as '2025-01-31T13:45:00Z'"
_DURATION = "should be a duration, as 'PT90S' or seconds"
_DEEP = "is nested too deeply"

_PHRASES: dict[str, str] = {
    "missing": "is required, but missing",
    "missing_argument": "is required, but missing",
    "missing_keyword_only_argument": "is required, but missing",
    "int_type": _WHOLE,
    "int_parsing": _WHOLE,
    "int_parsing_size": _WHOLE,
    "int_from_float": _WHOLE,
    "float_type": _NUMBER,
    "float_parsing": _NUMBER,
    "decimal_type": _NUMBER,
    "decimal_parsing": _NUMBER,
    "complex_type": _NUMBER,
    "finite_number": "should be a finite number",
    "bool_type": _BOOLEAN,
    "bool_parsing": _BOOLEAN,
    "none_required": "should be null",
    "string_type": _STRING,
    "string_sub_type": _STRING,
    "bytes_type": _STRING,
    "path_type": "should be a path",
    "string_unicode": "should be text without lone surrogates",
    "invalid_key": "should have a string as its name",
    "string_too_short": "should have at least {min_length} characters",
    "string_too_long": "should have at most {max_length} characters",
    "bytes_too_short": "should have at least {min_length} bytes",
    "bytes_too_long": "should have at most {max_length} bytes",
    "string_pattern_mismatch": "should match the pattern {pattern}",
    "too_short": "should have at least {min_length} items, has {actual_length}",
    "too_long": "should have at most {max_length} items",
    "greater_than": "should be greater than {gt}",
    "greater_than_equal": "should be at least {ge}",
    "less_than": "should be less than {lt}",
    "less_than_equal": "should be at most {le}",
    "multiple_of": "should be a multiple of {multiple_of}",
    "literal_error": "should be {expected}",
    "enum": "should be {expected}",
    "list_type": _LIST,
    "tuple_type": _LIST,
    "set_type": _LIST,
    "frozen_set_type": _LIST,
    "iterable_type": _LIST,
    "dict_type": _OBJECT,
    "mapping_type": _OBJECT,
    "model_type": _OBJECT,
    "model_attributes_type": _OBJECT,
    "dataclass_type": _OBJECT,
    "date_type": _DATE,
    "date_parsing": _DATE,
    "date_from_datetime_parsing": _DATE,
    "date_from_datetime_inexact": _DATE,
    "date_past": "should be a date in the past",
    "date_future": "should be a date in the future",
    "time_type": _TIME,
    "time_parsing": _TIME,
    "datetime_type": _DATE_TIME,
    "datetime_parsing": _DATE_TIME,
    "datetime_from_date_parsing": _DATE_TIME,
    "datetime_object_invalid": _DATE_TIME,
    "datetime_past": "should be a date and time in the past",
    "datetime_future": "should be a date and time in the future",
    "timezone_aware": "should have a time zone, as '2025-01-31T13:45:00Z'",
    "timezone_naive": "should have no time zone",
    "time_delta_type": _DURATION,
    "time_delta_parsing": _DURATION,
    "uuid_type": "should be a UUID",
    "uuid_parsing": "should be a UUID",
    "url_type": "should be a URL",
    "url_parsing": "should be a URL",
    "url_scheme": "should be a URL of scheme {expected_schemes}",
    "json_invalid": "should be JSON text",
    "json_type": "should be JSON text",
    "union_tag_invalid": "should have as {discriminator} one of {expected_tags}",
    "union_tag_not_found": "should have {discriminator}, which selects its kind",
    "recursion_loop": _DEEP,
    "recursion_depth_exceeded": _DEEP,
}


def expectation(details: ErrorDetails) -> str:
    """What was expected, as a phrase that follows the field's name.

    A validator's own message is kept; kinds without a phrase use pydantic's message.

    >>> facts = {"type": "greater_than", "loc": ("n",), "msg": "", "input": 0, "ctx": {"gt": 1}}
    >>> expectation(facts)
    'should be greater than 1'
    """
    context: dict[str, Any] = details.get("ctx", {})
    if details["type"] in ("value_error", "assertion_error"):
        return str(context.get("error")) or "is not valid"
    return phrase(details["type"], context) or _as_phrase(details["msg"])


def phrase(kind: str, context: Mapping[str, Any]) -> str | None:
    """The phrase of one kind of error; `None` without a phrase, or without the facts for it.

    >>> phrase("string_too_long", {"max_length": 8})
    'should have at most 8 characters'
    """
    template = _PHRASES.get(kind)
    if template is None:
        return None
    try:
        text = template.format_map(context)
        return one_of_a_kind(text) if kind.endswith(("too_short", "too_long")) else text
    except KeyError:  # a validator may raise a known kind without its facts
        return None


def one_of_a_kind(text: str) -> str:
    """The text without a plural after the number 1.

    >>> one_of_a_kind("should have at least 1 characters")
    'should have at least 1 character'
    """
    return _ONE.sub(r"\1", text)


_ONE = re.compile(r"(\b1 (?:byte|character|field|item))s\b")


def _as_phrase(message: str) -> str:
    message = message.removeprefix("Input ").removeprefix("Value ")
    return message.replace(" valid dictionary", "n object").replace(" valid ", " ", 1)
