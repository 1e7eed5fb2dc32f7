"""Arguments against a tool's JSON Schema, without coercion (contract 3.3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ethos_registry import _core
from ethos_registry.contract.errors import ConfigError
from ethos_registry.contract.result import ToolError
from ethos_registry.schema.keywords import keyword_phrases
from ethos_registry.schema.problem_lines import (
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
"""Keywords whose problem is that something is there or is not; what came says nothing."""


class ArgumentValidator:
    """The arguments of one tool against its schema, compiled when it is first asked.

    Nothing is coerced: `"5"` and `true` are no integers, `1.0` is one, as JSON Schema says.
    `format` is not asserted; nothing is fetched; patterns take linear time. Thread-safe.

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
        """The compiled schema, made once.

        `ConfigError` names the tool and the place in the schema where it is no JSON Schema, refers
        out of itself, or has a pattern that needs look-around or back references.
        """
        if self._compiled is None:
            try:
                self._compiled = _core.SchemaValidator(self.schema)
            except ValueError as error:
                raise ConfigError(
                    f"tool `{self.tool_name}`: `schema` is no usable JSON Schema {error}",
                    context={"tool_name": self.tool_name, "field": "schema", "value": self.schema},
                ) from None
        return self._compiled

    def problems(self, args: object) -> ToolError | None:
        """`None` where `args` match, else the `input_invalid` error that a model reads.

        Its text names at most 5 fields with at most 200 characters each: what was expected, what
        came. `None` means no arguments. `ConfigError` as `compile`.
        """
        compiled = self._compiled or self.compile()
        args = {} if args is None else args
        if type(args) is not dict and not isinstance(args, Mapping):  # the first costs less
            return _refusal(wrong_root(args))
        try:
            found = compiled.validate(args)
        except RuntimeError:  # the core failed: what was not checked must not run
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
            if len(found) == 1 and len(phrases) == 1:  # as most are: nothing has to be joined
                return _refusal(line(name, phrases[0], came))
            problem = problems.setdefault(name, Problem(name, came))
            problem.in_union |= in_union
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
    """What stands at `path`; `None` where a part of it is missing."""
    try:
        for step in path:
            value = value[step]
    except (KeyError, IndexError, TypeError):
        return None
    return value


def _refusal(text: str) -> ToolError:
    return ToolError(text, "input_invalid", "invalid_args")
