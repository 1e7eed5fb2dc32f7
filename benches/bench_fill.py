"""The cost of `budget_policy="fill"`, compared with `"even"`."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from beside import beside
from ethos_registry import Tool, ToolContext, ToolRegistry, ok

CALLS = 64
BATCHES = 4
BUDGET_CHARS = 80_000
SIZES: dict[str, Callable[[int], int]] = {
    "all fit": lambda number: 200,
    "one large among small": lambda number: 200_000 if number == 7 else 200,
    "all over their share": lambda number: 4_000 + number,
}
"""By case: how many characters each tool returns."""


async def hand_over(args: Any, context: ToolContext) -> Any:
    return args["answer"]


def body_chars(results: Any) -> int:
    """The characters of the results that are left, without truncation markers."""
    return sum(len(result.text.partition("\n[truncated")[0]) for result in results)


@pytest.fixture(scope="module")
def loop() -> Iterator[asyncio.AbstractEventLoop]:
    loop = asyncio.new_event_loop()
    yield loop
    loop.close()


@pytest.mark.parametrize("case", SIZES)
def test_64_calls(benchmark: Any, loop: asyncio.AbstractEventLoop, case: str) -> None:
    registry = ToolRegistry([Tool("t", "A tool.", {"type": "object"}, hand_over)])
    context = ToolContext(result_budget_chars=BUDGET_CHARS)

    def batch(start: int) -> list[dict[str, Any]]:
        return [
            {
                "id": f"call_{start}_{number}",
                "name": "t",
                "args": {"answer": ok(f"{start:08d}{number:08d}".ljust(SIZES[case](number), "x"))},
            }
            for number in range(CALLS)
        ]

    def prepare(policy: Any) -> Callable[[], Any]:
        batches = [batch(start) for start in range(BATCHES)]

        async def run() -> Any:
            for calls in batches:
                results = await registry.execute_parallel(calls, context, budget_policy=policy)
            return results

        return lambda: loop.run_until_complete(run())

    filled, even = prepare("fill")(), prepare("even")()
    sent_chars, even_chars = body_chars(filled), body_chars(even)
    assert sent_chars <= BUDGET_CHARS
    if case == "all fit":
        assert [item.result for item in filled] == [item.result for item in even]
    else:
        assert sent_chars >= even_chars
    beside(
        benchmark,
        lambda: prepare("fill"),
        {'budget_policy="even"': lambda: prepare("even")},
        group=f"fill, {CALLS} calls",
        rounds=100,
        per_round=BATCHES * CALLS,
    )
