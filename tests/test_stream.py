"""`view.stream` yields each result when it is there."""

import asyncio

import pytest

from ethos_registry import ConfigError, Personality, Tool, ToolRegistry, ok

SCHEMA = {"type": "object"}


def view_of(*tools: Tool):
    return ToolRegistry(tools).view(Personality("all"))


async def wait(args, context):
    await asyncio.sleep(args["seconds"])
    return ok(str(args["seconds"]))


def calls_of(*seconds: float) -> list[dict]:
    return [
        {"id": str(index), "name": "wait", "args": {"seconds": each}}
        for index, each in enumerate(seconds)
    ]


async def test_results_come_in_the_order_they_end_each_once():
    view = view_of(Tool("wait", "Waits.", SCHEMA, wait))
    seen = [result.tool_call_id async for result in view.stream(calls_of(0.1, 0.0, 0.05))]
    assert seen == ["1", "2", "0"]


async def test_a_result_is_there_before_the_batch_is_over():
    view = view_of(Tool("wait", "Waits.", SCHEMA, wait))
    started = asyncio.get_running_loop().time()
    async for result in view.stream(calls_of(0, 0.3)):
        if result.tool_call_id == "0":
            assert asyncio.get_running_loop().time() - started < 0.25


async def test_leaving_the_loop_cancels_what_still_runs():
    cancelled = asyncio.Event()

    async def hang(args, context):
        try:
            await asyncio.sleep(60)
        finally:
            cancelled.set()

    view = view_of(Tool("wait", "Waits.", SCHEMA, wait), Tool("hang", "Hangs.", SCHEMA, hang))
    stream = view.stream([*calls_of(0), {"id": "h", "name": "hang"}])
    async for _ in stream:
        break
    await stream.aclose()
    assert cancelled.is_set()


async def test_no_calls_give_no_results():
    assert [result async for result in view_of().stream([])] == []


async def test_wrong_arguments_raise_when_the_loop_begins():
    with pytest.raises(ConfigError, match="budget_policy"):
        async for _ in view_of().stream([], budget_policy="greedy"):
            pass
