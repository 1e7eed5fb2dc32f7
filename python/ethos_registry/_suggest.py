"""What a misspelt name most likely was, for every message about one."""

from __future__ import annotations

import math
from collections.abc import Iterable

_COMPARED_CHARS = 64
_COMPARED_NAMES = 10_000
"""Bounds of the time that one message may cost."""
_CLOSE = 0.75
_SHARED_CHARS = 4


def nearest(name: object, known: Iterable[str]) -> str | None:
    """The known name that `name` is most likely a typo of, if any; letter case does not count.

    A known name that contains every word of it counts too.

    >>> nearest("netwrok", ["network", "secrets"]), nearest("timeout", ["name", "timeout_seconds"])
    ('network', 'timeout_seconds')
    >>> nearest("budget", ["platform", "result_budget_chars"]), nearest("sudo", ["name"])
    ('result_budget_chars', None)
    """
    import difflib

    if not isinstance(name, str) or not name:
        return None
    given = _folded(name)
    folded: dict[str, str] = {}
    for each, _ in zip(known, range(_COMPARED_NAMES), strict=False):
        folded.setdefault(_folded(each), each)
    if found := difflib.get_close_matches(given, folded, n=1, cutoff=_CLOSE):
        return folded[found[0]]
    words = _words(given)
    extended = [each for each in folded if words <= _words(each)] or [
        each for each in folded if _shares_start(given, each)
    ]
    return folded[min(extended, key=len)] if extended and len(given) >= _SHARED_CHARS else None


def did_you_mean(name: object, known: Iterable[str]) -> str:
    """` (did you mean 'x'?)` for the nearest known name, or nothing.

    >>> did_you_mean("netwrok", ["network"])
    " (did you mean 'network'?)"
    """
    close = nearest(name, known)
    return "" if close is None else f" (did you mean {close!r}?)"


def _folded(name: str) -> str:
    return name[:_COMPARED_CHARS].casefold().replace("-", "_")


def _words(name: str) -> set[str]:
    return set(name.replace(":", "_").split("_"))


def _shares_start(given: str, known: str) -> bool:
    """Whether at least three quarters of the shorter name start both."""
    shorter = min(len(given), len(known))
    needed = max(_SHARED_CHARS, math.ceil(shorter * _CLOSE))
    return needed <= shorter and given[:needed] == known[:needed]
