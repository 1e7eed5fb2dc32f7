"""Wrong arguments as a message for a model: the field, what was expected, what came."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from ethos_registry.types._result import ToolError

# What pydantic expected, in the terms of JSON: one phrase for each kind of error.

_EXPECTED: dict[str, tuple[str, ...]] = {
    "is required, but missing": ("missing", "missing_argument", "missing_keyword_only_argument"),
    "should be a whole number": ("int_type", "int_parsing", "int_parsing_size", "int_from_float"),
    "should be a number": (
        "float_type",
        "float_parsing",
        "decimal_type",
        "decimal_parsing",
        "complex_type",
    ),
    "should be a finite number": ("finite_number",),
    "should be true or false": ("bool_type", "bool_parsing"),
    "should be null": ("none_required",),
    "should be a string": ("string_type", "string_sub_type", "bytes_type"),
    "should be a path": ("path_type",),
    "should be text without lone surrogates": ("string_unicode",),
    "should have a string as its name": ("invalid_key",),
    "should have at least {min_length} characters": ("string_too_short",),
    "should have at most {max_length} characters": ("string_too_long",),
    "should have at least {min_length} bytes": ("bytes_too_short",),
    "should have at most {max_length} bytes": ("bytes_too_long",),
    "should match the pattern {pattern}": ("string_pattern_mismatch",),
    "should have at least {min_length} items, has {actual_length}": ("too_short",),
    "should have at most {max_length} items": ("too_long",),
    "should be greater than {gt}": ("greater_than",),
    "should be at least {ge}": ("greater_than_equal",),
    "should be less than {lt}": ("less_than",),
    "should be at most {le}": ("less_than_equal",),
    "should be a multiple of {multiple_of}": ("multiple_of",),
    "should be {expected}": ("literal_error", "enum"),
    "should be a list": (
        "list_type",
        "tuple_type",
        "set_type",
        "frozen_set_type",
        "iterable_type",
    ),
    "should be an object": (
        "dict_type",
        "mapping_type",
        "model_type",
        "model_attributes_type",
        "dataclass_type",
    ),
    "should be a date, as '2025-01-31'": (
        "date_type",
        "date_parsing",
        "date_from_datetime_parsing",
        "date_from_datetime_inexact",
    ),
    "should be a date in the past": ("date_past",),
    "should be a date in the future": ("date_future",),
    "should be a time, as '13:45:00'": ("time_type", "time_parsing"),
    "should be a date and time, as '2025-01-31T13:45:00Z'": (
        "datetime_type",
        "datetime_parsing",
        "datetime_from_date_parsing",
        "datetime_object_invalid",
    ),
    "should be a date and time in the past": ("datetime_past",),
    "should be a date and time in the future": ("datetime_future",),
    "should have a time zone, as '2025-01-31T13:45:00Z'": ("timezone_aware",),
    "should have no time zone": ("timezone_naive",),
    "should be a duration, as 'PT90S' or seconds": ("time_delta_type", "time_delta_parsing"),
    "should be a UUID": ("uuid_type", "uuid_parsing"),
    "should be a URL": ("url_type", "url_parsing"),
    "should be a URL of scheme {expected_schemes}": ("url_scheme",),
    "should be JSON text": ("json_invalid", "json_type"),
    "should have as {discriminator} one of {expected_tags}": ("union_tag_invalid",),
    "should have {discriminator}, which selects its kind": ("union_tag_not_found",),
    "is nested too deeply": ("recursion_loop", "recursion_depth_exceeded"),
}
"""Phrase -> the kinds of error that it is for."""

_PHRASES = {kind: phrase for phrase, kinds in _EXPECTED.items() for kind in kinds}


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


# Values in a few characters, for messages; nested values are not walked.

MAX_VALUE_CHARS = 60
"""The most characters of a value in a message."""

_MAX_SHOWN_BITS = 128  # longer numbers are shown by their length: `str` refuses huge ones


def json_phrase(value: object) -> str:
    """A value in the terms of JSON, in about `MAX_VALUE_CHARS` characters at most.

    >>> json_phrase("abc"), json_phrase(None), json_phrase([1, 2]), json_phrase({})
    ("'abc'", 'null', 'a list', 'an object')
    """
    if isinstance(value, str):
        return _shown_text(str.__str__(value))
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        if value.bit_length() > _MAX_SHOWN_BITS:
            return f"a whole number of about {value.bit_length() * 30103 // 100000 + 1} digits"
        return int.__repr__(value)
    if isinstance(value, float):
        return float.__repr__(value)
    if isinstance(value, Mapping):
        return "an object"
    if isinstance(value, list | tuple | set | frozenset):
        return "a list"
    return clipped(f"a {type(value).__name__}", MAX_VALUE_CHARS)


def clipped(text: str, limit_chars: int) -> str:
    """The text on one line, shortened with an ellipsis to `limit_chars` characters.

    >>> clipped("a long story", 7)
    'a long…'
    """
    if len(text) > limit_chars or "\n" in text:
        text = " ".join(text[: 4 * limit_chars].split())
    return text if len(text) <= limit_chars else text[: limit_chars - 1] + "…"


def _shown_text(text: str) -> str:
    if not text:
        return "an empty string"
    quoted = repr(text[:MAX_VALUE_CHARS])
    if len(text) <= MAX_VALUE_CHARS and len(quoted) <= MAX_VALUE_CHARS:
        return quoted
    return f"{quoted[: MAX_VALUE_CHARS - 2]}…{quoted[0]} ({len(text)} characters)"


# The messages about wrong arguments that a model reads.

MAX_FIELDS = 5
"""The most fields that one message names."""
MAX_FIELD_CHARS = 200
"""The most characters of the message about one field."""

_MAX_PATH_CHARS = 60
_PLAIN_NAME = re.compile(rf"[A-Za-z0-9_-]{{1,{_MAX_PATH_CHARS}}}").fullmatch


MISSING, WRONG, UNKNOWN = range(3)
"""The order of problems: a model that corrects the first ones gets further."""


@dataclass(slots=True)
class Problem:
    """Everything that is wrong with one place.

    In a union one of the phrases has to hold, elsewhere all of them.
    """

    path: str
    came: str
    rank: int = WRONG
    expected: dict[str, list[str]] = field(default_factory=dict)
    """Phrase -> names of the models that expect it."""
    in_union: bool = False


def problem_lines(problems: Mapping[str, Problem]) -> str:
    """One line for all: `limit: should be a whole number, got 'abc'; path: ...`.

    Missing fields come first, then wrong values, then unknown fields. At most `MAX_FIELDS` fields
    of at most `MAX_FIELD_CHARS` characters each.
    """
    shown = [
        problem
        for problem in problems.values()
        if not (problem.in_union and _superseded(problem, problems))
    ]
    shown.sort(key=attrgetter("rank"))
    lines = [problem_line(problem) for problem in shown[:MAX_FIELDS]]
    if len(shown) > MAX_FIELDS:
        lines.append(f"and {len(shown) - MAX_FIELDS} more")
    return "; ".join(lines)


def problem_line(problem: Problem) -> str:
    """The message about one place.

    >>> problem_line(Problem("limit", "'5'", expected={"should be a whole number": []}))
    "limit: should be a whole number, got '5'"
    """
    phrases = [
        f"{phrase} (as {' or '.join(models)})" if models else phrase
        for phrase, models in problem.expected.items()
    ]
    expected = joined(phrases, "or" if problem.in_union else "and")
    return line(problem.path, expected, problem.came)


def line(path: str, expected: str, came: str) -> str:
    """A place, what was expected there, and the value if it helps.

    >>> line("limit", "is required, but missing", "")
    'limit: is required, but missing'
    """
    if came:
        came = f", got {came}"
    return f"{path}: {clipped(expected, MAX_FIELD_CHARS - len(path) - len(came) - 2)}{came}"


def joined(phrases: Sequence[str], word: str) -> str:
    """Phrases joined, with their common beginning only once.

    >>> joined(["should be a list", "should be null"], "or")
    'should be a list or null'
    """
    first, *rest = phrases
    if not rest:
        return first
    same = "should be "
    if first.startswith(same) and all(phrase.startswith(same) for phrase in rest):
        rest = [phrase.removeprefix(same) for phrase in rest]
    return f" {word} ".join([first, *rest])


def path_text(parts: Sequence[int | str]) -> str:
    """A path in at most 60 characters.

    >>> path_text(["edits", 0, "line"]), path_text([])
    ('edits[0].line', 'arguments')
    """
    if len(parts) == 1 and isinstance(name := parts[0], str) and _PLAIN_NAME(name):
        return name
    text = ""
    for part in parts:
        if isinstance(part, int):
            text += f"[{part}]"
        else:
            text += f".{part}" if text else str(part)
        if len(text) > 4 * _MAX_PATH_CHARS:
            break
    name = clipped(text.encode("utf-8", "backslashreplace").decode(), _MAX_PATH_CHARS)
    return name or "arguments"


def unknown_name(path: Sequence[int | str], names: Collection[str]) -> str:
    """The phrase about a name that is not one of `names`, the known arguments."""
    return "unknown field" if len(path) > 1 else f"unknown argument; {_known(names)}"


def _known(names: Collection[str]) -> str:
    return f"the arguments are {', '.join(names)}" if names else "there are none"


def refusal(text: str) -> ToolError:
    """The error that a model reads about its arguments."""
    return ToolError(text, "input_invalid", "invalid_args")


def wrong_root(arguments: object) -> str:
    """The message about arguments that are not an object."""
    return f"arguments must be a JSON object, got {json_phrase(arguments)}"


def _superseded(problem: Problem, problems: Mapping[str, Problem]) -> bool:
    """Whether another member of the union got further: its problem is the useful one."""
    deeper = (f"{problem.path}.", f"{problem.path}[")
    return any(path.startswith(deeper) for path in problems)


KEYWORDS = "**"
"""The key under which `**kwargs` are validated; no parameter can have this name."""

_MAX_LISTED = 10_000
"""A longer list of pydantic is not asked for: it costs seconds, and other threads wait."""
_CLASS_NAME = re.compile(r"[A-Z]\w*")
_EXTRA = ("extra_forbidden", "unexpected_keyword_argument")
_MISSING = ("missing", "missing_argument", "missing_keyword_only_argument")


def problems_text(error: ValidationError, arguments: object, names: tuple[str, ...]) -> str:
    """One line for the model: `limit: should be a whole number, got 'abc'; path: ...`.

    `names` are the known arguments. The message has no URL and no traceback.
    """
    if arguments is not None and not isinstance(arguments, Mapping):
        return wrong_root(arguments)
    if (count := error.error_count()) > _MAX_LISTED:
        return f"arguments: {count:,} values do not fit; {_known(names)}"
    problems: dict[str, Problem] = {}
    for item in error.errors(include_url=False):
        is_missing, is_extra = item["type"] in _MISSING, item["type"] in _EXTRA
        path, alternative = _path(item["loc"], arguments, is_missing)
        came = "" if is_missing or is_extra else json_phrase(item["input"])
        text = unknown_name(item["loc"], names) if is_extra else expectation(item)
        rank = UNKNOWN if is_extra else WRONG
        if is_missing and alternative is None:
            rank = MISSING
        problem = problems.setdefault(path, Problem(path, came, rank))
        problem.rank = min(problem.rank, rank)
        problem.in_union |= alternative is not None
        models = problem.expected.setdefault(text, [])
        if alternative and _CLASS_NAME.fullmatch(alternative):
            models.append(alternative)
    return problem_lines(problems)


def failing_places(error: ValidationError, arguments: object) -> list[tuple[int | str, ...]]:
    """The places in the arguments that an error is about, each once.

    The arguments as a whole, if there are too many.
    """
    if error.error_count() > _MAX_LISTED:
        return [()]
    found: dict[tuple[int | str, ...], None] = {}
    for item in error.errors(include_url=False, include_context=False, include_input=False):
        parts, _ = _place(item["loc"], arguments, item["type"] in _MISSING)
        found[tuple(parts)] = None
    return list(found)


def not_an_argument(name: str, names: tuple[str, ...]) -> str:
    """The message about a name that is not one of the arguments.

    >>> not_an_argument("limt", ("path", "limit"))
    'limt: unknown argument; the arguments are path, limit'
    """
    return line(path_text([name]), unknown_name((name,), names), "")


def _path(
    location: tuple[int | str, ...], arguments: object, is_missing: bool
) -> tuple[str, str | None]:
    """The place in the arguments as text, and the member of a union that expected it."""
    parts, label = _place(location, arguments, is_missing)
    name = path_text(parts)
    return (f"{name} (its name)", None) if label == "[key]" else (name, label)


def _place(
    location: tuple[int | str, ...], arguments: object, is_missing: bool
) -> tuple[list[int | str], str | None]:
    """The place in the arguments, and the member of a union that expected it.

    Pydantic mixes keys with labels of its own (`int`, `Cat`, `[key]`); a step that is neither a key
    nor an index of the value is such a label.
    """
    parts: list[int | str] = []
    label = None
    value: Any = arguments
    steps = list(location)
    if steps[:1] == [KEYWORDS]:
        del steps[0]
    for number, step in enumerate(steps):
        is_last = number == len(steps) - 1
        if _holds(value, step):
            parts.append(step)
            value = value[step]
        elif is_missing and is_last:
            parts.append(step)
        elif isinstance(step, str):
            label = step
    return parts, label


def _holds(value: Any, step: int | str) -> bool:
    if isinstance(value, list | tuple):
        return isinstance(step, int) and step < len(value)
    return isinstance(value, Mapping) and step in value
