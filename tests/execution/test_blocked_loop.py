"""Code that blocks the event loop is named, and others are not judged by the time it took."""

import asyncio
import time

import pytest

from ethos_registry import InvocationFilter, ToolContext, ok
from session_tools import calls_of, reason, registry_of, tool

BLOCK_SECONDS = 0.4


def sleeps(*arguments):
    time.sleep(BLOCK_SECONDS)


async def blocks(args, context):
    sleeps()
    return ok("ran to its end")


async def blocks_later(args, context):
    await asyncio.sleep(0.01)
    sleeps()
    return ok("ran to its end")


async def waits(args, context):
    await asyncio.sleep(0.02)
    await asyncio.sleep(0)
    return ok("innocent")


def plain(args, context):
    time.sleep(0.02)
    return ok("innocent")


@pytest.mark.parametrize("guilty", [blocks, blocks_later])
@pytest.mark.parametrize("innocent", [waits, plain])
async def test_the_guilty_call_is_answered_as_late_and_the_innocent_one_is_not(
    guilty, innocent, caplog
):
    registry = registry_of(
        tool(innocent, "innocent", timeout_seconds=0.2), tool(guilty, "guilty", timeout_seconds=0.2)
    )
    first, late = await registry.execute_parallel(calls_of("innocent", "guilty"))
    assert first.text == "innocent"
    assert reason(late) == "timeout"
    assert "blocked the event loop for 0." in late.text
    [record] = [each for each in caplog.records if each.levelname == "WARNING"]
    assert "tool `guilty` blocked the event loop for 0." in record.getMessage()
    assert "plain `def`" in record.getMessage()


async def test_a_tool_that_blocks_within_its_time_is_answered_and_named_once(caplog):
    registry = registry_of(tool(blocks, timeout_seconds=5))
    for _ in range(2):
        [result] = await registry.execute_parallel(calls_of("blocks"))
        assert result.text == "ran to its end"
    assert len(caplog.records) == 1


async def test_a_tool_that_awaits_is_never_named(caplog):
    registry = registry_of(waits, plain)
    await registry.execute_parallel(calls_of("waits", "plain"))
    assert caplog.records == []


class Slow:
    tool_name = "waits"

    def reduce(self, result, context):
        time.sleep(BLOCK_SECONDS)
        return result


class Observer:
    def call_finished(self, call):
        time.sleep(BLOCK_SECONDS)


async def emits(args, context):
    context.report("half way")
    return ok("innocent")


def reducers():
    from ethos_registry import DefaultToolResultReducerRegistry

    return DefaultToolResultReducerRegistry([Slow()])


HOSTS = {
    "filter `before`": lambda: (registry_of(waits), {"filters": [InvocationFilter(sleeps)]}),
    "filter `after`": lambda: (registry_of(waits), {"filters": [InvocationFilter(after=sleeps)]}),
    "`is_available`": lambda: (
        registry_of(tool(waits, is_available=lambda: sleeps() is None)),
        {},
    ),
    "`on_result`": lambda: (registry_of(waits), {"on_result": sleeps}),
    "observer": lambda: (registry_of(waits, observers=[Observer()]), {}),
    "the reducer of tool": lambda: (registry_of(waits, reducer_registry=reducers()), {}),
    "`emit`": lambda: (registry_of(tool(emits, "waits")), {"context": ToolContext(emit=sleeps)}),
}


@pytest.mark.parametrize("what", HOSTS)
async def test_every_code_of_the_host_is_named(what, caplog):
    registry, options = HOSTS[what]()
    [result] = await registry.execute_parallel(calls_of("waits"), **options)
    assert result.text == "innocent"
    blocking = [each.getMessage() for each in caplog.records if "blocked" in each.getMessage()]
    assert len(blocking) == 1
    assert what in blocking[0]


async def test_cancellation_passes_through_the_measured_steps():
    seen = []

    async def hangs(args, context):
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            seen.append("cancelled")
            raise

    registry = registry_of(tool(hangs, timeout_seconds=0.05))
    [result] = await registry.execute_parallel(calls_of("hangs"))
    assert reason(result) == "timeout"
    assert seen == ["cancelled"]
