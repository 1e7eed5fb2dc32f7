"""`limits` of a view: calls, cost and tokens of a run, a day or a tenant, counted by a ledger."""

from __future__ import annotations

import asyncio
import logging
import sqlite3
import subprocess
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ethos_registry import (
    ConfigError,
    InvocationFilter,
    Pending,
    Personality,
    ToolContext,
    ToolOk,
    ToolRegistry,
    ok,
)
from ethos_registry.adapters._turn_collector import TurnCollector
from ethos_registry.agents import AgentCatalog
from ethos_registry.execution import Approvals
from ethos_registry.registry import DispatchContext, PrefixSession, ToolSearch
from ethos_registry.transports import LocalTransport
from ethos_registry.usage import UsageLedger
from started import PATIENCE_SECONDS
from usage_tools import finish, start_python

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

CLERK = Personality("clerk")
RUN = ToolContext(run_id="run-1", tenant_id="acme")


@pytest.fixture(params=["memory", "file"])
def ledger(request: pytest.FixtureRequest, tmp_path: Path) -> UsageLedger:
    return UsageLedger(":memory:" if request.param == "memory" else tmp_path / "usage.sqlite3")


def registry_of(ledger: UsageLedger, **settings: Any) -> ToolRegistry:
    registry = ToolRegistry(observers=[ledger], **settings)

    @registry.tool
    async def look() -> str:
        """Look."""
        return "seen"

    @registry.tool
    def look_plain() -> str:
        """Look on a thread."""
        return "seen"

    @registry.tool
    async def buy() -> ToolOk:
        """Buy."""
        return ok("bought", cost_usd=0.4)

    return registry


def calls(count: int, name: str = "look") -> list[dict[str, Any]]:
    return [{"id": str(number), "name": name, "args": {}} for number in range(count)]


def reasons(results: Any) -> list[str | None]:
    return [None if each.result.ok else each.result.reason for each in results]


@pytest.mark.parametrize("name", ["look", "look_plain"])
def test_the_first_calls_run_and_the_others_read_the_limit(ledger: UsageLedger, name: str) -> None:
    view = registry_of(ledger).view(CLERK, limits={"run": {"calls": 3}})
    results = view.execute_sync(calls(5, name), RUN)
    assert reasons(results) == [None, None, None, "limit", "limit"]
    assert results[3].result.code == "not_available"
    assert results[3].text == (
        f"Tool {name} was not started: the limit of 3 calls for each run is reached (3 used); "
        "it frees with the next run"
    )
    assert reasons(view.execute_sync(calls(1, name), RUN)) == ["limit"]
    assert reasons(view.execute_sync(calls(1, name), ToolContext(run_id="run-2"))) == [None]
    [tool] = ledger.report().tools
    assert (tool.invocations, tool.refusals, tool.outcomes["limit"]) == (4, 3, 3)


def test_a_run_without_an_id_is_its_session(ledger: UsageLedger) -> None:
    view = registry_of(ledger).view(CLERK, limits={"run": {"calls": 1}})
    one, other = ToolContext(session_id="one"), ToolContext(session_id="other")
    assert [reasons(view.execute_sync(calls(1), context)) for context in (one, one, other)] == [
        [None],
        ["limit"],
        [None],
    ]


def test_each_tenant_has_its_own_count(ledger: UsageLedger) -> None:
    view = registry_of(ledger).view(
        CLERK, limits={"tenant": {"calls": 4}, "tenant_day": {"calls": 2}}
    )
    assert reasons(view.execute_sync(calls(3), RUN)) == [None, None, "limit"]
    refused = view.execute_sync(calls(1), RUN)[0].text
    assert "2 calls for each tenant and day is reached (2 used); it frees at 20" in refused
    assert refused.endswith("00:00 UTC")
    assert reasons(view.execute_sync(calls(1), ToolContext(tenant_id="other"))) == [None]
    total = registry_of(ledger).view(CLERK, limits={"tenant": {"calls": 2}})
    assert total.execute_sync(calls(1), RUN)[0].text.endswith("it frees when the limit is raised")


def test_a_day_frees_at_midnight_utc(ledger: UsageLedger, monkeypatch: pytest.MonkeyPatch) -> None:
    view = registry_of(ledger).view(CLERK, limits={"day": {"calls": 1}})
    assert reasons(view.execute_sync(calls(2))) == [None, "limit"]
    now = time.time
    monkeypatch.setattr("ethos_registry.execution._usage_limits.time.time", lambda: now() + 86_400)
    assert reasons(view.execute_sync(calls(2))) == [None, "limit"]


def test_nothing_starts_once_the_cost_is_reached(ledger: UsageLedger) -> None:
    view = registry_of(ledger).view(CLERK, limits={"run": {"cost_usd": 1.0}})
    seen = [reasons(view.execute_sync(calls(1, "buy"), RUN)) for _ in range(4)]
    assert seen == [[None], [None], [None], ["limit"]]
    text = view.execute_sync(calls(1), RUN)[0].text
    assert "the limit of 1 USD for each run is reached (1.2 used)" in text


async def test_tokens_are_what_the_program_reports(ledger: UsageLedger) -> None:
    view = registry_of(ledger).view(CLERK, limits={"run": {"tokens": 1_000}})
    await view.report_usage(RUN, tokens=999)
    assert reasons(await view.execute(calls(1), RUN)) == [None]
    await view.report_usage(RUN, tokens=1)
    [refused] = await view.execute(calls(1), RUN)
    assert "the limit of 1000 tokens for each run is reached (1000 used)" in refused.text
    with pytest.raises(ConfigError, match="`tokens` must be a whole number >= 0"):
        await view.report_usage(RUN, tokens=-1)
    with pytest.raises(ConfigError, match="has no limits"):
        await registry_of(ledger).view(CLERK).report_usage(RUN, tokens=1)


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        ({}, "`limits` must map run, day, tenant, tenant_day"),
        ({"runs": {"calls": 1}}, "`limits` has an unknown key 'runs'"),
        ({"run": {"call": 1}}, r"`limits\['run'\]` has an unknown key 'call'"),
        ({"run": {}}, r"`limits\['run'\]` must map calls, cost_usd, tokens"),
        ({"run": 5}, r"`limits\['run'\]` must map"),
        ({"run": {"calls": -1}}, r"`limits\['run'\]\['calls'\]` must be a whole number >= 0"),
        ({"run": {"calls": 1.5}}, "whole number"),
        ({"run": {"calls": True}}, "whole number"),
        ({"day": {"cost_usd": float("nan")}}, "finite number"),
        ({"day": {"tokens": "1"}}, "whole number"),
    ],
)
def test_limits_that_cannot_be_meant_are_refused(limits: Any, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        registry_of(UsageLedger()).view(CLERK, limits=limits)


def test_limits_need_a_ledger() -> None:
    with pytest.raises(ConfigError, match=r"observers=\[UsageLedger"):
        ToolRegistry().view(CLERK, limits={"run": {"calls": 1}})


@pytest.mark.parametrize(("scope", "field"), [("tenant", "tenant_id"), ("run", "run_id")])
async def test_a_context_that_does_not_name_whom_to_count_for_starts_nothing(
    scope: Any, field: str
) -> None:
    view = registry_of(UsageLedger()).view(CLERK, limits={scope: {"calls": 1}})
    for context in (None, ToolContext(agent_id="a")):
        with pytest.raises(ConfigError, match=field):
            await view.execute(calls(1), context)
        with pytest.raises(ConfigError, match=field):
            view.execute_sync(calls(1), context)
        with pytest.raises(ConfigError, match=field):
            view.dispatch(context, provider="openai")
        with pytest.raises(ConfigError, match=field):
            await TurnCollector(view).call("look", {}, run=object(), context=context)


def test_zero_permits_nothing(ledger: UsageLedger) -> None:
    for limit in ({"calls": 0}, {"cost_usd": 0}, {"tokens": 0}):
        view = registry_of(ledger).view(CLERK, limits={"run": limit})
        assert reasons(view.execute_sync(calls(1), RUN)) == ["limit"]


def test_only_calls_that_start_are_counted(ledger: UsageLedger) -> None:
    registry = registry_of(ledger)

    def forbid(invocation: Any) -> Any:
        return {"ok": False, "error": "no", "code": "not_available"}

    @registry.tool(is_available=lambda: False)
    def away() -> str:
        """Away."""
        return ""

    view = registry.view(CLERK, limits={"run": {"calls": 1}})
    refused = [InvocationFilter(before=forbid)]
    assert not view.execute_sync(calls(1), RUN, filters=refused)[0].result.ok
    view.execute_sync([*calls(1, "nothing"), *calls(1, "away")], RUN)
    view.execute_sync(calls(1), RUN.replace(dry_run=True))
    assert reasons(view.execute_sync(calls(1), RUN)) == [None]


async def test_a_call_that_never_got_a_thread_is_given_back(ledger: UsageLedger) -> None:
    registry = registry_of(ledger, max_threads=1, thread_wait_seconds=0.05)

    is_held, release = threading.Event(), threading.Event()

    @registry.tool
    def hold() -> str:
        """Hold the only thread."""
        is_held.set()
        release.wait(PATIENCE_SECONDS)
        return "held"

    view = registry.view(CLERK, limits={"run": {"calls": 2}})
    held = asyncio.create_task(view.execute(calls(1, "hold"), RUN))
    while not is_held.is_set():  # noqa: ASYNC110 - set by another thread
        await asyncio.sleep(0.01)
    assert reasons(await view.execute(calls(1, "look_plain"), RUN)) == ["timeout"]
    release.set()
    await held
    for _ in range(100):
        [result] = await view.execute(calls(1), RUN)
        if result.result.ok:
            break
        await asyncio.sleep(0.01)
    assert result.result.ok
    assert reasons(await view.execute(calls(1), RUN)) == ["limit"]


def ways(view: Any) -> dict[str, Callable[[], Awaitable[Any]]]:
    """Every way to run one call of `look` through a view."""
    block = {"type": "tool_use", "id": "1", "name": "look", "input": {}}
    reply = {"role": "assistant", "content": [block]}

    events: list[dict[str, Any]] = [
        {"type": "message_start", "message": {"role": "assistant", "content": []}},
        {"type": "content_block_start", "index": 0, "content_block": block},
        {
            "type": "content_block_delta",
            "index": 0,
            "delta": {"type": "input_json_delta", "partial_json": "{}"},
        },
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "tool_use"}},
        {"type": "message_stop"},
    ]

    async def stream() -> Any:
        return [each async for each in view.stream(calls(1), RUN)]

    async def dispatched() -> Any:
        async with view.dispatch(RUN, provider="anthropic") as turn:
            for event in events:
                turn.feed(event)
        return await turn.results()

    async def dispatched_sync() -> Any:
        with view.dispatch_sync(RUN, provider="anthropic") as turn:
            for event in events:
                turn.feed(event)
        return turn.results()

    async def collected() -> Any:
        return [await TurnCollector(view).call("look", {}, run=object(), context=RUN)]

    async def alone() -> Any:
        return [await TurnCollector(view).call("look", {}, context=RUN)]

    async def in_sync() -> Any:
        return view.execute_sync(calls(1), RUN)

    async def session() -> Any:
        return await PrefixSession(view, "anthropic").execute(calls(1), RUN)

    return {
        "execute": lambda: view.execute(calls(1), RUN),
        "reply": lambda: view.execute(reply, RUN),
        "execute_sync": in_sync,
        "stream": stream,
        "dispatch": dispatched,
        "dispatch_sync": dispatched_sync,
        "collector": collected,
        "collector, alone": alone,
        "prefix session": session,
    }


@pytest.mark.parametrize("kind", ["view", "turn", "frozen", "search", "deferred", "catalogue"])
async def test_every_way_of_calling_is_limited(kind: str) -> None:
    ledger = UsageLedger()
    registry, limits = registry_of(ledger), {"run": {"calls": 1}}
    always = ToolRegistry(observers=[ledger])
    always.tool(always_include=True)(look_always)
    if kind == "view":
        view: Any = registry.view(CLERK, limits=limits)  # type: ignore[arg-type]
    elif kind == "turn":
        view = registry.turn(DispatchContext()).registry.view(CLERK, limits=limits)  # type: ignore[arg-type]
    elif kind == "frozen":
        view = registry.freeze().view(CLERK, limits=limits)  # type: ignore[arg-type]
    elif kind in ("search", "deferred"):
        search = True if kind == "search" else ToolSearch(by="provider")
        view = always.view(CLERK, search=search, limits=limits)  # type: ignore[arg-type]
    else:
        catalog = AgentCatalog([Owner()], observers=[ledger])
        catalog.start()
        view = catalog.view("owner", limits=limits)  # type: ignore[arg-type]
    seen = {}
    assert reasons(await view.execute(calls(1), RUN)) == [None]
    for way, run in ways(view).items():
        if kind == "deferred" and way == "prefix session":
            continue
        seen[way] = reasons(await run())
    assert set(map(tuple, seen.values())) == {("limit",)}, seen


async def look_always() -> str:
    """Look."""
    return "seen"


look_always.__name__ = "look"


class Owner:
    id = "owner"

    def register_tools(self, catalog: Any) -> None:
        @catalog.tool
        async def look() -> str:
            """Look."""
            return "seen"


async def test_a_call_that_is_resumed_counts_when_it_runs() -> None:
    registry = registry_of(UsageLedger(), approvals=Approvals(b"k" * 32))
    view = registry.view(CLERK, limits={"run": {"calls": 1}})
    ask = [InvocationFilter(before=lambda invocation: Pending("sure?"))]
    [first], [second] = [await view.execute(calls(1), RUN, filters=ask) for _ in range(2)]
    tokens = [first.pending.token, second.pending.token]
    done = [await view.resume(token, approved=True, context=RUN, filters=ask) for token in tokens]
    assert reasons(done) == [None, "limit"]


async def test_calls_that_run_remotely_are_limited_here() -> None:
    registry = registry_of(UsageLedger())
    remote = ToolRegistry(
        registry.all(),
        observers=[UsageLedger()],
        transports={"*": LocalTransport(registry)},
    )
    view = remote.view(CLERK, limits={"run": {"calls": 2, "cost_usd": 0.4}})
    assert reasons(await view.execute(calls(1, "buy"), RUN)) == [None]
    assert reasons(await view.execute(calls(1, "buy"), RUN)) == ["limit"]


def test_a_ledger_that_cannot_count_lets_nothing_run(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ethos_registry.usage._databases.BUSY_SECONDS", 0.1)
    path = tmp_path / "usage.sqlite3"
    with UsageLedger(path, flush_seconds=60) as ledger:
        view = registry_of(ledger).view(CLERK, limits={"day": {"calls": 10}})
        assert reasons(view.execute_sync(calls(1))) == [None]
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        with caplog.at_level(logging.WARNING, "ethos_registry"):
            [refused] = view.execute_sync(calls(1))
        other.execute("ROLLBACK")
        other.close()
        assert refused.result.reason == "limit"
        assert refused.text == "Tool look was not started: its limits could not be counted"
        assert "database is locked" in caplog.text
        assert reasons(view.execute_sync(calls(1))) == [None]


WORKER = """
    import sys
    from ethos_registry import Personality, ToolContext, ToolRegistry
    from ethos_registry.usage import UsageLedger

    with UsageLedger(sys.argv[1]) as ledger:
        registry = ToolRegistry(observers=[ledger])

        @registry.tool
        def look() -> str:
            return "seen"

        view = registry.view(Personality("clerk"), limits={"tenant": {"calls": 100}})
        print("ready", flush=True)
        sys.stdin.readline()
        ran = 0
        for start in range(20):
            calls = [{"id": str(number), "name": "look", "args": {}} for number in range(3)]
            results = view.execute_sync(calls, ToolContext(tenant_id="acme"))
            ran += sum(result.result.ok for result in results)
            assert {r.result.reason for r in results if not r.result.ok} <= {"limit"}, results
        print(ran)
"""


def calls_that_ran(place: object) -> list[int]:
    """How many calls ran in each of four processes that begin at the same time."""
    processes = [start_python(WORKER, place, stdin=subprocess.PIPE) for _ in range(4)]
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    return [int(finish(process)) for process in processes]


@pytest.mark.slow
def test_four_processes_share_one_limit_exactly(tmp_path: Path) -> None:
    ran = calls_that_ran(tmp_path / "usage.sqlite3")
    assert sum(ran) == 100, ran
