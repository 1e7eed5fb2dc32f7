"""Ending a batch early: the turn's abort signal, the caller's cancellation, hostile tools."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable
from typing import Any

import pytest

from ethos_registry import CallResult, ToolContext, ok
from ethos_registry.types import AbortController
from session_tools import (
    answer,
    calls_of,
    code,
    hang,
    quick,
    reason,
    registry_of,
    tool,
    until,
)

pytestmark = pytest.mark.every_python

MAY_HAVE_RUN = "Tool {} was cancelled: the turn was aborted; it may have run"
NOT_STARTED = "Tool {} was not started: the turn was aborted"


def aborts_and_hangs(controller: AbortController) -> Any:
    """A tool that hangs once it has let its turn be aborted, from the loop."""

    async def execute(args: Any, context: Any) -> Any:
        asyncio.get_running_loop().call_soon(controller.abort)
        await asyncio.Event().wait()

    return execute


async def test_an_aborted_turn_starts_nothing(task_start: str) -> None:
    ran = []

    async def run(args: Any, context: Any) -> Any:
        ran.append(1)
        return ok("ran")

    controller = AbortController()
    controller.abort()
    registry = registry_of(run)
    results = await registry.execute_parallel(
        calls_of("run", "ghost", "run"), ToolContext(abort_signal=controller.signal)
    )
    assert ran == []
    assert [result.text for result in results] == [
        NOT_STARTED.format("run"),
        "Unknown tool: ghost",
        NOT_STARTED.format("run"),
    ]
    assert [code(result) for result in results] == ["not_available"] * 3
    assert reason(results[0]) == "cancelled"


async def test_an_abort_ends_what_runs_and_starts_nothing_that_waits(task_start: str) -> None:
    controller = AbortController()
    registry = registry_of(tool(aborts_and_hangs(controller), "hang"), quick)
    results = await registry.execute_parallel(
        calls_of("quick", "hang", "hang", "quick"),
        ToolContext(abort_signal=controller.signal),
        max_concurrency=1,
    )
    assert [result.text for result in results] == [
        "done",
        MAY_HAVE_RUN.format("hang"),
        NOT_STARTED.format("hang"),
        NOT_STARTED.format("quick"),
    ]
    assert [code(result) for result in results] == [
        None,
        "execution_failed",
        "not_available",
        "not_available",
    ]
    assert [reason(result) for result in results[1:]] == ["cancelled"] * 3


async def test_an_abort_between_start_and_first_step_runs_nothing() -> None:
    """Another thread may abort while a large batch is being started."""
    controller = AbortController()
    ran = []

    async def run(args: Any, context: Any) -> Any:
        ran.append(1)
        return ok("ran")

    def probe() -> bool:
        controller.abort()
        return True

    registry = registry_of(run, tool(quick, "last", is_available=probe))
    results = await registry.execute_parallel(
        calls_of("run", "run", "last"), ToolContext(abort_signal=controller.signal)
    )
    assert ran == []
    assert [result.text for result in results] == [
        NOT_STARTED.format(name) for name in ("run", "run", "last")
    ]


async def test_a_tool_may_abort_its_own_turn(task_start: str) -> None:
    controller = AbortController()

    async def stop(args: Any, context: Any) -> Any:
        controller.abort("enough")
        return ok("stopped the turn")

    registry = registry_of(hang, stop, quick)
    results = await registry.execute_parallel(
        calls_of("hang", "stop", "quick"),
        ToolContext(abort_signal=controller.signal),
        max_concurrency=2,
    )
    assert [result.text for result in results] == [
        MAY_HAVE_RUN.format("hang"),
        "stopped the turn",
        NOT_STARTED.format("quick"),
    ]


async def test_a_thread_may_abort(task_start: str) -> None:
    controller = AbortController()

    async def hang(args: Any, context: Any) -> Any:
        threading.Timer(0.02, controller.abort).start()
        await asyncio.Event().wait()

    result = await answer(hang, ToolContext(abort_signal=controller.signal))
    assert result.text == MAY_HAVE_RUN.format("hang")


async def test_a_plain_function_may_abort_its_own_turn_and_sees_its_signal() -> None:
    controller = AbortController()

    def stop(args: Any, context: Any) -> Any:
        before = context.abort_signal.aborted
        controller.abort()
        return ok(f"{before} {context.abort_signal.aborted}")

    registry = registry_of(hang, stop)
    results = await registry.execute_parallel(
        calls_of("hang", "stop"), ToolContext(abort_signal=controller.signal)
    )
    assert results[0].text == MAY_HAVE_RUN.format("hang")
    assert reason(results[1]) in (None, "cancelled")


async def test_a_listener_that_raises_does_not_keep_other_calls_running(
    task_start: str, long_grace: None
) -> None:
    def bad_listener() -> None:
        raise SystemExit(3)

    async def hostile(args: Any, context: Any) -> Any:
        context.abort_signal.add_listener(bad_listener)
        await asyncio.Event().wait()

    controller = AbortController()
    registry = registry_of(hostile, tool(aborts_and_hangs(controller), "hang"))
    results = await registry.execute_parallel(
        calls_of("hostile", "hang"), ToolContext(abort_signal=controller.signal)
    )
    assert [result.text for result in results] == [
        MAY_HAVE_RUN.format("hostile"),
        MAY_HAVE_RUN.format("hang"),
    ]


async def test_a_batch_leaves_no_listener_on_the_turn(task_start: str) -> None:
    controller = AbortController()
    contexts = []

    async def look(args: Any, context: Any) -> Any:
        contexts.append(context)
        await asyncio.sleep(0.001)
        return ok(str(context.abort_signal.aborted))

    await registry_of(look).execute_parallel(
        calls_of(*["look"] * 5), ToolContext(abort_signal=controller.signal)
    )
    assert contexts[0].abort_signal is contexts[0].abort_signal
    assert not controller.signal._listeners


async def cancel_when(
    condition: Callable[[], object], registry: Any, names: list[str], seen: list[Any]
) -> None:
    """Cancel a batch, which must leave as `CancelledError`."""
    batch = asyncio.ensure_future(
        registry.execute_parallel(calls_of(*names), on_result=seen.append)
    )
    await until(condition)
    batch.cancel("the caller's own")
    with pytest.raises(asyncio.CancelledError):
        await batch
    assert batch.cancelled()


async def test_the_callers_cancellation_leaves_after_every_answer_was_seen(
    task_start: str, long_grace: None
) -> None:
    seen: list[CallResult] = []
    begun, cleaned = [], []

    async def careful(args: Any, context: Any) -> Any:
        begun.append(context.tool_call_id)
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0.02)
            cleaned.append(context.tool_call_id)

    registry = registry_of(careful, quick)
    await cancel_when(lambda: len(begun + seen) == 4, registry, ["careful", "quick"] * 2, seen)
    assert sorted(cleaned) == ["c0", "c2"]
    assert {result.tool_call_id: result.text for result in seen} == {
        "c0": MAY_HAVE_RUN.format("careful"),
        "c1": "done",
        "c2": MAY_HAVE_RUN.format("careful"),
        "c3": "done",
    }
    assert len(seen) == 4


async def test_a_second_cancellation_ends_the_grace(task_start: str, long_grace: None) -> None:
    let_go = asyncio.Event()
    seen: list[CallResult] = []

    begun: list[str] = []

    async def stubborn(args: Any, context: Any) -> Any:
        begun.append(context.tool_call_id)
        while not let_go.is_set():
            with contextlib.suppress(asyncio.CancelledError):
                await let_go.wait()
        return ok("late")

    registry = registry_of(stubborn)
    batch = asyncio.ensure_future(
        registry.execute_parallel(calls_of("stubborn", "stubborn"), on_result=seen.append)
    )
    await until(lambda: len(begun) == 2)
    batch.cancel()
    await asyncio.sleep(0.05)
    assert not batch.done()
    batch.cancel()
    with pytest.raises(asyncio.CancelledError):
        await batch
    assert [reason(result) for result in seen] == ["cancelled"] * 2
    assert registry.abandoned_calls == 2
    let_go.set()
    await asyncio.sleep(0.02)
    assert len(seen) == 2


async def test_a_batch_inside_a_timeout_block(task_start: str) -> None:
    registry = registry_of(hang, quick)
    seen: list[CallResult] = []
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.03):
            await registry.execute_parallel(calls_of("hang", "quick"), on_result=seen.append)
    assert sorted(result.name for result in seen) == ["hang", "quick"]
    async with asyncio.timeout(100):
        [result] = await registry.execute_parallel(calls_of("quick"))
    assert result.text == "done"


async def test_a_caller_that_is_cancelled_already_gets_every_answer_and_starts_nothing(
    task_start: str, long_grace: None
) -> None:
    seen: list[CallResult] = []
    begun = []

    async def begins(args: Any, context: Any) -> Any:
        begun.append(1)
        return ok("begun")

    registry = registry_of(hang, begins)

    async def cancelled_from_inside() -> None:
        task = asyncio.current_task()
        assert task is not None
        task.cancel()
        await registry.execute_parallel(calls_of("hang", "begins"), on_result=seen.append)

    with pytest.raises(asyncio.CancelledError):
        await asyncio.ensure_future(cancelled_from_inside())
    assert [result.text for result in seen] == [
        NOT_STARTED.format(name) for name in ("hang", "begins")
    ]
    assert begun == []
