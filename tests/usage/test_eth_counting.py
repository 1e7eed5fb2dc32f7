"""What is counted, and how a registry and its catalogue do it (facts ETH-28 and 44 to 52)."""

from __future__ import annotations

import asyncio
import threading
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog_agents import Orchestrator, Specialist, started, tool
from ethos_registry import (
    NO_TOOLS,
    InvocationFilter,
    Personality,
    ToolCall,
    ToolContext,
    ToolError,
    ToolRegistry,
    err,
    ok,
)
from ethos_registry import tool as function_tool
from ethos_registry.telemetry import FinishedCall
from ethos_registry.types import AbortController
from ethos_registry.types._observer import FinishedCalls
from ethos_registry.types._result import ERROR_REASONS
from ethos_registry.usage import UsageLedger
from ethos_registry.usage._record import NOT_REACHED, Counts
from session_tools import calls_of, quick, registry_of, until


def usage(ledger, name):
    [found] = [each for each in ledger.report().tools if each.name == name]
    return found


def two_agents(ledger, **settings):
    return started(
        Specialist("hawken", "lore_search", "write"),
        Specialist("lagan", "wiki"),
        observers=[ledger],
        **settings,
    )


async def call(view, *names):
    return await view.execute(calls_of(*names))


async def test_eth_28_a_call_without_a_grant_is_counted_under_the_caller():
    ledger = UsageLedger()
    await call(two_agents(ledger).view("lagan"), "lore_search")
    found = usage(ledger, "lore_search")
    assert (found.owner, found.calls, found.invocations, found.refusals) == ("hawken", 1, 0, 1)
    assert found.callers == {"lagan": 1}
    assert found.called_by_others == {"lagan": 1}
    open_ledger = UsageLedger()
    await call(two_agents(open_ledger, open_calls=True).view("lagan"), "lore_search")
    found = usage(open_ledger, "lore_search")
    assert (found.invocations, found.callers) == (1, {"lagan": 1})


async def test_eth_44_each_call_of_the_implementation_counts_one():
    ledger, ran = UsageLedger(), []

    async def execute(args, context):
        ran.append(1)
        return ok("")

    catalog = started(Specialist("hawken", tool("search", execute=execute)), observers=[ledger])
    for number in range(1, 6):
        await call(catalog.view("hawken"), "search")
        assert usage(ledger, "search").invocations == len(ran) == number


async def test_eth_45_a_listing_does_not_count():
    ledger = UsageLedger()
    view = two_agents(ledger).view("hawken")
    for _ in range(3):
        assert view.definitions()
        assert view.definitions("anthropic")
        assert view.fingerprint
    assert ledger.report().calls == 0


@pytest.mark.parametrize("failure", [RuntimeError("no"), SystemExit(), KeyError()])
async def test_eth_46_a_call_that_raises_counts(failure):
    async def execute(args, context):
        raise failure

    ledger = UsageLedger()
    await registry_of(tool("search", execute=execute), observers=[ledger]).execute_parallel(
        calls_of("search")
    )
    found = usage(ledger, "search")
    assert (found.invocations, found.failures, found.outcomes) == (1, 1, {"raised": 1})


def never(args, context):
    raise AssertionError("the implementation was called")


@function_tool
def typed(number: int) -> str:
    """Take a number."""
    raise AssertionError("the implementation was called")


REFUSED = {
    "unknown": ({"calls": calls_of("nothing")}, "nothing"),
    "excluded": ({"personality": Personality("p", exclude=["search"])}, "search"),
    "denied": ({"allowed_tools": NO_TOOLS}, "search"),
    "unavailable": ({"is_available": lambda: False}, "search"),
    "invalid_args": ({"calls": [ToolCall("1", "typed", {"number": "x"})]}, "typed"),
    "no_backends": ({"capabilities": {"network": {"allowed_hosts": ["a.example"]}}}, "search"),
    "dry_run": ({"context": ToolContext(dry_run=True)}, "search"),
    "cancelled_before_start": ({"aborted": True}, "search"),
}


@pytest.mark.parametrize("outcome", REFUSED)
async def test_eth_47_a_call_that_is_refused_is_no_invocation_and_appears_beside_them(outcome):
    settings, name = REFUSED[outcome]
    settings = dict(settings)
    calls = settings.pop("calls", calls_of("search"))
    context = settings.pop("context", ToolContext())
    personality = settings.pop("personality", None)
    allowed = settings.pop("allowed_tools", None)
    if settings.pop("aborted", False):
        controller = AbortController()
        controller.abort("over")
        context = ToolContext(abort_signal=controller.signal)
    ledger = UsageLedger()
    registry = registry_of(tool("search", execute=never, **settings), typed, observers=[ledger])
    if personality is None:
        await registry.execute_parallel(calls, context, allowed)
    else:
        await registry.view(personality).execute(calls, context)
    found = usage(ledger, name)
    assert (found.calls, found.invocations, found.refusals) == (1, 0, 1)
    assert found.outcomes == {outcome: 1}
    assert found.median_seconds is None


@pytest.mark.parametrize(
    ("answer", "outcome"), [(ok("no need"), "answered"), (err("no"), "refused")]
)
async def test_eth_47_a_filter_that_answers_in_place_of_the_tool_is_no_invocation(answer, outcome):
    ledger = UsageLedger()
    registry = registry_of(tool("search", execute=never), observers=[ledger])
    filters = [InvocationFilter(before=lambda invocation: answer)]
    await registry.execute_parallel(calls_of("search"), filters=filters)
    found = usage(ledger, "search")
    assert (found.invocations, found.refusals, found.outcomes) == (0, 1, {outcome: 1})


async def test_every_end_of_a_call_that_ran_is_distinguished():
    async def fails(args, context):
        return err("no such file")

    async def returns_nothing(args, context):
        return 5

    async def slow(args, context):
        await asyncio.Event().wait()

    hanging = []

    async def hang(args, context):
        hanging.append(args)
        await asyncio.Event().wait()

    ledger = UsageLedger()
    registry = registry_of(
        quick, fails, returns_nothing, tool("slow", execute=slow, timeout_seconds=0.02), hang,
        observers=[ledger],
    )  # fmt: skip
    names = ("quick", "fails", "returns_nothing", "slow")
    await registry.execute_parallel(calls_of(*names))
    controller = AbortController()
    running = asyncio.create_task(
        registry.execute_parallel(calls_of("hang"), ToolContext(abort_signal=controller.signal))
    )
    await until(lambda: hanging)
    controller.abort("over")
    await running
    outcomes = {each.name: dict(each.outcomes) for each in ledger.report().tools}
    assert outcomes == {
        "quick": {"ok": 1},
        "fails": {"failed": 1},
        "returns_nothing": {"bad_result": 1},
        "slow": {"timeout": 1},
        "hang": {"cancelled": 1},
    }
    assert ledger.report().invocations == 5


async def test_eth_48_counts_are_per_tool_and_agent_and_their_sums_agree():
    ledger = UsageLedger()
    catalog = two_agents(ledger)
    catalog.grant("lagan", "owner:hawken")
    hawken, lagan = catalog.view("hawken"), catalog.view("lagan")
    await call(hawken, "lore_search", "lore_search", "write", "wiki")
    await call(lagan, "lore_search", "wiki", "wiki", "nothing")
    report = ledger.report()
    by_tool = {each.name: dict(each.callers) for each in report.tools}
    assert by_tool == {
        "lore_search": {"hawken": 2, "lagan": 1},
        "write": {"hawken": 1},
        "wiki": {"lagan": 2, "hawken": 1},
        "nothing": {"lagan": 1},
    }
    by_agent = {each.agent: dict(each.tools) for each in report.agents}
    assert by_agent == {
        "hawken": {"lore_search": 2, "wiki": 1, "write": 1},
        "lagan": {"wiki": 2, "lore_search": 1, "nothing": 1},
    }
    assert report.calls == sum(each.calls for each in report.agents) == 8
    assert sum(day.calls for day in report.by_day) == 8


def test_eth_49_a_tool_that_was_never_called_shows_zero(tmp_path):
    with UsageLedger(tmp_path / "usage.sqlite3") as ledger:
        two_agents(ledger)
        assert {each.name: each.calls for each in ledger.report().tools} == {
            "lore_search": 0,
            "wiki": 0,
            "write": 0,
        }


async def test_eth_50_the_table_has_name_owner_description_parameter_count_and_total():
    schema = {
        "type": "object",
        "properties": {
            "query": {"type": "string"},
            "options": {"type": "object", "properties": {"deep": {"type": "boolean"}}},
        },
    }
    ledger = UsageLedger()
    catalog = started(Specialist("hawken", tool("search", schema=schema)), observers=[ledger])
    await call(catalog.view("hawken"), "search", "search")
    found = usage(ledger, "search")
    assert (found.name, found.owner, found.description, found.parameter_count) == (
        "search",
        "hawken",
        "The tool search.",
        2,
    )
    assert found.invocations == 2


async def test_eth_51_counts_survive_sessions(tmp_path):
    path = tmp_path / "usage.sqlite3"
    for session in range(1, 4):
        with UsageLedger(path) as ledger:
            await call(two_agents(ledger).view("hawken"), "write")
            assert usage(ledger, "write").invocations == session


@pytest.mark.parametrize("place", ["memory", "file"])
async def test_eth_52_ten_thousand_calls_at_once_count_exactly(tmp_path, place):
    path = ":memory:" if place == "memory" else tmp_path / "usage.sqlite3"
    names = [f"tool_{number}" for number in range(7)]
    with UsageLedger(path) as ledger:
        catalog = started(Specialist("hawken", *names), observers=[ledger])

        async def batches(number):
            view = catalog.view("hawken")
            for _ in range(10):
                await call(view, *(names[(number + each) % 7] for each in range(50)))

        def thread(number):
            asyncio.run(batches(number))

        threads = [threading.Thread(target=thread, args=(number,)) for number in range(10)]
        for each in threads:
            each.start()
        await asyncio.gather(*(batches(number) for number in range(10)))
        for each in threads:
            await asyncio.to_thread(each.join)
        report = ledger.report()
    assert report.invocations == 10_000
    assert sum(each.outcomes["ok"] for each in report.tools) == 10_000
    assert report.lost_calls == report.unsaved_calls == 0


async def test_characters_cost_and_time_are_those_of_the_results():
    async def execute(args, context):
        await asyncio.sleep(0.02)
        return ok("x" * 1_000, cost_usd=0.25)

    ledger = UsageLedger()
    registry = registry_of(
        tool("search", execute=execute, max_result_chars=100), observers=[ledger]
    )
    results = await registry.execute_parallel(calls_of("search", "search"))
    found = usage(ledger, "search")
    assert found.raw_chars == 2_000
    assert found.sent_chars == sum(len(result.text) for result in results)
    assert found.saved_chars == 2_000 - found.sent_chars
    assert found.cost_usd == 0.5
    assert found.median_seconds >= 0.015
    assert found.total_seconds >= 0.03


async def test_calls_of_agents_that_were_given_tasks_are_counted_under_them():
    ledger = UsageLedger()

    async def run(task, context, tool_context):
        await catalog.view("lagan").execute(calls_of("wiki", "wiki"), tool_context)
        return "done"

    catalog = started(
        Orchestrator("ishvana", "lagan"), Specialist("lagan", "wiki", run=run), observers=[ledger]
    )
    tasks = [{"agent": "lagan", "task": "look"}, {"agent": "lagan", "task": "look again"}]
    args = {"tasks": tasks}
    await catalog.view("ishvana").execute([{"id": "1", "name": "delegate_parallel", "args": args}])
    assert usage(ledger, "delegate_parallel").callers == {"ishvana": 1}
    assert usage(ledger, "wiki").callers == {"lagan": 4}


async def test_the_caller_is_the_agent_else_the_personality_else_nobody():
    ledger = UsageLedger()
    registry = registry_of(quick, observers=[ledger])
    await registry.execute_parallel(calls_of("quick"), ToolContext(agent_id="a"))
    await registry.view(Personality("p")).execute(calls_of("quick"))
    await registry.execute_parallel(calls_of("quick"))
    assert dict(usage(ledger, "quick").callers) == {"": 1, "a": 1, "p": 1}


# The native sums beside a plain twin


OUTCOMES = st.sampled_from(
    [
        ok("x"),
        ok("x", cost_usd=0.5),
        ok("x", cost_usd=-1e300),
        err("no"),
        *(ToolError("no", "execution_failed", reason) for reason in sorted(ERROR_REASONS)),
    ]
)


def registered(name, owner):
    registry = ToolRegistry()
    registry.register(tool(name), owner=owner)
    return registry._snapshot().get(name)


ENTRIES = [registered("read", "boss"), registered("write", None), None]
ROWS = st.lists(
    st.tuples(
        st.sampled_from(ENTRIES),
        OUTCOMES,
        st.none() | st.floats(0, 1e6),
        st.floats(0, 1e4),
        st.tuples(*[st.integers(0, 10**9)] * 3),
    ),
    max_size=30,
)


@given(ROWS, st.sampled_from([None, "clerk"]), st.sampled_from([None, "p"]))
def test_a_batch_in_one_crossing_counts_what_its_calls_count_one_by_one(rows, agent, personality):
    from ethos_registry import CallResult

    finished = []
    for index, (entry, result, start, duration, chars) in enumerate(rows):
        name = "made up" if entry is None else entry.name
        answer = CallResult(str(index), name, result, False, None, *chars, None, duration)
        finished.append((index, answer, entry, start))
    context = ToolContext(agent_id=agent)
    calls = FinishedCalls(finished, context, personality, time.time())
    together, singly = Counts(), Counts()
    together.add_batch(calls)
    singly.add_batch(list(calls))
    assert together.peek() == singly.take()
    assert sum(totals.calls for totals in together.take().values()) == len(rows)
    assert together.take() == {}


def test_a_batch_reads_as_a_sequence_of_calls_in_their_order():
    from ethos_registry import CallResult

    answers = [CallResult(str(index), "read", ok("x")) for index in range(3)]
    rows = [(index, answers[index], ENTRIES[0], 5.0) for index in (2, 0, 1)]
    calls = FinishedCalls(rows, ToolContext(agent_id="clerk"), "p", 100.0)
    assert len(calls) == 3
    assert [each.tool_call_id for each in calls] == ["0", "1", "2"]
    assert isinstance(calls[0], FinishedCall)
    assert calls[0] is calls[0]
    assert [each.tool_call_id for each in calls[1:]] == ["1", "2"]
    assert calls[-1].started_at_seconds == 105.0
    assert (calls[0].owner, calls[0].agent_id, calls[0].personality_id) == ("boss", "clerk", "p")


def test_sums_of_calls_that_were_refused_have_no_duration():
    counts = Counts()
    for outcome in ("denied", "ok"):
        counts.add("a", "", "t", outcome, 0.0, duration_seconds=1.0)
    buckets = {key.outcome: key.bucket for key in counts.take()}
    assert buckets["denied"] == NOT_REACHED
    assert buckets["ok"] > 0
