"""Globs for paths, such as `src/**/*.{ts,tsx}`."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Sequence

from ethos_registry.toolkit.arguments import RefusalError, shown

__all__ = ["Glob"]

_MAX_ALTERNATIVES = 100
_MAX_CHARS = 500


class Glob:
    """A pattern for names or paths; case matters.

    `*` and `?` match within one name, `**` matches any number of folders, `[a-z]` one character,
    `{a,b}` alternatives. A glob without `/` is compared with the name, any other with the whole
    path. The time grows at most with the product of both lengths.
    """

    __slots__ = ("_alternatives", "_is_for_names")

    def __init__(self, text: str) -> None:
        if len(text) > _MAX_CHARS:
            raise RefusalError(f"the glob {shown(text)} is longer than {_MAX_CHARS} characters")
        text = text.removeprefix("./")
        self._is_for_names = "/" not in text.rstrip("/")
        self._alternatives = [
            [_segment(name) for name in alternative.split("/") if name]
            for alternative in _expanded(text)
        ]

    def matches(self, path: str) -> bool:
        """Whether the path, with `/` between its names, matches."""
        names = path.split("/")
        if self._is_for_names:
            names = names[-1:]
        return any(_matches(pattern, names) for pattern in self._alternatives)


def _expanded(text: str) -> list[str]:
    """Expand the alternatives in braces; a lone brace matches itself."""
    waiting, done = [text], list[str]()
    while waiting:
        if len(waiting) + len(done) > _MAX_ALTERNATIVES:
            raise RefusalError(
                f"the glob {shown(text)} expands to more than {_MAX_ALTERNATIVES} patterns; "
                "use fewer braces"
            )
        pattern = waiting.pop()
        end = pattern.find("}")
        start = pattern.rfind("{", 0, end)
        if end < 0 or start < 0:
            done.append(pattern)
            continue
        choices = pattern[start + 1 : end].split(",")
        waiting += [pattern[:start] + choice + pattern[end + 1 :] for choice in choices]
    return done


def _segment(name: str) -> re.Pattern[str] | None:
    """`None` for `**`. The patterns of `fnmatch` do not backtrack far."""
    return None if name == "**" else re.compile(fnmatch.translate(name))


def _matches(pattern: Sequence[re.Pattern[str] | None], names: Sequence[str]) -> bool:
    """Keeps the set of positions in the pattern that the names so far can have reached."""
    places = _with_skipped_stars(pattern, {0})
    for name in names:
        reached = set()
        for place in places:
            if place == len(pattern):
                continue
            segment = pattern[place]
            if segment is None:
                reached.add(place)
            elif segment.match(name):
                reached.add(place + 1)
        places = _with_skipped_stars(pattern, reached)
        if not places:
            return False
    return len(pattern) in places


def _with_skipped_stars(pattern: Sequence[re.Pattern[str] | None], places: set[int]) -> set[int]:
    for place in sorted(places):
        while place < len(pattern) and pattern[place] is None:
            place += 1
            places.add(place)
    return places
