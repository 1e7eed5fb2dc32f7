"""`registry.get`, compared with `dict.get`, with names that were never hashed before."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from beside import beside
from ethos_registry import Tool, ToolRegistry, ok

LOOKUPS = 1_000


@pytest.mark.parametrize("count", [1_000, 10_000], ids="{} tools".format)
def test_get(benchmark: Any, count: int) -> None:
    tools = {
        f"tool_{number}": Tool(
            f"tool_{number}", "A tool", {"type": "object"}, lambda args, context: ok("")
        )
        for number in range(count)
    }
    registry = ToolRegistry(tools.values())

    class Lookup:
        def get(self, name: str) -> Tool | None:
            return tools.get(name)

    def names() -> list[str]:
        return [f"tool_{number * 7919 % count}" for number in range(LOOKUPS)]

    def looking_up(get: Callable[[str], Tool | None]) -> Callable[[], Callable[[], object]]:
        def prepare() -> Callable[[], object]:
            fresh_names = names()

            def run() -> None:
                for name in fresh_names:
                    get(name)

            return run

        return prepare

    assert [registry.get(name) for name in names()] == [tools[name] for name in names()]
    beside(
        benchmark,
        looking_up(registry.get),
        {
            "dict.get behind a method": looking_up(Lookup().get),
            "dict.get": looking_up(tools.get),
        },
        group="get",
        rounds=300,
        per_round=LOOKUPS,
    )
