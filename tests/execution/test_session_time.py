"""Time: each tool's own clock, the batch's deadline, the grace, and what is left behind."""

from __future__ import annotations

import asyncio
import contextlib
import re
import threading
import time
from typing import Any

import pytest

from ethos_registry import ToolContext, ok
from ethos_registry.testing import RecordingEmit
from session_tools import (
    answer,
    calls_of,
    code,
    hang,
    in_own_process,
    quick,
    reason,
    registry_of,
    tool,
    until,
)

pytestmark = pytest.mark.every_python


async def test_a_tool_out_of_time_is_cancelled_once(task_start: str) -> None:
    cancelled = []

    async def slow(args: Any, context: Any) -> Any:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            cancelled.append(context.abort_signal.aborted)
            raise

    result = await answer(tool(slow, timeout_seconds=0.03))
    assert result.result.to_wire() == {
        "ok": False,
        "error": "Tool slow timed out after 0.03 s; it may have run",
        "code": "execution_failed",
    }
    assert reason(result) == "timeout"
    assert cancelled == [True]
    assert 0.02 < result.duration_seconds < 20


async def test_the_registry_default_is_the_clock_of_tools_without_one() -> None:
    registry = registry_of(
        hang, tool(hang, "own", timeout_seconds=0.06), default_timeout_seconds=0.03
    )
    first, second = await registry.execute_parallel(calls_of("hang", "own"))
    assert "after 0.03 s" in first.text
    assert "after 0.06 s" in second.text


async def test_no_timeout_means_no_clock() -> None:
    async def long(args: Any, context: Any) -> Any:
        await asyncio.sleep(0.15)
        return ok("ended")

    registry = registry_of(tool(long, timeout_seconds=None), default_timeout_seconds=0.02)
    [result] = await registry.execute_parallel(calls_of("long"))
    assert result.text == "ended"


async def test_a_clock_starts_when_its_tool_starts(task_start: str) -> None:
    async def long(args: Any, context: Any) -> Any:
        await asyncio.sleep(0.6)
        return ok("done")

    registry = registry_of(tool(long, timeout_seconds=None), tool(quick, timeout_seconds=0.3))
    results = await registry.execute_parallel(calls_of("long", "quick"), max_concurrency=1)
    assert [result.text for result in results] == ["done"] * 2


async def test_the_deadline_ends_what_runs_and_what_waits(task_start: str) -> None:
    registry = registry_of(hang, quick)
    results = await registry.execute_parallel(
        calls_of("quick", "hang", "quick", "hang"), max_concurrency=1, deadline_seconds=0.5
    )
    assert [result.text for result in results[:1]] == ["done"]
    assert code(results[1]) == "execution_failed"
    assert re.fullmatch(r"Tool hang timed out after [\d.]+ s; it may have run", results[1].text)
    for waiting in results[2:]:
        assert code(waiting) == "not_available"
        assert waiting.text == f"Tool {waiting.name} was not started: the turn's time was up"
        assert waiting.duration_seconds == 0
    assert [reason(result) for result in results[1:]] == ["timeout"] * 3


@pytest.mark.parametrize("deadline_seconds", [0, 1e-9, 1e300])
async def test_every_deadline_gives_every_answer(deadline_seconds: float) -> None:
    registry = registry_of(tool(hang, timeout_seconds=0.05), quick)
    results = await registry.execute_parallel(
        calls_of("hang", "quick", "hang"), deadline_seconds=deadline_seconds
    )
    assert [result.ok for result in results] == [False, True, False]


async def test_clocks_of_one_batch_are_kept_apart(task_start: str) -> None:
    times = [0.02 + 0.005 * index for index in range(20)]
    registry = registry_of(
        *(tool(hang, f"t{index}", timeout_seconds=one) for index, one in enumerate(times))
    )
    results = await registry.execute_parallel(calls_of(*(f"t{index}" for index in range(20))))
    for seconds, result in zip(times, results, strict=True):
        assert f"after {seconds:g} s" in result.text
        assert result.duration_seconds >= seconds - 0.001


async def test_a_batch_holds_one_timer_however_many_clocks() -> None:
    loop: Any = asyncio.get_running_loop()
    if not hasattr(loop, "_scheduled"):
        pytest.skip("uvloop does not list its timers")
    seen = []

    def timers() -> int:
        return sum(not handle.cancelled() for handle in loop._scheduled)

    async def last(args: Any, context: Any) -> Any:
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        seen.append(timers())
        return ok("seen")

    before = timers()
    names = [f"t{index}" for index in range(200)]
    tools = [tool(hang, name, timeout_seconds=1 + 0.001 * len(name)) for name in names]
    registry = registry_of(*tools, last)
    results = await registry.execute_parallel(calls_of(*names, "last"), deadline_seconds=5)
    assert len(results) == 201
    assert seen == [before + 1]
    assert timers() == before


async def test_a_tool_that_ends_in_its_grace_is_not_abandoned(
    task_start: str, long_grace: None
) -> None:
    cleaned = []

    async def careful(args: Any, context: Any) -> Any:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            await asyncio.sleep(0.02)
            cleaned.append("up")
            return ok("late")

    registry = registry_of(tool(careful, timeout_seconds=0.03))
    [result] = await registry.execute_parallel(calls_of("careful"))
    assert cleaned == ["up"]
    assert reason(result) == "timeout"
    assert registry.abandoned_calls == 0


async def test_a_plain_function_that_heeds_its_signal_ends_in_its_grace(long_grace: None) -> None:
    def heeding(args: Any, context: Any) -> Any:
        fired = threading.Event()
        context.abort_signal.add_listener(fired.set)
        assert fired.wait(100)
        return ok("late")

    registry = registry_of(tool(heeding, timeout_seconds=0.03))
    [result] = await registry.execute_parallel(calls_of("heeding"))
    assert reason(result) == "timeout"
    assert registry.abandoned_calls == 0


async def test_after_the_grace_of_two_seconds_calls_are_left_behind(task_start: str) -> None:
    emit = RecordingEmit()
    release, let_go = threading.Event(), asyncio.Event()
    ended: list[str] = []
    answers: list[Any] = []

    async def stubborn(args: Any, context: Any) -> Any:
        while not let_go.is_set():
            with contextlib.suppress(asyncio.CancelledError):
                await let_go.wait()
        context.report("late")
        ended.append("stubborn")
        return ok("late")

    def deaf(args: Any, context: Any) -> Any:
        context.report("early")
        release.wait(100)
        context.report("late")
        ended.append("deaf")
        return ok("late")

    registry = registry_of(
        tool(stubborn, timeout_seconds=0.02), tool(deaf, timeout_seconds=0.02), quick
    )
    began = time.monotonic()
    results = await registry.execute_parallel(
        calls_of("stubborn", "deaf", "quick", "stubborn"),
        ToolContext(emit=emit),
        on_result=answers.append,
    )
    took = time.monotonic() - began
    assert 1.9 < took < 60
    assert [reason(result) for result in results if not result.ok] == ["timeout"] * 3
    assert registry.abandoned_calls == 3
    texts = [result.text for result in results]

    release.set()
    let_go.set()
    await until(lambda: len(ended) == 3)
    await asyncio.sleep(0.02)
    assert sorted(ended) == ["deaf", "stubborn", "stubborn"]
    assert emit.messages == ["early"]
    assert [result.text for result in results] == texts
    assert len(answers) == 4
    assert not registry._runtime.counters.abandoned_tasks


def test_a_tool_that_never_lets_go_holds_neither_the_loop_nor_the_process() -> None:
    done = in_own_process(
        """
        import asyncio
        from ethos_registry import Tool, ToolCall, ToolRegistry

        async def stubborn(args, context):
            while True:
                try:
                    await asyncio.sleep(3600)
                except BaseException as error:
                    if isinstance(error, GeneratorExit):
                        raise

        registry = ToolRegistry(
            [Tool("stubborn", "d", {"type": "object"}, stubborn, timeout_seconds=0.05)]
        )
        async def main():
            [result] = await registry.execute_parallel([ToolCall("1", "stubborn", {})])
            print(result.result.reason, registry.abandoned_calls)
        asyncio.run(main())
        """
    )
    assert done.stdout.split() == ["timeout", "1"]
    assert done.stderr == ""


def test_what_was_left_behind_on_a_closed_loop_is_let_go() -> None:
    steps: list[str] = []

    async def stubborn(args: Any, context: Any) -> Any:
        steps.append("started")
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.Event().wait()
        steps.append("asked to end")
        await asyncio.Event().wait()

    registry = registry_of(tool(stubborn))

    async def reached(count: int) -> None:
        for _ in range(1_000):
            if len(steps) >= count:
                return
            await asyncio.sleep(0)
        pytest.fail(f"the tool did not go on after {steps}")

    async def cut_short() -> None:
        for _ in range(2):
            before = len(steps)
            batch = asyncio.ensure_future(registry.execute_parallel(calls_of("stubborn")))
            await reached(before + 1)
            batch.cancel()  # the call is asked to end
            await reached(before + 2)
            batch.cancel()  # and given up at once
            await asyncio.wait([batch])

    for _ in range(3):
        asyncio.run(cut_short())
    assert registry.abandoned_calls == 6
    assert len(registry._runtime.counters.abandoned_tasks) == 1
