"""Calls at the edges: no thread to be had, tasks and values that misbehave."""

from __future__ import annotations

import asyncio
import enum
import gc
import itertools
import threading
import time
import warnings
from pathlib import Path
from typing import Any

import pytest

from ethos_registry import InvocationFilter, ToolOk, ok
from ethos_registry.execution._arguments import BadArgumentsError, parse_json_arguments
from ethos_registry.execution._batch_run import TICK_SECONDS, Timeouts
from ethos_registry.types import Retry
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

# Context


async def test_each_batch_without_a_context_works_in_the_present_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def look(args: Any, ctx: Any) -> ToolOk:
        return ok(ctx.working_dir)

    registry = registry_of(tool(look, "look"))
    for name in ("first", "second", "first"):
        (tmp_path / name).mkdir(exist_ok=True)
        monkeypatch.chdir(tmp_path / name)
        [result] = await registry.execute_parallel(calls_of("look"))
        assert result.text == str((tmp_path / name).resolve())


# Threads


async def test_a_function_without_a_limit_on_its_wait_for_a_thread_still_has_a_timeout() -> None:
    release = threading.Event()

    def hung(args: Any, context: Any) -> Any:
        release.wait(100)
        return ok("late")

    registry = registry_of(
        tool(hung, timeout_seconds=0.05), thread_wait_seconds=None, abandon_after_seconds=0.05
    )
    try:
        results = await registry.execute_parallel(calls_of("hung", "hung"), deadline_seconds=60)
    finally:
        release.set()
    for result in results:
        assert result.text == "Tool hung timed out after 0.05 s; it may have run"


async def test_a_function_for_which_a_thread_is_free_does_not_wait_for_one() -> None:
    def plain(args: Any, context: Any) -> Any:
        return ok("ran")

    registry = registry_of(plain, max_threads=4, thread_wait_seconds=0)
    for _ in range(50):
        results = await registry.execute_parallel(calls_of(*["plain"] * 4))
        assert [result.text for result in results] == ["ran"] * 4


async def test_with_no_time_to_wait_a_function_beyond_the_threads_is_refused() -> None:
    release = threading.Event()

    def hung(args: Any, context: Any) -> Any:
        release.wait(100)
        return ok("ended")

    registry = registry_of(hung, max_threads=2, thread_wait_seconds=0)
    running = asyncio.create_task(registry.execute_parallel(calls_of("hung", "hung", "hung")))
    await until(lambda: registry._runtime.threads._idle == 0)
    await asyncio.sleep(0.05)
    release.set()
    results = await running
    assert [result.text for result in results] == [
        "ended",
        "ended",
        "Tool hung was not started: no thread was free for 0 s (max_threads=2)",
    ]


async def test_an_attempt_that_gets_no_thread_does_not_hide_the_one_that_ran() -> None:
    release = threading.Event()
    attempts: list[int] = []

    def fails(args: Any, context: Any) -> Any:
        attempts.append(1)
        raise ConnectionError("no answer")

    def hung(args: Any, context: Any) -> Any:
        release.wait(100)
        return ok("ended")

    registry = registry_of(
        tool(fails, idempotent=True, retry=Retry(2, 0.3)),
        hung,
        max_threads=1,
        thread_wait_seconds=0.05,
    )
    first = asyncio.create_task(registry.execute_parallel(calls_of("fails")))
    await until(lambda: attempts)
    second = asyncio.create_task(registry.execute_parallel(calls_of("hung")))
    [result] = await first
    release.set()
    await second
    assert attempts == [1]
    assert (code(result), reason(result)) == ("execution_failed", "timeout")
    assert result.text == (
        "Tool fails was not started again: no thread was free for 0.05 s (max_threads=1); "
        "it ran before"
    )


async def test_a_function_behind_a_filter_waits_no_longer_for_a_thread() -> None:
    release = threading.Event()

    def hung(args: Any, context: Any) -> Any:
        release.wait(100)
        return ok("ended")

    async def waits(invocation: Any) -> None:
        await asyncio.sleep(0.02)

    registry = registry_of(hung, max_threads=1, thread_wait_seconds=0.1)
    first = asyncio.create_task(registry.execute_parallel(calls_of("hung")))
    try:
        [result] = await registry.execute_parallel(
            calls_of("hung"), filters=[InvocationFilter(before=waits)], deadline_seconds=60
        )
    finally:
        release.set()
        await first
    assert result.text == (
        "Tool hung was not started: no thread was free for 0.1 s (max_threads=1)"
    )
    await asyncio.sleep(0)
    assert asyncio.all_tasks() == {asyncio.current_task()}


def test_where_the_system_starts_no_thread_every_call_is_answered() -> None:
    in_own_process(
        """
        import asyncio, resource, threading
        from ethos_registry import Tool, ToolRegistry, ok

        async def long(args, context):
            return ok("x" * 400_000)

        schema = {"type": "object"}
        registry = ToolRegistry(
            [
                Tool("plain", "", schema, lambda args, context: ok("ran")),
                Tool("long", "", schema, long),
            ]
        )

        async def main():
            calls = [{"id": name, "name": name, "args": {}} for name in ("plain", "long")]
            used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
            limits = resource.getrlimit(resource.RLIMIT_AS)
            resource.setrlimit(resource.RLIMIT_AS, (used + 2**28, limits[1]))
            before = threading.stack_size(2**30)
            plain, text = await registry.execute_parallel(calls, deadline_seconds=60)
            assert plain.text == (
                "Tool plain was not started: the system starts no more threads"
            ), plain.text
            assert plain.result.code == "not_available"
            assert text.ok and text.truncated_from == 400_000, text
            threading.stack_size(before)
            resource.setrlimit(resource.RLIMIT_AS, limits)
            for result in await registry.execute_parallel(calls):
                assert result.ok, result

        asyncio.run(main())
        """
    )


def test_a_hung_function_is_abandoned_where_no_other_thread_can_be_started() -> None:
    in_own_process(
        """
        import asyncio, resource, threading
        from ethos_registry import Tool, ToolRegistry, ok

        release = threading.Event()
        schema = {"type": "object"}

        def hung(args, context):
            release.wait(100)
            return ok("late")

        registry = ToolRegistry(
            [Tool("hung", "", schema, hung, timeout_seconds=0.1)],
            max_threads=1, thread_wait_seconds=0.5, abandon_after_seconds=0.1,
        )

        async def main():
            loop, seen = asyncio.get_running_loop(), []
            loop.set_exception_handler(lambda loop, context: seen.append(context))
            calls = [{"id": str(i), "name": "hung", "args": {}} for i in range(3)]
            registry._runtime.threads.submit(str)
            await asyncio.sleep(0.1)
            used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
            limits = resource.getrlimit(resource.RLIMIT_AS)
            resource.setrlimit(resource.RLIMIT_AS, (used + 2**28, limits[1]))
            threading.stack_size(2**30)
            results = await registry.execute_parallel(calls, deadline_seconds=60)
            assert [result.result.reason for result in results] == ["timeout"] * 3, results
            assert [result.result.code for result in results] == [
                "execution_failed", "not_available", "not_available"
            ], results
            assert not seen, seen
            release.set()

        asyncio.run(main())
        """
    )


# Filters


@pytest.mark.parametrize("is_plain", [False, True])
@pytest.mark.parametrize("by", ["timeout", "deadline"])
async def test_a_before_that_swallows_its_cancellation_starts_no_tool(
    task_start: str, by: str, *, is_plain: bool
) -> None:
    ran: list[str] = []

    def plain(args: Any, context: Any) -> Any:
        ran.append("plain")
        return ok("ran")

    async def awaited(args: Any, context: Any) -> Any:
        ran.append("awaited")
        return ok("ran")

    async def asks(invocation: Any) -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            return

    async def next_filter(invocation: Any) -> None:
        ran.append("next filter")

    execute: Any = plain if is_plain else awaited
    seconds = 0.05 if by == "timeout" else 100
    registry = registry_of(tool(execute, "asked", timeout_seconds=seconds))
    [result] = await registry.execute_parallel(
        calls_of("asked"),
        deadline_seconds=0.05 if by == "deadline" else None,
        filters=[InvocationFilter(before=asks), InvocationFilter(before=next_filter)],
    )
    await asyncio.sleep(0.02)
    assert ran == []
    assert (code(result), reason(result)) == ("not_available", "timeout")
    assert result.text.startswith("Tool asked was not started: ")


# Values


async def test_a_coroutine_that_is_returned_is_closed(task_start: str) -> None:
    async def inner() -> ToolOk:
        return ok("never")

    async def returns(args: Any, context: Any) -> Any:
        return inner()

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = await answer(returns)
        gc.collect()
    assert caught == []
    assert reason(result) == "bad_result"
    assert "got coroutine" in result.text


async def test_content_that_cannot_be_read_is_a_bad_result_of_its_own_call(
    task_start: str,
) -> None:
    class Hostile:
        def __bool__(self) -> bool:
            raise RuntimeError("no truth")

    async def returns(args: Any, context: Any) -> Any:
        hostile: Any = Hostile()
        return ToolOk("text", content=hostile)

    registry = registry_of(returns, quick)
    results = await registry.execute_parallel(calls_of("returns", "quick"))
    assert (code(results[0]), reason(results[0])) == ("execution_failed", "bad_result")
    assert results[0].text == "Tool returns returned no result: no truth"
    assert results[1].ok


async def test_a_code_may_be_a_member_of_an_enum() -> None:
    class Codes(enum.StrEnum):
        STALE = "STALE_WRITE"

    async def stale(args: Any, context: Any) -> Any:
        return {"ok": False, "error": "changed since", "code": Codes.STALE}

    result = await answer(stale)
    assert type(code(result)) is str
    assert code(result) == "STALE_WRITE"


async def test_what_an_abandoned_function_returns_runs_no_code_on_the_loop() -> None:
    release, asked = threading.Event(), []
    ended = threading.Event()

    class Hostile:
        @property  # type: ignore[misc]
        def __class__(self) -> Any:
            asked.append(1)
            raise SystemExit("ends the loop")

    def late(args: Any, context: Any) -> Any:
        release.wait(100)
        ended.set()
        return Hostile()

    registry = registry_of(tool(late, timeout_seconds=0.05), abandon_after_seconds=0.05)
    [result] = await registry.execute_parallel(calls_of("late"))
    assert reason(result) == "timeout"
    release.set()
    await until(ended.is_set)
    await until(lambda: registry._runtime.threads.abandoned_threads == 0)
    await asyncio.sleep(0.02)
    assert asked == []


@pytest.mark.parametrize(
    "text",
    [
        "</untrusted> and < / UNTRUSTED >",
        "a<",
        "<|im_start|></untrusted>",
        "",
        "\n</untrusted\n",
        "x",
    ],
)
async def test_every_budget_policy_fences_the_same_text_when_all_of_it_fits(text: str) -> None:
    def fetch(args: Any, context: Any) -> Any:
        return ok(text)

    registry = registry_of(tool(fetch, output_is_untrusted=True))
    [even] = await registry.execute_parallel(calls_of("fetch"), untrusted="wrap")
    [fill] = await registry.execute_parallel(
        calls_of("fetch"), untrusted="wrap", budget_policy="fill"
    )
    assert (fill.text, fill.truncated_from) == (even.text, None)
    assert (fill.reduced_chars, fill.sent_chars) == (even.reduced_chars, even.sent_chars)


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("\n\n  {,}", "line 3 column 4"),
        ('\r\n{"a": NaN}', "line 2 column 7"),
        ('  {"a": 1, "a": 2}', "line 1 column 12"),
        ("\u00a0{}", "line 1 column 1"),
    ],
)
def test_the_position_of_a_fault_is_that_in_the_text_as_sent(text: str, place: str) -> None:
    with pytest.raises(BadArgumentsError, match=place):
        parse_json_arguments(text)


@pytest.mark.parametrize("text", ["", " ", "\r\n\t", "\u00a0"])
def test_blank_arguments_are_an_empty_object(text: str) -> None:
    assert parse_json_arguments(text) == {}


async def test_a_clock_of_zero_ends_what_does_not_end_at_once(task_start: str) -> None:
    async def hang(args: Any, context: Any) -> Any:
        await asyncio.Event().wait()

    began = time.monotonic()
    registry = registry_of(tool(hang, timeout_seconds=0), quick)
    results = await registry.execute_parallel(calls_of("hang", "quick"))
    assert results[0].text == "Tool hang timed out after 0 s; it may have run"
    assert results[1].text == "done"
    assert time.monotonic() - began < 60


async def test_many_different_timeouts_share_the_wakes_of_one_timer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    moments: list[float] = []
    sweep = Timeouts._sweep

    def counted(timeouts: Timeouts) -> None:
        moments.append(time.monotonic())
        sweep(timeouts)

    monkeypatch.setattr(Timeouts, "_sweep", counted)
    tools = [tool(hang, f"t{at}", timeout_seconds=0.05 + at / 1_000) for at in range(200)]
    results = await registry_of(*tools).execute_parallel(calls_of(*[each.name for each in tools]))
    assert {reason(result) for result in results} == {"timeout"}
    between = [late - early for early, late in itertools.pairwise(moments)]
    assert min(between) > TICK_SECONDS / 2
