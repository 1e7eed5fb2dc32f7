"""Creating a turn, its first change, merging and calls in it, compared with plain dicts.

`tests/turns_memory.py` measures the memory of 1,000 live turns over 10,000 tools.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from beside import beside
from ethos_registry import Tool, ToolContext, ToolOk, ToolRegistry, ok, tool
from ethos_registry.registry import DispatchContext

COUNTS = (10, 1_000, 10_000)
TURNS = 100


def tool_named(name: str) -> Tool:
    return Tool(name, "A tool", {"type": "object"}, lambda args, context: ok(""))


def tools_of(count: int, prefix: str = "tool") -> list[Tool]:
    return [tool_named(f"{prefix}_{number}") for number in range(count)]


@pytest.mark.parametrize("count", COUNTS, ids="{} tools".format)
def test_for_turn(benchmark: Any, count: int) -> None:
    tools = tools_of(count)
    registry = ToolRegistry(tools)
    by_name = {tool.name: tool for tool in tools}
    assert registry.for_turn().all() == tools

    def making(make: Callable[[], object]) -> Callable[[], Callable[[], object]]:
        def run() -> None:
            for _ in range(TURNS):
                make()

        return lambda: run

    beside(
        benchmark,
        making(registry.for_turn),
        {"dict(tools)": making(lambda: dict(by_name))},
        group="for_turn",
        rounds=100,
        per_round=TURNS,
        unit="turn",
    )


@pytest.mark.parametrize("count", COUNTS, ids="{} tools".format)
def test_first_write(benchmark: Any, count: int) -> None:
    tools, extra = tools_of(count), tool_named("extra")
    registry = ToolRegistry(tools)
    by_name = {tool.name: tool for tool in tools}
    turn = registry.for_turn()
    turn.register(extra)
    assert (turn.all(), registry.all()) == ([*tools, extra], tools)

    def writing(make: Callable[[], Any]) -> Callable[[], Callable[[], object]]:
        def prepare() -> Callable[[], object]:
            registries = [make() for _ in range(TURNS)]

            def run() -> None:
                for one in registries:
                    one.register(extra)

            return run

        return prepare

    def copying() -> Callable[[], object]:
        def run() -> None:
            for _ in range(TURNS):
                copied = dict(by_name)
                copied["extra"] = extra

        return run

    beside(
        benchmark,
        writing(registry.for_turn),
        {"register in an empty registry": writing(ToolRegistry), "dict(tools), one item": copying},
        group="first write in a turn",
        rounds=50,
        per_round=TURNS,
        unit="write",
    )


def test_merge(benchmark: Any) -> None:
    left, right = tools_of(1_000, "left"), tools_of(1_000, "right")
    registries = [ToolRegistry(left), ToolRegistry(right)]
    merged = ToolRegistry.merge(registries)
    assert merged.all() == [*left, *right]
    beside(
        benchmark,
        lambda: lambda: ToolRegistry.merge(registries),
        {
            "registering all again": lambda: lambda: ToolRegistry([*left, *right]),
            "joining two dicts": lambda: (
                lambda: {tool.name: tool for tool in left} | {tool.name: tool for tool in right}
            ),
        },
        group="merge, 2 registries of 1000",
        rounds=50,
        unit="merge",
    )


async def direct(args: Any, context: ToolContext) -> ToolOk:
    return args["answer"]


@tool
async def bound(text: str) -> str:
    """A function with arguments to bind."""
    return text


@pytest.mark.parametrize("name", ["direct", "bound"])
@pytest.mark.parametrize("chars", [100, 10_000], ids="{} characters".format)
def test_calls_in_a_turn(benchmark: Any, name: str, chars: int) -> None:
    registry = ToolRegistry([Tool("direct", "", {"type": "object"}, direct), bound])
    turn = registry.turn(DispatchContext()).registry
    frozen = registry.freeze()
    context = ToolContext(result_budget_chars=1_000_000_000)
    loop = asyncio.new_event_loop()

    def calls() -> list[dict[str, Any]]:
        text = "x" * chars
        args = {"answer": ok(text)} if name == "direct" else {"text": text}
        return [{"id": str(number), "name": name, "args": dict(args)} for number in range(64)]

    def running(one: Any) -> Callable[[], Callable[[], object]]:
        def prepare() -> Callable[[], object]:
            fresh = calls()
            return lambda: loop.run_until_complete(one.execute_parallel(fresh, context))

        return prepare

    assert [result.ok for result in running(turn)()()] == [True] * 64
    beside(
        benchmark,
        running(turn),
        {"in its base": running(registry), "in a frozen registry": running(frozen)},
        group=f"a call in a turn, `{name}`",
        rounds=200,
        per_round=64,
    )
    loop.close()
