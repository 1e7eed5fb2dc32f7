"""Plain functions: on the library's own threads, which no hung one can block."""

from __future__ import annotations

import asyncio
import contextvars
import gc
import os
import sys
import threading
import time
from typing import Any

import pytest

from ethos_registry import ToolContext, ok
from ethos_registry.execution import _threads
from ethos_registry.testing import RecordingEmit
from session_tools import (
    answer,
    calls_of,
    hang,
    in_own_process,
    quick,
    reason,
    registry_of,
    tool,
    until,
)

pytestmark = pytest.mark.every_python

VARIABLE: contextvars.ContextVar[str] = contextvars.ContextVar("VARIABLE", default="unset")


def workers() -> list[threading.Thread]:
    return [one for one in threading.enumerate() if one.name == "ethos-registry"]


async def test_a_plain_function_never_runs_on_the_loops_thread(task_start: str) -> None:
    def where(args: Any, context: Any) -> Any:
        with pytest.raises(RuntimeError):
            asyncio.get_running_loop()
        return ok(f"{threading.get_ident()} {threading.current_thread().daemon}")

    results = await registry_of(where).execute_parallel(calls_of("where", "where"))
    here = threading.get_ident()
    assert all(result.text.endswith(" True") for result in results)
    assert all(int(result.text.split()[0]) != here for result in results)


async def test_context_variables_are_copied_to_the_thread_and_stay_there() -> None:
    def look(args: Any, context: Any) -> Any:
        before = VARIABLE.get()
        VARIABLE.set("changed")
        return ok(before)

    VARIABLE.set("the caller's")
    results = await registry_of(look).execute_parallel(calls_of("look", "look"))
    assert [result.text for result in results] == ["the caller's"] * 2
    assert VARIABLE.get() == "the caller's"


async def test_a_plain_function_may_return_an_awaitable() -> None:
    def partly(args: Any, context: Any) -> Any:
        async def rest() -> Any:
            return ok(f"{threading.get_ident()}")

        return rest()

    async def stuck(args: Any, context: Any) -> Any:
        await asyncio.Event().wait()

    result = await answer(partly)
    assert result.text == str(threading.get_ident())
    later = await answer(
        tool(lambda args, context: stuck(args, context), "later", timeout_seconds=0.05)
    )
    assert reason(later) == "timeout"


async def test_what_a_stopped_function_returns_to_await_is_not_begun(long_grace: None) -> None:
    begun = []

    def partly(args: Any, context: Any) -> Any:
        async def rest() -> Any:
            begun.append(1)
            await asyncio.Event().wait()

        fired = threading.Event()
        context.abort_signal.add_listener(fired.set)
        assert fired.wait(100)
        return rest()

    registry = registry_of(tool(partly, timeout_seconds=0.03))
    [result] = await registry.execute_parallel(calls_of("partly"))
    assert reason(result) == "timeout"
    assert begun == []
    assert registry.abandoned_calls == 0


async def test_events_and_signal_from_a_thread_arrive_in_order_on_the_loops_thread() -> None:
    emit = RecordingEmit()
    delivered_on = set()

    def record(event: Any) -> None:
        delivered_on.add(threading.get_ident())
        emit(event)

    def tells(args: Any, context: Any) -> Any:
        for number in range(50):
            context.report(str(number), percent=number * 4)
        return ok("told")

    result = await answer(tells, ToolContext(emit=record))
    assert result.text == "told"
    assert emit.messages == [str(number) for number in range(50)]
    assert delivered_on == {threading.get_ident()}
    assert emit.events[-1].percent == 100
    assert {event.tool_name for event in emit.events} == {"tells"}


async def delay_beside_hung_functions() -> float:
    """Seconds until the 41st function of a batch has answered beside 40 that hang."""
    release = threading.Event()

    def hung(args: Any, context: Any) -> Any:
        release.wait(100)
        return ok("released")

    def fast(args: Any, context: Any) -> Any:
        return ok("fast")

    seen: dict[str, float] = {}
    began = time.monotonic()
    registry = registry_of(hung, fast)
    batch = asyncio.ensure_future(
        registry.execute_parallel(
            calls_of(*["hung"] * 40, "fast"),
            on_result=lambda result: seen.setdefault(result.name, time.monotonic() - began),
        )
    )
    try:
        await until(lambda: "fast" in seen)
        await asyncio.get_running_loop().getaddrinfo("localhost", 80)
        assert "hung" not in seen
    finally:
        release.set()
    assert len(await batch) == 41
    return seen["fast"]


async def test_hung_functions_delay_no_other_call_by_half_a_second(task_start: str) -> None:
    for _ in range(10):  # other programs may take the processor for as long
        delay = await delay_beside_hung_functions()
        if delay < 0.5:
            return
    pytest.fail(f"the 41st call was answered after {delay:.2f} s, ten times over")


async def test_more_hung_functions_than_the_pool_holds_delay_others_little() -> None:
    release = threading.Event()

    def hung(args: Any, context: Any) -> Any:
        release.wait(100)
        return ok("released")

    registry = registry_of(hung, tool(lambda args, context: ok("fast"), "fast"))
    batch = asyncio.ensure_future(
        registry.execute_parallel(calls_of(*["hung"] * (_threads.PREFERRED_THREADS + 6)))
    )
    await asyncio.sleep(0.01)
    try:
        [result] = await registry.execute_parallel(calls_of("fast"), deadline_seconds=50)
        assert result.text == "fast"
    finally:
        release.set()
    assert {result.text for result in await batch} == {"released"}


def test_relief_does_not_hang_on_the_loop_that_asked_for_it() -> None:
    """A loop that ends while the pool is full leaves relief to the next one."""
    release = threading.Event()

    def hung(args: Any, context: Any) -> Any:
        release.wait(100)
        return ok("released")

    registry = registry_of(hung, tool(lambda args, context: ok("fast"), "fast"))

    async def fill_and_leave() -> None:
        asyncio.ensure_future(  # noqa: RUF006
            registry.execute_parallel(calls_of(*["hung"] * (_threads.PREFERRED_THREADS + 3)))
        )
        await asyncio.sleep(0.02)

    loop = asyncio.new_event_loop()
    try:
        loop.run_until_complete(fill_and_leave())
        # The first loop stands still from here on; its calls are in the pool.
        [result] = asyncio.run(registry.execute_parallel(calls_of("fast"), deadline_seconds=50))
        assert result.text == "fast"
    finally:
        release.set()
        loop.run_until_complete(asyncio.wait(asyncio.all_tasks(loop)))
        loop.close()


async def test_a_function_that_waits_for_a_thread_uses_up_none_of_its_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The clock starts with the function, not with the queue; and it says if it never started."""
    monkeypatch.setattr(_threads, "STALL_SECONDS", 10.0)
    pool = _threads.DaemonThreads()
    gate = threading.Event()
    jobs = [pool.submit(gate.wait, 100) for _ in range(_threads.PREFERRED_THREADS)]
    waiting = pool.submit(lambda: "never")
    assert waiting.started_at is None
    assert pool.abandon(waiting) is False
    await until(lambda: all(job.started_at is not None for job in jobs))
    assert pool.abandon(jobs[0]) is True
    gate.set()
    assert all([await pool.outcome(job) for job in jobs])
    assert waiting.started_at is None


async def test_slots_of_abandoned_functions_are_given_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(_threads, "STALL_SECONDS", 100.0)  # a full pool would not grow in time
    release = threading.Event()
    pool = _threads.DaemonThreads()
    jobs = [pool.submit(release.wait, 100) for _ in range(_threads.PREFERRED_THREADS)]
    await until(lambda: all(job.is_running for job in jobs))
    for job in jobs:
        pool.abandon(job)
        pool.abandon(job)
    try:
        assert pool._threads == 0
        quick_job = pool.submit(lambda: 42)
        assert await asyncio.wait_for(pool.outcome(quick_job), 50) == (42, None)
    finally:
        release.set()


async def test_idle_threads_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_threads, "IDLE_SECONDS", 0.05)
    pool = _threads.DaemonThreads()
    assert [await pool.outcome(pool.submit(threading.get_ident)) for _ in range(3)]
    await until(lambda: pool._threads == 0)
    assert pool._idle == 0
    assert await pool.outcome(pool.submit(lambda: "again")) == ("again", None)


async def test_a_thread_is_used_again() -> None:
    def where(args: Any, context: Any) -> Any:
        return ok(str(threading.get_ident()))

    registry = registry_of(where)
    await registry.execute_parallel(calls_of("where"))
    before = len(workers())
    for _ in range(30):
        await until(lambda: _threads.tool_threads._idle > 0)  # its answer comes before its rest
        await registry.execute_parallel(calls_of("where"))
    assert len(workers()) <= before


@pytest.mark.parametrize("plain", [False, True], ids=["async", "plain"])
async def test_a_call_that_ended_keeps_nothing_alive(*, plain: bool) -> None:
    """Neither a thread nor a cycle that waits for the collector."""

    class Marked:
        alive = 0

        def __init__(self) -> None:
            Marked.alive += 1

        def __del__(self) -> None:
            Marked.alive -= 1

    async def coroutine(args: Any, context: Any) -> Any:
        return ok("taken")

    def function(args: Any, context: Any) -> Any:
        return ok("taken")

    registry = registry_of(tool(function if plain else coroutine, "takes"))
    gc.disable()
    try:
        await registry.execute_parallel([{"id": "1", "name": "takes", "args": {"m": Marked()}}])
        await until(lambda: Marked.alive == 0)
    finally:
        gc.enable()


HUNG_PROGRAM = """
import asyncio, threading, time
from ethos_registry import Tool, ToolCall, ToolContext, ToolRegistry
from ethos_registry.types import AbortController

all_hang = threading.Barrier(41)

def hung(args, context):
    all_hang.wait()
    threading.Event().wait()

def fast(args, context):
    return {"ok": True, "value": "fast"}

registry = ToolRegistry([Tool(f.__name__, "d", {"type": "object"}, f) for f in (hung, fast)])

async def main():
    turn = AbortController()
    calls = [ToolCall(str(n), "hung", {}) for n in range(40)] + [ToolCall("f", "fast", {})]
    fast_is_there = asyncio.Event()
    def seen(result):
        if result.name == "fast":
            print("delay", time.monotonic() - began)
            fast_is_there.set()
    began = time.monotonic()
    batch = asyncio.ensure_future(
        registry.execute_parallel(calls, ToolContext(abort_signal=turn.signal), on_result=seen)
    )
    await fast_is_there.wait()
    await asyncio.to_thread(all_hang.wait)
    began_dns = time.monotonic()
    await asyncio.get_running_loop().getaddrinfo("localhost", 80)
    print("dns", time.monotonic() - began_dns)
    turn.abort()
    await batch
    print("abandoned", registry.abandoned_calls)

asyncio.run(main())
print("end", time.time())
"""


def test_hung_functions_neither_hold_the_interpreter_nor_dns() -> None:
    for _ in range(10):  # other programs may take the processor for as long
        done = in_own_process(HUNG_PROGRAM)
        facts = {name: float(value) for name, value in map(str.split, done.stdout.splitlines())}
        assert facts["abandoned"] == 40
        exit_seconds = time.time() - facts["end"]
        if facts["delay"] < 0.5 and facts["dns"] < 0.5 and exit_seconds < 2:
            return
    pytest.fail(f"{facts}, exit after {exit_seconds:.2f} s, ten times over")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
@pytest.mark.skipif(sys.platform == "darwin", reason="forking with threads is unsafe on macOS")
def test_a_forked_child_has_threads_of_its_own() -> None:
    done = in_own_process(
        """
        import os, threading, warnings
        from ethos_registry import Tool, ToolCall, ToolRegistry

        warnings.simplefilter("ignore", DeprecationWarning)  # of forking with threads
        def plain(args, context):
            return {"ok": True, "value": f"ran in {os.getpid() == here}"}

        registry = ToolRegistry([Tool("plain", "d", {"type": "object"}, plain)])
        here = os.getpid()
        print(registry.execute_parallel_sync([ToolCall("1", "plain", {})])[0].text, flush=True)
        child = os.fork()
        if child == 0:
            here = os.getpid()
            print(registry.execute_parallel_sync([ToolCall("1", "plain", {})])[0].text, flush=True)
            os._exit(0)
        os.waitpid(child, 0)
        """
    )
    assert done.stdout.splitlines() == ["ran in True"] * 2


async def test_a_mixed_batch_keeps_its_order(task_start: str) -> None:
    def plain(args: Any, context: Any) -> Any:
        time.sleep(0.005)
        return ok(context.tool_call_id)

    registry = registry_of(plain, quick, tool(hang, timeout_seconds=0.05))
    names = ["plain", "quick", "hang", "ghost"] * 30
    results = await registry.execute_parallel(calls_of(*names))
    assert [result.name for result in results] == names
    assert [result.tool_call_id for result in results] == [f"c{n}" for n in range(120)]
    assert all(result.text == result.tool_call_id for result in results if result.name == "plain")
