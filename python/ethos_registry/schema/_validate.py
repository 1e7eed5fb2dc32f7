"""Validates arguments against the JSON Schema of a tool, without coercion."""

from __future__ import annotations

import functools
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Self

from ethos_registry import _core
from ethos_registry.schema._problems import (
    MISSING,
    UNKNOWN,
    WRONG,
    Problem,
    joined,
    json_phrase,
    line,
    one_of_a_kind,
    path_text,
    phrase,
    problem_lines,
    refusal,
    unknown_name,
    wrong_root,
)
from ethos_registry.types._errors import ConfigError
from ethos_registry.types._result import ToolError

# What a JSON Schema expected: phrases for each keyword, the same as for pydantic.

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
    "effort": "should be smaller: it takes too long to check this",
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
    options = [json_phrase(value) for value in values]
    *others, last = options[:_MAX_OPTIONS] if options else ["nothing"]
    if len(options) > _MAX_OPTIONS:
        return ", ".join([*others, last, "…"])
    return f"{', '.join(others)} or {last}" if others else last


_WITHOUT_VALUE = ("additionalProperties", "required", "key", "names", "schema", "effort")
"""Keywords about the presence of something: the value does not help."""


class _Compiled(NamedTuple):
    property_names: tuple[str, ...]
    compiled: _core.SchemaValidator


class ArgumentValidator(_Compiled):
    """Validates the arguments of one tool against its schema. Nothing can change it.

    Nothing is coerced: as JSON Schema defines it, `"5"` and `true` are not integers, and `1.0` is.
    `format` is not asserted, nothing is fetched, patterns take linear time. Thread-safe.

    Raises `ConfigError` with the tool and the place in the schema if it is invalid, refers to
    another document, or has a pattern that needs look-around or back references.

    >>> schema = {"type": "object", "properties": {"limit": {"type": "integer", "minimum": 1}}}
    >>> search = ArgumentValidator("search", schema)
    >>> search.problems({"limit": 5})
    >>> search.problems({"limit": "5"}).error
    "limit: should be a whole number, got '5'"
    """

    __slots__ = ()

    def __new__(cls, tool_name: str, schema: Mapping[str, Any]) -> Self:
        """Compile the schema."""
        try:
            compiled = _core.SchemaValidator(schema)
        except ValueError as error:
            raise ConfigError(
                f"tool `{tool_name}`: `schema` cannot be compiled {error}",
                context={"tool_name": tool_name, "field": "schema", "value": schema},
            ) from None
        return super().__new__(cls, tuple(schema.get("properties", ())), compiled)

    def problems(self, args: object) -> ToolError | None:
        """`None` if `args` match, else the `input_invalid` error that a model reads.

        The message names at most 5 fields with at most 200 characters each: what was expected and
        what came. `None` means no arguments.
        """
        args = {} if args is None else args
        if type(args) is not dict and not isinstance(args, Mapping):  # the first check is cheaper
            return refusal(wrong_root(args))
        try:
            found = self.compiled.validate(args)
        except RuntimeError:  # the core failed: unchecked arguments must not run
            return refusal("arguments: could not be checked against the schema of the tool")
        if found is None:
            return None
        problems: dict[str, Problem] = {}
        for path, keyword, expected, in_union in found:
            value = _at(args, path)
            came = "" if keyword in _WITHOUT_VALUE else json_phrase(value)
            phrases = self._phrases(keyword, expected, value, path, in_union)
            if not in_union:
                phrases = (joined(phrases, "or"),)
            name = path_text(path)
            if len(found) == 1 and len(phrases) == 1:  # the usual case: nothing has to be joined
                return refusal(line(name, phrases[0], came))
            rank = UNKNOWN if keyword == "additionalProperties" else WRONG
            if keyword == "required" and not in_union:
                rank = MISSING
            problem = problems.setdefault(name, Problem(name, came, rank))
            problem.rank = min(problem.rank, rank)
            problem.in_union |= in_union
            for text in phrases:
                problem.expected.setdefault(text, [])
        return refusal(problem_lines(problems))

    def failing(self, args: object) -> list[tuple[int | str, ...]]:
        """Where `args` do not match; empty if they do."""
        try:
            return [path for path, *_ in self.compiled.validate(args) or ()]
        except RuntimeError:  # the core failed
            return [()]

    def _phrases(
        self,
        keyword: str,
        expected: str,
        value: object,
        path: Sequence[int | str],
        in_union: bool,
    ) -> tuple[str, ...]:
        if keyword == "additionalProperties":
            return (unknown_name(path, self.property_names),)
        if keyword == "required" and in_union:
            return ("is missing, unless another alternative fits",)
        items = len(value) if isinstance(value, (list, tuple)) else 0
        return keyword_phrases(keyword, expected, items)


def _at(value: Any, path: Sequence[int | str]) -> object:
    """The value at `path`; `None` if a part of it is missing."""
    try:
        for step in path:
            value = value[step]
    except (KeyError, IndexError, TypeError):
        return None
    return value
