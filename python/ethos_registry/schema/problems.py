"""Wrong arguments as a message for a model: the field, what was expected, what came."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from ethos_registry.schema.expectations import expectation
from ethos_registry.schema.problem_lines import (
    MISSING,
    UNKNOWN,
    WRONG,
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
"""The key under which `**kwargs` are validated; no parameter can have this name."""

_CLASS_NAME = re.compile(r"[A-Z]\w*")
_EXTRA = ("extra_forbidden", "unexpected_keyword_argument")
_MISSING = ("missing", "missing_argument", "missing_keyword_only_argument")


def problems_text(error: ValidationError, arguments: object, names: tuple[str, ...]) -> str:
    """One line for the model: `limit: should be a whole number, got 'abc'; path: ...`.

    `names` are the known arguments. The message has no URL and no traceback.
    """
    if arguments is not None and not isinstance(arguments, Mapping):
        return wrong_root(arguments)
    problems: dict[str, Problem] = {}
    for item in error.errors(include_url=False):
        path, alternative = _path(item["loc"], arguments, item["type"] in _MISSING)
        came = "" if item["type"] in (*_MISSING, *_EXTRA) else shown(item["input"])
        text = unknown(item["loc"], names) if item["type"] in _EXTRA else expectation(item)
        problem = problems.setdefault(path, Problem(path, came))
        rank = UNKNOWN if item["type"] in _EXTRA else WRONG
        if item["type"] in _MISSING and alternative is None:
            rank = MISSING
        problem.rank = min(problem.rank, rank) if problem.expected else rank
        problem.in_union |= alternative is not None
        models = problem.expected.setdefault(text, [])
        if alternative and _CLASS_NAME.fullmatch(alternative):
            models.append(alternative)
    return problem_lines(problems)


def not_an_argument(name: str, names: tuple[str, ...]) -> str:
    """The message about a name that is not one of the arguments.

    >>> not_an_argument("limt", ("path", "limit"))
    'limt: unknown argument; the arguments are path, limit'
    """
    return problem_line(Problem(path_text([name]), "", {unknown((name,), names): []}))


def _path(
    location: tuple[int | str, ...], arguments: object, is_missing: bool
) -> tuple[str, str | None]:
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
    name = path_text(parts)
    return (f"{name} (its name)", None) if label == "[key]" else (name, label)


def _holds(value: Any, step: int | str) -> bool:
    if isinstance(value, list | tuple):
        return isinstance(step, int) and step < len(value)
    return isinstance(value, Mapping) and step in value
