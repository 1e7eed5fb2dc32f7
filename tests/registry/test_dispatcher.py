"""Calls of a streamed reply start at the right event, and every one is answered."""

from __future__ import annotations

import asyncio
import random
from typing import Any

import pytest

from catalog_agents import Specialist
from ethos_registry import (
    ConfigError,
    EthosRegistryError,
    Personality,
    Tool,
    ToolContext,
    ToolRegistry,
    ok,
)
from ethos_registry.agents import AgentCatalog
from ethos_registry.agents._catalog_view import current_scope
from ethos_registry.types import AbortController, DispatchMode
from session_tools import until
from stream_cases import CASES, Case, raw_of
from streams import MANIFEST, events_of, in_chunks, name_of, needs_recordings
from streams import raw_of as recorded_raw

pytestmark = pytest.mark.every_python

ANY_OBJECT = {"type": "object"}


def title(case: Case) -> str:
    return f"{case.provider}: {case.name}"


class Recorder:
    """Tools of any name that record what they are given and by which event they were started."""

    def __init__(self, names: set[str], dispatch: DispatchMode = "confirmed") -> None:
        self.ran: list[tuple[str, str, Any]] = []
        self.started: dict[str, int] = {}
        self.event = -1
        tools = [
            Tool(name, "", ANY_OBJECT, self._run_as(name), dispatch=dispatch)
            for name in sorted(names)
        ]
        self.view = ToolRegistry(tools).view(Personality("all"))

    def _run_as(self, name: str) -> Any:
        async def run(args: Any, context: Any) -> Any:
            self.ran.append((context.tool_call_id, name, args))
            await asyncio.sleep(0)
            return ok(f"ran {context.tool_call_id}")

        return run

    def on_start(self, call: Any) -> None:
        assert call.tool_call_id not in self.started
        self.started[call.tool_call_id] = self.event


async def dispatched(recorder: Recorder, provider: str, events: list[Any], **options: Any) -> Any:
    """Feed the events one by one; `recorder.event` is the number of the one being fed."""
    async with recorder.view.dispatch(
        provider=provider, on_start=recorder.on_start, **options
    ) as turn:
        for recorder.event, event in enumerate(events):
            turn.feed(event)
            await asyncio.sleep(0)
        recorder.event = -1
        await turn.results()
    return turn


def expected_starts(case: Case, dispatch: DispatchMode, ids: list[str]) -> dict[str, int]:
    """By which event each call that may run starts."""
    starts = {}
    for call, identifier in zip(case.calls, ids, strict=True):
        moments = [call.proven] if dispatch == "confirmed" else [call.closed, call.proven]
        known = [moment for moment in moments if moment is not None]
        if known and call.raw is None:
            starts[identifier] = min(known)
    return starts


@pytest.mark.parametrize("dispatch", ["confirmed", "eager"])
@pytest.mark.parametrize("case", CASES, ids=title)
async def test_each_call_starts_with_its_event_and_every_call_is_answered(case, dispatch):
    recorder = Recorder({call.name for call in case.calls}, dispatch)
    turn = await dispatched(recorder, case.provider, case.events)
    results = await turn.results()
    ids = [result.tool_call_id for result in results]
    assert recorder.started == expected_starts(case, dispatch, ids)
    given = {identifier: args for identifier, _, args in recorder.ran}
    assert len(given) == len(recorder.ran)
    assert len(results) == len(case.calls)
    for call, result in zip(case.calls, results, strict=True):
        assert result.name == call.name
        if result.tool_call_id in recorder.started:
            assert result.text == f"ran {result.tool_call_id}"
            assert given[result.tool_call_id] == call.args
        else:
            assert (result.result.code, result.result.reason) == ("input_invalid", "invalid_args")


@pytest.mark.parametrize("case", CASES, ids=title)
async def test_chunks_of_bytes_give_the_same_calls(case):
    names = {call.name for call in case.calls}
    whole = Recorder(names)
    await dispatched(whole, case.provider, case.events)
    raw = raw_of(case)
    random_places = random.Random(1).sample(range(len(raw)), min(len(raw), 9))
    for places in (range(1, len(raw)), random_places):
        recorder = Recorder(names)
        await dispatched(recorder, case.provider, in_chunks(raw, places))
        assert recorder.ran == whole.ran


@needs_recordings
@pytest.mark.parametrize("dispatch", ["confirmed", "eager"])
@pytest.mark.parametrize("stream", MANIFEST, ids=name_of)
async def test_recorded_calls_start_with_the_events_of_the_manifest(stream, dispatch):
    recorder = Recorder({call["name"] for call in stream["calls"]}, dispatch)
    events = events_of(recorded_raw(stream))
    turn = await dispatched(recorder, stream["format"], events)
    results = await turn.results()
    expected = {}
    for call, result in zip(stream["calls"], results, strict=True):
        assert result.name == call["name"]
        if call["id"] is not None:
            assert result.tool_call_id == call["id"]
        proven = call["proven_event"]
        eager = [at for at in (call["closed_event"], proven) if at is not None]
        if call["status"] == "complete":
            moment = proven if dispatch == "confirmed" else min(eager)
            expected[result.tool_call_id] = moment
        elif call["status"] == "incomplete" and dispatch == "eager" and "args_raw" not in call:
            expected[result.tool_call_id] = call["closed_event"]  # it was closed whole, then cut
        if result.tool_call_id not in expected:
            assert result.result.code == "input_invalid"
    assert recorder.started == expected
    given = {identifier: args for identifier, _, args in recorder.ran}
    for call, result in zip(stream["calls"], results, strict=True):
        if call["status"] == "complete":
            assert given[result.tool_call_id] == call["args"]


@needs_recordings
@pytest.mark.parametrize("stream", MANIFEST, ids=name_of)
async def test_recorded_streams_in_chunks_give_the_same_calls(stream):
    raw = recorded_raw(stream)
    names = {call["name"] for call in stream["calls"]}
    whole = Recorder(names)
    await dispatched(whole, stream["format"], events_of(raw))
    for seed in range(2):
        recorder = Recorder(names)
        places = random.Random(seed).sample(range(len(raw)), min(len(raw), 40))
        await dispatched(recorder, stream["format"], in_chunks(raw, places))
        assert recorder.ran == whole.ran


# One rule each


def chat_case(name: str) -> Case:
    return next(case for case in CASES if case.name == name)


async def test_idempotent_tools_are_eager_by_default_and_others_confirmed():
    async def run(args, context):
        return ok("done")

    assert Tool("f", "", ANY_OBJECT, run).dispatch == "confirmed"
    assert Tool("f", "", ANY_OBJECT, run, idempotent=True).dispatch == "eager"
    assert Tool("f", "", ANY_OBJECT, run, idempotent=True).replace(idempotent=False).dispatch == (
        "confirmed"
    )
    held = Tool("f", "", ANY_OBJECT, run, idempotent=True, dispatch="confirmed")
    assert held.dispatch == held.replace(description="x").dispatch == "confirmed"
    with pytest.raises(ConfigError, match="dispatch"):
        Tool("f", "", ANY_OBJECT, run, dispatch="later")


async def test_eth_60_a_call_starts_before_the_stream_ends():
    case = chat_case("three calls, the last without arguments")
    recorder = Recorder({"f", "g"})
    async with recorder.view.dispatch(provider=case.provider) as turn:
        for event in case.events[:10]:
            turn.feed(event)
        await until(lambda: recorder.ran)
        assert [(identifier, args) for identifier, _, args in recorder.ran] == [("t1", {"a": 1})]
        for event in case.events[10:]:
            turn.feed(event)
    assert len(recorder.ran) == 3


async def test_eth_61_incomplete_arguments_never_start():
    case = chat_case("arguments that are never closed")
    recorder = Recorder({"f"}, "eager")
    turn = await dispatched(recorder, case.provider, case.events)
    [result] = await turn.results()
    assert recorder.ran == []
    assert result.text.startswith("arguments are not valid JSON: ")


async def test_eth_62_results_are_in_the_order_of_the_reply_whatever_ends_first():
    waits = {"t1": asyncio.Event(), "t2": asyncio.Event(), "t3": asyncio.Event()}
    ended = []

    async def run(args, context):
        await waits[context.tool_call_id].wait()
        ended.append(context.tool_call_id)
        return ok(context.tool_call_id)

    tools = [Tool("f", "", ANY_OBJECT, run), Tool("g", "", ANY_OBJECT, run, dispatch="eager")]
    view = ToolRegistry(tools).view(Personality("all"))
    case = chat_case("three calls, the last without arguments")
    async with view.dispatch(provider=case.provider) as turn:
        for event in case.events:
            turn.feed(event)
        for identifier in ("t3", "t1", "t2"):
            waits[identifier].set()
            await asyncio.sleep(0.01)
        results = await turn.results()
    assert ended == ["t3", "t1", "t2"]
    assert [result.text for result in results] == ["t1", "t2", "t3"]


async def test_eth_63_a_call_starts_when_the_next_index_begins_or_the_stream_ends():
    case = chat_case("cut between two calls by length")
    recorder = Recorder({"f", "g"})
    await dispatched(recorder, case.provider, case.events)
    assert recorder.started == {"c1": 1}


@pytest.mark.parametrize("policy", ["await", "cancel"])
@pytest.mark.parametrize("way", ["exception", "break", "error event", "cancellation"])
async def test_eth_64_a_started_call_is_awaited_or_cancelled_when_the_stream_fails(policy, way):
    state = []

    async def run(args, context):
        state.append("started")
        try:
            await asyncio.sleep(0.05 if policy == "await" else 300)
            state.append("ended")
        except asyncio.CancelledError:
            state.append("cancelled")
            raise
        return ok("done")

    view = ToolRegistry([Tool("f", "", ANY_OBJECT, run)]).view(Personality("all"))
    case = chat_case("the reply is cut off and closes its last call")
    turn = view.dispatch(provider=case.provider, on_broken_stream=policy)

    async def consume():
        async with turn:
            for event in case.events[:5]:
                turn.feed(event)
            await until(lambda: state)
            if way == "exception":
                raise ConnectionError("gone")
            if way == "error event":
                turn.feed({"type": "error", "error": {"message": "overloaded"}})
            if way == "cancellation":
                await asyncio.sleep(60)

    task = asyncio.create_task(consume())
    if way == "cancellation":
        await until(lambda: state)
        task.cancel()
    errors = {"exception": ConnectionError, "cancellation": asyncio.CancelledError}
    if way in errors:
        with pytest.raises(errors[way]):
            await task
    else:
        await task
    assert state == ["started", "ended" if policy == "await" else "cancelled"]
    first, second = await turn.results()
    assert first.ok is (policy == "await")
    assert second.result.code == "input_invalid"
    assistant, user = turn.messages()
    assert [block["id"] for block in assistant["content"]] == ["t1", "t2"]
    assert [block["tool_use_id"] for block in user["content"]] == ["t1", "t2"]


async def test_a_late_delta_to_a_started_call_is_recorded_and_not_run():
    case = chat_case("arguments after the end of their block")
    recorder = Recorder({"f"}, "eager")
    turn = await dispatched(recorder, case.provider, case.events)
    assert [args for _, _, args in recorder.ran] == [{"a": 1}]
    assert turn.late_arguments == {"t1": ', "b": 2}'}


async def test_arguments_that_are_no_object_are_refused():
    case = Case("", "openai_chat", [], [])
    recorder = Recorder({"f"})
    for text, kind in (
        ("[1]", "an array"),
        ("true", "a boolean"),
        ("3", "a num"),
    ):
        entry = {"index": 0, "id": "c1", "function": {"name": "f", "arguments": text}}
        events = [
            {"choices": [{"index": 0, "delta": {"tool_calls": [entry]}}]},
            {"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]},
        ]
        turn = await dispatched(recorder, case.provider, events)
        [result] = await turn.results()
        assert result.text.startswith(f"the arguments must be a JSON object, got {kind}")
        assert turn.reply()["tool_calls"][0]["function"]["arguments"].startswith('{"INVALID_JSON"')
    assert recorder.ran == []


async def test_partial_arguments_grow_up_to_the_whole():
    case = chat_case("three calls, the last without arguments")
    shown: list[tuple[str, Any]] = []
    recorder = Recorder({"f", "g"})
    await dispatched(
        recorder, case.provider, case.events, on_arguments=lambda *shows: shown.append(shows)
    )
    assert shown == [("t1", {}), ("t1", {"a": 1}), ("t2", {}), ("t3", {})]


async def test_results_are_reported_when_they_come():
    case = chat_case("three calls, the last without arguments")
    reported = []
    recorder = Recorder({"f", "g"})
    async with recorder.view.dispatch(provider=case.provider, on_result=reported.append) as turn:
        for event in case.events[:10]:
            turn.feed(event)
        await until(lambda: reported)
        assert [result.tool_call_id for result in reported] == ["t1"]
        for event in case.events[10:]:
            turn.feed(event)
    results = await turn.results()
    assert sorted(map(id, reported)) == sorted(map(id, results))


async def test_the_texts_share_the_budget_over_the_calls_that_there_were():
    seen = []

    async def run(args, context):
        seen.append(context.result_budget_chars)
        return ok("x" * 1_000)

    case = chat_case("three calls, the last without arguments")
    tools = [Tool("f", "", ANY_OBJECT, run), Tool("g", "", ANY_OBJECT, run, max_result_chars=50)]
    view = ToolRegistry(tools).view(Personality("all"))
    async with view.dispatch(ToolContext(result_budget_chars=300), provider=case.provider) as turn:
        for event in case.events:
            turn.feed(event)
    results = await turn.results()
    assert seen == [300, 50, 50]
    assert [result.text.split("\n")[0] for result in results] == ["x" * 100, "x" * 50, "x" * 50]


async def test_the_deadline_bounds_the_whole_stream():
    case = chat_case("three calls, the last without arguments")
    recorder = Recorder({"f", "g"})
    async with recorder.view.dispatch(provider=case.provider, deadline_seconds=0.02) as turn:
        await asyncio.sleep(0.05)
        for event in case.events:
            turn.feed(event)
    assert recorder.ran == []
    assert {result.result.reason for result in await turn.results()} == {"timeout"}


# The wrapper


async def stream_of(events):
    for event in events:
        await asyncio.sleep(0)
        yield event


async def test_the_wrapper_passes_every_event_through_unchanged():
    case = chat_case("three calls, the last without arguments")
    recorder = Recorder({"f", "g"})
    turn = recorder.view.dispatching(stream_of(case.events), provider=case.provider)
    passed = [event async for event in turn]
    assert all(left is right for left, right in zip(passed, case.events, strict=True))
    assert len(await turn.results()) == len(recorder.ran) == 3
    assert turn.is_complete
    assert [message["role"] for message in turn.messages()] == ["assistant", "user"]


async def test_leaving_the_loop_of_the_wrapper_leaves_nothing_running():
    case = chat_case("three calls, the last without arguments")
    state = []

    async def run(args, context):
        state.append("started")
        try:
            await asyncio.sleep(60)
        finally:
            state.append("over")

    view = ToolRegistry([Tool("f", "", ANY_OBJECT, run)]).view(Personality("all"))
    turn = view.dispatching(
        stream_of(case.events), provider=case.provider, on_broken_stream="cancel"
    )
    async for _ in turn:
        if state:
            break
    await until(lambda: len(asyncio.all_tasks()) == 1)
    assert state == ["started", "over"]
    results = await turn.results()
    assert results[0].result.reason == "cancelled"


# Wrong use


async def test_wrong_arguments_raise_before_anything_starts():
    view = Recorder({"f"}).view
    with pytest.raises(ConfigError, match="unknown provider 'acme'"):
        view.dispatch(provider="acme")
    with pytest.raises(ConfigError, match="on_broken_stream"):
        view.dispatch(provider="anthropic", on_broken_stream="ignore")
    with pytest.raises(ConfigError, match="on_start"):
        view.dispatch(provider="anthropic", on_start=3)
    with pytest.raises(ConfigError, match="async iterable"):
        view.dispatching([], provider="anthropic")
    with pytest.raises(EthosRegistryError, match="async with"):
        view.dispatch(provider="anthropic").feed({})
    async with view.dispatch(provider="anthropic") as turn:
        with pytest.raises(EthosRegistryError, match="results"):
            turn.messages()
        for event in (None, 3, ["a"]):
            with pytest.raises(ConfigError, match="an event is"):
                turn.feed(event)
        await turn.results()
        with pytest.raises(EthosRegistryError, match="no more events"):
            turn.feed({})
    with pytest.raises(EthosRegistryError, match="one reply"):
        async with turn:
            pass


async def test_an_event_that_is_no_json_breaks_the_reply():
    recorder = Recorder({"f"})
    async with recorder.view.dispatch(provider="anthropic") as turn:
        turn.feed(b"data: {not json}\n\n")
    assert not turn.is_complete
    assert turn.messages() == []


async def test_the_view_of_an_agent_runs_its_calls_under_the_agent():
    seen = []

    async def run(args, context):
        seen.append((context.agent_id, current_scope.get().path))
        return ok("done")

    catalog = AgentCatalog([Specialist("clerk", Tool("f", "A tool.", ANY_OBJECT, run))])
    catalog.start()
    case = chat_case("finish reason stop")
    async with catalog.view("clerk").dispatch(provider=case.provider) as turn:
        for event in case.events:
            turn.feed(event)
    assert seen == [("clerk", ("clerk",))]


@pytest.mark.parametrize(
    ("start", "problem"), [(b"[{", "alt=sse"), (b"\x00\x00\x00\x9c", "binary")], ids=repr
)
async def test_a_body_that_is_no_stream_of_events_is_refused(start, problem):
    async with Recorder({"f"}).view.dispatch(provider="gemini") as turn:
        with pytest.raises(ConfigError, match=problem):
            turn.feed(start)


async def test_calls_wait_for_a_slot_and_stop_with_the_turn():
    state = []
    abort = AbortController()

    async def run(args, context):
        state.append(context.tool_call_id)
        await asyncio.sleep(60)

    view = ToolRegistry([Tool("f", "", ANY_OBJECT, run), Tool("g", "", ANY_OBJECT, run)]).view(
        Personality("all")
    )
    case = chat_case("three calls, the last without arguments")
    context = ToolContext(abort_signal=abort.signal)
    async with view.dispatch(context, provider=case.provider, max_concurrency=1) as turn:
        for event in case.events:
            turn.feed(event)
            await asyncio.sleep(0)
        abort.abort()
    assert state == ["t1"]
    assert {result.result.reason for result in await turn.results()} == {"cancelled"}
