"""`max_concurrency` and `calls_per_second` of a tool hold over all its batches."""

from __future__ import annotations

import asyncio
import gc
import threading
import time
import weakref

import pytest

from ethos_registry import ConfigError, InvocationFilter, Personality, ToolContext, ToolRegistry

EVERYTHING = Personality("everything")


class Gauge:
    """How many calls run, and the most that ever did."""

    def __init__(self) -> None:
        self.running = self.most = 0
        self.starts: list[float] = []
        self.lock = threading.Lock()

    def __enter__(self) -> None:
        with self.lock:
            self.starts.append(time.monotonic())
            self.running += 1
            self.most = max(self.most, self.running)

    def __exit__(self, *error: object) -> None:
        with self.lock:
            self.running -= 1


def calls(name: str, count: int) -> list[dict[str, object]]:
    return [{"id": str(number), "name": name, "args": {}} for number in range(count)]


@pytest.mark.parametrize("is_async", [True, False])
async def test_calls_of_all_batches_and_views_share_the_slots_of_a_tool(is_async: bool) -> None:
    registry, gauge = ToolRegistry(), Gauge()

    if is_async:

        @registry.tool(max_concurrency=2, timeout_seconds=5)
        async def work() -> str:
            """Work."""
            with gauge:
                await asyncio.sleep(0.005)
            return "done"
    else:

        @registry.tool(max_concurrency=2, timeout_seconds=5)
        def work() -> str:
            """Work."""
            with gauge:
                time.sleep(0.005)
            return "done"

    @registry.tool
    async def free() -> str:
        """Run beside them."""
        return "free"

    views = [registry.view(EVERYTHING) for _ in range(3)]
    batches = await asyncio.gather(
        *(view.execute([*calls("work", 4), *calls("free", 1)]) for view in views)
    )
    assert [result.text for batch in batches for result in batch] == [*["done"] * 4, "free"] * 3
    assert gauge.most == 2


def test_loops_of_several_threads_share_the_slots_of_a_tool() -> None:
    registry, gauge = ToolRegistry(), Gauge()

    @registry.tool(max_concurrency=1)
    async def work() -> str:
        """Work."""
        with gauge:
            await asyncio.sleep(0.002)
        return "done"

    view = registry.view(EVERYTHING)
    read: list[str] = []

    def run() -> None:
        read.extend(result.text for result in asyncio.run(view.execute(calls("work", 5))))

    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert (read, gauge.most) == (["done"] * 20, 1)


async def test_calls_of_a_tool_start_at_its_rate() -> None:
    registry, gauge = ToolRegistry(), Gauge()

    @registry.tool(calls_per_second=20)
    async def work() -> str:
        """Work."""
        with gauge:
            return "done"

    began = time.monotonic()
    results = await registry.view(EVERYTHING).execute(calls("work", 50))
    assert all(result.ok for result in results)
    assert [
        number for number, start in enumerate(gauge.starts) if start - began < number // 20
    ] == []


async def test_a_loop_that_was_blocked_does_not_start_the_calls_of_two_seconds_at_once() -> None:
    registry, gauge = ToolRegistry(), Gauge()

    @registry.tool(calls_per_second=20)
    async def work() -> str:
        """Work."""
        with gauge:
            return "done"

    asyncio.get_running_loop().call_later(0.2, time.sleep, 2.5)
    results = await registry.view(EVERYTHING).execute(calls("work", 60))
    assert all(result.ok for result in results)
    starts = gauge.starts
    assert min(later - first for first, later in zip(starts, starts[20:], strict=False)) > 0.5


async def test_calls_that_wait_for_their_second_start_in_their_order() -> None:
    registry, order = ToolRegistry(), list[int]()

    @registry.tool(calls_per_second=100)
    async def work(number: int) -> str:
        """Work."""
        order.append(number)
        return "done"

    sent = [{"id": str(n), "name": "work", "args": {"number": n}} for n in range(150)]
    first = asyncio.ensure_future(registry.view(EVERYTHING).execute(sent[:120]))
    await asyncio.sleep(0)
    await registry.view(EVERYTHING).execute(sent[120:])
    await first
    assert order == list(range(150))


def test_a_loop_that_has_ended_is_not_kept_by_the_limits_of_a_tool() -> None:
    registry = ToolRegistry()

    @registry.tool(calls_per_second=100)
    async def work() -> str:
        """Work."""
        return "done"

    async def run() -> weakref.ref[asyncio.AbstractEventLoop]:
        results = await registry.view(EVERYTHING).execute(calls("work", 110))
        assert all(result.ok for result in results)
        return weakref.ref(asyncio.get_running_loop())

    ended = asyncio.run(run())
    gc.collect()
    assert ended() is None


def test_loops_of_several_threads_share_the_rate_of_a_tool() -> None:
    registry, gauge = ToolRegistry(), Gauge()

    @registry.tool(calls_per_second=10)
    async def work() -> str:
        """Work."""
        with gauge:
            return "done"

    view = registry.view(EVERYTHING)
    began = time.monotonic()
    threads = [
        threading.Thread(target=lambda: asyncio.run(view.execute(calls("work", 8))))
        for _ in range(3)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    starts = sorted(gauge.starts)
    assert len(starts) == 24
    assert [number for number, start in enumerate(starts) if start - began < number // 10] == []


async def test_waiting_is_not_the_tools_time_and_ends_with_the_batch() -> None:
    registry = ToolRegistry()

    @registry.tool(max_concurrency=1, timeout_seconds=0.3)
    async def slow() -> str:
        """Take a while."""
        await asyncio.sleep(0.15)
        return "done"

    passing = InvocationFilter(before=lambda invocation: None)
    view = registry.view(EVERYTHING)
    for filters in ((), (passing,)):
        results = await view.execute(calls("slow", 4), filters=filters)
        assert [result.text for result in results] == ["done"] * 4
    first, *late = await view.execute(calls("slow", 3), deadline_seconds=0.2)
    assert first.ok
    assert not any(result.ok for result in late)
    assert late[-1].result.code == "not_available"
    assert [result.text for result in await view.execute(calls("slow", 2))] == ["done"] * 2


async def test_a_tool_that_calls_itself_needs_no_second_slot() -> None:
    registry = ToolRegistry()

    @registry.tool(max_concurrency=1)
    async def countdown(number: int, context: ToolContext) -> str:
        """Count down by calling itself."""
        if number == 0:
            return "0"
        call = {"id": "1", "name": "countdown", "args": {"number": number - 1}}
        [result] = await registry.view(EVERYTHING).execute([call])
        return f"{number} {result.text}"

    call = {"id": "1", "name": "countdown", "args": {"number": 3}}
    [result] = await asyncio.wait_for(registry.view(EVERYTHING).execute([call]), 10)
    assert result.text == "3 2 1 0"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"max_concurrency": 0}, "`max_concurrency`"),
        ({"max_concurrency": 1.5}, "`max_concurrency`"),
        ({"calls_per_second": 0}, "`calls_per_second` must be more than 0"),
        ({"calls_per_second": float("inf")}, "`calls_per_second`"),
    ],
)
def test_limits_are_checked(options: dict[str, float], message: str) -> None:
    registry = ToolRegistry()
    with pytest.raises(ConfigError, match=message):
        registry.tool(lambda: "x", name="work", **options)
