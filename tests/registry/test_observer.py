"""Observers receive every call of a batch once, and change nothing."""

from __future__ import annotations

import asyncio
import contextvars
import logging
import time
from typing import TYPE_CHECKING, Any

import pytest

from ethos_registry import (
    ConfigError,
    FrozenToolRegistry,
    Personality,
    Tool,
    ToolContext,
    ToolRegistry,
    err,
    ok,
)
from ethos_registry.execution import _runtime
from ethos_registry.registry import DispatchContext
from ethos_registry.telemetry import FinishedCall, Observer, StartedBatch, StartedCall
from ethos_registry.types import MalformedCall
from session_tools import calls_of, hang, quick, reason, registry_of, tool, until

if TYPE_CHECKING:
    from collections.abc import Sequence

SPAN: contextvars.ContextVar[str] = contextvars.ContextVar("SPAN", default="none")


class Recorder:
    """Keeps everything that an observer can receive."""

    def __init__(self) -> None:
        self.batches: list[list[FinishedCall]] = []
        self.started: list[StartedCall] = []
        self.finished: list[FinishedCall] = []
        self.refused: list[FinishedCall] = []

    def batch_finished(self, calls: Sequence[FinishedCall]) -> None:
        self.batches.append(list(calls))

    def call_started(self, call: StartedCall) -> None:
        SPAN.set(call.tool_call_id)
        self.started.append(call)

    def call_finished(self, call: FinishedCall) -> None:
        self.finished.append(call)

    def call_refused(self, call: FinishedCall) -> None:
        self.refused.append(call)


async def spanned(args: Any, context: Any) -> Any:
    """Sees what an observer set before it."""
    return ok(SPAN.get(), cost_usd=0.5)


def spanned_plain(args: Any, context: Any) -> Any:
    """The same on a thread."""
    return ok(SPAN.get())


async def failing(args: Any, context: Any) -> Any:
    return err("no")


async def test_a_batch_is_reported_once_in_the_order_of_its_calls(task_start: str) -> None:
    recorder = Recorder()
    registry = ToolRegistry(observers=[recorder])
    registry.register(tool(spanned), owner="billing", plugin_id="pay")
    registry.register(tool(spanned_plain))
    registry.register(tool(failing), mcp_server="files")
    registry.register(tool(hang, timeout_seconds=0.03))
    calls = [
        *calls_of("spanned", "ghost", "hang", "spanned_plain", "failing"),
        MalformedCall("c5", "spanned", "cut off"),
    ]
    began = time.time()
    results = await registry.execute_parallel(
        calls, ToolContext(agent_id="agent", personality_id="clerk")
    )
    [batch] = recorder.batches
    assert [call.result for call in batch] == list(results)
    assert [call.tool_call_id for call in batch] == ["c0", "c1", "c2", "c3", "c4", "c5"]
    assert [call.is_started for call in batch] == [True, False, True, True, True, False]
    assert [call.ok for call in batch] == [True, False, False, True, False, False]
    assert [call.reason for call in batch] == [
        None,
        "unknown",
        "timeout",
        None,
        None,
        "invalid_args",
    ]
    assert (batch[0].owner, batch[0].plugin_id, batch[0].mcp_server) == ("billing", "pay", None)
    assert batch[0].cost_usd == 0.5
    assert batch[4].mcp_server == "files"
    assert {call.caller_id for call in batch} == {"agent"}
    assert {call.personality_id for call in batch} == {"clerk"}
    for call in batch:
        if call.started_at_seconds is not None:
            assert began - 0.1 <= call.started_at_seconds <= time.time() + 0.1
            assert call.duration_seconds == call.result.duration_seconds
    assert [results[0].text, results[3].text] == ["c0", "c3"]
    assert sorted(call.tool_call_id for call in recorder.started) == ["c0", "c2", "c3", "c4"]
    assert sorted(call.tool_call_id for call in recorder.finished) == ["c0", "c2", "c3", "c4"]
    assert sorted(call.tool_call_id for call in recorder.refused) == ["c1", "c5"]
    assert SPAN.get() == "none"


@pytest.mark.parametrize("error", [ValueError("mine"), SystemExit(3), asyncio.CancelledError()])
async def test_an_observer_that_raises_is_logged_once_and_changes_nothing(
    error: BaseException, caplog: pytest.LogCaptureFixture
) -> None:
    class Broken:
        def batch_finished(self, calls: Sequence[FinishedCall]) -> None:
            raise error

        call_started = call_finished = call_refused = batch_finished

    recorder = Recorder()
    registry = registry_of(quick, observers=[Broken(), recorder])
    for _ in range(3):
        results = await registry.execute_parallel(calls_of("quick", "ghost"))
        assert [result.ok for result in results] == [True, False]
    assert len(recorder.batches) == 3
    warnings = [one for one in caplog.records if one.levelno >= logging.WARNING]
    assert len(warnings) == 4
    assert len({one.getMessage() for one in warnings}) == 4


async def test_calls_of_a_cancelled_batch_are_reported_too(task_start: str) -> None:
    recorder, seen, hanging = Recorder(), [], asyncio.Event()

    async def hang(args: Any, context: Any) -> Any:
        hanging.set()
        await asyncio.Event().wait()

    registry = registry_of(hang, quick, observers=[recorder])
    calls = calls_of("quick", "hang")
    batch = asyncio.ensure_future(registry.execute_parallel(calls, on_result=seen.append))
    await until(lambda: seen and hanging.is_set())
    batch.cancel()
    await asyncio.wait([batch])
    [reported] = recorder.batches
    assert [call.reason for call in reported] == [None, "cancelled"]


async def test_every_kind_of_registry_and_view_has_the_observers() -> None:
    recorder = Recorder()
    registry = registry_of(quick, observers=[recorder])
    others = [
        registry.for_turn(),
        registry.turn(DispatchContext()).registry,
        registry.freeze(),
        ToolRegistry.merge([registry]),
        FrozenToolRegistry([tool(quick)], observers=[recorder]),
    ]
    for other in others:
        await other.execute_parallel(calls_of("quick"))
    view = registry.view(Personality("reader", toolset=None))
    await view.execute(calls_of("quick"))
    assert len(recorder.batches) == len(others) + 1
    assert recorder.batches[-1][0].caller_id == "reader"


async def test_an_observer_may_want_a_part_only() -> None:
    class Refusals:
        def __init__(self) -> None:
            self.seen: list[str | None] = []

        def call_refused(self, call: FinishedCall) -> None:
            self.seen.append(call.reason)

    refusals: Any = Refusals()
    registry = registry_of(quick, observers=[refusals])
    results = await registry.execute_parallel(calls_of("quick", "ghost"))
    assert refusals.seen == [reason(results[1])] == ["unknown"]


class AsyncObserver:
    async def batch_finished(self, calls: Any) -> None:
        """Would never run."""


@pytest.mark.parametrize("observers", [5, "text", [object()], [Recorder], [AsyncObserver()]])
def test_what_is_not_an_observer_is_refused(observers: Any) -> None:
    with pytest.raises(ConfigError):
        ToolRegistry(observers=observers)


async def test_without_observers_nothing_is_collected() -> None:
    assert registry_of(quick)._runtime.observers is None


class Silent(Observer):
    """Overrides nothing."""


class Started(Observer):
    def __init__(self) -> None:
        self.names: list[str] = []

    def call_started(self, call: StartedCall) -> None:
        self.names.append(call.tool_name)


class Choosing(Started):
    def batch_started(self, batch: StartedBatch) -> Observer | None:
        return self if batch.context.session_id == "seen" else None


def test_an_observer_that_overrides_nothing_is_refused():
    with pytest.raises(ConfigError, match="at least one of"):
        ToolRegistry(observers=[Silent()])


def test_only_methods_that_differ_from_the_base_are_collected():
    one, other = Started(), Choosing()
    observers = _runtime.checked_observers([one, other])
    assert observers is not None
    assert len(observers.call_started) == 2
    assert [len(observers.batch_started), len(observers.batch_finished)] == [1, 0]
    assert (observers.is_asked_only, observers.idle) == (False, ())
    assert {name for name in vars(Observer) if not name.startswith("_")} == {
        *_runtime._METHODS,
        "is_idle",
    }


async def test_an_observer_may_have_the_base_or_not():
    class Bare:
        def __init__(self) -> None:
            self.names: list[str] = []

        def call_started(self, call: StartedCall) -> None:
            self.names.append(call.tool_name)

    based, bare = Started(), Bare()
    registry = ToolRegistry(
        [Tool("a", "", {"type": "object"}, lambda args, context: ok("1"))], observers=[based, bare]
    )
    await registry.execute_parallel([{"id": "1", "name": "a", "args": {}}])
    assert based.names == bare.names == ["a"]
