"""Wrong arguments, told to a model: which field, what was expected, what came."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from ethos_registry.schema.expectations import expectation
from ethos_registry.schema.problem_lines import (
    Problem,
    path_text,
    problem_line,
    problem_lines,
    unknown,
    wrong_root,
)
from ethos_registry.schema.shown import shown

__all__ = ["KEYWORDS", "not_an_argument", "problems_text"]

KEYWORDS = "**"
"""Under which name the values of `**kwargs` are validated; no parameter can be called so."""

_CLASS_NAME = re.compile(r"[A-Z]\w*")
_EXTRA = ("extra_forbidden", "unexpected_keyword_argument")


def problems_text(error: ValidationError, arguments: object, names: tuple[str, ...]) -> str:
    """One line for the model: `limit: should be a whole number, got 'abc'; path: ...`.

    `names` are the
    arguments that exist. No library's address, no traceback, whatever came.
    """
    if arguments is not None and not isinstance(arguments, Mapping):
        return wrong_root(arguments)
    problems: dict[str, Problem] = {}
    for item in error.errors(include_url=False):
        path, alternative = _path(item["loc"], arguments, item["type"] == "missing")
        came = "" if item["type"] in ("missing", *_EXTRA) else shown(item["input"])
        text = unknown(item["loc"], names) if item["type"] in _EXTRA else expectation(item)
        problem = problems.setdefault(path, Problem(path, came))
        problem.in_union |= alternative is not None
        models = problem.expected.setdefault(text, [])
        if alternative and _CLASS_NAME.fullmatch(alternative):
            models.append(alternative)
    return problem_lines(problems)


def not_an_argument(name: str, names: tuple[str, ...]) -> str:
    """The line for a name that is none of the arguments.

    >>> not_an_argument("limt", ("path", "limit"))
    'limt: unknown argument; the arguments are path, limit'
    """
    return problem_line(Problem(path_text([name]), "", {unknown((name,), names): []}))


def _path(
    location: tuple[int | str, ...], arguments: object, is_missing: bool
) -> tuple[str, str | None]:
    """Where in the arguments it is, and which member of a union expected it.

    Pydantic mixes keys with labels of its own (`int`, `Cat`, `[key]`); what is neither a key nor an
    index of what came is such a label.
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
    name = path_text(parts)
    return (f"{name} (its name)", None) if label == "[key]" else (name, label)


def _holds(value: Any, step: int | str) -> bool:
    if isinstance(value, list | tuple):
        return isinstance(step, int) and step < len(value)
    return isinstance(value, Mapping) and step in value
