"""The messages about wrong arguments that a model reads."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from ethos_registry.schema.shown import clipped, shown

__all__ = [
    "MAX_FIELDS",
    "MAX_FIELD_CHARS",
    "MISSING",
    "UNKNOWN",
    "WRONG",
    "Problem",
    "joined",
    "line",
    "path_text",
    "problem_line",
    "problem_lines",
    "unknown",
    "wrong_root",
]

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
    expected: dict[str, list[str]] = field(default_factory=dict)
    """Phrase -> names of the models that expect it."""
    in_union: bool = False
    rank: int = WRONG


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
    shown.sort(key=_rank)
    lines = [problem_line(problem) for problem in shown[:MAX_FIELDS]]
    if len(shown) > MAX_FIELDS:
        lines.append(f"and {len(shown) - MAX_FIELDS} more")
    return "; ".join(lines)


def problem_line(problem: Problem) -> str:
    """The message about one place.

    >>> problem_line(Problem("limit", "'5'", {"should be a whole number": []}))
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


def unknown(path: Sequence[int | str], names: Collection[str]) -> str:
    """The phrase about a name that is not one of `names`, the known arguments."""
    if len(path) > 1:
        return "unknown field"
    if not names:
        return "unknown argument; there are none"
    return f"unknown argument; the arguments are {', '.join(names)}"


def wrong_root(arguments: object) -> str:
    """The message about arguments that are not an object."""
    return f"arguments must be a JSON object, got {shown(arguments)}"


def _rank(problem: Problem) -> int:
    return problem.rank


def _superseded(problem: Problem, problems: Mapping[str, Problem]) -> bool:
    """Whether another member of the union got further: its problem is the useful one."""
    deeper = (f"{problem.path}.", f"{problem.path}[")
    return any(path.startswith(deeper) for path in problems)
