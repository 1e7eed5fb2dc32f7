"""Filters and a limit of calls for a whole registry, beside those of a batch."""

from __future__ import annotations

import asyncio
import pickle
from typing import Any

import pytest

from ethos_registry import (
    ConfigError,
    FrozenToolRegistry,
    Invocation,
    InvocationFilter,
    Personality,
    Tool,
    ToolContext,
    ToolRegistry,
    err,
    ok,
)
from ethos_registry.agents import AgentCatalog
from ethos_registry.execution._threads import STARTS_EAGERLY
from ethos_registry.registry import DispatchContext
from ethos_registry.types import AbortController
from session_tools import calls_of, quick, reason, registry_of, tool

PERSONALITY = Personality("clerk", toolset=None)


class Crowd:
    """Counts how many of its calls run at once."""

    def __init__(self) -> None:
        self.now = self.most = self.ran = 0

    async def execute(self, args: Any, context: Any) -> Any:
        self.now += 1
        self.most = max(self.most, self.now)
        try:
            await asyncio.sleep(0.005)
        finally:
            self.now -= 1
        self.ran += 1
        return ok("done")

    def tool(self, **options: Any) -> Tool:
        return tool(self.execute, name="crowd", **options)


async def test_one_limit_holds_for_all_batches_views_and_turns(task_start: str) -> None:
    crowd = Crowd()
    registry = registry_of(crowd.tool(), max_concurrency=3)
    turn = registry.turn(DispatchContext()).registry
    calls = calls_of(*["crowd"] * 8)
    batches = await asyncio.gather(
        registry.execute_parallel(calls),
        registry.execute_parallel(calls, max_concurrency=2),
        registry.view(PERSONALITY).execute(calls),
        turn.execute_parallel(calls),
        registry.for_turn().execute_parallel(calls),
    )
    assert all(result.ok for batch in batches for result in batch)
    assert (crowd.most, crowd.ran) == (3, 40)


async def test_a_batch_may_be_narrower_than_its_registry() -> None:
    crowd = Crowd()
    registry = registry_of(crowd.tool(), max_concurrency=5)
    await registry.execute_parallel(calls_of(*["crowd"] * 8), max_concurrency=2)
    assert crowd.most == 2


async def test_frozen_copies_and_catalogues_have_the_limit() -> None:
    crowd = Crowd()

    class Clerk:
        id = "clerk"

        def register_tools(self, catalog: AgentCatalog) -> None:
            catalog.register(crowd.tool())

    catalog = AgentCatalog([Clerk()], max_concurrency=2)
    catalog.start()
    views = [
        registry_of(crowd.tool(), max_concurrency=2).freeze().view(PERSONALITY),
        FrozenToolRegistry([crowd.tool()], max_concurrency=2).view(PERSONALITY),
        catalog.view("clerk"),
        ToolRegistry.merge([registry_of(crowd.tool(), max_concurrency=2)]).view(PERSONALITY),
    ]
    for view in views:
        crowd.most = 0
        calls = calls_of(*["crowd"] * 6)
        await asyncio.gather(view.execute(calls), view.execute(calls))
        assert crowd.most == 2


async def test_a_tool_that_calls_its_own_registry_does_not_wait_for_itself(
    task_start: str,
) -> None:
    registry = registry_of(quick, max_concurrency=1)

    async def outer(args: Any, context: Any) -> Any:
        results = await registry.execute_parallel(calls_of("quick", "quick"))
        return ok(" ".join(result.text for result in results))

    registry.register(tool(outer))
    results = await asyncio.wait_for(registry.execute_parallel(calls_of("outer", "outer")), 30)
    assert [result.text for result in results] == ["done done", "done done"]


async def test_calls_that_wait_end_with_their_deadline_and_their_abort(task_start: str) -> None:
    release = asyncio.Event()

    held = asyncio.Event()

    async def hold(args: Any, context: Any) -> Any:
        held.set()
        await release.wait()
        return ok("held")

    registry = registry_of(hold, quick, max_concurrency=1)
    holding = asyncio.ensure_future(registry.execute_parallel(calls_of("hold")))
    await held.wait()
    [late] = await registry.execute_parallel(calls_of("quick"), deadline_seconds=0.05)
    assert reason(late) == "timeout"
    assert "was not started" in late.text
    controller = AbortController()
    asyncio.get_running_loop().call_later(0.05, controller.abort)
    [aborted] = await registry.execute_parallel(
        calls_of("quick"), ToolContext(abort_signal=controller.signal)
    )
    assert reason(aborted) == "cancelled"
    assert "was not started" in aborted.text
    cancelled = asyncio.ensure_future(registry.execute_parallel(calls_of("quick")))
    await asyncio.sleep(0.01)
    cancelled.cancel()
    with pytest.raises(asyncio.CancelledError):
        await cancelled
    waiting = asyncio.ensure_future(registry.execute_parallel(calls_of("quick", "quick")))
    await asyncio.sleep(0.01)
    release.set()
    assert [result.ok for result in (*await holding, *await waiting)] == [True] * 3
    [slots] = registry._runtime.counters.slots.values()
    assert (slots._free, len(slots._waiting), len(slots._held)) == (1, 0, 0)


async def test_a_stopped_call_gives_its_slot_back() -> None:
    async def stubborn(args: Any, context: Any) -> Any:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            await asyncio.sleep(0.3)
        return ok("late")

    registry = registry_of(
        tool(stubborn, timeout_seconds=0.02), quick, max_concurrency=1, abandon_after_seconds=0.05
    )
    for _ in range(3):
        first, second = await registry.execute_parallel(calls_of("stubborn", "quick"))
        assert (reason(first), second.ok) == ("timeout", True)


def test_each_event_loop_has_its_own_limit() -> None:
    crowd = Crowd()
    registry = registry_of(crowd.tool(), max_concurrency=2)
    for _ in range(3):
        results = registry.execute_parallel_sync(calls_of(*["crowd"] * 4))
        assert [result.ok for result in results] == [True] * 4
    assert crowd.most == 2
    assert len(registry._runtime.counters.slots) <= 1 + 1


@pytest.mark.skipif(not STARTS_EAGERLY, reason="tasks start later, and the loop ends with them")
async def test_an_interrupted_batch_gives_its_slots_back() -> None:
    async def interrupted(args: Any, context: Any) -> Any:
        raise KeyboardInterrupt

    registry = registry_of(interrupted, quick, max_concurrency=1)
    with pytest.raises(KeyboardInterrupt):
        await registry.execute_parallel(calls_of("interrupted"))
    [result] = await asyncio.wait_for(registry.execute_parallel(calls_of("quick")), 30)
    assert result.ok


async def test_filters_of_a_registry_are_outside_those_of_a_batch() -> None:
    seen: list[str] = []

    def named(name: str) -> InvocationFilter:
        return InvocationFilter(
            before=lambda invocation: seen.append(f"{name} before"),
            after=lambda invocation, result: seen.append(f"{name} after"),
        )

    registry = registry_of(quick, filters=[named("registry")])
    views = [
        registry.execute_parallel,
        registry.freeze().execute_parallel,
        registry.view(PERSONALITY).execute,
        registry.turn(DispatchContext()).registry.execute_parallel,
        FrozenToolRegistry([tool(quick)], filters=[named("registry")]).execute_parallel,
    ]
    for run in views:
        seen.clear()
        await run(calls_of("quick"), filters=[named("batch")])
        assert seen == ["registry before", "batch before", "batch after", "registry after"]
        seen.clear()
        await run(calls_of("quick"))
        assert seen == ["registry before", "registry after"]


async def test_filters_of_a_catalogue_bind_every_agent_and_streams() -> None:
    def refuse(invocation: Invocation) -> Any:
        return err(f"no {invocation.tool_name}", "not_available")

    class Clerk:
        id = "clerk"

        def register_tools(self, catalog: AgentCatalog) -> None:
            catalog.register(tool(quick))

    catalog = AgentCatalog([Clerk()], filters=[InvocationFilter(before=refuse)])
    catalog.start()
    view = catalog.view("clerk")
    [result] = await view.execute(calls_of("quick"))
    assert result.text == "no quick"
    async with view.dispatch(provider="openai") as reply:
        call = {"index": 0, "id": "s1", "function": {"name": "quick", "arguments": "{}"}}
        reply.feed({"choices": [{"index": 0, "delta": {"tool_calls": [call]}}]})
        reply.feed({"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]})
    [streamed] = await reply.results()
    assert streamed.text == "no quick"


@pytest.mark.parametrize(
    "options",
    [
        {"max_concurrency": 0},
        {"max_concurrency": "2"},
        {"filters": InvocationFilter(before=lambda one: None)},
        {"filters": [5]},
    ],
)
def test_settings_of_the_wrong_kind_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(ConfigError):
        ToolRegistry(**options)


def test_the_settings_travel_with_a_frozen_registry() -> None:
    registry = FrozenToolRegistry([], max_concurrency=3, redact=False, unredacted_tools=["a"])
    copied = pickle.loads(pickle.dumps(registry))._settings()
    assert (copied.max_concurrency, copied.redact) == (3, None)
    assert copied.unredacted_tools == frozenset({"a"})
