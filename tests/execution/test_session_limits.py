"""Limits: which one ended a call, when it is answered, and whether its tool was started."""

from __future__ import annotations

import asyncio
import threading
import time
from typing import Any, Self

import pytest

from ethos_registry import ConfigError, InvocationFilter, ToolContext, ToolRegistry, ok
from ethos_registry import tool as make_tool
from ethos_registry.types import AbortController
from session_tools import calls_of, code, hang, quick, reason, registry_of, tool, until

pytestmark = pytest.mark.every_python


class Gate:
    """Tools that wait on threads until the test ends."""

    def __init__(self) -> None:
        self.event = threading.Event()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.event.set()

    def without_context(self) -> Any:
        """An `@tool` function that cannot notice that it is stopped."""
        event = self.event

        @make_tool(name="blind", timeout_seconds=0.1)
        def blind() -> str:
            event.wait(100)
            return "late"

        return blind

    def hung(self, args: Any, context: Any) -> Any:
        self.event.wait(100)
        return ok("released")


async def test_a_function_without_context_is_answered_at_its_timeout(task_start: str) -> None:
    with Gate() as gate:
        registry = registry_of(gate.without_context(), abandon_after_seconds=600)
        began = time.monotonic()
        [result] = await registry.execute_parallel(calls_of("blind"))
        took = time.monotonic() - began
    assert reason(result) == "timeout"
    assert result.text == "Tool blind timed out after 0.1 s; it may have run"
    assert 0.09 < took < 60  # not the grace
    assert registry.abandoned_calls == 1


@pytest.mark.parametrize("by", ["abort", "deadline", "caller"])
async def test_a_function_without_context_gets_no_grace_for_any_reason(by: str) -> None:
    with Gate() as gate:
        controller = AbortController()
        loop = asyncio.get_running_loop()
        blind = gate.without_context().replace(timeout_seconds=None)
        registry = registry_of(blind, abandon_after_seconds=600)
        options: Any = {"deadline_seconds": 0.1} if by == "deadline" else {}
        began = time.monotonic()
        batch = asyncio.ensure_future(
            registry.execute_parallel(
                calls_of("blind"), ToolContext(abort_signal=controller.signal), **options
            )
        )
        if by == "abort":
            loop.call_later(0.1, controller.abort)
        if by == "caller":
            loop.call_later(0.1, batch.cancel)
        await asyncio.wait([batch])
        assert time.monotonic() - began < 60


async def test_the_grace_is_an_option() -> None:
    async def stubborn(args: Any, context: Any) -> Any:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            await asyncio.sleep(0.3 if abandoned == 0 else 300)
            return ok("late")

    for seconds, abandoned in ((0.05, 1), (600, 0)):
        registry = registry_of(tool(stubborn, timeout_seconds=0.03), abandon_after_seconds=seconds)
        [result] = await registry.execute_parallel(calls_of("stubborn"))
        assert reason(result) == "timeout"
        assert registry.abandoned_calls == abandoned


@pytest.mark.parametrize("plain", [False, True])
async def test_the_text_names_the_deadline_that_fired(task_start: str, *, plain: bool) -> None:
    async def stubborn(args: Any, context: Any) -> Any:
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0.2)

    with Gate() as gate:
        registry = registry_of(
            tool(gate.hung if plain else stubborn, "t"), abandon_after_seconds=0.3
        )
        [result] = await registry.execute_parallel(calls_of("t"), deadline_seconds=1)
    assert result.text == "Tool t timed out after 1 s; it may have run"


@pytest.mark.parametrize("by", ["timeout", "deadline", "abort", "caller"])
async def test_a_call_stopped_while_a_filter_asks_was_not_started(task_start: str, by: str) -> None:
    ran: list[int] = []
    asked = asyncio.Event()

    async def run(args: Any, context: Any) -> Any:
        ran.append(1)
        return ok("ran")

    async def ask(invocation: Any) -> None:
        asked.set()
        await asyncio.Event().wait()

    controller = AbortController()
    seen: list[Any] = []
    registry = registry_of(tool(run, timeout_seconds=0.1 if by == "timeout" else None))
    options: Any = {"deadline_seconds": 0.1} if by == "deadline" else {}
    batch = asyncio.ensure_future(
        registry.execute_parallel(
            calls_of("run"),
            ToolContext(abort_signal=controller.signal),
            filters=[InvocationFilter(before=ask)],
            on_result=seen.append,
            **options,
        )
    )
    await until(lambda: asked.is_set() or batch.done())
    if by == "abort":
        controller.abort()
    if by == "caller":
        batch.cancel()
    await asyncio.wait([batch])
    [result] = seen
    assert (code(result), ran, result.duration_seconds) == ("not_available", [], 0)
    assert "was not started" in result.text
    assert ("0.1 s" in result.text) is (by == "timeout")


async def test_the_tool_after_a_filter_was_started() -> None:
    async def asks(invocation: Any) -> None:
        await asyncio.sleep(0)

    registry = registry_of(tool(hang, timeout_seconds=0.05))
    [result] = await registry.execute_parallel(
        calls_of("hang"), filters=[InvocationFilter(before=asks)]
    )
    assert (code(result), reason(result)) == ("execution_failed", "timeout")
    assert result.text.endswith("it may have run")


async def test_waiting_for_a_thread_uses_up_none_of_a_functions_time() -> None:
    """The second function waits longer than its timeout and then has all of it."""
    clock: list[float] = []

    def first(args: Any, context: Any) -> Any:
        time.sleep(2.0)
        return ok("first")

    def second(args: Any, context: Any) -> Any:
        clock.append(time.monotonic())
        time.sleep(0.15)
        return ok("second")

    registry = registry_of(first, tool(second, timeout_seconds=1.5), max_threads=1)
    began = time.monotonic()
    results = await registry.execute_parallel(calls_of("first", "second"))
    assert [result.text for result in results] == ["first", "second"]
    assert clock[0] - began >= 1.9
    assert 0.14 < results[1].duration_seconds < 1.9


async def test_a_function_that_waited_for_its_thread_still_has_a_timeout() -> None:
    def first(args: Any, context: Any) -> Any:
        time.sleep(0.3)
        return ok("first")

    with Gate() as gate:
        blind = gate.without_context()
        registry = registry_of(first, blind, max_threads=1, abandon_after_seconds=600)
        results = await registry.execute_parallel(calls_of("first", "blind"))
    assert results[0].ok
    assert results[1].text == "Tool blind timed out after 0.1 s; it may have run"
    assert 0.09 < results[1].duration_seconds < 60


async def test_a_call_that_gets_no_thread_is_answered_and_was_not_started() -> None:
    with Gate() as gate:
        registry = registry_of(
            gate.hung,
            tool(lambda args, context: ok("never"), "late"),
            max_threads=2,
            thread_wait_seconds=0.1,
            abandon_after_seconds=0.1,
        )
        began = time.monotonic()
        results = await registry.execute_parallel(
            calls_of("hung", "hung", "late"), deadline_seconds=4
        )
    assert (code(results[2]), reason(results[2])) == ("not_available", "timeout")
    assert results[2].text == (
        "Tool late was not started: no thread was free for 0.1 s (max_threads=2)"
    )
    assert results[2].duration_seconds == 0
    assert time.monotonic() - began < 60
    assert registry.abandoned_calls == 2


async def test_abandoned_threads_are_counted_and_bounded() -> None:
    with Gate() as gate:
        registry = registry_of(
            tool(gate.hung, timeout_seconds=0.03),
            tool(lambda args, context: ok("fast"), "fast"),
            max_threads=2,
            thread_wait_seconds=0.2,
            abandon_after_seconds=0.01,
        )
        threads, before = registry._runtime.threads, threading.active_count()
        for abandoned in (2, 2, 2):
            results = await registry.execute_parallel(calls_of("hung", "hung"))
            assert [result.ok for result in results] == [False, False]
            assert threads.abandoned_threads == abandoned
        assert threading.active_count() < before + 100
        [fast] = await registry.execute_parallel(calls_of("fast"))
        assert fast.text.startswith("Tool fast was not started: no thread was free for 0.2 s")
    await until(lambda: threads.abandoned_threads == 0)
    [fast] = await registry.execute_parallel(calls_of("fast"))
    assert fast.text == "fast"


@pytest.mark.parametrize(
    "options",
    [
        {"max_threads": 0},
        {"max_threads": 1.5},
        {"thread_wait_seconds": -1},
        {"abandon_after_seconds": "2"},
        {"abandon_after_seconds": float("nan")},
    ],
)
def test_limits_of_the_wrong_kind_are_refused(options: Any) -> None:
    with pytest.raises(ConfigError, match=next(iter(options))):
        ToolRegistry(**options)


async def test_an_unknown_option_is_named_before_any_tool_starts() -> None:
    ran: list[int] = []
    registry = registry_of(tool(lambda args, context: ran.append(1) or ok(""), "t"))
    wrong: Any = {"max_concurency": 3}
    with pytest.raises(
        TypeError, match="'max_concurency' of `execute` \\(did you mean 'max_concurrency'"
    ):
        await registry.execute_parallel(calls_of("t"), **wrong)
    assert ran == []


async def test_long_results_are_finished_while_all_tool_threads_hang() -> None:
    async def long(args: Any, context: Any) -> Any:
        return ok("é" * 300_000)

    with Gate() as gate:
        registry = registry_of(
            gate.hung, long, max_threads=1, abandon_after_seconds=0.1, thread_wait_seconds=0.1
        )
        results = await registry.execute_parallel(calls_of("hung", "long"), deadline_seconds=5)
        assert results[1].ok
        assert (await registry.execute_parallel(calls_of("long")))[0].truncated_from == 300_000


async def test_quick_calls_leave_no_timer(task_start: str) -> None:
    loop: Any = asyncio.get_running_loop()
    if not hasattr(loop, "_scheduled"):
        pytest.skip("uvloop does not list its timers")
    before = len(loop._scheduled)
    await registry_of(quick).execute_parallel(calls_of("quick", "quick"))
    assert len(loop._scheduled) == before
