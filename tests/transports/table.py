"""What every transport keeps: one table of facts, run over each of them.

A test module of a transport makes a `Subject` and runs every row of `ROWS` with it.
"""

from __future__ import annotations

import asyncio
import os
import re
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, aclosing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from ethos_registry import (
    NO_TOOLS,
    CallResult,
    Invocation,
    InvocationFilter,
    Personality,
    ToolContext,
    ToolRegistry,
    ToolResult,
)
from ethos_registry.artifacts import MemoryArtifactStore, SpooledArtifactStore
from ethos_registry.capabilities import FsReach
from ethos_registry.transports import (
    LiveContext,
    SharedFolder,
    ToolExecuteRequest,
    ToolTransport,
    TransportItem,
    TransportReply,
    TransportTraits,
)
from ethos_registry.types import AbortController, AbortSignal, ReadMtime, ToolProgressEvent
from transports import tools

TOOLS = "transports.tools:registry"
BROKEN = "transports.broken_tools:registry"


@dataclass
class Subject:
    """A transport, and how to make others of its kind."""

    transport: ToolTransport
    """Shared by the rows, over `TOOLS`."""
    open: Callable[..., AbstractAsyncContextManager[ToolTransport]]
    """`open(tools=TOOLS, max_result_bytes=...)` makes one of its own."""
    folder: Path
    is_remote: bool = True
    """Tools run in other processes."""
    can_be_unplaceable: bool = True
    """There are tools that no worker can offer, such as those of `BROKEN`."""
    shares_a_worker: bool = True
    """Async calls of one batch may be in the process that ends."""
    answers_interrupts: bool = True
    """A `KeyboardInterrupt` of a tool is its failure: nobody sits before its process."""
    knows_what_began: bool = True
    """Calls that a worker had not begun go to the one that replaces it."""

    @property
    def file(self) -> Path:
        return self.folder / "counted.txt"

    def registry(self, transport: ToolTransport | None = None, **options: Any) -> ToolRegistry:
        return ToolRegistry(
            tools.registry.all(), transports={"*": transport or self.transport}, **options
        )

    async def warm(self, registry: ToolRegistry | None = None) -> None:
        """Wait until workers run: their start takes seconds, which a short limit may not have."""
        name, args = "count_plain", {"file": "/dev/null", "seconds": 0.1}
        calls = [call(name, f"{number}", number=number, **args) for number in range(2)]
        async with asyncio.timeout(300):
            results = await (registry or self.registry()).execute_parallel(calls)
        assert all(result.ok for result in results)

    async def run(
        self, calls: Sequence[Any], context: ToolContext | None = None, **options: Any
    ) -> list[CallResult]:
        """The results of a batch, which must not take for ever."""
        async with asyncio.timeout(300):
            return await self.registry().execute_parallel(calls, context, **options)


def call(name: str, tool_call_id: str = "1", /, **args: Any) -> dict[str, Any]:
    return {"id": tool_call_id, "name": name, "args": args}


def is_alive(process_id: int) -> bool:
    try:
        os.kill(process_id, 0)
        if not Path("/proc/self/stat").exists():
            return True
        status = Path(f"/proc/{process_id}/stat").read_text()
    except (ProcessLookupError, FileNotFoundError):  # it may end between the two
        return False
    return status.rpartition(")")[2].split()[0] != "Z"


async def until(condition: Callable[[], bool], seconds: float = 120) -> None:
    async with asyncio.timeout(seconds):
        while not condition():  # noqa: ASYNC110  files and processes have no event
            await asyncio.sleep(0.01)


Row = Callable[[Subject], Awaitable[None]]
ROWS: list[Row] = []


def row(function: Row) -> Row:
    ROWS.append(function)
    return function


# Order and ids


@row
async def results_are_in_the_order_of_the_calls_whatever_ends_first(subject: Subject) -> None:
    calls = [call("wait", f"c{n}", number=n, seconds=0.02 * (5 - n)) for n in range(6)]
    assert [result.text for result in await subject.run(calls)] == [f"{n} c{n}" for n in range(6)]


@row
async def calls_of_one_id_are_answered_apart(subject: Subject) -> None:
    calls = [call("wait", "same", number=n, seconds=0) for n in range(3)]
    results = await subject.run(calls)
    assert [result.text for result in results] == ["0 same", "1 same", "2 same"]


@row
async def every_request_has_one_reply_in_any_order(subject: Subject) -> None:
    requests = [
        ToolExecuteRequest(f"c{n}", "wait", {"number": n, "seconds": 0.02 * (3 - n)}, ToolContext())
        for n in range(4)
    ]
    replies = [
        item
        async for item in subject.transport.execute_many(requests, AbortController().signal)
        if isinstance(item, TransportReply)
    ]
    assert sorted(reply.index for reply in replies) == [0, 1, 2, 3]
    assert {reply.index: reply.result.text for reply in replies} == {
        n: f"{n} c{n}" for n in range(4)
    }


@row
async def an_exception_of_a_tool_is_its_message_and_its_siblings_go_on(subject: Subject) -> None:
    first, second = await subject.run(
        [call("fail", message="no such city"), call("wait", "w", number=1, seconds=0)]
    )
    assert (first.text, first.result.reason) == ("no such city", "raised")
    assert second.text == "1 w"


@row
async def arguments_that_do_not_fit_are_refused_before_the_tool(subject: Subject) -> None:
    [result] = await subject.run([call("wait", number="many", seconds=0)])
    assert result.result.code == "input_invalid"


# Progress


@row
async def events_arrive_while_the_tool_runs_under_its_name(subject: Subject) -> None:
    if not subject.transport.traits.streams_progress:
        pytest.skip("the transport streams no progress")
    arrived = await reported_events(subject)
    assert {event.tool_name for event in arrived} == {"report"}
    assert {event.audience for event in arrived} == {"dashboard"}
    assert [event.percent for event in arrived] == [0, 10, 20, 30]


async def reported_events(subject: Subject) -> list[ToolProgressEvent]:
    """The events of a tool that goes on only when its first event has arrived here."""
    arrived: list[ToolProgressEvent] = []

    def emit(event: ToolProgressEvent) -> None:
        arrived.append(event)
        subject.file.touch()

    args = {"count": 4, "seconds": 0.1, "awaited_file": str(subject.file)}
    [result] = await subject.run([call("report", **args)], ToolContext(emit=emit))
    assert result.text == "reported"
    assert [event.message for event in arrived] == [f"step {n}" for n in range(4)]
    return arrived


@row
async def events_of_a_single_request_go_to_its_context(subject: Subject) -> None:
    if not subject.transport.traits.streams_progress:
        pytest.skip("the transport streams no progress")
    events: list[ToolProgressEvent] = []
    request = ToolExecuteRequest(
        "1", "report", {"count": 2, "seconds": 0}, ToolContext(emit=events.append)
    )
    result = await subject.transport.execute(request, AbortController().signal)
    assert (result.text, len(events)) == ("reported", 2)


# Abort and time


@row
async def after_an_abort_nothing_starts(subject: Subject) -> None:
    controller = AbortController()
    controller.abort()
    request = ToolExecuteRequest(
        "1", "count", {"file": str(subject.file), "number": 1}, ToolContext()
    )
    result = await subject.transport.execute(request, controller.signal)
    assert (result.ok, getattr(result, "code", None)) == (False, "not_available")
    [second] = await subject.run(
        [call("count", file=str(subject.file), number=1)],
        ToolContext(abort_signal=controller.signal),
    )
    assert second.result.code == "not_available"
    assert tools.noted(subject.file) == []


@row
async def an_abort_ends_what_runs_and_finished_results_stay(subject: Subject) -> None:
    controller = AbortController()
    context = ToolContext(abort_signal=controller.signal)
    calls = [
        call("wait", "w", number=1, seconds=0),
        call("tick", "t", file=str(subject.file), seconds=30),
    ]
    finished: list[str] = []

    def on_result(result: CallResult) -> None:
        finished.append(result.tool_call_id)

    batch = asyncio.create_task(subject.run(calls, context, on_result=on_result))
    await until(lambda: finished == ["w"] and bool(tools.noted(subject.file)))
    controller.abort()
    first, second = await batch
    assert first.text == "1 w"
    assert (second.result.code, second.result.reason) == ("execution_failed", "cancelled")
    assert second.text.endswith("it may have run")
    await stops_growing(subject.file)


@row
async def a_call_is_stopped_at_its_own_time_and_its_siblings_go_on(subject: Subject) -> None:
    registry = subject.registry()
    tick = registry.get("tick")
    assert tick is not None
    registry.register(tick.replace(timeout_seconds=0.5), overwrite=True)
    async with asyncio.timeout(300):
        ticked, waited = await registry.execute_parallel(
            [
                call("tick", "t", file=str(subject.file), seconds=30),
                call("wait", "w", number=1, seconds=1.5),
            ]
        )
    assert (ticked.result.reason, ticked.text) == (
        "timeout",
        "Tool tick timed out after 0.5 s; it may have run",
    )
    assert waited.text == "1 w"
    await stops_growing(subject.file)


@row
async def a_tool_that_blocks_its_loop_is_answered_as_late_and_its_worker_replaced(
    subject: Subject,
) -> None:
    seconds = 200 if subject.is_remote else 0.8
    async with subject.open() as transport:
        registry = subject.registry(transport)
        for name in ("block", "block_later"):
            tool = registry.get(name)
            assert tool is not None
            registry.register(tool.replace(timeout_seconds=0.5), overwrite=True)
            await subject.warm(registry)
            started = time.monotonic()
            [blocked] = await registry.execute_parallel(
                [call(name, file=str(subject.file), seconds=seconds)]
            )
            assert blocked.result.reason == "timeout"
            assert blocked.text.endswith("it may have run")
            if not subject.is_remote:
                assert "(it blocked the event loop for 0." in blocked.text
            async with asyncio.timeout(150):
                [after] = await registry.execute_parallel([call("wait", number=1, seconds=0)])
                if not after.ok and not subject.knows_what_began:
                    assert after.text.endswith("it may have run")
                    [after] = await registry.execute_parallel([call("wait", number=1, seconds=0)])
            assert after.text == "1 1"
            assert time.monotonic() - started < 150
    assert tools.noted(subject.file) == ["block", "block"]


@row
async def a_call_behind_one_that_blocks_is_timed_from_its_turn(subject: Subject) -> None:
    registry = subject.registry()
    await subject.warm()
    for name, timeout_seconds in (("block", 30), ("wait", 0.5)):
        tool = registry.get(name)
        assert tool is not None
        registry.register(tool.replace(timeout_seconds=timeout_seconds), overwrite=True)
    blocked = [call("block", f"b{number}", file="/dev/null", seconds=1.2) for number in range(2)]
    behind = [call("wait", f"w{number}", number=number, seconds=0.02) for number in range(4)]
    results = await registry.execute_parallel([*blocked, *behind])
    assert [result.text.split()[0] for result in results] == [*["blocked"] * 2, *"0123"]


@row
async def whatever_a_tool_raises_is_answered(subject: Subject) -> None:
    async with subject.open() as transport:
        registry = subject.registry(transport)
        await subject.warm(registry)
        for kind in tools.RAISED:
            if kind == "KeyboardInterrupt" and not subject.answers_interrupts:
                continue
            for name in ("raise_at_once", "raise_later", "raise_on_thread"):
                async with asyncio.timeout(150):
                    raised, after = [
                        (await registry.execute_parallel([each]))[0]
                        for each in (call(name, kind=kind), call("wait", number=1, seconds=0))
                    ]
                assert raised.result.code == "execution_failed"
                assert (raised.result.reason, raised.text) == ("raised", kind), name
                assert after.text == "1 1"


@row
async def whatever_a_reducer_raises_leaves_the_result(subject: Subject) -> None:
    if not subject.answers_interrupts or subject.transport.traits.reduces_results:
        pytest.skip("an interrupt is for the caller here, or the reducer runs in a server")
    async with subject.open() as transport:
        registry = subject.registry(transport, reducer_registry=tools.reducers())
        await subject.warm(registry)
        for kind in tools.RAISED:
            async with asyncio.timeout(150):
                [result] = await registry.execute_parallel([call("reduced_by_raising", kind=kind)])
            assert result.text == f"not reduced, {kind}"


@row
async def a_plain_function_really_ends_at_the_deadline(subject: Subject) -> None:
    if not subject.transport.traits.cancels_running:
        pytest.skip("the transport cannot end plain functions")
    await subject.warm()
    started = time.monotonic()
    [result] = await subject.run(
        [call("tick_plain", file=str(subject.file), seconds=300)], deadline_seconds=3
    )
    assert result.result.reason == "timeout"
    assert time.monotonic() - started < 200
    assert tools.noted(subject.file)
    await stops_growing(subject.file)


@row
async def a_cancelled_caller_leaves_nothing_running(subject: Subject) -> None:
    batch = asyncio.create_task(subject.run([call("tick", file=str(subject.file), seconds=60)]))
    await until(lambda: bool(tools.noted(subject.file)))
    batch.cancel()
    with pytest.raises(asyncio.CancelledError):
        await batch
    await stops_growing(subject.file)


@row
async def closing_the_iterator_early_stops_the_rest(subject: Subject) -> None:
    requests = [
        ToolExecuteRequest("1", "wait", {"number": 1, "seconds": 0}, ToolContext()),
        ToolExecuteRequest("2", "tick", {"file": str(subject.file), "seconds": 60}, ToolContext()),
    ]
    items: Any = subject.transport.execute_many(requests, AbortController().signal)
    async for item in items:
        if isinstance(item, TransportReply):
            break
    await until(lambda: bool(tools.noted(subject.file)))
    await items.aclose()
    await stops_growing(subject.file)


async def stops_growing(file: Path) -> None:
    """The tool that writes to the file ends within a few seconds."""
    async with asyncio.timeout(60):
        while True:
            before = len(tools.noted(file))
            await asyncio.sleep(0.5)
            if len(tools.noted(file)) == before:
                return


# Crashes


@row
async def a_crash_keeps_finished_results_and_the_pool_goes_on(subject: Subject) -> None:
    if not subject.is_remote:
        pytest.skip("a crash of this process ends the tests")
    finished = 3
    answered: list[CallResult] = []
    all_answered = subject.folder / "all_answered"

    def on_result(result: CallResult) -> None:
        answered.append(result)
        if len(answered) == finished:
            all_answered.touch()

    calls = [
        *(call("count", f"c{n}", file=str(subject.file), number=n) for n in range(finished)),
        call("crash", "x", awaited_file=str(all_answered)),
    ]
    results = await subject.run(calls, on_result=on_result)
    assert [result.text for result in results[:finished]] == ["0", "1", "2"]
    lost = results[-1]
    assert (lost.result.code, lost.result.reason) == ("execution_failed", "worker_lost")
    assert lost.text.endswith("it may have run")
    assert not any(word in lost.text for word in ("\x1b", "0x", "pid"))
    [after] = await subject.run([call("wait", "w", number=1, seconds=0)])
    assert after.text == "1 w"
    runs = [line for line in tools.noted(subject.file) if line.startswith("start")]
    assert sorted(runs) == ["start 0", "start 1", "start 2"]


@row
async def nothing_runs_twice_unless_its_tool_is_idempotent(subject: Subject) -> None:
    if not subject.is_remote:
        pytest.skip("a crash of this process ends the tests")
    once = subject.folder / "once.txt"
    [lost] = await subject.run([call("crash", file=str(once))])
    assert lost.text.endswith("it may have run")
    assert tools.noted(once) == ["crash"]
    [survived] = await subject.run([call("crash_once", file=str(subject.file))])
    if survived.ok:
        assert tools.noted(subject.file) == ["run", "run"]
    else:
        assert tools.noted(subject.file) == ["run"]


# Placement and versions


@row
async def attempts_are_repeated_once_where_the_tool_runs(subject: Subject) -> None:
    for raises in (True, False):
        file = subject.folder / f"attempts-{raises}.txt"
        [result] = await subject.run([call("never", file=str(file), raises=raises)])
        assert (result.result.ok, result.text) == (False, "down")
        assert tools.noted(file) == ["attempt"] * 3


@row
async def what_no_worker_can_offer_is_not_available_and_names_why(subject: Subject) -> None:
    if not subject.can_be_unplaceable:
        pytest.skip("every tool can be placed")
    async with subject.open(tools=BROKEN) as transport:
        async with asyncio.timeout(300):
            results = await subject.registry(transport).execute_parallel(
                [call("wait", f"{n}", number=n, seconds=0) for n in range(3)]
            )
    assert {result.result.code for result in results} == {"not_available"}
    assert all("no GPU on this machine" in result.text for result in results)


@row
async def another_version_of_a_tool_is_refused_by_name(subject: Subject) -> None:
    registry = subject.registry()
    count = registry.get("count")
    assert count is not None
    registry.register(count.replace(description="Another one."), overwrite=True)
    first, second = await registry.execute_parallel(
        [
            call("count", file=str(subject.file), number=1),
            call("wait", "w", number=1, seconds=0),
        ]
    )
    assert first.result.code == "not_available"
    assert "another version of `count`" in first.text
    assert tools.noted(subject.file) == []
    assert second.text == "1 w"


@row
async def a_tool_that_workers_do_not_have_is_refused_by_name(subject: Subject) -> None:
    registry = subject.registry()
    wait = registry.get("wait")
    assert wait is not None
    registry.register(wait.replace(name="unheard_of"))
    [result] = await registry.execute_parallel([call("unheard_of", number=1, seconds=0)])
    assert result.result.code == "not_available"
    assert "unheard_of" in result.text


# Gates and scoped objects


@row
async def gates_are_checked_again_where_the_tool_runs(subject: Subject) -> None:
    signal = AbortController().signal
    args = {"file": str(subject.file), "number": 1}
    for policy in (
        {"personality": Personality("p", toolset=["wait"])},
        {"allowed_tools": NO_TOOLS},
        {"allowed_tools": ("wait",)},
    ):
        request = ToolExecuteRequest("1", "count", args, ToolContext(), **policy)  # type: ignore[arg-type]
        result = await subject.transport.execute(request, signal)
        assert getattr(result, "code", None) == "not_available"
        assert result.text == "Tool count is not permitted for this personality"
    assert tools.noted(subject.file) == []
    permitted = Personality("p", toolset=["count"])
    request = ToolExecuteRequest("1", "count", args, ToolContext(), personality=permitted)
    assert (await subject.transport.execute(request, signal)).text == "1"


@row
async def scoped_objects_are_made_where_the_tool_runs(subject: Subject) -> None:
    (subject.folder / "open").mkdir()
    (subject.folder / "open" / "a.txt").write_text("inside")
    (subject.folder / "closed.txt").write_text("outside")
    reader = Personality(
        "reader", toolset=["read_scoped"], fs_reach=FsReach([str(subject.folder / "open")], [])
    )
    view = subject.registry().view(reader)
    context = ToolContext(working_dir=subject.folder)
    inside, outside = await view.execute(
        [
            call("read_scoped", path=str(subject.folder / "open" / "a.txt")),
            call("read_scoped", path=str(subject.folder / "closed.txt")),
        ],
        context,
    )
    assert inside.text == "inside"
    assert not outside.ok
    assert "outside" not in outside.text


@row
async def secrets_issued_where_the_tool_runs_do_not_leave_it(subject: Subject) -> None:
    request = ToolExecuteRequest("1", "leak", {}, ToolContext())
    result = await subject.transport.execute(request, AbortController().signal)
    assert result.ok, result.text
    assert result.text.startswith("the secret is")
    assert "plain-looking words" not in result.text


@row
async def the_map_of_read_files_goes_and_comes_back(subject: Subject) -> None:
    mtimes = {"/a": ReadMtime(1.0, 1)}
    context = ToolContext(read_mtimes=mtimes, current_turn=4)
    [result] = await subject.run([call("remember", path="/b")], context)
    assert result.text == "/a"
    assert mtimes == {"/a": ReadMtime(1.0, 1), "/b": ReadMtime(7.0, 4)}


@row
async def what_cannot_be_sent_is_refused_by_name_and_its_siblings_run(subject: Subject) -> None:
    if not subject.is_remote:
        pytest.skip("nothing is sent")
    [stored] = await subject.run(
        [call("wait", number=1, seconds=0)],
        ToolContext(storage=object()),  # type: ignore[arg-type]
    )
    assert stored.result.code == "not_available"
    assert "`storage`" in stored.text
    signal = AbortController().signal
    requests = [
        ToolExecuteRequest("1", "count", {"file": subject.file, "number": 1}, ToolContext()),
        ToolExecuteRequest("2", "wait", {"number": 2, "seconds": 0}, ToolContext()),
    ]
    replies = {
        item.index: item.result
        async for item in subject.transport.execute_many(requests, signal)
        if isinstance(item, TransportReply)
    }
    assert "its arguments cannot be sent" in replies[0].text
    assert getattr(replies[0], "code", None) == "not_available"
    assert replies[1].text == "2 2"
    assert tools.noted(subject.file) == []


# Two turns


@row
async def two_turns_on_one_transport_keep_their_contexts_apart(subject: Subject) -> None:
    async def turn(session: str, budget: int) -> None:
        events: list[ToolProgressEvent] = []
        context = ToolContext(
            session_id=session, emit=events.append, result_budget_chars=budget * 8
        )
        view = subject.registry().view(Personality(f"p-{session}", toolset=["who"]))
        for _ in range(3):
            results = await view.execute([call("who", str(n)) for n in range(8)], context)
            assert {result.text for result in results} == {f"{session} p-{session} {budget}"}
        if subject.transport.traits.streams_progress:
            assert {event.message for event in events} == {f"{session} works"}
            assert len(events) == 24

    async with asyncio.timeout(300):
        await asyncio.gather(turn("first", 400), turn("second", 500), turn("third", 600))


@row
async def one_transport_serves_the_loops_of_several_threads(subject: Subject) -> None:
    def run_turn(number: int) -> list[str]:
        calls = [call("wait", f"{n}", number=number, seconds=0.01) for n in range(4)]
        return [result.text for result in subject.registry().execute_parallel_sync(calls)]

    answers = await asyncio.gather(*(asyncio.to_thread(run_turn, n) for n in range(3)))
    assert answers == [[f"{n} {index}" for index in range(4)] for n in range(3)]


# Large results


@row
async def ten_megabytes_arrive_and_are_cut_and_stored_here(subject: Subject) -> None:
    size = 10_000_000
    async with subject.open(max_result_bytes=size + 1000) as transport:
        store = MemoryArtifactStore()
        async with asyncio.timeout(300):
            [result] = await subject.registry(transport).execute_parallel(
                [call("large", characters=size)],
                ToolContext(result_budget_chars=1_000, artifact_store=store),
            )
    assert result.ok, result.text
    assert (result.raw_chars, result.truncated_from) == (size, size)
    assert result.sent_chars < 1_500


@row
async def what_is_larger_than_the_limit_is_bounded_and_says_so(subject: Subject) -> None:
    limit = subject.transport.traits.max_result_bytes
    if limit is None:
        pytest.skip("the transport has no limit")
    async with subject.open(max_result_bytes=1_000) as transport:
        request = ToolExecuteRequest("1", "large", {"characters": 50_000}, ToolContext())
        result = await transport.execute(request, AbortController().signal)
    assert result.ok
    assert len(result.text) < 1_200
    assert result.text.endswith("wxyz")
    assert "49,000 characters left out" in result.text


# Results that workers shorten


class Watched(ToolTransport):
    """A transport whose replies are kept."""

    def __init__(self, transport: ToolTransport) -> None:
        self.transport = transport
        self.replies: list[TransportReply] = []

    @property
    def traits(self) -> TransportTraits:
        return self.transport.traits

    async def execute_many(
        self,
        requests: Sequence[ToolExecuteRequest],
        signal: AbortSignal,
        *,
        live: LiveContext | None = None,
    ) -> AsyncIterator[TransportItem]:
        items: Any = self.transport.execute_many(requests, signal, live=live)
        async with aclosing(items) as stream:
            async for item in stream:
                if isinstance(item, TransportReply):
                    self.replies.append(item)
                yield item


def shortened_calls() -> list[dict[str, Any]]:
    """Every output of every kind of tool; each tool and each output in every way of ending."""
    calls: list[dict[str, Any]] = []
    endings = ("ok", "error", "raise", "structured")
    for name, more in (
        ("terminal", {"command": "make all"}),
        ("read_file", {}),
        ("no_reducer", {}),
        ("versioned", {}),
        ("unversioned", {}),
        ("fetched", {"url": "https://example.org/" + "long/" * 60}),
    ):
        for kind in tools.OUTPUTS:
            for ending in {"ok", endings[(len(calls) * 7 // 5) % 4]}:
                args = {**more, "kind": kind, "ending": ending}
                calls.append(call(name, f"{name}-{kind}-{ending}", **args))
    return calls


def facts_of(result: CallResult) -> dict[str, Any]:
    """What callers, ledgers and telemetry read of a result; ids of artifacts are random."""
    return {
        "id": result.tool_call_id,
        "text": re.sub(r"\[artifact [a-z0-9]+:", "[artifact ID:", result.text),
        "ok": result.ok,
        "code": getattr(result.result, "code", None),
        "reason": getattr(result.result, "reason", None),
        "structured": result.result.structured,
        "cost_usd": result.result.cost_usd,
        "extra": dict(result.result.extra),
        "raw_chars": result.raw_chars,
        "reduced_chars": result.reduced_chars,
        "sent_chars": result.sent_chars,
        "truncated_from": result.truncated_from,
        "untrusted": result.untrusted,
        "source": result.source,
    }


def brief(differs: dict[str, tuple[Any, Any]]) -> str:
    return "; ".join(
        f"{name}: {str(one)[:150]!r} .. {str(one)[-150:]!r}, got {str(other)[:150]!r} .. "
        f"{str(other)[-150:]!r}"
        for name, (one, other) in differs.items()
    )


async def same_as_here(
    subject: Subject,
    transport: ToolTransport,
    make_context: Callable[[], ToolContext],
    calls: list[dict[str, Any]],
    **options: Any,
) -> None:
    """Results and artifacts are those of the same calls without a transport."""
    found: list[tuple[list[dict[str, Any]], dict[str, str]]] = []
    for transports in ({}, {"*": transport}):
        registry = ToolRegistry(
            tools.registry.all(), transports=transports, reducer_registry=tools.reducers()
        )
        context = make_context()
        async with asyncio.timeout(300):
            results = await registry.execute_parallel(calls, context, **options)
        store, stored = context.artifact_store, {}
        if isinstance(store, MemoryArtifactStore):
            stored = {
                artifact.origin.tool_call_id: artifact.read_all() for artifact in store.artifacts()
            }
            store.close()
        found.append(([facts_of(result) for result in results], stored))
    (expected, expected_stored), (arrived, arrived_stored) = found
    for one, other in zip(expected, arrived, strict=True):
        differs = {name: (one[name], other[name]) for name in one if one[name] != other[name]}
        assert not differs, f"{one['id']}: {brief(differs)}"
    assert arrived_stored == expected_stored


@row
async def shortened_results_are_those_of_the_same_calls_without_a_transport(
    subject: Subject,
) -> None:
    calls = shortened_calls()
    if not subject.transport.traits.in_place and not subject.transport.traits.reduces_results:
        for budget, options in (
            (0, {}),
            (90_000, {"untrusted": "wrap"}),
            (90_000, {"budget_policy": "fill", "untrusted": "wrap"}),
            (200_000_000, {}),
        ):
            context = partial(ToolContext, result_budget_chars=budget, current_turn=3)
            await same_as_here(subject, subject.transport, context, calls, **options)


@row
async def full_text_of_shortened_results_is_in_the_store_of_the_caller(subject: Subject) -> None:
    if subject.transport.traits.reduces_results:
        pytest.skip("the gateway finishes results for its own personality")
    folder = subject.folder / "artifacts"

    def context(store: Callable[[], MemoryArtifactStore]) -> ToolContext:
        made = store()
        made.announce_readers(["read_artifact"])
        return ToolContext(result_budget_chars=90_000, artifact_store=made)

    in_files = partial(SpooledArtifactStore, folder, memory_bytes=10_000)
    for store, options in (
        (MemoryArtifactStore, {"untrusted": "wrap"}),
        (in_files, {"untrusted": "wrap"}),
        (in_files, {"budget_policy": "fill"}),
    ):
        made = partial(context, store)
        await same_as_here(subject, subject.transport, made, shortened_calls(), **options)
    assert list(folder.iterdir()) == []


@row
async def ten_megabytes_do_not_travel_when_the_worker_can_shorten_them(subject: Subject) -> None:
    if not subject.transport.traits.finishes_results:
        pytest.skip("results are shortened by the caller")
    size = 10_000_000
    folder = subject.folder / "artifacts"
    watched = Watched(subject.transport)
    registry = ToolRegistry(tools.registry.all(), transports={"*": watched})
    with SpooledArtifactStore(folder) as store:
        for given in (None, store):
            context = ToolContext(result_budget_chars=1_000, artifact_store=given)
            async with asyncio.timeout(300):
                [result] = await registry.execute_parallel(
                    [call("large", characters=size)], context
                )
            assert (result.raw_chars, result.truncated_from) == (size, size)
        assert [len(reply.result.text) < 1_500 for reply in watched.replies] == [True, True]
        [artifact] = store.artifacts()
        assert artifact.line(0) == "a" * (size - 4) + "wxyz"
    assert list(folder.iterdir()) == []


@row
async def a_folder_that_a_worker_does_not_see_makes_the_full_text_travel(subject: Subject) -> None:
    if not subject.transport.traits.finishes_results:
        pytest.skip("results are shortened by the caller")
    watched = Watched(subject.transport)
    registry = ToolRegistry(tools.registry.all(), transports={"*": watched})

    class RemoteStore(SpooledArtifactStore):
        """As on another machine: the folder of the worker has no file of this store."""

        def share(self) -> SharedFolder | None:
            shared = super().share()
            assert shared is not None
            return SharedFolder(str(subject.folder), shared.token)

    with RemoteStore(subject.folder / "artifacts") as store:
        context = ToolContext(result_budget_chars=1_000, artifact_store=store)
        [result] = await registry.execute_parallel([call("large", characters=200_000)], context)
        assert (result.raw_chars, result.truncated_from) == (200_000, 200_000)
        assert [len(reply.result.text) for reply in watched.replies] == [200_000]
        [artifact] = store.artifacts()
        assert len(artifact.line(0)) == 200_000


@row
async def what_the_caller_alone_can_do_keeps_the_text_whole(subject: Subject) -> None:
    if not subject.transport.traits.finishes_results:
        pytest.skip("results are shortened by the caller")
    watched = Watched(subject.transport)
    seen: list[int] = []

    def after(invocation: Invocation, result: ToolResult) -> None:
        seen.append(len(result.text))

    for options in ({"filters": [InvocationFilter(after=after)]}, {}):
        registry = ToolRegistry(tools.registry.all(), transports={"*": watched}, **options)
        context = ToolContext(result_budget_chars=1_000)
        [result] = await registry.execute_parallel([call("large", characters=50_000)], context)
        assert (result.raw_chars, result.truncated_from) == (50_000, 50_000)
    assert seen == [50_000]
    assert [len(reply.result.text) > 1_500 for reply in watched.replies] == [True, False]


# What tools do to their process


@row
async def what_a_tool_prints_does_not_break_the_channel(subject: Subject) -> None:
    if not subject.is_remote:
        pytest.skip("the tool prints to the tests' own output")
    calls = [call("shout", f"{n}", text="{not json") for n in range(4)]
    assert [result.text for result in await subject.run(calls)] == ["{not json"] * 4


@row
async def standard_input_is_empty_for_tools(subject: Subject) -> None:
    if not subject.is_remote:
        pytest.skip("the tool reads the tests' own input")
    [result] = await subject.run([call("read_input")])
    assert result.text == "''"


@row
async def a_tool_that_forks_does_not_leak_the_channel(subject: Subject) -> None:
    if not subject.is_remote:
        pytest.skip("a fork of the tests would go on with the tests")
    async with subject.open() as transport:
        registry = subject.registry(transport)
        async with asyncio.timeout(300):
            [forked] = await registry.execute_parallel([call("fork", seconds=300)])
            assert forked.text.isdigit()
            [parent] = await registry.execute_parallel([call("fork_async")])
            assert parent.text == "parent"
            started = time.monotonic()
            [lost] = await registry.execute_parallel([call("crash")])
            assert lost.text.endswith("it may have run")
            assert time.monotonic() - started < 100  # not when the forked process ends
            [after] = await registry.execute_parallel([call("wait", "w", number=1, seconds=0)])
            assert after.text == "1 w"
    await until(lambda: not is_alive(int(forked.text)))


@row
async def after_close_calls_are_not_available(subject: Subject) -> None:
    async with subject.open() as transport:
        registry = subject.registry(transport)
        [before] = await registry.execute_parallel([call("wait", "w", number=1, seconds=0)])
        assert before.text == "1 w"
    await transport.aclose()  # again
    if not subject.is_remote:
        return
    [after] = await registry.execute_parallel([call("wait", number=1, seconds=0)])
    assert after.result.code == "not_available"
