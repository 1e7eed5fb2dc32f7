"""How the task of a call starts: at once from Python 3.12, whatever the loop's task factory."""

from __future__ import annotations

import asyncio
import contextvars
import sys
import tracemalloc
from typing import TYPE_CHECKING, Any

import pytest

from ethos_registry import ToolContext, ok
from ethos_registry.execution import _threads
from ethos_registry.types import AbortController
from session_tools import calls_of, hang, in_own_process, quick, reason, registry_of, tool

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.every_python

from_312 = pytest.mark.skipif(sys.version_info < (3, 12), reason="eager tasks need Python 3.12")
VARIABLE: contextvars.ContextVar[str] = contextvars.ContextVar("VARIABLE", default="unset")


class MarkedTask(asyncio.Task[Any]):
    """A task of the host's own class."""


def of_marked_tasks(loop: Any, coroutine: Any, **options: Any) -> Any:
    return MarkedTask(coroutine, loop=loop, **options)


def of_lazy_tasks(loop: Any, coroutine: Any, context: Any = None) -> Any:
    return asyncio.Task(coroutine, loop=loop, context=context)


FACTORIES: dict[str, Callable[..., Any] | None] = {
    "none": None,
    "marked": of_marked_tasks,
    "lazy": of_lazy_tasks,
    "eager": getattr(asyncio, "eager_task_factory", None),
}


@from_312
@pytest.mark.parametrize("factory", FACTORIES)
async def test_a_tool_that_never_waits_ends_without_a_turn_of_the_loop(factory: str) -> None:
    loop = asyncio.get_running_loop()
    loop.set_task_factory(FACTORIES[factory])
    kinds: list[type[Any]] = []
    turns: list[int] = []

    async def looks(args: Any, context: Any) -> Any:
        kinds.append(type(asyncio.current_task()))
        return ok("done")

    loop.call_soon(turns.append, 1)
    results = await registry_of(looks).execute_parallel(calls_of("looks", "ghost", "looks"))
    loop.set_task_factory(None)  # uvloop cannot end by a factory that refuses its keywords
    assert [result.ok for result in results] == [True, False, True]
    assert turns == []
    assert set(kinds) == {MarkedTask if factory == "marked" else asyncio.Task}


async def test_a_task_of_the_hosts_factory_runs_calls_before_312(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(_threads, "STARTS_EAGERLY", False)
    asyncio.get_running_loop().set_task_factory(of_marked_tasks)

    async def looks(args: Any, context: Any) -> Any:
        return ok(type(asyncio.current_task()).__name__)

    [result] = await registry_of(looks).execute_parallel(calls_of("looks"))
    assert result.text == "MarkedTask"


async def test_every_call_is_a_task_of_its_own(task_start: str) -> None:
    caller = asyncio.current_task()
    tasks: list[Any] = []

    async def looks(args: Any, context: Any) -> Any:
        tasks.append(asyncio.current_task())
        VARIABLE.set(context.tool_call_id)
        await asyncio.sleep(0)
        assert asyncio.current_task() is tasks[int(context.tool_call_id[1:])]
        async with asyncio.timeout(10):
            await asyncio.sleep(0)
        return ok(VARIABLE.get())

    results = await registry_of(looks).execute_parallel(calls_of(*["looks"] * 5))
    assert [result.text for result in results] == ["c0", "c1", "c2", "c3", "c4"]
    assert len({id(task) for task in tasks}) == 5
    assert caller not in tasks
    assert asyncio.current_task() is caller
    assert VARIABLE.get() == "unset"


async def test_scopes_of_a_first_step_belong_to_the_call(task_start: str) -> None:
    anyio = pytest.importorskip("anyio")

    async def timeout(args: Any, context: Any) -> Any:
        try:
            async with asyncio.timeout(0.01):
                await asyncio.Event().wait()
        except TimeoutError:
            return ok("timed out")

    async def group(args: Any, context: Any) -> Any:
        async with asyncio.TaskGroup() as tasks:
            inner = tasks.create_task(asyncio.sleep(0, "inner"))
        return ok(inner.result())

    async def failing_group(args: Any, context: Any) -> Any:
        async def fails() -> None:
            raise LookupError("no city")

        try:
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(fails())
                await asyncio.Event().wait()
        except ExceptionGroup as errors:
            return ok(str(errors.exceptions[0]))

    async def scope(args: Any, context: Any) -> Any:
        with anyio.move_on_after(0.01) as moved:
            await anyio.sleep_forever()
        return ok(f"moved on: {moved.cancelled_caught}")

    async def cancels(args: Any, context: Any) -> Any:
        task = asyncio.current_task()
        assert task is not None
        task.cancel()
        try:
            await asyncio.sleep(0)
        except asyncio.CancelledError:
            task.uncancel()
        return ok("went on")

    tools = (timeout, group, failing_group, scope, cancels, quick)
    caller = asyncio.current_task()
    assert caller is not None
    results = await registry_of(*tools).execute_parallel(
        calls_of(*[each.__name__ for each in tools])
    )
    assert [result.text for result in results[:5]] == [
        "timed out",
        "inner",
        "no city",
        "moved on: True",
        "went on",
    ]
    assert results[5].ok
    assert caller.cancelling() == 0


async def test_a_first_step_that_is_cancelled_ends_its_call_alone(task_start: str) -> None:
    async def cancels(args: Any, context: Any) -> Any:
        task = asyncio.current_task()
        assert task is not None
        task.cancel()
        await asyncio.sleep(0)

    results = await registry_of(cancels, quick).execute_parallel(calls_of("cancels", "quick"))
    assert [result.ok for result in results] == [False, True]


async def test_a_first_step_that_aborts_the_turn_stops_the_calls_after_it(task_start: str) -> None:
    controller = AbortController()

    async def abort(args: Any, context: Any) -> Any:
        controller.abort()
        return ok("aborted")

    results = await registry_of(abort, quick, hang).execute_parallel(
        calls_of("quick", "abort", "quick", "hang"), ToolContext(abort_signal=controller.signal)
    )
    assert [result.ok for result in results] == [True, True, False, False]
    for result in results[2:]:
        assert "was not started: the turn was aborted" in result.text


async def test_slots_hold_for_calls_that_end_in_their_first_step(task_start: str) -> None:
    running = 0
    most = 0

    async def counted(args: Any, context: Any) -> Any:
        nonlocal running, most
        running += 1
        most = max(most, running)
        if context.tool_call_id in ("c1", "c4"):
            await asyncio.sleep(0.01)
        running -= 1
        return ok(context.tool_call_id)

    results = await registry_of(counted).execute_parallel(
        calls_of(*["counted"] * 3_000), max_concurrency=2
    )
    assert [result.text for result in results] == [f"c{index}" for index in range(3_000)]
    assert most == 2


def test_a_keyboard_interrupt_in_a_first_step_leaves_no_call_running() -> None:
    done = in_own_process(
        """
        import asyncio
        from ethos_registry import Tool, ToolCall, ToolRegistry

        ended = []

        async def hang(args, context):
            try:
                await asyncio.Event().wait()
            finally:
                ended.append("hang")

        async def interrupted(args, context):
            raise KeyboardInterrupt

        registry = ToolRegistry(
            [Tool(f.__name__, "d", {"type": "object"}, f) for f in (hang, interrupted)]
        )
        try:
            asyncio.run(
                registry.execute_parallel(
                    [ToolCall("1", "hang", {}), ToolCall("2", "interrupted", {})]
                )
            )
        except KeyboardInterrupt:
            print("passed", *ended)
        """
    )
    assert done.stdout.split() == ["passed", "hang"]
    assert done.stderr == ""


def test_the_batch_runs_on_uvloop() -> None:
    pytest.importorskip("uvloop")
    done = in_own_process(
        """
        import asyncio, time, uvloop
        from ethos_registry import Tool, ToolCall, ToolRegistry

        async def quick(args, context):
            return {"ok": True, "value": "quick"}

        async def slow(args, context):
            await asyncio.sleep(0.01)
            return {"ok": True, "value": "slow"}

        async def hang(args, context):
            await asyncio.Event().wait()

        def plain(args, context):
            time.sleep(0.01)
            return {"ok": True, "value": "plain"}

        registry = ToolRegistry(
            [
                Tool(f.__name__, "d", {"type": "object"}, f, timeout_seconds=t)
                for f, t in ((quick, 5), (slow, 5), (hang, 0.05), (plain, 5))
            ]
        )
        names = ("quick", "slow", "hang", "plain")
        calls = [ToolCall(str(number), name, {}) for number, name in enumerate(names)]
        results = uvloop.run(registry.execute_parallel(calls, max_concurrency=3))
        print(*(getattr(result.result, "reason", None) or result.text for result in results))
        """
    )
    assert done.stdout.split() == ["quick", "slow", "timeout", "plain"]


async def test_ten_thousand_calls_at_once_take_at_most_four_kib_each(task_start: str) -> None:
    count = 10_000
    release = asyncio.Event()
    waiting = 0

    async def waits(args: Any, context: Any) -> Any:
        nonlocal waiting
        waiting += 1
        await release.wait()
        return ok("done")

    registry = registry_of(waits)
    await_all = [{"id": f"c{index}", "name": "waits", "args": {}} for index in range(count)]
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        batch = asyncio.ensure_future(registry.execute_parallel(await_all))
        while waiting < count:  # noqa: ASYNC110 - one turn of the loop at a time
            await asyncio.sleep(0)
        release.set()
        results = await batch
        peak = tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()
    assert len(results) == count
    assert all(result.ok for result in results)
    assert peak / count <= 4_096


def test_reasons_of_stopped_calls_are_known(task_start: str) -> None:
    result = asyncio.run(
        registry_of(tool(hang, timeout_seconds=0.01)).execute_parallel(calls_of("hang"))
    )[0]
    assert reason(result) == "timeout"
