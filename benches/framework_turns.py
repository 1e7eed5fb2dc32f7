"""What the benchmarks of adapters share: a function, a view of it, and both sides on one loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, TypeAlias

import pytest

from beside import Prepare, beside
from ethos_registry import Personality, ToolRegistry, View

ROUNDS = 7
TURNS = 50
"""Turns in one round, so that a round takes milliseconds."""
LISTED = 1_000

COUNTS = pytest.mark.parametrize("count", [1, 8, 64], ids="{} calls".format)

Turn: TypeAlias = Callable[[], Coroutine[Any, Any, object]]
Listing: TypeAlias = Callable[[], Coroutine[Any, Any, list[str]]]


async def add(first: int, second: int) -> str:
    """Add two numbers."""
    return str(first + second)


def view_of(tools: int = 1) -> View:
    """A view of `add`, and of it under other names."""
    registry = ToolRegistry()
    registry.tool(add)
    for number in range(tools - 1):
        registry.tool(name=f"add_{number}")(add)
    return registry.view(Personality("bench"))


def compare(
    benchmark: Any, framework: str, count: int, ours: Turn, theirs: Turn, **others: Turn
) -> None:
    """Time turns of all on one event loop; `others` are more ways to write the native tool."""
    turns = max(TURNS // count, 5)
    runner = asyncio.Runner()

    async def repeat(turn: Turn) -> None:
        for _ in range(turns):
            await turn()

    def prepare(turn: Turn) -> Prepare:
        return lambda: lambda: runner.run(repeat(turn))

    with runner:
        baselines = {"native tool": theirs} | others
        assert all(runner.run(turn()) == runner.run(ours()) for turn in baselines.values())
        beside(
            benchmark,
            prepare(ours),
            {name: prepare(turn) for name, turn in baselines.items()},
            group=f"{framework}, a turn",
            rounds=ROUNDS,
            per_round=turns * count,
        )


def compare_listings(benchmark: Any, framework: str, ours: Listing, theirs: Listing) -> None:
    """Time what the framework does to list its tools for one request; both return the names."""
    runner = asyncio.Runner()
    with runner:
        assert sorted(runner.run(ours())) == sorted(runner.run(theirs()))
        beside(
            benchmark,
            lambda: lambda: runner.run(ours()),
            {"native tools": lambda: lambda: runner.run(theirs())},
            group=f"{framework}, listing",
            rounds=ROUNDS,
            unit="list",
        )
