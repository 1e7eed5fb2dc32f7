"""The calls of one tick become one batch, and each gets its own result, id, events and end."""

from __future__ import annotations

import asyncio
import gc
import pickle
import threading
import weakref

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ethos_registry import (
    ConfigError,
    InvocationFilter,
    Pending,
    Personality,
    ToolContext,
    ToolRegistry,
)
from ethos_registry.adapters import TurnCollector
from ethos_registry.artifacts import MemoryArtifactStore
from ethos_registry.execution import Approvals, BatchControl
from ethos_registry.types import AbortController, ReadMtime
from session_tools import EAGER_FACTORY, needs_eager_factory, until

pytestmark = pytest.mark.every_python


class Batches:
    """How many calls each batch had."""

    def __init__(self) -> None:
        self.sizes: list[int] = []

    def batch_finished(self, calls) -> None:
        self.sizes.append(len(calls))


class OneRun(TurnCollector):
    """A collector all of whose calls belong to one run, unless they name another."""

    def call(self, name, args, **options):
        return super().call(name, args, **{"run": self, **options})


class Desk:
    """A registry with tools that tests can hold and watch."""

    def __init__(self) -> None:
        self.batches = Batches()
        self.registry = registry = ToolRegistry(observers=[self.batches])
        self.running = 0
        self.most = 0
        self.ended: list[str] = []
        self.release = asyncio.Event()
        self.started = asyncio.Event()

        @registry.tool
        async def echo(message: str) -> str:
            """Return the message."""
            return message

        @registry.tool
        async def call_id(context: ToolContext) -> str:
            """Return the id of this call."""
            pickle.dumps(context.tool_call_id)
            return context.tool_call_id

        @registry.tool
        async def hold() -> str:
            """Wait for the release."""
            self.running += 1
            self.most = max(self.most, self.running)
            self.started.set()
            try:
                await self.release.wait()
                return "released"
            except asyncio.CancelledError:
                await asyncio.sleep(0)
                self.ended.append("cancelled")
                raise
            finally:
                self.running -= 1

        @registry.tool
        async def progress(context: ToolContext, step: str) -> str:
            """Report a step."""
            context.report(step)
            return step

        @registry.tool
        def thread(context: ToolContext) -> str:
            """Run on a thread."""
            return threading.current_thread().name

    def collector(self, **options) -> OneRun:
        return OneRun(self.registry.view(Personality("tester")), **options)


def remaining(result) -> int:
    """The characters of the tool's own text, without the note that it was cut."""
    return len(result.text.partition("\n[truncated")[0])


@pytest.fixture
async def desk() -> Desk:
    return Desk()


async def test_calls_of_one_tick_are_one_batch_in_their_order(desk):
    collector = desk.collector()
    results = await asyncio.gather(
        *(collector.call("echo", {"message": str(n)}, tool_call_id=f"c{n}") for n in range(64))
    )
    assert [(r.tool_call_id, r.text) for r in results] == [(f"c{n}", str(n)) for n in range(64)]
    assert all(type(result.tool_call_id) is str for result in results)
    assert desk.batches.sizes == [64]


async def test_a_later_tick_is_another_batch(desk):
    collector = desk.collector()
    first = asyncio.ensure_future(collector.call("hold", {}))
    await desk.started.wait()
    await collector.call("echo", {"message": "now"})
    desk.release.set()
    await first
    assert desk.batches.sizes == [1, 1]


async def test_a_batch_starts_in_the_tick_after_its_calls(desk):
    """The calls of the tools begin as soon as those of `view.execute` in the same tick."""
    order: list[str] = []

    @desk.registry.tool
    async def note(name: str) -> str:
        """Note the start."""
        order.append(name)
        return name

    view = desk.registry.view(Personality("tester"))
    collector = OneRun(view)

    async def tick(count: int) -> None:
        for number in range(count):
            await asyncio.sleep(0)
            order.append(f"tick {number + 1}")

    ticks = asyncio.ensure_future(tick(4))
    await asyncio.gather(ticks, *(collector.call("note", {"name": f"c{n}"}) for n in range(3)))
    calls = [order.index(f"c{n}") for n in range(3)]
    # Tick 1 starts the batch; before Python 3.12 its tasks begin one tick later.
    assert calls == [calls[0], calls[0] + 1, calls[0] + 2]
    assert calls[0] < order.index("tick 3")


async def test_the_budget_is_shared_by_the_calls_of_the_turn(desk):
    collector = desk.collector(turn_budget_chars=1_000)
    calls = [collector.call("echo", {"message": "x" * 5_000}) for _ in range(4)]
    results = await asyncio.gather(*calls)
    assert sum(remaining(result) for result in results) <= 1_000
    assert min(len(result.text) for result in results) > 150


async def test_fill_gives_what_short_results_leave_to_long_ones(desk):
    collector = desk.collector(turn_budget_chars=1_000, budget_policy="fill")
    long, *short = await asyncio.gather(
        collector.call("echo", {"message": "x" * 5_000}),
        *(collector.call("echo", {"message": "y" * 10}) for _ in range(3)),
    )
    assert [result.text for result in short] == ["y" * 10] * 3
    assert 900 < remaining(long) <= 970


async def test_a_call_has_its_own_limit_and_a_batch_that_of_each_of_its_calls(desk):
    collector = desk.collector(turn_budget_chars=4_000, call_budget_chars=1_000)
    for _ in range(2):
        result = await collector.call("echo", {"message": "x" * 9_000})
        assert 500 < remaining(result) <= 1_000
    results = await asyncio.gather(
        *(collector.call("echo", {"message": "x" * 9_000}) for _ in range(8))
    )
    assert 2_000 < sum(remaining(result) for result in results) <= 4_000


async def test_max_concurrency_holds_for_the_turn(desk):
    collector = desk.collector(max_concurrency=2)
    calls = [asyncio.ensure_future(collector.call("hold", {})) for _ in range(6)]
    await desk.started.wait()
    await until(lambda: desk.running == 2)
    desk.release.set()
    await asyncio.gather(*calls)
    assert desk.most == 2


async def test_a_fast_call_does_not_wait_for_a_slow_one(desk):
    collector = desk.collector()
    slow = asyncio.ensure_future(collector.call("hold", {}))
    assert (await collector.call("echo", {"message": "fast"})).text == "fast"
    assert not slow.done()
    desk.release.set()
    assert (await slow).text == "released"
    assert desk.batches.sizes == [2]


async def test_equal_ids_stay_apart_and_reach_the_tool(desk):
    collector = desk.collector()
    results = await asyncio.gather(
        collector.call("echo", {"message": "a"}, tool_call_id="same"),
        collector.call("echo", {"message": "b"}, tool_call_id="same"),
        collector.call("call_id", {}, tool_call_id="same"),
        collector.call("call_id", {}),
        collector.call("missing", {}, tool_call_id="same"),
    )
    assert [r.text for r in results] == ["a", "b", "same", "", "Unknown tool: missing"]
    assert [r.tool_call_id for r in results] == ["same", "same", "same", "", "same"]


async def test_cancelling_one_caller_stops_its_call_alone(desk):
    collector = desk.collector()
    first, second = (asyncio.ensure_future(collector.call("hold", {})) for _ in range(2))
    await desk.started.wait()
    await asyncio.sleep(0)
    first.cancel()
    with pytest.raises(asyncio.CancelledError):
        await first
    assert desk.ended == ["cancelled"]  # when the caller continues, its tool has ended
    assert desk.running == 1
    desk.release.set()
    assert (await second).text == "released"
    assert desk.batches.sizes == [2]


async def test_the_last_caller_cancels_the_batch(desk):
    collector = desk.collector()
    calls = [asyncio.ensure_future(collector.call("hold", {})) for _ in range(3)]
    await desk.started.wait()
    await asyncio.sleep(0)
    for call in calls:
        call.cancel()
    outcomes = await asyncio.gather(*calls, return_exceptions=True)
    assert all(isinstance(outcome, asyncio.CancelledError) for outcome in outcomes)
    assert desk.ended == ["cancelled"] * 3
    assert desk.running == 0
    assert not collector._tasks
    assert not collector._open


def starts_eagerly():
    """Whether tasks take their first step when they are created."""
    return asyncio.get_running_loop().get_task_factory() is not None


async def test_a_call_that_is_cancelled_in_its_tick_never_starts(desk):
    collector = desk.collector()
    gone = asyncio.ensure_future(collector.call("hold", {}))
    stays = asyncio.ensure_future(collector.call("echo", {"message": "here"}))
    if not starts_eagerly():
        await asyncio.sleep(0)
    gone.cancel()
    assert (await stays).text == "here"
    with pytest.raises(asyncio.CancelledError):
        await gone
    assert desk.most == 0


async def test_a_whole_batch_that_is_cancelled_in_its_tick_never_starts(desk):
    collector = desk.collector()
    call = asyncio.ensure_future(collector.call("hold", {}))
    if starts_eagerly():
        call.cancel()
    else:
        asyncio.get_running_loop().call_soon(call.cancel)
    with pytest.raises(asyncio.CancelledError):
        await call
    await asyncio.sleep(0.01)
    assert desk.most == 0
    assert not collector._tasks


async def test_a_caller_that_waits_in_fill_is_released_before_the_batch_ends(desk):
    collector = desk.collector(budget_policy="fill")
    held = asyncio.ensure_future(collector.call("hold", {}))
    short = asyncio.ensure_future(collector.call("echo", {"message": "short"}))
    await desk.started.wait()
    await asyncio.sleep(0.01)
    short.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(short, 60)
    desk.release.set()
    assert (await held).text == "released"


async def test_a_call_that_waits_for_a_slot_can_be_cancelled(desk):
    collector = desk.collector(max_concurrency=1)
    first, second, third = (asyncio.ensure_future(collector.call("hold", {})) for _ in range(3))
    await desk.started.wait()
    second.cancel()
    with pytest.raises(asyncio.CancelledError):
        await second
    desk.release.set()
    assert [(await call).text for call in (first, third)] == ["released"] * 2


async def test_a_batch_that_is_cancelled_from_outside_answers_every_call(desk):
    collector = desk.collector()
    calls = [asyncio.ensure_future(collector.call("hold", {})) for _ in range(2)]
    await desk.started.wait()
    await asyncio.sleep(0)
    for task in collector._tasks:
        task.cancel()
    results = await asyncio.gather(*calls)
    assert [result.result.reason for result in results] == ["cancelled"] * 2


async def test_a_batch_that_is_cancelled_before_its_first_step_takes_no_more_calls(desk):
    if starts_eagerly():
        pytest.skip("the batch takes its first step when it is created")
    collector = desk.collector()
    before = asyncio.all_tasks()
    first = asyncio.ensure_future(collector.call("echo", {"message": "one"}))
    await asyncio.sleep(0)
    [batch] = asyncio.all_tasks() - before - {first}
    batch.cancel()
    second = await asyncio.wait_for(collector.call("echo", {"message": "two"}), 5)
    assert second.text == "two"
    assert not (await asyncio.wait_for(first, 5)).ok
    third = await asyncio.wait_for(collector.call("echo", {"message": "three"}), 5)
    assert third.text == "three"
    assert desk.batches.sizes == [1, 1]


async def test_events_go_to_the_call_that_emitted_them(desk):
    seen: dict[str, list[tuple[str, str]]] = {"a": [], "b": []}

    def listening(name: str) -> ToolContext:
        return ToolContext(
            emit=lambda event: seen[name].append((event.tool_call_id, event.message))
        )

    collector = desk.collector()
    await asyncio.gather(
        collector.call("progress", {"step": "1"}, tool_call_id="x", context=listening("a")),
        collector.call("progress", {"step": "2"}, tool_call_id="x", context=listening("b")),
        collector.call("progress", {"step": "3"}, tool_call_id="y", context=ToolContext()),
    )
    assert seen == {"a": [("x", "1")], "b": [("x", "2")]}
    assert desk.batches.sizes == [3]


async def test_other_contexts_are_other_batches(desk):
    collector = desk.collector()
    names = ["ada", "ada", "ben", None]
    contexts = [None if name is None else ToolContext(agent_id=name) for name in names]
    await asyncio.gather(
        *(collector.call("echo", {"message": "m"}, context=each) for each in contexts)
    )
    assert sorted(desk.batches.sizes) == [1, 1, 2]
    mtimes = [ToolContext(read_mtimes={}) for _ in range(2)]
    await asyncio.gather(
        *(collector.call("echo", {"message": "m"}, context=each) for each in mtimes)
    )
    assert desk.batches.sizes[-2:] == [1, 1]
    aborted = AbortController()
    aborted.abort("stop")
    stopped, runs = await asyncio.gather(
        collector.call("echo", {"message": "m"}, context=ToolContext(abort_signal=aborted.signal)),
        collector.call("echo", {"message": "m"}, context=ToolContext()),
    )
    assert (stopped.result.reason, runs.text) == ("cancelled", "m")


async def test_other_personalities_are_other_batches(desk):
    reader = desk.registry.view(Personality("reader", toolset=["echo"]))
    collector = desk.collector()
    allowed, denied, own = await asyncio.gather(
        collector.call("echo", {"message": "m"}, view=reader),
        collector.call("call_id", {}, view=reader),
        collector.call("call_id", {}, tool_call_id="mine"),
    )
    assert (allowed.text, denied.result.reason, own.text) == ("m", "denied", "mine")
    assert sorted(desk.batches.sizes) == [1, 2]


def test_event_loops_on_several_threads_share_one_collector():
    async def desk_of() -> Desk:
        return Desk()

    desk = asyncio.run(desk_of())
    collector = desk.collector()
    texts: list[list[str]] = []

    def work(number: int) -> None:
        async def turns() -> None:
            for turn in range(20):
                calls = [
                    collector.call("echo", {"message": f"{number}.{turn}.{n}"}) for n in range(5)
                ]
                texts.append([result.text for result in await asyncio.gather(*calls)])

        asyncio.run(turns())

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    expected = [[f"{n}.{t}.{i}" for i in range(5)] for n in range(4) for t in range(20)]
    assert sorted(texts) == sorted(expected)
    assert desk.batches.sizes == [5] * 80


def test_a_loop_that_ends_before_the_batch_starts_leaves_nothing():
    registry = ToolRegistry()
    collector = OneRun(registry.view(Personality("tester")))

    async def leave() -> None:
        call = collector.call("missing", {})
        with pytest.raises(StopIteration):
            raise StopIteration(call.send(None))
        call.close()

    asyncio.run(leave())
    assert asyncio.run(collector.call("missing", {})).text == "Unknown tool: missing"
    assert not collector._open


def test_code_without_a_loop_calls_in_a_batch_of_its_own():
    registry = ToolRegistry()

    @registry.tool
    def double(number: int) -> int:
        """Twice."""
        return number * 2

    collector = TurnCollector(registry.view(Personality("tester")))
    assert collector.call_sync("double", {"number": 4}, tool_call_id="7").text == "8"

    async def inside() -> str:
        return collector.call_sync("double", '{"number": 5}').text

    assert asyncio.run(inside()) == "10"


async def test_filters_and_deadline_apply(desk):
    seen: list[str] = []
    watch = InvocationFilter(before=lambda invocation: seen.append(invocation.tool_name))
    collector = desk.collector(filters=[watch], deadline_seconds=1)
    held, echoed = await asyncio.gather(
        collector.call("hold", {}), collector.call("echo", {"message": "m"})
    )
    assert seen == ["hold", "echo"]
    assert (held.result.reason, echoed.text) == ("timeout", "m")


@needs_eager_factory
async def test_an_eager_task_factory_still_joins_the_calls(desk):
    asyncio.get_running_loop().set_task_factory(EAGER_FACTORY)
    collector = desk.collector()
    await asyncio.gather(*(collector.call("echo", {"message": "m"}) for _ in range(3)))
    assert desk.batches.sizes == [3]


@given(
    plan=st.lists(
        st.tuples(st.sampled_from(["echo", "hold", "missing"]), st.booleans()), max_size=12
    ),
    fill=st.booleans(),
)
def test_every_call_ends_once_whoever_is_cancelled(plan, fill):
    async def run() -> None:
        desk = Desk()
        collector = desk.collector(budget_policy="fill" if fill else "even")
        calls = [
            asyncio.ensure_future(
                collector.call(name, {"message": "m"} if name == "echo" else {}, tool_call_id="i")
            )
            for name, _ in plan
        ]
        for _ in range(4):
            await asyncio.sleep(0)
        for call, (_, is_cancelled) in zip(calls, plan, strict=True):
            if is_cancelled:
                call.cancel()
        for _ in range(4):
            await asyncio.sleep(0)
        desk.release.set()
        outcomes = await asyncio.wait_for(asyncio.gather(*calls, return_exceptions=True), 30)
        for outcome, (name, is_cancelled) in zip(outcomes, plan, strict=True):
            if isinstance(outcome, asyncio.CancelledError):
                assert is_cancelled
                continue
            expected = {"echo": "m", "hold": "released", "missing": "Unknown tool: missing"}
            assert outcome.text == expected[name]
        assert desk.running == 0
        await asyncio.sleep(0)
        assert not collector._open

    asyncio.run(run())


async def test_nothing_keeps_a_result_alive(desk):
    collector = desk.collector()

    class Message(str):
        """A string that can be watched."""

        __slots__ = ("__weakref__",)

    message = Message("m")
    gone = weakref.ref(message)
    result = await collector.call("echo", {"message": message}, tool_call_id="i")
    assert result.tool_call_id == "i"
    del message, result
    await asyncio.sleep(0)
    gc.collect()
    assert gone() is None


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"turn_budget_chars": "x"}, ConfigError, "turn_budget_chars"),
        ({"call_budget_chars": -1}, ConfigError, "call_budget_chars"),
        ({"budget_policy": "odd"}, ConfigError, "budget_policy"),
        ({"max_concurency": 2}, TypeError, "did you mean 'max_concurrency'"),
    ],
)
def test_wrong_options_are_refused_when_it_is_made(options, error, message):
    with pytest.raises(error, match=message):
        TurnCollector(ToolRegistry().view(Personality("tester")), **options)


async def test_wrong_values_of_a_call_are_refused(desk):
    with pytest.raises(ConfigError, match="`view` must be a view, got int"):
        TurnCollector(3)
    collector = desk.collector()
    with pytest.raises(ConfigError, match="name"):
        await collector.call(3, {})
    with pytest.raises(ConfigError, match="context"):
        await collector.call("echo", {}, context={})


async def test_a_control_stops_one_call_of_a_batch(desk):
    control = BatchControl()
    control.stop(0)  # before the batch: nothing
    view = desk.registry.view(Personality("tester"))
    calls = [{"id": str(n), "name": "hold", "args": {}} for n in range(2)]
    batch = asyncio.ensure_future(view.execute(calls, control=control))
    await desk.started.wait()
    await asyncio.sleep(0)
    control.stop(1)
    control.stop(7)
    await asyncio.sleep(0.01)
    desk.release.set()
    first, second = await batch
    assert (first.text, second.result.reason) == ("released", "cancelled")
    control.stop(0)  # after it: nothing
    with pytest.raises(ConfigError, match="`control` must be a BatchControl, got int"):
        await view.execute(calls, control=1)


async def test_calls_that_are_made_alone_are_batches_of_their_own_with_their_limit(desk):
    collector = desk.collector(call_budget_chars=300)
    calls = [collector.call_alone("echo", {"message": text}) for text in ("one", "two")]
    results = await asyncio.gather(*calls, collector.call_alone("echo", "{}"))
    assert [result.ok for result in results] == [True, True, False]
    assert desk.batches.sizes == [1, 1, 1]
    long = await collector.call_alone("echo", {"message": "word " * 200})
    assert remaining(long) <= 300 < long.raw_chars


async def test_a_call_that_is_made_alone_has_its_id_its_events_and_its_cancellation(desk):
    events = []
    collector = desk.collector()
    context = ToolContext(agent_id="ada")
    result = await collector.call_alone("call_id", {}, tool_call_id="c7", context=context)
    assert (result.text, result.tool_call_id) == ("c7", "c7")
    await collector.call_alone(
        "progress", {"step": "half"}, tool_call_id="c8", on_progress=events.append
    )
    assert [(event.tool_call_id, event.message) for event in events] == [("c8", "half")]
    waiting = asyncio.ensure_future(collector.call_alone("hold", {}))
    await desk.started.wait()
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert desk.ended == ["cancelled"]


@pytest.mark.parametrize("shares_run", [True, False], ids=["one run", "two runs"])
async def test_what_is_written_for_a_call_is_its_callers_own(shares_run):
    """Artifacts, approvals, progress, rows of observers and times of reading."""
    rows = []

    class Rows:
        def call_finished(self, call):
            rows.append((call.agent_id, call.result.tool_call_id))

        call_refused = call_finished

    registry = ToolRegistry(
        observers=[Rows()],
        approvals=Approvals(b"sixteen bytes or more"),
        filters=[
            InvocationFilter(
                lambda call: None if call.is_approved else Pending(call.context.session_id),
                tool_names=["ask"],
            )
        ],
    )

    @registry.tool
    async def keep(context: ToolContext) -> str:
        """Write wherever a tool can."""
        user = context.session_id
        context.report(user)
        context.read_mtimes[user] = ReadMtime(1.0, 1)
        await asyncio.sleep(0)
        return f"{user} " * 300

    @registry.tool
    async def ask(context: ToolContext) -> str:
        """Run when a person agrees."""
        return context.session_id

    view = registry.view(Personality("all"))
    collector = TurnCollector(view)
    run = object()
    for _ in range(50):
        contexts, events = {}, {"ada": [], "ben": []}
        for user in events:
            contexts[user] = ToolContext(
                session_id=user,
                agent_id=user,
                read_mtimes={},
                artifact_store=MemoryArtifactStore(),
                result_budget_chars=800,
                emit=events[user].append,
            )
        rows.clear()
        answers = await asyncio.gather(
            *(
                collector.call(
                    name,
                    {},
                    run=run if shares_run else context,
                    tool_call_id=f"{user} {name}",
                    context=context,
                )
                for user, context in contexts.items()
                for name in ("keep", "ask")
            )
        )
        assert sorted(rows) == sorted(
            (user, f"{user} {name}") for user in contexts for name in ("keep", "ask")
        )
        for place, (user, context) in enumerate(contexts.items()):
            remaining, asked = answers[2 * place : 2 * place + 2]
            assert remaining.text.startswith(f"{user} ")
            [artifact] = context.artifact_store.artifacts()
            assert artifact.head(1).split() == [user] * 300
            assert list(context.read_mtimes) == [user]
            assert [event.message for event in events[user]] == [user]
            assert asked.pending.reason == user
            assert Approvals(b"sixteen bytes or more").read(asked.pending.token)["session"] == user
