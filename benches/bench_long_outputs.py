"""Long outputs of programs, reduced, compared with counting line feeds; times are per line."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from beside import beside
from ethos_registry import reduce_text
from inputs import fresh
from outputs import PROGRAMS


@pytest.mark.parametrize("name", PROGRAMS)
def test_long_output(benchmark: Any, name: str) -> None:
    program = PROGRAMS[name]
    original = program.text()
    encoded = original.encode()
    lines = original.count("\n")

    def reduced(text: str) -> str:
        return reduce_text(text, command=program.command, exit_code=program.exit_code)

    def ours() -> Callable[[], str]:
        text = fresh(original)
        return lambda: reduced(text)

    def counted() -> Callable[[], int]:
        return lambda: encoded.count(b"\n")

    assert len(reduced(original)) < len(original)
    beside(
        benchmark,
        ours,
        {'bytes.count(b"\\n")': counted},
        group="a long output",
        rounds=15,
        per_round=lines,
        unit="line",
    )
