"""`execute_parallel` of a tool that does nothing, compared with a gather of the same coroutines."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from typing import Any

import pytest

from beside import beside
from ethos_registry import (
    Tool,
    ToolContext,
    ToolFilterOpts,
    ToolOk,
    ToolRegistry,
    default_reducers,
    ok,
)
from inputs import fresh

COUNTS = (1, 8, 64, 512, 4_096)
CALLS_A_ROUND = 128
"""Small batches are repeated in a round, so that the start of the loop does not count."""

VALUE_CHARS = 200
NO_TRIM = 1_000_000_000
NAMES = ["terminal", *(f"tool_{number}" for number in range(49))]
FILTERS = ToolFilterOpts(
    allowed_mcp_servers=[f"srv{number}" for number in range(5)],
    allowed_plugins=[f"plug{number}" for number in range(5)],
)

Execute = Callable[[Any, ToolContext], Any]


async def answer_at_once(args: Any, context: ToolContext) -> ToolOk:
    """Return a prepared result: the minimum a tool can do."""
    return args["answer"]


async def make_answer(args: Any, context: ToolContext) -> ToolOk:
    """Create a result, as every real tool does."""
    return ok(args["answer"].value)


def answer_on_thread(args: Any, context: ToolContext) -> ToolOk:
    return args["answer"]


def calls(batch: int, count: int) -> list[dict[str, Any]]:
    """Calls that share nothing, each with a value of its own."""
    return [
        {
            "id": f"call_{batch}_{number}",
            "name": fresh("terminal"),
            "args": {
                "command": "ls -la",
                "i": number,
                "answer": ok(f"{batch:08d}{number:08d}".ljust(VALUE_CHARS, "x")),
            },
        }
        for number in range(count)
    ]


@pytest.fixture(scope="module")
def loop() -> Iterator[asyncio.AbstractEventLoop]:
    loop = asyncio.new_event_loop()
    yield loop
    loop.close()


def compare(
    benchmark: Any,
    loop: asyncio.AbstractEventLoop,
    count: int,
    group: str,
    *,
    execute: Execute = answer_at_once,
    bare: Callable[[Execute, Any, ToolContext], Coroutine[Any, Any, Any]] | None = None,
    baseline: str = "asyncio.gather",
    budget: int = NO_TRIM,
    reducers: bool = False,
    gated: bool = False,
    rounds: int = 200,
) -> None:
    tool = Tool("terminal", "Runs a command", {"type": "object"}, execute)
    registry = ToolRegistry(
        [tool, *(Tool(name, "", {"type": "object"}, execute) for name in NAMES[1:])],
        reducer_registry=default_reducers() if reducers else None,
    )
    batches = max(CALLS_A_ROUND // count, 1)
    context = ToolContext(result_budget_chars=budget)
    policy = (NAMES, FILTERS) if gated else ()

    async def ours(fresh_batches: list[list[dict[str, Any]]]) -> Any:
        for batch in fresh_batches:
            results = await registry.execute_parallel(batch, context, *policy)
        return results

    async def gathered(fresh_batches: list[list[dict[str, Any]]]) -> Any:
        for batch in fresh_batches:
            if bare is None:
                results = await asyncio.gather(*[execute(call["args"], context) for call in batch])
            else:
                results = await asyncio.gather(
                    *[bare(execute, call["args"], context) for call in batch]
                )
        return results

    def prepare(run: Callable[[Any], Coroutine[Any, Any, Any]]) -> Callable[[], object]:
        fresh_batches = [calls(number, count) for number in range(batches)]
        return lambda: loop.run_until_complete(run(fresh_batches))

    answers, bare_answers = prepare(ours)(), prepare(gathered)()
    assert [answer.ok for answer in answers] == [True] * count
    if budget == NO_TRIM:
        assert [answer.result for answer in answers] == bare_answers
    beside(
        benchmark,
        lambda: prepare(ours),
        {baseline: lambda: prepare(gathered)},
        group=f"execute_parallel, {group}",
        rounds=max(rounds // max(count // CALLS_A_ROUND, 1), 30),
        per_round=batches * count,
    )


by_count = pytest.mark.parametrize("count", COUNTS, ids="{} calls".format)
by_some_counts = pytest.mark.parametrize("count", [64, 512], ids="{} calls".format)
by_target_counts = pytest.mark.parametrize("count", [8, 64, 512, 4_096], ids="{} calls".format)


@by_count
def test_no_trim(benchmark: Any, loop: asyncio.AbstractEventLoop, count: int) -> None:
    compare(benchmark, loop, count, "no trim")


@by_some_counts
def test_tool_that_makes_its_result(
    benchmark: Any, loop: asyncio.AbstractEventLoop, count: int
) -> None:
    compare(benchmark, loop, count, "tool makes its result", execute=make_answer)


@by_count
def test_default_budget(benchmark: Any, loop: asyncio.AbstractEventLoop, count: int) -> None:
    compare(benchmark, loop, count, "80,000 characters", budget=80_000)


@by_target_counts
def test_gated(benchmark: Any, loop: asyncio.AbstractEventLoop, count: int) -> None:
    compare(benchmark, loop, count, "gated (50 names, 5 servers, 5 plugins)", gated=True)


@by_target_counts
def test_reducers(benchmark: Any, loop: asyncio.AbstractEventLoop, count: int) -> None:
    compare(benchmark, loop, count, "default reducers", reducers=True)


WORDS = "the compiled river, an oak house; morning (paper) window: garden engine = letter 42\n"


@by_some_counts
def test_redaction(benchmark: Any, loop: asyncio.AbstractEventLoop, count: int) -> None:
    """What looking for credentials adds to a batch whose results are 200 characters of prose."""
    tool = Tool("terminal", "Runs a command", {"type": "object"}, answer_at_once)
    context = ToolContext(result_budget_chars=NO_TRIM)

    def prepare(registry: ToolRegistry) -> Callable[[], object]:
        batch = calls(0, count)
        for number, call in enumerate(batch):
            call["args"]["answer"] = ok(f"{number:08d} {WORDS * 3}"[:VALUE_CHARS])
        return lambda: loop.run_until_complete(registry.execute_parallel(batch, context))

    redacting, keeping = ToolRegistry([tool]), ToolRegistry([tool], redact=False)
    assert [answer.ok for answer in prepare(redacting)()] == [True] * count
    beside(
        benchmark,
        lambda: prepare(redacting),
        {"redact=False": lambda: prepare(keeping)},
        group="execute_parallel, credentials redacted",
        rounds=200,
        per_round=count,
    )


async def on_thread(execute: Execute, args: Any, context: ToolContext) -> Any:
    return await asyncio.to_thread(execute, args, context)


@by_some_counts
def test_plain_function(benchmark: Any, loop: asyncio.AbstractEventLoop, count: int) -> None:
    compare(
        benchmark,
        loop,
        count,
        "plain function",
        execute=answer_on_thread,
        bare=on_thread,
        baseline="gather of asyncio.to_thread",
        rounds=40,
    )
