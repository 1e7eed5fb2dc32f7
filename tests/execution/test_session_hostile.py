"""Tools that cancel, interrupt or limit more than themselves."""

from __future__ import annotations

import asyncio
import signal
import sys
from typing import Any

import pytest

from ethos_registry import CallResult, ok
from session_tools import (
    calls_of,
    code,
    hang,
    in_own_process,
    quick,
    reason,
    registry_of,
    tool,
)

NOT_STARTED = "Tool {} was not started: the turn was aborted"


async def test_tools_may_use_timeouts_and_groups_of_their_own(task_start: str) -> None:
    async def limits(args: Any, context: Any) -> Any:
        try:
            async with asyncio.timeout(0.01):
                await asyncio.Event().wait()
        except TimeoutError:
            return ok("my own time was up")

    async def groups(args: Any, context: Any) -> Any:
        async with asyncio.TaskGroup() as group:
            one = group.create_task(asyncio.sleep(0.01, "one"))
            two = group.create_task(asyncio.sleep(0, "two"))
        return ok(f"{one.result()} {two.result()}")

    async def fails(args: Any, context: Any) -> Any:
        async with asyncio.TaskGroup() as group:
            group.create_task(asyncio.Event().wait())
            raise ValueError("inner")

    async def waits(args: Any, context: Any) -> Any:
        async with asyncio.TaskGroup() as group:
            group.create_task(asyncio.Event().wait())

    registry = registry_of(limits, groups, fails, tool(waits, timeout_seconds=0.05))
    results = await registry.execute_parallel(calls_of("limits", "groups", "fails", "waits"))
    assert results[0].text == "my own time was up"
    assert results[1].text == "one two"
    assert reason(results[2]) == "raised"
    assert "TaskGroup" in results[2].text
    assert reason(results[3]) == "timeout"
    assert registry.abandoned_calls == 0


async def test_a_tool_that_cancels_itself_is_the_only_one_that_fails(task_start: str) -> None:
    async def cancels(args: Any, context: Any) -> Any:
        task = asyncio.current_task()
        assert task is not None
        task.cancel()
        await asyncio.sleep(0)

    async def cancels_late(args: Any, context: Any) -> Any:
        task = asyncio.current_task()
        assert task is not None
        task.cancel()
        return ok("ended before it was cancelled")

    async def raises(args: Any, context: Any) -> Any:
        raise asyncio.CancelledError

    def plain(args: Any, context: Any) -> Any:
        raise asyncio.CancelledError("by hand")

    registry = registry_of(cancels, cancels_late, raises, plain, quick)
    results = await registry.execute_parallel(
        calls_of("cancels", "cancels_late", "raises", "plain", "quick")
    )
    assert [(result.text, reason(result)) for result in results] == [
        ("CancelledError", "raised"),
        ("ended before it was cancelled", None),
        ("CancelledError", "raised"),
        ("by hand", "raised"),
        ("done", None),
    ]


async def test_a_tool_that_cancels_every_other_call_loses_no_answer(task_start: str) -> None:
    caller = asyncio.current_task()

    async def hostile(args: Any, context: Any) -> Any:
        for task in asyncio.all_tasks():
            if task not in (caller, asyncio.current_task()):
                task.cancel()
        return ok("cancelled them")

    registry = registry_of(tool(hang, timeout_seconds=0.8), hostile)
    results = await registry.execute_parallel(calls_of("hang", "hostile", "hang", "hang"))
    assert results[1].text == "cancelled them"
    assert (reason(results[0]), results[0].text) == ("raised", "CancelledError")
    for result in results[2:]:
        if task_start == "eager tasks":  # they started after the others were cancelled
            assert reason(result) == "timeout"
        else:
            assert (reason(result), code(result)) == ("cancelled", "not_available")
            assert result.text == NOT_STARTED.format("hang")


async def test_a_tool_that_cancels_the_caller_too_ends_the_batch_with_every_answer() -> None:
    async def hostile(args: Any, context: Any) -> Any:
        await asyncio.sleep(0.01)
        for task in asyncio.all_tasks():
            if task not in (asyncio.current_task(), outer):
                task.cancel()
        return ok("cancelled them")

    outer = asyncio.current_task()
    seen: list[CallResult] = []
    with pytest.raises(asyncio.CancelledError):
        await asyncio.ensure_future(
            registry_of(hang, hostile).execute_parallel(
                calls_of("hang", "hostile", "hang"), on_result=seen.append
            )
        )
    assert sorted(result.tool_call_id for result in seen) == ["c0", "c1", "c2"]


@pytest.mark.parametrize("kind", ["async def", "def"])
def test_a_keyboard_interrupt_in_a_tool_passes(kind: str) -> None:
    done = in_own_process(
        f"""
        import asyncio
        from ethos_registry import Tool, ToolCall, ToolRegistry

        {kind} interrupted(args, context):
            raise KeyboardInterrupt

        registry = ToolRegistry([Tool("interrupted", "d", {{"type": "object"}}, interrupted)])
        try:
            asyncio.run(registry.execute_parallel([ToolCall("1", "interrupted", {{}})]))
        except KeyboardInterrupt:
            print("passed")
        """
    )
    assert done.stdout.split() == ["passed"]


@pytest.mark.skipif(sys.platform == "win32", reason="no signals to a process on Windows")
def test_control_c_ends_a_batch_that_hangs() -> None:
    done = in_own_process(
        f"""
        import asyncio, os, threading
        from ethos_registry import Tool, ToolCall, ToolRegistry

        async def hang(args, context):
            await asyncio.Event().wait()

        def hang_plain(args, context):  # its call is the last: the other hangs already
            os.kill(os.getpid(), {int(signal.SIGINT)})
            threading.Event().wait()

        registry = ToolRegistry(
            [Tool(f.__name__, "d", {{"type": "object"}}, f) for f in (hang, hang_plain)]
        )
        try:
            registry.execute_parallel_sync(
                [ToolCall("1", "hang", {{}}), ToolCall("2", "hang_plain", {{}})],
                on_result=lambda result: print(result.name, result.result.reason),
            )
        except KeyboardInterrupt:
            print("passed")
        """
    )
    assert sorted(done.stdout.splitlines()) == ["hang cancelled", "hang_plain cancelled", "passed"]
