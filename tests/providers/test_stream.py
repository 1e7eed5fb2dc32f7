"""`view.stream` yields each result when it is there."""

import asyncio

import pytest

from ethos_registry import ConfigError, Personality, Tool, ToolRegistry, ok

pytestmark = pytest.mark.every_python

SCHEMA = {"type": "object"}


def view_of(*tools: Tool):
    return ToolRegistry(tools).view(Personality("all"))


def waiting_tool(may_end: dict[str, asyncio.Event]) -> Tool:
    """A tool whose call ends when its event is set."""

    async def wait(args, context):
        await may_end[context.tool_call_id].wait()
        return ok("ended")

    return Tool("wait", "Waits.", SCHEMA, wait)


def calls_of(*ids: str) -> list[dict]:
    return [{"id": each, "name": "wait", "args": {}} for each in ids]


async def test_each_result_comes_when_it_is_there_in_the_order_they_end():
    may_end = {each: asyncio.Event() for each in "abc"}
    order = ["b", "c", "a"]
    may_end["b"].set()
    seen = []
    async for result in view_of(waiting_tool(may_end)).stream(calls_of("a", "b", "c")):
        seen.append(result.tool_call_id)
        if len(seen) < 3:
            may_end[order[len(seen)]].set()
    assert seen == order


async def test_leaving_the_loop_cancels_what_still_runs():
    cancelled = asyncio.Event()

    async def hang(args, context):
        try:
            await asyncio.sleep(60)
        finally:
            cancelled.set()

    may_end = {"a": asyncio.Event()}
    may_end["a"].set()
    view = view_of(waiting_tool(may_end), Tool("hang", "Hangs.", SCHEMA, hang))
    stream = view.stream([*calls_of("a"), {"id": "h", "name": "hang"}])
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
