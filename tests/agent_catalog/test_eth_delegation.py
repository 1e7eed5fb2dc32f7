"""Tasks that one agent hands to others (facts ETH-53 to 59)."""

from __future__ import annotations

import asyncio
import contextlib
import json
import threading
import time

import pytest

from catalog_agents import Orchestrator, Specialist, names, started, tool
from ethos_registry import ConfigError, ToolContext, err, ok
from ethos_registry.agents import AgentCatalog, _delegation
from ethos_registry.agents._delegation import fit_rows
from ethos_registry.types import AbortController


async def echo(task, context, tool_context):
    return f"{task} done"


async def delegated(catalog, tasks, context=None, *, agent="ishvana", **options):
    """The rows that `delegate_parallel` answers with."""
    call = {"id": "1", "name": "delegate_parallel", "args": {"tasks": tasks}}
    [result] = await catalog.view(agent).execute([call], context, **options)
    assert result.ok, result.text
    return json.loads(result.text)


def specialists(run=echo, count=3, **settings):
    ids = [f"agent_{number}" for number in range(count)]
    return started(
        Orchestrator("ishvana", *ids), *(Specialist(each, run=run) for each in ids), **settings
    )


def tasks_for(*agents):
    return [{"agent": agent, "task": f"task {number}"} for number, agent in enumerate(agents)]


def test_eth_53_it_is_a_registered_tool_of_the_orchestrator():
    catalog = specialists()
    owners = {found.tool.name: found.owner for found in catalog.registrations()}
    assert owners == {"delegate_parallel": "ishvana", "task": "ishvana"}
    assert names(catalog.view("ishvana")) == ["delegate_parallel", "task"]
    assert names(catalog.view("agent_0")) == []


async def test_eth_54_the_input_is_an_array_of_agent_task_and_context():
    seen = []

    async def run(task, context, tool_context):
        seen.append((task, context))
        return "done"

    catalog = specialists(run)
    [schema] = [
        shown["parameters"]
        for shown in catalog.view("ishvana").definitions()
        if shown["name"] == "delegate_parallel"
    ]
    assert schema["properties"]["tasks"]["type"] == "array"
    assert list(schema["properties"]["tasks"]["items"]["properties"]) == [
        "agent",
        "task",
        "context",
    ]
    tasks = [
        {"agent": "agent_0", "task": "find", "context": "chapter 3"},
        {"agent": "agent_1", "task": "write"},
    ]
    assert await delegated(catalog, tasks) == [
        {"agent": "agent_0", "ok": True, "value": "done"},
        {"agent": "agent_1", "ok": True, "value": "done"},
    ]
    assert seen == [("find", "chapter 3"), ("write", None)]


async def test_eth_55_tasks_run_at_the_same_time():
    together = asyncio.Barrier(3)

    async def run(task, context, tool_context):
        await asyncio.wait_for(together.wait(), 60)
        return "met"

    rows = await delegated(specialists(run), tasks_for("agent_0", "agent_1", "agent_2"))
    assert [row["value"] for row in rows] == ["met"] * 3


async def test_eth_55_plain_functions_run_at_the_same_time_and_off_the_loop():
    together = threading.Barrier(3, timeout=60)
    loop_thread = threading.get_ident()

    def run(task, context, tool_context):
        together.wait()
        return str(threading.get_ident() != loop_thread)

    rows = await delegated(specialists(run), tasks_for("agent_0", "agent_1", "agent_2"))
    assert [row["value"] for row in rows] == ["True"] * 3


async def test_eth_56_results_come_in_input_order():
    order = []

    async def run(task, context, tool_context):
        await asyncio.sleep({"task 0": 0.1, "task 1": 0.05, "task 2": 0}[task])
        order.append(task)
        return task

    rows = await delegated(specialists(run), tasks_for("agent_2", "agent_0", "agent_1"))
    assert [(row["agent"], row["value"]) for row in rows] == [
        ("agent_2", "task 0"),
        ("agent_0", "task 1"),
        ("agent_1", "task 2"),
    ]
    assert order == ["task 2", "task 1", "task 0"]


class Unusual(BaseException):
    pass


@pytest.mark.parametrize(
    ("failure", "text"),
    [
        (RuntimeError("no ink"), "no ink"),
        (SystemExit(3), "3"),
        (Unusual("odd"), "odd"),
        (asyncio.CancelledError("own"), "own"),
    ],
)
async def test_eth_57_a_failing_task_costs_itself_only(failure, text):
    async def run(task, context, tool_context):
        if task == "task 1":
            raise failure
        return task

    rows = await delegated(specialists(run), tasks_for("agent_0", "agent_1", "agent_2"))
    assert [row["ok"] for row in rows] == [True, False, True]
    assert rows[1] == {"agent": "agent_1", "ok": False, "error": text}


async def test_eth_58_no_tasks_give_no_results():
    assert await delegated(specialists(), []) == []


async def test_eth_59_an_unknown_an_ungranted_and_an_unable_agent_cost_their_own_item_only():
    catalog = started(
        Orchestrator("ishvana", "able"),
        Specialist("able", run=echo),
        Specialist("unable"),
        Specialist("stranger", run=echo),
    )
    catalog.grant("ishvana", "agent:unable")
    rows = await delegated(
        catalog, tasks_for("able", "nobody", "stranger", "unable", "ishvana", "able")
    )
    assert [row["ok"] for row in rows] == [True, False, False, False, False, True]
    assert [row["error"] for row in rows if not row["ok"]] == [
        "Unknown agent: 'nobody'",
        "Agent stranger may not be given tasks by ishvana",
        "Agent unable takes no tasks",
        "Agent ishvana is waiting for this task itself: ishvana -> ishvana",
    ]
    catalog.grant("ishvana", "owner:stranger")
    [row] = await delegated(catalog, tasks_for("stranger"))
    assert row["ok"]


@pytest.mark.parametrize(
    "item",
    [
        None,
        "agent_0",
        {},
        {"agent": "agent_0"},
        {"agent": 5, "task": "x"},
        {"agent": "agent_0", "task": " "},
        {"agent": "\ud800", "task": "x"},
    ],
)
async def test_a_malformed_item_costs_itself_only(item):
    rows = await delegated(specialists(), [item, *tasks_for("agent_1")])
    assert [row["ok"] for row in rows] == [False, True]
    assert rows[0]["error"]


@pytest.mark.parametrize("tasks", [None, "x", {"agent": "agent_0"}, 5, [{}] * 101])
async def test_what_is_no_array_of_tasks_is_answered_as_invalid(tasks):
    call = {"id": "1", "name": "delegate_parallel", "args": {"tasks": tasks}}
    [result] = await specialists().view("ishvana").execute([call])
    assert (result.ok, result.result.code) == (False, "input_invalid")
    assert "tasks: " in result.text


async def test_task_hands_over_one_task():
    async def run(task, context, tool_context):
        if task == "fail":
            return err("no ink")
        return {"task": task, "context": context}

    view = specialists(run).view("ishvana")
    args = [
        {"agent": "agent_0", "task": "write", "context": "c"},
        {"agent": "agent_0", "task": "fail"},
        {"agent": "nobody", "task": "write"},
        {},
    ]
    results = await view.execute(
        [{"id": str(place), "name": "task", "args": each} for place, each in enumerate(args)]
    )
    assert [(each.ok, each.text) for each in results] == [
        (True, '{"task":"write","context":"c"}'),
        (False, "no ink"),
        (False, "Unknown agent: 'nobody'"),
        (False, "agent: the id of an agent is expected"),
    ]


@pytest.mark.parametrize(
    ("returned", "text"),
    [("plain", "plain"), (None, "null"), ({"a": 1}, '{"a":1}'), (ok("fine"), "fine"), ([1], "[1]")],
)
@pytest.mark.parametrize("kind", ["async", "plain", "awaitable"])
async def test_run_may_return_what_a_tool_function_may(returned, text, kind):
    async def run_async(task, context, tool_context):
        return returned

    def run_plain(task, context, tool_context):
        return returned

    def run_awaitable(task, context, tool_context):
        return run_async(task, context, tool_context)

    run = {"async": run_async, "plain": run_plain, "awaitable": run_awaitable}[kind]
    [row] = await delegated(specialists(run, 1), tasks_for("agent_0"))
    assert (row["ok"], row["value"]) == (True, text)


# Limits


async def test_each_task_may_use_its_share_of_the_callers_cap():
    seen = []

    async def run(task, context, tool_context):
        seen.append(tool_context.result_budget_chars)
        return "x" * 100_000

    tasks = tasks_for("agent_0", "agent_1", "nobody")
    context = ToolContext(result_budget_chars=3_001)
    rows = await delegated(specialists(run), tasks, context)
    assert seen == [1_000, 1_000]
    assert all("truncated" in row["value"] for row in rows[:2])
    assert len(json.dumps(rows, ensure_ascii=False, separators=(",", ":"))) <= 3_001


@pytest.mark.parametrize("text", ["x", '"\\\n', "ä€", "\U0001f469\u200d\U0001f680", "\x00"])
@pytest.mark.parametrize("budget", [0, 10, 150, 400, 5_000, 100_000])
def test_results_that_do_not_fit_are_cut_and_stay_json(text, budget):
    rows = [
        {"agent": "a", "ok": True, "value": text * 900},
        {"agent": "b", "ok": False, "error": "short"},
        {"agent": "c", "ok": True, "value": text * 20},
    ]
    fit = fit_rows(rows, budget)
    read = json.loads(fit)
    assert [(row["agent"], row["ok"]) for row in read] == [("a", True), ("b", False), ("c", True)]
    if budget >= 400:
        assert len(fit) <= budget
        assert read[1]["error"] == "short"
    if budget == 100_000:
        assert read == rows


async def test_an_answer_that_is_cut_twice_states_the_length_that_it_had():
    async def run(task, context, tool_context):
        return '"quoted" ' * 10_000

    context = ToolContext(result_budget_chars=2_000)
    rows = await delegated(specialists(run), tasks_for("agent_0", "agent_1"), context)
    assert len(rows[0]["value"]) < 1_000
    assert all(row["value"].endswith("\n[truncated — 90000 chars total]") for row in rows)


@pytest.mark.parametrize("budget", [0, 40, 100, 200, 300, 400])
def test_what_follows_the_marker_of_a_cut_stays(budget):
    tail = "\n[truncated — 5000 chars total]\n[artifact a1 has the full text]"
    row = {"agent": "a", "ok": True, "value": "\n[truncated — 7 chars total]" * 9 + tail}
    [read] = json.loads(fit_rows([row], budget, [5_000]))
    assert read["value"].endswith(tail)
    assert read["value"].count("[truncated — 5000") == 1


async def test_costs_beyond_every_number_lose_no_result():
    async def run(task, context, tool_context):
        return ok("done", cost_usd=1e308)

    rows = await delegated(specialists(run), tasks_for("agent_0", "agent_1"))
    assert [row["value"] for row in rows] == ["done", "done"]


async def test_max_concurrency_of_the_caller_holds_for_tasks():
    running = most = 0

    async def run(task, context, tool_context):
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0.01)
        running -= 1
        return "done"

    ids = [f"agent_{number % 3}" for number in range(9)]
    rows = await delegated(specialists(run), tasks_for(*ids), max_concurrency=2)
    assert all(row["ok"] for row in rows)
    assert most == 2


async def test_the_callers_deadline_ends_tasks_and_finished_ones_are_reported(monkeypatch):
    # Tasks end before the call does: by a part that is enough for a busy machine too.
    monkeypatch.setattr(_delegation, "MARGIN_PART", 0.5)
    monkeypatch.setattr(_delegation, "MARGIN_SECONDS", 2.0)

    async def run(task, context, tool_context):
        if task == "task 0":
            return "quick"
        return await asyncio.Event().wait()

    rows = await delegated(specialists(run), tasks_for("agent_0", "agent_1"), deadline_seconds=4)
    assert [row["ok"] for row in rows] == [True, False]
    assert rows[1]["error"].startswith("Agent agent_1 timed out after 1.")


@pytest.mark.parametrize("kind", ["async", "plain"])
async def test_an_agent_that_does_not_end_costs_its_own_task_only(monkeypatch, kind):
    monkeypatch.setattr(_delegation, "MARGIN_PART", 0.5)
    released = threading.Event()

    async def stubborn(task, context, tool_context):
        if task == "task 0":
            return "quick"
        while not released.is_set():
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.sleep(0.05)
        return "late"

    def blocked(task, context, tool_context):
        return "quick" if task == "task 0" else released.wait(60)

    run = stubborn if kind == "async" else blocked
    catalog = started(
        Orchestrator("ishvana", "agent_0", "agent_1", timeout_seconds=3),
        *(Specialist(f"agent_{number}", run=run) for number in (0, 1)),
    )
    try:
        rows = await delegated(catalog, tasks_for("agent_0", "agent_1"))
    finally:
        released.set()
    assert [row["ok"] for row in rows] == [True, False]
    assert rows[1]["error"].startswith("Agent agent_1 timed out after 1.5 s")


async def test_tasks_that_are_delegated_end_before_those_who_wait_for_them(monkeypatch):
    monkeypatch.setattr(_delegation, "MARGIN_PART", 0.25)

    async def middle(task, context, tool_context):
        tasks = [{"agent": "agent_1", "task": each} for each in ("quick", "endless")]
        call = {"id": "1", "name": "delegate_parallel", "args": {"tasks": tasks}}
        [result] = await catalog.view("agent_0").execute([call], tool_context)
        return result.text

    async def last(task, context, tool_context):
        return "done" if task == "quick" else await asyncio.Event().wait()

    catalog = started(
        Orchestrator("ishvana", "agent_0", timeout_seconds=4),
        Specialist("agent_0", run=middle),
        Specialist("agent_1", run=last),
    )
    catalog.grant("agent_0", "delegate_parallel")
    catalog.grant("agent_0", "agent:agent_1")
    [row] = await delegated(catalog, tasks_for("agent_0"))
    assert row["ok"], row
    assert [each["ok"] for each in json.loads(row["value"])] == [True, False]


async def test_the_callers_abort_ends_tasks():
    controller = AbortController()
    ended = []

    async def run(task, context, tool_context):
        tool_context.abort_signal.add_listener(lambda: ended.append(task))
        controller.abort("enough")
        await asyncio.Event().wait()

    catalog = specialists(run)
    call = {"id": "1", "name": "delegate_parallel", "args": {"tasks": tasks_for("agent_0")}}
    started_at = time.monotonic()
    [result] = await catalog.view("ishvana").execute(
        [call], ToolContext(abort_signal=controller.signal)
    )
    assert (result.ok, result.result.reason) == (False, "cancelled")
    assert ended == ["task 0"]
    assert time.monotonic() - started_at < 60


def chain(*ids, max_depth=3, close=False):
    """Agents of which each hands its task to the next one, and the last to the first."""

    class Link(Specialist):
        def __init__(self, agent_id, following):
            super().__init__(agent_id)
            self.following = following

        async def run(self, task, context, tool_context):
            if self.following is None:
                return "the end"
            args = {"agent": self.following, "task": task}
            call = {"id": "1", "name": "task", "args": args}
            [result] = await catalog.view(self.id).execute([call], tool_context)
            return result.result

        def register_tools(self, catalog):
            if self.id == ids[0]:
                catalog.register_delegation(max_depth=max_depth)

    following = [*ids[1:], ids[0] if close else None]
    catalog = AgentCatalog([Link(each, then) for each, then in zip(ids, following, strict=True)])
    for each, then in zip(ids, following, strict=True):
        if each != ids[0]:
            catalog.grant(each, "task")
        if then is not None:
            catalog.grant(each, f"agent:{then}")
    catalog.start()
    return catalog


async def answer_of(catalog, first, following):
    call = {"id": "1", "name": "task", "args": {"agent": following, "task": "go"}}
    [result] = await catalog.view(first).execute([call])
    return result


async def test_tasks_are_delegated_three_times_and_no_more():
    result = await answer_of(chain("a", "b", "c", "d"), "a", "b")
    assert (result.ok, result.text) == (True, "the end")
    result = await answer_of(chain("a", "b", "c", "d", "e"), "a", "b")
    assert result.text == "Agent e was not asked: tasks are handed on at most 3 times"
    result = await answer_of(chain("a", "b", "c", max_depth=1), "a", "b")
    assert result.text == "Agent c was not asked: tasks are handed on at most 1 times"


async def test_a_circle_of_agents_is_refused():
    result = await answer_of(chain("a", "b", "c", close=True), "a", "b")
    assert result.text == "Agent a is waiting for this task itself: a -> b -> c -> a"


async def test_a_circle_is_seen_from_a_thread_that_knows_no_context_variables():
    answers = []

    def run(task, context, tool_context):
        def outside():
            args = {"agent": "agent_0", "task": task}
            call = {"id": "1", "name": "task", "args": args}
            answers.extend(asyncio.run(catalog.view("agent_0").execute([call], tool_context)))

        thread = threading.Thread(target=outside)
        thread.start()
        thread.join()
        return answers[0].result

    catalog = specialists(run, 1)
    catalog.grant("agent_0", "task")
    catalog.grant("agent_0", "agent:agent_0")
    [row] = await delegated(catalog, tasks_for("agent_0"))
    assert row["error"].endswith("ishvana -> agent_0 -> agent_0")


async def test_progress_of_a_task_comes_with_the_name_of_its_agent():
    events = []

    async def run(task, context, tool_context):
        tool_context.report(f"on {task}", percent=50, audience="user")
        return "done"

    context = ToolContext(emit=events.append)
    await delegated(specialists(run), tasks_for("agent_0", "agent_1"), context)
    assert [(each.tool_name, each.message, each.percent, each.audience) for each in events] == [
        ("delegate_parallel", "agent_0: on task 0", 50.0, "user"),
        ("delegate_parallel", "agent_1: on task 1", 50.0, "user"),
    ]


async def test_an_agent_works_under_its_own_name_with_its_own_tools():
    seen = []

    async def look(args, context):
        seen.append(context.agent_id)
        return ok("found")

    async def run(task, context, tool_context):
        seen.append((tool_context.agent_id, tool_context.session_id))
        view = catalog.view("agent")
        [result] = await view.execute([{"id": "1", "name": "look"}], tool_context)
        return result.result

    catalog = started(
        Orchestrator("ishvana", "agent"), Specialist("agent", tool("look", execute=look), run=run)
    )
    context = ToolContext(session_id="s1", personality_id="boss")
    [row] = await delegated(catalog, tasks_for("agent"), context)
    assert row["value"] == "found"
    assert seen == [("agent", "s1"), "agent"]


async def test_costs_of_tasks_add_up():
    async def run(task, context, tool_context):
        return ok("done", cost_usd=0.25)

    call = {
        "id": "1",
        "name": "delegate_parallel",
        "args": {"tasks": tasks_for("agent_0", "agent_1")},
    }
    [result] = await specialists(run).view("ishvana").execute([call])
    assert result.result.cost_usd == 0.5
    assert len(result.result.structured["results"]) == 2


@pytest.mark.parametrize("to", [["nobody"], ["unable"], "able"])
def test_delegation_to_an_agent_that_cannot_be_asked_is_refused_at_the_start(to):
    agents = [Orchestrator("ishvana"), Specialist("able", run=echo), Specialist("unable")]
    agents[0].to = to
    catalog = AgentCatalog(agents)
    with pytest.raises(ConfigError, match="`to`"):
        catalog.start()


def test_the_model_is_shown_which_agents_there_are():
    searcher = Specialist("searcher", run=echo)
    searcher.description = "Finds lore.\nAnd more."
    catalog = started(Orchestrator("ishvana", "searcher"), searcher)
    [shown, _] = catalog.view("ishvana").definitions()
    assert shown["description"].endswith("Agents:\n- searcher: Finds lore.")


async def test_unknown_keys_of_a_task_are_refused():
    rows = await delegated(specialists(), [{"agent": "agent_0", "task": "a", "contxt": "b"}])
    assert [(row["agent"], row["ok"]) for row in rows] == [("agent_0", False)]
    assert "'contxt' is not an argument" in rows[0]["error"]


@pytest.mark.parametrize("budget", [2, 30, 60, 300, 1_000, 5_000])
@pytest.mark.parametrize("options", [{}, {"budget_policy": "fill"}], ids=["even", "fill"])
@pytest.mark.parametrize("count", [1, 3, 100])
async def test_the_answer_is_json_whatever_the_budget(budget, options, count):
    async def run(task, context, tool_context):
        return '"quoted" ' * 200

    agents = [*(f"agent_{n % 3}" for n in range(count - 1)), "nobody" * 500]
    calls = [
        {"id": str(n), "name": "delegate_parallel", "args": {"tasks": tasks_for(*agents)}}
        for n in range(3)
    ]
    view = specialists(run).view("ishvana")
    results = await view.execute(calls, ToolContext(result_budget_chars=budget * 3), **options)
    read = [json.loads(result.text) for result in results]
    assert sum(len(result.text) for result in results) <= budget * 3
    if budget >= 60:
        assert all(rows[-1].get("left_out", 0) + len(rows) >= count for rows in read)


async def test_a_streamed_delegation_stays_json():
    async def run(task, context, tool_context):
        return "word " * 2_000

    view = specialists(run).view("ishvana")
    calls = [
        {
            "index": number,
            "id": str(number),
            "type": "function",
            "function": {
                "name": "delegate_parallel",
                "arguments": json.dumps({"tasks": tasks_for("agent_0", "agent_1")}),
            },
        }
        for number in range(3)
    ]
    context = ToolContext(result_budget_chars=3_000)
    async with view.dispatch(context, provider="openai") as turn:
        turn.feed({"choices": [{"index": 0, "delta": {"tool_calls": calls}}]})
        turn.feed({"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]})
    for result in await turn.results():
        assert [row["agent"] for row in json.loads(result.text)] == ["agent_0", "agent_1"]
        assert len(result.text) <= 1_000


async def test_several_agents_of_a_catalogue_delegate_each_to_its_own():
    catalog = started(
        Orchestrator("ishvana", "agent_0"),
        Orchestrator("second", "agent_1"),
        *(Specialist(f"agent_{number}", run=echo) for number in range(2)),
    )
    for agent, own, other in (("ishvana", "agent_0", "agent_1"), ("second", "agent_1", "agent_0")):
        assert names(catalog.view(agent)) == ["delegate_parallel", "task"]
        mine, theirs = await delegated(catalog, tasks_for(own, other), agent=agent)
        assert mine["ok"]
        assert theirs["error"] == f"Agent {other} may not be given tasks by {agent}"
    assert names(catalog.view("agent_0")) == []


def test_agents_that_disagree_about_delegation_are_refused():
    class Deep(Orchestrator):
        def register_tools(self, catalog):
            catalog.register_delegation(to=["agent_0"], max_depth=7)

    with pytest.raises(ConfigError, match="`ishvana` registered delegation with max_depth=3"):
        started(Orchestrator("ishvana", "agent_0"), Deep("deep"), Specialist("agent_0", run=echo))
