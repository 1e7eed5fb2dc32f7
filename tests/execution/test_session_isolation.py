"""Nothing is shared that should not be: contexts, events, memory, the loop's time."""

from __future__ import annotations

import asyncio
import logging
import sys
import threading
import time
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from ethos_registry import DefaultToolResultReducerRegistry, ToolContext, ok
from ethos_registry.artifacts import MemoryArtifactStore
from ethos_registry.capabilities import NetworkPolicy
from ethos_registry.testing import RecordingEmit
from ethos_registry.types import AbortController, Attachment, ReadMtime, ToolProgressEvent
from ethos_registry.types._context import CONTEXT_FIELDS
from session_tools import answer, calls_of, in_own_process, quick, registry_of, tool

pytestmark = [pytest.mark.every_python, pytest.mark.usefixtures("ids_in_order")]

SCOPED = ("kv_store", "secrets_resolver", "scoped_fetch", "scoped_fs", "scoped_process")


def full_context(**changes: Any) -> ToolContext:
    """A context with every field set to something that is not its default."""
    values: dict[str, Any] = {
        "session_id": "s1",
        "session_key": "cli:repo",
        "platform": "slack",
        "working_dir": "elsewhere",
        "agent_id": "a1",
        "personality_id": "p1",
        "memory_scope": "per-personality",
        "memory_scope_id": "m1",
        "team_id": "t1",
        "tenant_id": "n1",
        "run_id": "r1",
        "current_turn": 7,
        "message_count": 9,
        "result_budget_chars": 1_000,
        "read_mtimes": {"a.txt": ReadMtime(5.5, 2)},
        "network_policy": NetworkPolicy(allow=("example.org",)),
        "dry_run": False,
        "tool_call_id": "outer",
        "abort_signal": AbortController().signal,
        "emit": RecordingEmit(),
        "storage": SimpleNamespace(name="storage"),
        "artifact_store": MemoryArtifactStore(),
        "attachments": SimpleNamespace(name="attachments"),
    }
    values |= {name: SimpleNamespace(name=name) for name in SCOPED}
    return ToolContext(**values | changes)


OF_THE_CALL = {
    "tool_call_id",
    "result_budget_chars",
    "abort_signal",
    "emit",
    "attachments",
    *SCOPED,
}


async def test_every_field_of_the_callers_context_reaches_the_tool_d14(task_start: str) -> None:
    given = full_context()
    defaults = ToolContext()
    got: dict[str, Any] = {}

    async def look(args: Any, context: Any) -> Any:
        got.update({name: getattr(context, name) for name in CONTEXT_FIELDS})
        return ok("seen")

    await answer(tool(look, max_result_chars=40), given)
    assert set(got) == set(CONTEXT_FIELDS)
    for name in set(CONTEXT_FIELDS) - OF_THE_CALL:
        assert got[name] is getattr(given, name), name
        if name != "dry_run":
            assert got[name] != getattr(defaults, name), name
    assert got["read_mtimes"] is given.read_mtimes
    assert got["tool_call_id"] == "c0"
    assert got["result_budget_chars"] == 40


async def test_scoped_objects_of_the_caller_stay_behind_unless_a_backend_makes_them() -> None:
    async def look(args: Any, context: Any) -> Any:
        seen = {name: getattr(context, name) for name in (*SCOPED, "attachments")}
        return ok(repr({name: value for name, value in seen.items() if value is not None}))

    assert (await answer(look, full_context())).text == "{}"
    declaring = tool(look, capabilities={"storage": {"scope": "tool"}})
    registry = registry_of(declaring, capability_backends={"storage": lambda *given: "made"})
    [result] = await registry.execute_parallel(calls_of("look"), full_context())
    assert result.text == "{'kv_store': 'made'}"


async def test_attachments_of_the_turn_reach_backends_and_only_them() -> None:
    image, file = Attachment("a0", "image", "file:///a0"), Attachment("a1", "file", "file:///a1")

    def attachments_of(tool_name: str, declared: Any, context: ToolContext) -> Any:
        return [item for item in context.turn_attachments if item.type in declared["kinds"]]

    async def look(args: Any, context: Any) -> Any:
        assert context.turn_attachments == ()
        return ok(repr([item.ref for item in context.attachments]))

    declaring = tool(look, capabilities={"attachments": {"kinds": ["image"]}})
    registry = registry_of(declaring, capability_backends={"attachments": attachments_of})
    for given, refs in (([image, file], ["a0"]), ([file], []), (None, [])):
        [result] = await registry.execute_parallel(calls_of("look"), turn_attachments=given)
        assert result.text == repr(refs)


async def test_a_tool_cannot_write_to_its_context_and_may_derive_one() -> None:
    async def derive(args: Any, context: Any) -> Any:
        with pytest.raises(AttributeError):
            context.session_id = "other"
        derived = context.replace(platform="web")
        return ok(f"{derived.session_id} {derived.platform} {derived.tool_call_id}")

    assert (await answer(derive, full_context())).text == "s1 web c0"


class Lying(Sequence[Any]):
    """Calls that tell another number of them than there are."""

    def __init__(self, reported: int, calls: list[Any]) -> None:
        self.reported, self.calls = reported, calls

    def __len__(self) -> int:
        return self.reported

    def __getitem__(self, index: Any) -> Any:
        return self.calls[index]


@pytest.mark.parametrize("reported", [0, 2, 5])
async def test_a_batch_answers_the_calls_that_there_are_whatever_their_list_says(
    reported: int,
) -> None:
    calls = calls_of("quick", "quick", "quick")
    results = await registry_of(quick).execute_parallel(Lying(reported, calls))
    assert [result.tool_call_id for result in results] == ["c0", "c1", "c2"]
    assert all(result.ok for result in results)


async def test_each_call_has_a_context_and_a_signal_of_its_own(task_start: str) -> None:
    contexts: list[Any] = []
    signals: list[Any] = []

    async def look(args: Any, context: Any) -> Any:
        contexts.append(context)
        signals.append(context.abort_signal)
        await asyncio.sleep(0.01)
        return ok(context.tool_call_id)

    results = await registry_of(look).execute_parallel(calls_of(*["look"] * 20))
    assert len({id(context) for context in contexts}) == 20
    assert len({id(one) for one in signals}) == 20
    assert [result.text for result in results] == [f"c{index}" for index in range(20)]


async def test_two_batches_at_once_never_mix_their_events_d13(task_start: str) -> None:
    async def telling(args: Any, context: Any) -> Any:
        for number in range(5):
            context.report(f"{context.session_id} {number}")
            await asyncio.sleep(0.001 * (number % 2))
        return ok(context.session_id)

    def telling_plain(args: Any, context: Any) -> Any:
        for number in range(5):
            context.report(f"{context.session_id} {number}")
            time.sleep(0.001)
        return ok(context.session_id)

    registry = registry_of(telling, telling_plain)
    emits = [RecordingEmit() for _ in range(6)]
    batches = await asyncio.gather(
        *(
            registry.execute_parallel(
                calls_of("telling", "telling_plain", "telling"),
                ToolContext(session_id=f"s{index}", emit=emit),
            )
            for index, emit in enumerate(emits)
        )
    )
    for index, (emit, results) in enumerate(zip(emits, batches, strict=True)):
        assert len(emit.events) == 15
        assert {message.split()[0] for message in emit.messages} == {f"s{index}"}
        assert {result.text for result in results} == {f"s{index}"}


async def test_the_registry_names_the_tool_and_clamps_the_percentage(task_start: str) -> None:
    emit = RecordingEmit()

    async def lies(args: Any, context: Any) -> Any:
        context.emit(ToolProgressEvent("over", tool_name="other", percent=250))
        context.emit({"toolName": "other", "message": "as a mapping", "percent": -3})
        context.emit({"message": "no number", "percent": float("nan"), "audience": "user"})
        context.report("plain")
        return ok("reported")

    await answer(lies, ToolContext(emit=emit))
    assert [(event.tool_name, event.message, event.percent) for event in emit.events] == [
        ("lies", "over", 100.0),
        ("lies", "as a mapping", 0.0),
        ("lies", "no number", None),
        ("lies", "plain", None),
    ]
    assert [event.visible_to("user") for event in emit.events] == [False, False, True, False]


@pytest.mark.parametrize("error", [ValueError("mine"), SystemExit(3)])
async def test_an_emit_that_raises_is_logged_once_and_breaks_nothing(
    caplog: pytest.LogCaptureFixture, error: BaseException
) -> None:
    def broken(event: Any) -> None:
        raise error

    async def telling(args: Any, context: Any) -> Any:
        for _ in range(10):
            context.report("reported")
        context.emit("no event")
        return ok("ended")

    with caplog.at_level(logging.WARNING, "ethos_registry"):
        results = await registry_of(telling).execute_parallel(
            calls_of("telling", "telling"), ToolContext(emit=broken)
        )
    assert [result.text for result in results] == ["ended"] * 2
    assert len(caplog.records) == 1


async def test_events_after_the_end_are_dropped(task_start: str) -> None:
    emit = RecordingEmit()
    remaining: list[Any] = []

    async def keeps(args: Any, context: Any) -> Any:
        remaining.append(context)
        return ok("ended")

    await answer(keeps, ToolContext(emit=emit))
    remaining[0].report("late")
    await asyncio.to_thread(remaining[0].report, "late from a thread")
    await asyncio.sleep(0.01)
    assert emit.events == []


class SlowReducer:
    """Ends when the loop has gone on for a while, and tells on which thread it was."""

    tool_name = "large"

    def __init__(self) -> None:
        self.threads: list[int] = []
        self.beats = threading.Semaphore(0)

    def reduce(self, result: Any, context: Any) -> Any:
        self.threads.append(threading.get_ident())
        for _ in range(5):
            assert self.beats.acquire(timeout=100), "the loop stands still"
        return result


async def test_large_results_are_finished_off_the_loop(task_start: str) -> None:
    size = 10_000_000

    async def large(args: Any, context: Any) -> Any:
        return ok("é" * size)

    reducer = SlowReducer()
    reducers = DefaultToolResultReducerRegistry()
    reducers.register(reducer)

    async def heartbeat() -> None:
        while True:
            await asyncio.sleep(0.001)
            if len(reducer.threads) == 4:
                reducer.beats.release()

    registry = registry_of(large, reducer_registry=reducers)
    beat = asyncio.ensure_future(heartbeat())
    try:
        results = await registry.execute_parallel(calls_of(*["large"] * 4))
    finally:
        beat.cancel()
    assert {result.truncated_from for result in results} == {size}
    assert threading.get_ident() not in reducer.threads
    assert len(reducer.threads) == 4


@pytest.mark.parametrize(
    "factory",
    [
        "None",
        pytest.param(
            "asyncio.eager_task_factory",
            marks=pytest.mark.skipif(sys.version_info < (3, 12), reason="needs Python 3.12"),
        ),
    ],
)
def test_ten_thousand_calls_at_once_take_little_memory_each(factory: str) -> None:
    done = in_own_process(
        f"""
        import asyncio, tracemalloc
        from ethos_registry import Tool, ToolCall, ToolRegistry, ok

        COUNT = 10_000
        peak = 0
        async def waits(args, context):
            global running, peak
            running += 1
            if running == COUNT:
                peak = tracemalloc.get_traced_memory()[1]
                gate.set()
            await gate.wait()
            return done

        async def main():
            global gate, running
            asyncio.get_running_loop().set_task_factory({factory})
            registry = ToolRegistry([Tool("waits", "d", {{"type": "object"}}, waits)])
            gate, running = asyncio.Event(), 0
            calls = [ToolCall(f"c{{n}}", "waits", {{}}) for n in range(COUNT)]
            tracemalloc.start()
            before = tracemalloc.get_traced_memory()[0]
            results = await registry.execute_parallel(calls)
            assert [r.tool_call_id for r in results] == [c.tool_call_id for c in calls]
            assert all(r.text == "done" for r in results)
            print((max(peak, tracemalloc.get_traced_memory()[1]) - before) / COUNT)

        done = ok("done")
        asyncio.run(main())
        """,
    )
    assert float(done.stdout) <= 8 * 1024


@pytest.mark.skipif(sys.platform != "linux", reason="the peak is read from /proc")
@pytest.mark.parametrize("text", ["'x' * 2**30", "'x\\ud800' * 2**28"])
def test_a_result_of_a_gigabyte_is_cut_with_little_more_memory(text: str) -> None:
    done = in_own_process(
        f"""
        import asyncio
        from ethos_registry import Tool, ToolCall, ToolRegistry, ok

        def peak_mib():
            with open("/proc/self/status") as status:
                return next(int(l.split()[1]) for l in status if l.startswith("VmHWM")) / 1024

        def large(args, context):
            global peak
            value = {text}
            result = ok(value)
            peak = peak_mib()
            return result

        registry = ToolRegistry([Tool("large", "d", {{"type": "object"}}, large)])
        [result] = asyncio.run(registry.execute_parallel([ToolCall("1", "large", {{}})]))
        assert result.truncated_from >= 2**29 and result.sent_chars < 81_000, result.text[-99:]
        print(peak_mib() - peak)
        """,
    )
    assert float(done.stdout) <= 64
