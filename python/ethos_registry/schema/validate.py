"""Validates arguments against the JSON Schema of a tool, without coercion."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ethos_registry import _core
from ethos_registry.contract.errors import ConfigError
from ethos_registry.contract.result import ToolError
from ethos_registry.schema.keywords import keyword_phrases
from ethos_registry.schema.problem_lines import (
    MISSING,
    UNKNOWN,
    WRONG,
    Problem,
    joined,
    line,
    path_text,
    problem_lines,
    unknown,
    wrong_root,
)
from ethos_registry.schema.shown import shown

__all__ = ["ArgumentValidator"]

_WITHOUT_VALUE = ("additionalProperties", "required", "key", "names", "schema")
"""Keywords about the presence of something: the value does not help."""


class ArgumentValidator:
    """Validates the arguments of one tool against its schema, which is compiled at the first use.

    Nothing is coerced: as JSON Schema defines it, `"5"` and `true` are not integers, and `1.0` is.
    `format` is not asserted, nothing is fetched, patterns take linear time. Thread-safe.

    >>> schema = {"type": "object", "properties": {"limit": {"type": "integer", "minimum": 1}}}
    >>> search = ArgumentValidator("search", schema)
    >>> search.problems({"limit": 5})
    >>> search.problems({"limit": "5"}).error
    "limit: should be a whole number, got '5'"
    """

    __slots__ = ("_compiled", "schema", "tool_name")

    def __init__(
        self,
        tool_name: str,
        schema: Mapping[str, Any],
        compiled: _core.SchemaValidator | None = None,
    ) -> None:
        self.tool_name = tool_name
        self.schema = schema
        self._compiled = compiled

    def compile(self) -> _core.SchemaValidator:
        """The compiled schema.

        Raises `ConfigError` with the tool and the place in the schema if it is invalid, refers to
        another document, or has a pattern that needs look-around or back references.
        """
        if self._compiled is None:
            try:
                self._compiled = _core.SchemaValidator(self.schema)
            except ValueError as error:
                raise ConfigError(
                    f"tool `{self.tool_name}`: `schema` cannot be compiled {error}",
                    context={"tool_name": self.tool_name, "field": "schema", "value": self.schema},
                ) from None
        return self._compiled

    def problems(self, args: object) -> ToolError | None:
        """`None` if `args` match, else the `input_invalid` error that a model reads.

        The message names at most 5 fields with at most 200 characters each: what was expected and
        what came. `None` means no arguments. Raises `ConfigError` as `compile` does.
        """
        compiled = self._compiled or self.compile()
        args = {} if args is None else args
        if type(args) is not dict and not isinstance(args, Mapping):  # the first check is cheaper
            return _refusal(wrong_root(args))
        try:
            found = compiled.validate(args)
        except RuntimeError:  # the core failed: unchecked arguments must not run
            return _refusal("arguments: could not be checked against the schema of the tool")
        if found is None:
            return None
        problems: dict[str, Problem] = {}
        for path, keyword, expected, in_union in found:
            value = _at(args, path)
            came = "" if keyword in _WITHOUT_VALUE else shown(value)
            phrases = self._phrases(keyword, expected, value, path, in_union)
            if not in_union:
                phrases = (joined(phrases, "or"),)
            name = path_text(path)
            if len(found) == 1 and len(phrases) == 1:  # the usual case: nothing has to be joined
                return _refusal(line(name, phrases[0], came))
            problem = problems.setdefault(name, Problem(name, came))
            problem.in_union |= in_union
            rank = UNKNOWN if keyword == "additionalProperties" else WRONG
            if keyword == "required" and not in_union:
                rank = MISSING
            problem.rank = min(problem.rank, rank) if problem.expected else rank
            for text in phrases:
                problem.expected.setdefault(text, [])
        return _refusal(problem_lines(problems))

    def _phrases(
        self,
        keyword: str,
        expected: str,
        value: object,
        path: Sequence[int | str],
        in_union: bool,
    ) -> tuple[str, ...]:
        if keyword == "additionalProperties":
            return (unknown(path, tuple(self.schema.get("properties", ()))),)
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


def _refusal(text: str) -> ToolError:
    return ToolError(text, "input_invalid", "invalid_args")
