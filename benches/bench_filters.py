"""Filters around each call: none, one and three, compared with direct calls."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from beside import beside
from ethos_registry import (
    Invocation,
    InvocationFilter,
    Tool,
    ToolContext,
    ToolRegistry,
    ToolResult,
    ok,
)

CALLS = 64
BATCHES = 4
VALUE_CHARS = 200
CONTEXT = ToolContext(result_budget_chars=1_000_000_000)


async def hand_over(args: Any, context: ToolContext) -> Any:
    return args["answer"]


async def let_pass(invocation: Any) -> None:
    return None


async def keep(invocation: Any, result: ToolResult) -> None:
    return None


@pytest.fixture(scope="module")
def loop() -> Iterator[asyncio.AbstractEventLoop]:
    loop = asyncio.new_event_loop()
    yield loop
    loop.close()


def calls(start: int) -> list[dict[str, Any]]:
    return [
        {
            "id": f"call_{start}_{number}",
            "name": "t",
            "args": {"answer": ok(f"{start:08d}{number:08d}".ljust(VALUE_CHARS, "x"))},
        }
        for number in range(CALLS)
    ]


async def by_hand(args: Any, count: int) -> Any:
    """The same checks, written without a registry."""
    for _ in range(count):
        answer = await let_pass(args)
        if answer is not None:
            return answer
    result = await hand_over(args, CONTEXT)
    for _ in range(count):
        changed = await keep(args, result)
        result = result if changed is None else changed
    return result


@pytest.mark.parametrize("count", [0, 1, 3], ids=["none", "one", "three"])
def test_filters(benchmark: Any, loop: asyncio.AbstractEventLoop, count: int) -> None:
    registry = ToolRegistry([Tool("t", "A tool.", {"type": "object"}, hand_over)])
    seen: list[Invocation] = []
    registry_filters = [InvocationFilter(let_pass, keep) for _ in range(count)]

    def ours(filters: list[InvocationFilter]) -> Callable[[], Any]:
        batches = [calls(start) for start in range(BATCHES)]

        async def run() -> Any:
            for batch in batches:
                results = await registry.execute_parallel(batch, CONTEXT, filters=filters)
            return results

        return lambda: loop.run_until_complete(run())

    def theirs() -> Callable[[], Any]:
        batches = [calls(start) for start in range(BATCHES)]

        async def run() -> Any:
            for batch in batches:
                results = await asyncio.gather(*[by_hand(call["args"], count) for call in batch])
            return results

        return lambda: loop.run_until_complete(run())

    assert [result.result for result in ours(registry_filters)()] == theirs()()
    noting = [InvocationFilter(seen.append) for _ in range(count)]
    ours(noting)()
    assert len(seen) == count * CALLS * BATCHES
    baselines = {"asyncio.gather, by hand": theirs}
    if count:
        baselines["execute_parallel without filters"] = lambda: ours([])
    beside(
        benchmark,
        lambda: ours(registry_filters),
        baselines,
        group=f"filters around {CALLS} calls",
        rounds=100,
        per_round=BATCHES * CALLS,
    )
