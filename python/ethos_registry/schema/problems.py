"""Wrong arguments, told to a model: which field, what was expected, what came."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import ValidationError

from ethos_registry.schema.expectations import expectation
from ethos_registry.schema.shown import clipped, shown

__all__ = ["KEYWORDS", "MAX_FIELDS", "MAX_FIELD_CHARS", "not_an_argument", "problems_text"]

MAX_FIELDS = 5
"""How many fields one text names."""
MAX_FIELD_CHARS = 200
"""How long what it says of one field may be, in characters."""

KEYWORDS = "**"
"""Under which name the values of `**kwargs` are validated; no parameter can be called so."""

_MAX_PATH_CHARS = 60
_CLASS_NAME = re.compile(r"[A-Z]\w*")
_EXTRA = ("extra_forbidden", "unexpected_keyword_argument")


@dataclass(slots=True)
class _Problem:
    """All that is wrong with one place; the members of a union each expect something else."""

    path: str
    came: str
    expected: dict[str, list[str]] = field(default_factory=dict)
    """Phrase -> names of the models that expect it."""
    in_union: bool = False


def problems_text(error: ValidationError, arguments: object, names: tuple[str, ...]) -> str:
    """One line for the model: `limit: should be a whole number, got 'abc'; path: ...`.

    At most `MAX_FIELDS` fields of at most `MAX_FIELD_CHARS` characters each; `names` are the
    arguments that exist. No library's address, no traceback, whatever came.
    """
    if arguments is not None and not isinstance(arguments, Mapping):
        return f"arguments must be a JSON object, got {shown(arguments)}"
    problems: dict[str, _Problem] = {}
    for item in error.errors(include_url=False):
        path, alternative = _path(item["loc"], arguments, item["type"] == "missing")
        came = "" if item["type"] in ("missing", *_EXTRA) else shown(item["input"])
        text = _unknown(item["loc"], names) if item["type"] in _EXTRA else expectation(item)
        problem = problems.setdefault(path, _Problem(path, came))
        problem.in_union |= alternative is not None
        models = problem.expected.setdefault(text, [])
        if alternative and _CLASS_NAME.fullmatch(alternative):
            models.append(alternative)
    told = [problem for problem in problems.values() if not _superseded(problem, problems)]
    lines = [_line(problem) for problem in told[:MAX_FIELDS]]
    if len(told) > MAX_FIELDS:
        lines.append(f"and {len(told) - MAX_FIELDS} more")
    return "; ".join(lines)


def not_an_argument(name: str, names: tuple[str, ...]) -> str:
    """The line for a name that is none of the arguments.

    >>> not_an_argument("limt", ("path", "limit"))
    'limt: unknown argument; the arguments are path, limit'
    """
    return _line(_Problem(_joined([name]), "", {_unknown((name,), names): []}))


def _unknown(location: tuple[int | str, ...], names: tuple[str, ...]) -> str:
    if len(location) > 1:
        return "unknown field"
    if not names:
        return "unknown argument; there are none"
    return f"unknown argument; the arguments are {', '.join(names)}"


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
    name = _joined(parts) or "arguments"
    return (f"{name} (its name)", None) if label == "[key]" else (name, label)


def _holds(value: Any, step: int | str) -> bool:
    if isinstance(value, list | tuple):
        return isinstance(step, int) and step < len(value)
    return isinstance(value, Mapping) and step in value


def _joined(parts: list[int | str]) -> str:
    text = ""
    for part in parts:
        if isinstance(part, int):
            text += f"[{part}]"
        else:
            text += f".{part}" if text else str(part)
        if len(text) > 4 * _MAX_PATH_CHARS:
            break
    return clipped(text.encode("utf-8", "backslashreplace").decode(), _MAX_PATH_CHARS)


def _superseded(problem: _Problem, problems: Mapping[str, _Problem]) -> bool:
    """Whether another member of the union got further: its complaint is the useful one."""
    deeper = (f"{problem.path}.", f"{problem.path}[")
    return problem.in_union and any(path.startswith(deeper) for path in problems)


def _line(problem: _Problem) -> str:
    came = f", got {problem.came}" if problem.came else ""
    room = MAX_FIELD_CHARS - len(problem.path) - len(came) - 2
    return f"{problem.path}: {clipped(_either(problem.expected), room)}{came}"


def _either(expected: Mapping[str, list[str]]) -> str:
    first, *rest = (
        f"{phrase} (as {' or '.join(models)})" if models else phrase
        for phrase, models in expected.items()
    )
    same = "should be "
    if first.startswith(same) and all(text.startswith(same) for text in rest):
        rest = [text.removeprefix(same) for text in rest]
    return " or ".join([first, *rest])
