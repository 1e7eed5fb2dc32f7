"""Code that blocks the event loop is named, and others are not judged by the time it took."""

import asyncio
import time

import pytest

from ethos_registry import InvocationFilter, Pending, Personality, ToolContext, ToolRegistry, ok
from ethos_registry.artifacts import MemoryArtifactStore
from ethos_registry.execution import Approvals
from ethos_registry.registry import DispatchContext
from ethos_registry.transports import (
    ToolTransport,
    TransportHeld,
    TransportReply,
    TransportStarted,
    TransportTraits,
)
from ethos_registry.types import Retry
from session_tools import calls_of, reason, registry_of, tool

BLOCK_SECONDS = 0.4


def sleeps(*arguments):
    time.sleep(BLOCK_SECONDS)


async def blocks(args, context):
    sleeps()
    return ok("ran to its end")


async def blocks_later(args, context):
    await asyncio.sleep(0.01)
    sleeps()
    return ok("ran to its end")


async def waits(args, context):
    await asyncio.sleep(0.02)
    await asyncio.sleep(0)
    return ok("innocent")


def plain(args, context):
    time.sleep(0.02)
    return ok("innocent")


@pytest.mark.parametrize("guilty", [blocks, blocks_later])
@pytest.mark.parametrize("innocent", [waits, plain])
async def test_the_guilty_call_is_answered_as_late_and_the_innocent_one_is_not(
    guilty, innocent, caplog
):
    registry = registry_of(
        tool(innocent, "innocent", timeout_seconds=0.2), tool(guilty, "guilty", timeout_seconds=0.2)
    )
    first, late = await registry.execute_parallel(calls_of("innocent", "guilty"))
    assert first.text == "innocent"
    assert reason(late) == "timeout"
    assert "blocked the event loop for 0." in late.text
    [record] = [each for each in caplog.records if each.levelname == "WARNING"]
    assert "tool `guilty` blocked the event loop for 0." in record.getMessage()
    assert "plain `def`" in record.getMessage()


async def test_a_tool_that_blocks_within_its_time_is_answered_and_named_once(caplog):
    registry = registry_of(tool(blocks, timeout_seconds=5))
    for _ in range(2):
        [result] = await registry.execute_parallel(calls_of("blocks"))
        assert result.text == "ran to its end"
    assert len(caplog.records) == 1


async def test_a_tool_that_awaits_is_never_named(caplog):
    registry = registry_of(waits, plain)
    await registry.execute_parallel(calls_of("waits", "plain"))
    assert caplog.records == []


class Slow:
    tool_name = "waits"

    def reduce(self, result, context):
        time.sleep(BLOCK_SECONDS)
        return result


class Observer:
    def call_finished(self, call):
        time.sleep(BLOCK_SECONDS)


async def emits(args, context):
    context.report("half way")
    return ok("innocent")


def reducers():
    from ethos_registry import DefaultToolResultReducerRegistry

    return DefaultToolResultReducerRegistry([Slow()])


HOSTS = {
    "filter `before`": lambda: (registry_of(waits), {"filters": [InvocationFilter(sleeps)]}),
    "filter `after`": lambda: (registry_of(waits), {"filters": [InvocationFilter(after=sleeps)]}),
    "`is_available`": lambda: (
        registry_of(tool(waits, is_available=lambda: sleeps() is None)),
        {},
    ),
    "`on_result`": lambda: (registry_of(waits), {"on_result": sleeps}),
    "observer": lambda: (registry_of(waits, observers=[Observer()]), {}),
    "the reducer of tool": lambda: (registry_of(waits, reducer_registry=reducers()), {}),
    "`emit`": lambda: (registry_of(tool(emits, "waits")), {"context": ToolContext(emit=sleeps)}),
}


@pytest.mark.parametrize("what", HOSTS)
async def test_every_code_of_the_host_is_named(what, caplog):
    registry, options = HOSTS[what]()
    [result] = await registry.execute_parallel(calls_of("waits"), **options)
    assert result.text == "innocent"
    blocking = [each.getMessage() for each in caplog.records if "blocked" in each.getMessage()]
    assert len(blocking) == 1
    assert what in blocking[0]


def blocking(records):
    return [each.getMessage() for each in records if "blocked" in each.getMessage()]


@pytest.mark.parametrize(
    "listed",
    [
        lambda registry: registry.to_definitions(),
        lambda registry: registry.get_available(),
        lambda registry: registry.get_for_toolset("slow"),
        lambda registry: registry.view(Personality("all")).definitions("anthropic"),
        lambda registry: registry.freeze().to_definitions(),
        lambda registry: registry.explain("waits", Personality("all")),
    ],
    ids=["definitions", "available", "toolset", "view", "frozen", "explain"],
)
async def test_is_available_is_named_once_where_tools_are_listed(listed, caplog):
    slow = tool(waits, is_available=lambda: sleeps() is None, toolset="slow")
    registry = registry_of(slow, tool(plain, is_available=lambda: True))
    for _ in range(2):
        listed(registry)
    [message] = blocking(caplog.records)
    assert message.startswith("`is_available` of tool `waits` blocked the event loop for 0.")


def test_without_a_loop_nothing_is_said_to_block_it(caplog):
    slow = tool(waits, is_available=lambda: sleeps() is None)
    assert len(registry_of(slow).to_definitions()) == 1
    assert blocking(caplog.records) == []


def retried():
    attempts = []

    async def fails_once(args, context):
        attempts.append(1)
        if len(attempts) == 1:
            raise ConnectionError("down")
        return ok("innocent")

    rule = Retry(2, 0.0, on=lambda failure: sleeps() is None)
    return registry_of(tool(fails_once, "waits", idempotent=True, retry=rule))


class SlowStore(MemoryArtifactStore):
    def reserve(self):
        sleeps()
        return super().reserve()


async def long(args, context):
    return ok("x" * 1_000)


async def test_a_retry_rule_is_named(caplog):
    [result] = await retried().execute_parallel(calls_of("waits"))
    assert result.text == "innocent"
    [message] = blocking(caplog.records)
    assert message.startswith("the `retry` of tool `waits` blocked")


async def test_an_artifact_store_is_named(caplog):
    context = ToolContext(artifact_store=SlowStore(), result_budget_chars=100)
    [result] = await registry_of(long).execute_parallel(calls_of("long"), context)
    assert result.truncated_from == 1_000
    [message] = blocking(caplog.records)
    assert message.startswith("the artifact store blocked")


async def test_hooks_of_a_turn_are_named(caplog):
    turn = DispatchContext()
    turn.on_tool_start(sleeps)
    registry = registry_of(waits).turn(turn).registry
    [result] = await registry.execute_parallel(calls_of("waits"))
    assert result.text == "innocent"
    [message] = blocking(caplog.records)
    assert message.startswith("an `on_tool_start` hook blocked")


class SlowApprovalStore:
    def claim(self, approval_id, expires_at_seconds):
        sleeps()
        return True


async def test_an_approval_store_is_named(caplog):
    approvals = Approvals(b"sixteen bytes or more", store=SlowApprovalStore())
    registry = registry_of(
        waits,
        approvals=approvals,
        filters=[
            InvocationFilter(lambda call: None if call.is_approved else Pending("may it run?"))
        ],
    )
    view = registry.view(Personality("all"))
    [waiting] = await view.execute(calls_of("waits"))
    result = await view.resume(waiting.pending.token, approved=True)
    assert result.text == "innocent"
    [message] = blocking(caplog.records)
    assert message.startswith("the `claim` of the approval store blocked")


class SlowTransport(ToolTransport):
    """Blocks the loop of its caller in one of its steps."""

    traits = TransportTraits("slow")

    def __init__(self, seconds=BLOCK_SECONDS):
        self.seconds = seconds

    async def execute_many(self, requests, signal, *, live=None):
        for index in range(len(requests)):
            time.sleep(self.seconds if index == 0 else 0)  # noqa: ASYNC251  its fault
            yield TransportReply(index, ok("carried"))


async def test_a_transport_that_blocks_is_named_and_its_call_late(caplog):
    registry = ToolRegistry(
        [tool(waits, timeout_seconds=0.2), tool(plain, timeout_seconds=5)],
        transports={"*": SlowTransport()},
    )
    late, innocent = await registry.execute_parallel(calls_of("waits", "plain"))
    assert reason(late) == "timeout"
    assert "blocked the event loop for 0." in late.text
    assert innocent.text == "carried"
    [message] = blocking(caplog.records)
    assert message.startswith("transport `slow` blocked the event loop for 0.")


class SilentTransport(ToolTransport):
    """Reports neither a start nor a result."""

    traits = TransportTraits("silent", reports_start=True, start_seconds=0.1)

    async def execute_many(self, requests, signal, *, live=None):
        await asyncio.Event().wait()
        yield


class HoldingTransport(SilentTransport):
    """Reports again and again that another call has the turn of the loop."""

    def __init__(self, seconds):
        self.seconds = seconds

    async def execute_many(self, requests, signal, *, live=None):
        while True:
            yield TransportStarted(0)
            yield TransportHeld(0, self.seconds)
            await asyncio.sleep(0.05)


class FailingTransport(ToolTransport):
    """Raises what is no `Exception`."""

    traits = TransportTraits("failing")

    async def execute_many(self, requests, signal, *, live=None):
        raise SystemExit("out of memory")
        yield


async def test_a_transport_that_reports_nothing_is_timed_by_its_caller():
    registry = ToolRegistry(
        [tool(waits, timeout_seconds=0.1)],
        transports={"*": SilentTransport()},
        abandon_after_seconds=0.1,
    )
    begun = time.monotonic()
    [result] = await registry.execute_parallel(calls_of("waits"))
    assert time.monotonic() - begun < 5
    assert (reason(result), result.text) == (
        "timeout",
        "Tool waits timed out after 0.1 s; it may have run",
    )


@pytest.mark.parametrize("seconds", [0.0, 0.1, 3600.0, -1.0, float("nan")])
async def test_a_worker_holds_the_clock_of_a_call_for_a_limited_time(seconds, monkeypatch):
    monkeypatch.setattr("ethos_registry.execution._remote_batch._MAX_HELD_SECONDS", 0.3)
    registry = ToolRegistry(
        [tool(waits, timeout_seconds=0.2)],
        transports={"*": HoldingTransport(seconds)},
        abandon_after_seconds=0.1,
    )
    begun = time.monotonic()
    [result] = await registry.execute_parallel(calls_of("waits"))
    assert reason(result) == "timeout"
    assert 0.2 <= time.monotonic() - begun < 5


async def test_whatever_a_transport_raises_is_the_failure_of_its_calls():
    registry = ToolRegistry([tool(waits)], transports={"*": FailingTransport()})
    [result] = await registry.execute_parallel(calls_of("waits"))
    assert result.text == "Tool waits failed: its transport raised: out of memory; it may have run"


async def test_cancellation_passes_through_the_measured_steps():
    seen = []

    async def hangs(args, context):
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            seen.append("cancelled")
            raise

    registry = registry_of(tool(hangs, timeout_seconds=0.05))
    [result] = await registry.execute_parallel(calls_of("hangs"))
    assert reason(result) == "timeout"
    assert seen == ["cancelled"]


class SlowRedaction(dict):
    """Backends of the host with a `redact` of their own."""

    def redact(self, text):
        time.sleep(BLOCK_SECONDS)
        return text


async def test_a_redact_of_the_backends_is_named(caplog):
    registry = ToolRegistry([tool(waits)], capability_backends=SlowRedaction())
    [result] = await registry.execute_parallel(calls_of("waits"))
    assert result.text == "innocent"
    messages = blocking(caplog.records)
    assert any(each.startswith("`redact` of the capability backends blocked") for each in messages)


class StubbornTransport(ToolTransport):
    """Swallows the cancellation of its stream, again and again."""

    traits = TransportTraits("stubborn")

    def __init__(self):
        self.end = asyncio.Event()

    async def execute_many(self, requests, signal, *, live=None):
        while not self.end.is_set():
            try:
                await self.end.wait()
            except asyncio.CancelledError:
                continue
        yield TransportReply(0, ok("too late"))


async def test_a_transport_that_swallows_cancellation_delays_no_answer():
    transport = StubbornTransport()
    registry = ToolRegistry(
        [tool(waits, timeout_seconds=0.1)],
        transports={"*": transport},
        abandon_after_seconds=0.1,
    )
    begun = time.monotonic()
    [result] = await registry.execute_parallel(calls_of("waits"))
    assert time.monotonic() - begun < 2
    assert (reason(result), registry.abandoned_calls) == ("timeout", 1)
    batch = asyncio.create_task(registry.execute_parallel(calls_of("waits"), deadline_seconds=60))
    await asyncio.sleep(0.02)
    batch.cancel()
    begun = time.monotonic()
    with pytest.raises(asyncio.CancelledError):
        await batch
    assert time.monotonic() - begun < 2
    transport.end.set()
    await asyncio.sleep(0.05)
    assert [each for each in asyncio.all_tasks() if each is not asyncio.current_task()] == []
