"""Matching lines in content of 1 and 100 MB, compared with Python's `re`.

`re` runs over the whole string (`finditer`, the faster way) and line by line. Both find and
show the same; patterns are compiled before.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

import inputs
from beside import beside
from ethos_registry import _core

PATTERNS = {
    "literal": ("number 77 of", True),
    "rare word": (r"(?:error|fatal|panic)\s+\d+", False),
    "digits": (r"^[0-9]+7777 x", False),
    "no case": (r"(?i)NEEDLE in \w+", False),
}
MAX_MATCHES = 1_000


def numbered(text: str, starts: list[int]) -> list[str]:
    """What was found as it is shown: counting up to each match costs the same on either side."""
    found, number, counted_to = [], 1, 0
    for at in starts[:MAX_MATCHES]:
        number += text.count("\n", counted_to, at)
        counted_to = at
        end = text.find("\n", at)
        line = text[text.rfind("\n", 0, at) + 1 : end if end >= 0 else len(text)]
        found.append(f"{number}:{line}")
    return found


@pytest.mark.parametrize("megabytes", [1, 100])
@pytest.mark.parametrize("name", PATTERNS)
def test_grep(benchmark: Any, name: str, megabytes: int) -> None:
    pattern, literal = PATTERNS[name]
    text = inputs.text(megabytes)
    middle = text.find("\n", len(text) // 2)
    text = f"{text[:middle]}\nerror 5: number 77 of needle in {'x' * 9}\n{text[middle:]}"
    ours = _core.Grep(pattern, literal=literal, max_chars=1_000_000)
    compiled = re.compile(re.escape(pattern) if literal else pattern, re.MULTILINE)

    def native() -> Callable[[], str]:
        def search() -> str:
            found = ours.again()
            found.feed(text)
            return found.text

        return search

    def whole() -> Callable[[], str]:
        return lambda: "\n".join(
            numbered(text, [match.start() for match in compiled.finditer(text)])
        )

    def by_line() -> Callable[[], str]:
        return lambda: "\n".join(
            f"{number}:{line}"
            for number, line in enumerate(text.split("\n"), 1)
            if compiled.search(line)
        )

    assert native()() == whole()() == by_line()()
    beside(
        benchmark,
        native,
        {"re.finditer": whole, "re, line by line": by_line},
        group=f"grep of {megabytes} MiB, {name}",
        rounds=30 if megabytes == 1 else 1,
        unit="text",
    )
