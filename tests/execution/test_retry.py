"""Retries: for idempotent tools, inside the tool's clock, every attempt counted."""

from __future__ import annotations

import asyncio
import pickle
import time
from typing import Any

import pytest

from ethos_registry import (
    ConfigError,
    FrozenToolRegistry,
    InvocationFilter,
    Personality,
    Tool,
    ToolContext,
    ToolRegistry,
    err,
    ok,
    tool,
)
from ethos_registry.agents import AgentCatalog
from ethos_registry.registry import DispatchContext
from ethos_registry.telemetry import FinishedCall
from ethos_registry.types import AbortController, Retry
from ethos_registry.usage import UsageLedger
from session_tools import calls_of, quick, reason, registry_of, until

SCHEMA = {"type": "object"}


class Flaky:
    """Fails some times, then succeeds; remembers what it was given."""

    def __init__(self, failures: int, error: Any = ConnectionError) -> None:
        self.failures = failures
        self.error = error
        self.args: list[Any] = []

    def _next(self, args: Any) -> Any:
        self.args.append(dict(args))
        args.clear()  # a tool pops what it has read
        if len(self.args) <= self.failures:
            if isinstance(self.error, type):
                raise self.error(f"attempt {len(self.args)}")
            return self.error
        return ok(f"attempt {len(self.args)}")

    async def on_loop(self, args: Any, context: Any) -> Any:
        await asyncio.sleep(0)
        return self._next(args)

    def on_thread(self, args: Any, context: Any) -> Any:
        return self._next(args)

    def tool(self, retry: Retry, *, plain: bool = False, **options: Any) -> Tool:
        execute = self.on_thread if plain else self.on_loop
        return Tool("flaky", "A tool.", SCHEMA, execute, idempotent=True, retry=retry, **options)


@pytest.mark.parametrize("plain", [False, True])
async def test_a_call_that_failed_is_tried_again_with_its_own_arguments(
    plain: bool, task_start: str
) -> None:
    flaky = Flaky(2)
    registry = registry_of(flaky.tool(Retry(3, 0), plain=plain))
    [result] = await registry.execute_parallel([{"id": "1", "name": "flaky", "args": {"n": [1]}}])
    assert result.text == "attempt 3"
    assert flaky.args == [{"n": [1]}] * 3


async def test_the_last_failure_is_the_answer() -> None:
    flaky = Flaky(9)
    registry = registry_of(flaky.tool(Retry(3, 0)))
    [result] = await registry.execute_parallel(calls_of("flaky"))
    assert (result.text, reason(result)) == ("attempt 3", "raised")
    assert len(flaky.args) == 3


@pytest.mark.parametrize(
    ("on", "error", "attempts"),
    [
        (Exception, ConnectionError, 3),
        (ConnectionError, ConnectionError, 3),
        ((TimeoutError, OSError), ConnectionError, 3),
        (TimeoutError, ValueError, 1),
        (Exception, err("busy", "not_available"), 1),
        (lambda failure: getattr(failure, "code", "") == "not_available", err("a"), 1),
        (
            lambda failure: getattr(failure, "code", "") == "not_available",
            err("busy", "not_available"),
            3,
        ),
        (lambda failure: isinstance(failure, ValueError), ValueError, 3),
        (Exception, SystemExit, 1),
        (Exception, asyncio.CancelledError, 1),
    ],
)
async def test_on_decides_which_failures_are_tried_again(
    on: Any, error: Any, attempts: int
) -> None:
    flaky = Flaky(9, error)
    registry = registry_of(flaky.tool(Retry(3, 0, on=on)))
    [result] = await registry.execute_parallel(calls_of("flaky"))
    assert not result.ok
    assert len(flaky.args) == attempts


async def test_waits_double_or_are_listed_or_computed(monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float] = []
    sleep = asyncio.sleep

    async def noted(seconds: float) -> None:
        waits.append(seconds)
        await sleep(0)

    monkeypatch.setattr("ethos_registry.execution._run_tool.asyncio.sleep", noted)
    for backoff, expected in (
        (0.5, [0.5, 1.0, 2.0]),
        ([1, 3], [1.0, 3.0, 3.0]),
        (lambda failed: failed * 10, [10, 20, 30]),
    ):
        waits.clear()
        flaky = Flaky(9)
        registry = registry_of(flaky.tool(Retry(4, backoff)))
        [result] = await registry.execute_parallel(calls_of("flaky"))
        assert [wait for wait in waits if wait] == expected
        assert result.text == "attempt 4"


@pytest.mark.parametrize("plain", [False, True])
async def test_attempts_and_waits_share_the_tools_clock(plain: bool) -> None:
    flaky = Flaky(10_000)
    registry = registry_of(flaky.tool(Retry(10_000, [0.05]), plain=plain, timeout_seconds=1))
    began = time.monotonic()
    [result] = await registry.execute_parallel(calls_of("flaky"))
    assert reason(result) == "timeout"
    assert "timed out after 1 s" in result.text
    assert 0.95 < time.monotonic() - began < 60
    assert 2 <= len(flaky.args) <= 22


async def test_an_abort_and_a_deadline_end_the_wait() -> None:
    flaky = Flaky(9)
    registry = registry_of(flaky.tool(Retry(3, 60)))
    controller = AbortController()
    began = time.monotonic()
    batch = asyncio.ensure_future(
        registry.execute_parallel(calls_of("flaky"), ToolContext(abort_signal=controller.signal))
    )
    await until(lambda: flaky.args)
    controller.abort()
    [result] = await batch
    assert reason(result) == "cancelled"
    [result] = await registry.execute_parallel(calls_of("flaky"), deadline_seconds=0.5)
    assert reason(result) == "timeout"
    assert time.monotonic() - began < 50
    assert len(flaky.args) == 2


async def test_the_callers_cancellation_ends_the_wait() -> None:
    flaky = Flaky(9)
    registry = registry_of(flaky.tool(Retry(3, 60)))
    batch = asyncio.ensure_future(registry.execute_parallel(calls_of("flaky")))
    await until(lambda: flaky.args)
    batch.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(batch, 50)
    assert len(flaky.args) == 1


async def test_every_attempt_is_in_the_ledger() -> None:
    ledger = UsageLedger()
    flaky = Flaky(2)
    registry = registry_of(flaky.tool(Retry(3, 0)), quick, observers=[ledger])
    await registry.execute_parallel(calls_of("flaky", "quick"), ToolContext(agent_id="a"))
    rows = {each.name: each for each in ledger.report().tools}
    assert rows["flaky"].invocations == 3
    assert dict(rows["flaky"].outcomes) == {"raised": 2, "ok": 1}
    assert rows["quick"].invocations == 1
    ledger.close()


async def test_a_wait_that_is_stopped_counts_no_attempt() -> None:
    ledger = UsageLedger()
    flaky = Flaky(9)
    registry = registry_of(flaky.tool(Retry(3, 60), timeout_seconds=0.05), observers=[ledger])
    await registry.execute_parallel(calls_of("flaky"))
    [row] = ledger.report().tools
    assert (row.invocations, dict(row.outcomes)) == (1, {"timeout": 1})
    ledger.close()


async def test_observers_and_hooks_see_one_call_and_no_secret() -> None:
    secret = "sk-ant-api03-" + "Zx9" * 30
    batches: list[Any] = []
    starts: list[Any] = []

    class Recorder:
        def batch_finished(self, calls: Any) -> None:
            batches.append(calls)

        def call_started(self, call: Any) -> None:
            starts.append(call)

    class Leaking(Flaky):
        def _next(self, args: Any) -> Any:
            try:
                return super()._next(args)
            except ConnectionError:
                raise ConnectionError(f"refused {secret}") from None

    flaky = Leaking(2)
    registry = registry_of(flaky.tool(Retry(3, 0)), observers=[Recorder()])
    context = DispatchContext()
    ended: list[Any] = []
    context.on_tool_start(ended.append)
    context.on_tool_end(ended.append)
    [result] = await registry.turn(context).registry.execute_parallel(calls_of("flaky"))
    assert result.ok
    assert len(starts) == 1
    assert [execution.is_error for execution in ended] == [None, False]
    [batch] = batches
    assert [type(call) for call in batch] == [FinishedCall]
    assert [row[1].result.reason for row in batch.attempts] == ["raised", "raised"]
    assert secret not in str(batch.attempts)


async def test_filters_run_once_around_all_attempts() -> None:
    seen: list[str] = []
    filters = [
        InvocationFilter(
            before=lambda invocation: seen.append("before"),
            after=lambda invocation, result: seen.append(result.text),
        )
    ]
    flaky = Flaky(2)
    registry = registry_of(flaky.tool(Retry(3, 0)), filters=filters)
    await registry.execute_parallel(calls_of("flaky"))
    assert seen == ["before", "attempt 3"]


async def test_arguments_that_do_not_fit_are_not_tried_again() -> None:
    asked: list[Any] = []

    @tool(idempotent=True, retry=Retry(5, 0, on=lambda failure: asked.append(failure) or True))
    async def double(number: int) -> int:
        """Twice a number."""
        return 2 * number

    registry = ToolRegistry([double])
    [result] = await registry.execute_parallel([{"id": "1", "name": "double", "args": {}}])
    assert reason(result) == "invalid_args"
    assert asked == []


async def test_a_rule_that_raises_is_logged_and_the_failure_is_the_answer(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def broken(failure: Any) -> bool:
        raise KeyError("mine")

    for retry in (Retry(3, 0, on=broken), Retry(3, lambda failed: -1)):
        flaky = Flaky(9)
        registry = registry_of(flaky.tool(retry))
        [result] = await registry.execute_parallel(calls_of("flaky"))
        assert result.text == "attempt 1"
    assert len([one for one in caplog.records if "retry" in one.getMessage()]) == 2


class Clerk:
    id = "clerk"

    def __init__(self, tool: Tool) -> None:
        self.tool = tool

    def register_tools(self, catalog: AgentCatalog) -> None:
        catalog.register(self.tool)


async def test_every_kind_of_registry_tries_again() -> None:
    personality = Personality("clerk", toolset=None)
    flaky = Flaky(1)
    made = flaky.tool(Retry(2, 0))
    registry = registry_of(made)
    catalog = AgentCatalog([Clerk(made)])
    catalog.start()
    runs = [
        registry.execute_parallel,
        registry.freeze().execute_parallel,
        FrozenToolRegistry([made]).execute_parallel,
        registry.for_turn().execute_parallel,
        registry.view(personality).execute,
        registry.turn(DispatchContext()).registry.view(personality).execute,
        catalog.view("clerk").execute,
    ]
    for run in runs:
        flaky.args.clear()
        [result] = await run(calls_of("flaky"))
        assert result.text == "attempt 2"


def test_only_idempotent_tools_may_have_a_retry() -> None:
    with pytest.raises(ConfigError, match=r"tool `t`: `retry` needs `idempotent=True`"):
        Tool("t", "", SCHEMA, quick, retry=Retry())
    with pytest.raises(ConfigError, match="idempotent"):
        Tool("t", "", SCHEMA, quick, idempotent=True, retry=Retry()).replace(idempotent=False)
    with pytest.raises(ConfigError, match="must be a Retry"):
        Tool("t", "", SCHEMA, quick, idempotent=True, retry=3)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "arguments",
    [
        {"attempts": 0},
        {"attempts": 1.5},
        {"backoff": -1},
        {"backoff": "1"},
        {"backoff": []},
        {"backoff": [1, "2"]},
        {"on": "TimeoutError"},
        {"on": BaseException},
        {"on": [TimeoutError, 5]},
        {"on": lambda: True},
        {"backoff": lambda: 1},
    ],
)
def test_a_retry_that_makes_no_sense_is_refused(arguments: dict[str, Any]) -> None:
    with pytest.raises(ConfigError):
        Retry(**arguments)


def test_a_retry_is_a_value() -> None:
    retry = Retry(3, 0.5, on=TimeoutError)
    assert retry == Retry(3, 0.5, on=(TimeoutError,))
    assert pickle.loads(pickle.dumps(retry)) == retry
    assert registry_of(quick)._snapshot().get("quick").retry is None  # type: ignore[union-attr]
