"""One call of a `@tool` function with two fields, compared with the bare function and pydantic.

`validate_call` only validates the arguments; a tool also converts the return value into a result.
The rows of batches include everything that `execute_parallel` does.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from pydantic import validate_call

from beside import Prepare, beside
from ethos_registry import ToolContext, ToolRegistry, tool

CALLS = 500
BATCH = 64
BATCHES = 2
CONTEXT = ToolContext(result_budget_chars=1_000_000_000)


def repeat(text: str, times: int) -> str:
    """Repeat a string."""
    return text * times


async def repeat_async(text: str, times: int) -> str:
    """Repeat a string."""
    return text * times


def arguments(count: int) -> list[dict[str, Any]]:
    return [{"text": f"line {number}", "times": number % 3} for number in range(count)]


def each(call: Callable[[dict[str, Any]], object]) -> Prepare:
    def prepare() -> Callable[[], object]:
        fresh_arguments = arguments(CALLS)

        def run() -> None:
            for args in fresh_arguments:
                call(args)

        return run

    return prepare


def test_execute(benchmark: Any) -> None:
    made, validated = tool(repeat), validate_call(repeat)
    execute = made.execute
    assert execute({"text": "ab", "times": "2"}, CONTEXT).value == validated("ab", "2") == "abab"
    beside(
        benchmark,
        each(lambda args: execute(args, CONTEXT)),
        {
            "pydantic.validate_call": each(lambda args: validated(**args)),
            "the bare function": each(lambda args: repeat(**args)),
        },
        group="@tool, one call",
        rounds=200,
        per_round=CALLS,
    )


def test_called_as_a_function(benchmark: Any) -> None:
    made = tool(repeat)
    assert made("ab", times=2) == "abab"
    beside(
        benchmark,
        each(lambda args: made(**args)),
        {"the bare function": each(lambda args: repeat(**args))},
        group="@tool, called as a function",
        rounds=200,
        per_round=CALLS,
    )


def test_batch_of_64(benchmark: Any) -> None:
    registry = ToolRegistry([tool(repeat_async)])
    validated = validate_call(repeat_async)
    loop = asyncio.new_event_loop()

    def batches(make: Callable[[list[dict[str, Any]]], Any]) -> Prepare:
        async def all_of(fresh: list[Any]) -> None:
            for batch in fresh:
                await make(batch)

        def prepare() -> Callable[[], object]:
            fresh = [
                [
                    {"id": str(number), "name": "repeat_async", "args": args}
                    for number, args in enumerate(arguments(BATCH))
                ]
                for _ in range(BATCHES)
            ]
            return lambda: loop.run_until_complete(all_of(fresh))

        return prepare

    async def gathered(function: Callable[..., Any], batch: list[dict[str, Any]]) -> Any:
        return await asyncio.gather(*[function(**call["args"]) for call in batch])

    try:
        beside(
            benchmark,
            batches(lambda batch: registry.execute_parallel(batch, CONTEXT)),
            {
                "gather of validate_call": batches(lambda batch: gathered(validated, batch)),
                "gather of the bare function": batches(lambda batch: gathered(repeat_async, batch)),
            },
            group="@tool, batch of 64",
            rounds=200,
            per_round=BATCH * BATCHES,
        )
    finally:
        loop.close()
