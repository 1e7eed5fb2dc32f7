"""Plain functions that wait at a worker for the one that runs: each starts once, or not at all."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from ethos_registry import ToolContext
from ethos_registry.transports import ProcessTransport
from ethos_registry.types import AbortController
from transports import table, tools

pytestmark = [
    pytest.mark.every_python,
    pytest.mark.skipif(sys.platform == "win32", reason="workers need POSIX"),
]
HOURS = 7_200.0


def open_pool(workers: int, **options: Any) -> ProcessTransport:
    return ProcessTransport(table.TOOLS, workers=workers, **{"queue_seconds": 200.0, **options})


def subject(transport: ProcessTransport, folder: Path) -> table.Subject:
    return table.Subject(transport, lambda *_, **__: transport, folder)  # type: ignore[arg-type,return-value]


def counting(file: Path, number: int, seconds: float = 0.0) -> dict[str, Any]:
    return table.call("count_plain", str(number), file=str(file), number=number, seconds=seconds)


async def queued(transport: ProcessTransport, count: int) -> None:
    """Wait until so many calls are at workers, those that run included."""
    pool = transport._pool
    assert pool is not None
    await table.until(lambda: sum(len(worker.calls) for worker in pool._workers) == count)


def started(file: Path) -> Counter[str]:
    return Counter(line for line in tools.noted(file) if line.startswith("start"))


async def test_calls_queued_at_a_killed_worker_run_once_in_another(tmp_path: Path) -> None:
    async with open_pool(1) as transport:
        one = subject(transport, tmp_path)
        await one.warm()
        [worker] = await one.run([table.call("process_id")])
        calls = [counting(one.file, 0, HOURS), *(counting(one.file, n) for n in range(1, 8))]
        running = asyncio.create_task(one.run(calls))
        await queued(transport, 8)
        await table.until(lambda: bool(started(one.file)))
        os.kill(int(worker.text), signal.SIGKILL)
        lost, *moved = await running
    assert "may have run" in lost.text
    assert [result.text for result in moved] == [str(n) for n in range(1, 8)]
    assert set(started(one.file).values()) == {1}


async def test_a_call_at_a_worker_does_not_show_its_arguments(tmp_path: Path) -> None:
    """Tracebacks and the debug mode of asyncio show what a callback was given."""
    async with open_pool(1) as transport:
        one = subject(transport, tmp_path)
        await one.warm()
        running = asyncio.create_task(one.run([counting(tmp_path / "hunter2", 0, HOURS)]))
        await queued(transport, 1)
        assert transport._pool is not None
        [worker] = transport._pool._workers
        assert "hunter2" not in repr([*worker.calls.values()])
        await transport.aclose()
        await running


async def test_calls_queued_at_close_were_not_started(tmp_path: Path) -> None:
    transport = open_pool(1)
    one = subject(transport, tmp_path)
    await one.warm()
    calls = [counting(one.file, 0, HOURS), *(counting(one.file, n) for n in range(1, 8))]
    running = asyncio.create_task(one.run(calls))
    await queued(transport, 8)
    await table.until(lambda: bool(started(one.file)))
    await transport.aclose()
    lost, *refused = await running
    assert lost.result.code == "execution_failed"
    assert {result.result.code for result in refused} == {"not_available"}
    assert all("was not started: the transport was closed" in each.text for each in refused)
    assert started(one.file) == {"start 0": 1}


@pytest.mark.parametrize("name", ["spin", "count_plain"])
async def test_calls_behind_one_that_hangs_move_to_a_free_worker(name: str, tmp_path: Path) -> None:
    async with open_pool(2) as transport:
        await transport.start()
        one = subject(transport, tmp_path)
        hanging = counting(tmp_path / "hangs", 0, HOURS)
        if name == "spin":  # it holds the interpreter: its worker cannot even read
            hanging = table.call("spin", "0", file=str(tmp_path / "hangs"))
        calls = [hanging, *(counting(one.file, n, 0.05) for n in range(1, 12))]
        control = AbortController()
        context, arrived = ToolContext(abort_signal=control.signal), []
        running = asyncio.create_task(one.run(calls, context, on_result=arrived.append))
        # A result that is on its way when the turn is aborted counts as cancelled.
        await table.until(lambda: len(arrived) == 11)
        control.abort("all others have ended")
        stopped, *moved = await running
    assert stopped.result.reason == "cancelled"
    assert [result.text for result in moved] == [str(n) for n in range(1, 12)]
    assert set(started(one.file).values()) == {1}


async def test_stopping_a_queued_call_leaves_the_one_before_it(tmp_path: Path) -> None:
    async with open_pool(1) as transport:
        one = subject(transport, tmp_path)
        await one.warm()
        [before] = await one.run([table.call("process_id")])
        running = asyncio.create_task(one.run([counting(one.file, 0, 2.0)]))
        await table.until(lambda: bool(started(one.file)))
        control = AbortController()
        waiting = asyncio.create_task(
            one.run([counting(one.file, 1)], ToolContext(abort_signal=control.signal))
        )
        behind = asyncio.create_task(one.run([counting(one.file, 2)]))
        await queued(transport, 3)
        control.abort("no longer needed")
        [stopped] = await waiting
        assert not running.done()
        assert stopped.result.reason == "cancelled"
        assert [(await task)[0].text for task in (running, behind)] == ["0", "2"]
        [after] = await one.run([table.call("process_id")])
    assert before.text == after.text
    assert started(one.file) == {"start 0": 1, "start 2": 1}


async def test_a_call_that_is_ended_at_its_time_leaves_those_behind_it(tmp_path: Path) -> None:
    async with open_pool(1) as transport:
        one = subject(transport, tmp_path)
        await one.warm()
        registry = one.registry()
        spin = registry.get("spin")
        assert spin is not None
        registry.register(spin.replace(timeout_seconds=0.5), overwrite=True)
        calls = [
            table.call("spin", "0", file=str(tmp_path / "spins")),
            *(counting(one.file, n) for n in range(1, 8)),
        ]
        stopped, *others = await registry.execute_parallel(calls)
    assert stopped.result.reason == "timeout"
    assert [result.text for result in others] == [str(n) for n in range(1, 8)]
    assert set(started(one.file).values()) == {1}


async def test_queued_calls_wait_no_longer_than_others(tmp_path: Path) -> None:
    async with open_pool(1, queue_seconds=1.0) as transport:
        await transport.start()
        one = subject(transport, tmp_path)
        calls = [counting(one.file, 0, 3.0), *(counting(one.file, n) for n in range(1, 4))]
        first, *late = await one.run(calls)
    assert first.text == "0"
    assert all(each.text.endswith("no worker was free for 1 s") for each in late)
    assert started(one.file) == {"start 0": 1}


@pytest.mark.slow
async def test_ten_thousand_plain_calls_at_once_are_answered_in_order(tmp_path: Path) -> None:
    async with open_pool(2) as transport:
        await transport.start()
        one = subject(transport, tmp_path)
        results = await one.run([counting(one.file, n) for n in range(10_000)])
    assert [result.text for result in results] == [str(n) for n in range(10_000)]
    assert len(started(one.file)) == sum(started(one.file).values()) == 10_000
