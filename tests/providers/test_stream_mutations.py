"""Replies whose events are repeated, lost, moved or damaged: the history stays valid."""

from __future__ import annotations

import asyncio
import copy
import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import stream_cases as wire
from providers.test_dispatch_properties import check_history, recording_view
from stream_rendering import PROVIDERS, Said, rendered, replies

PLACES = ("index", "output_index", "contentBlockIndex")
DAMAGED = st.sampled_from([None, 1, -1, True, "", [], {}, "x", [1], {"a": 1}, 1.5, "0"])


def answered(provider: str, events: list[Any]) -> tuple[list[Any], Any]:
    """The arguments of the calls that ran, and the results; the history has been checked."""
    ran: list[Any] = []

    async def feed() -> Any:
        async with recording_view(ran).dispatch(provider=provider) as turn:
            for event in events:
                turn.feed(event)
                await asyncio.sleep(0)
        return turn

    turn = asyncio.run(asyncio.wait_for(feed(), 30))
    results = asyncio.run(turn.results())
    check_history(provider, turn)
    json.dumps(turn.messages())
    assert sum(result.ok for result in results) == len(ran)
    return ran, results


def holders(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every field of an event: what holds it, and its key."""
    for key in list(value) if isinstance(value, dict) else range(len(value)):
        yield value, key
        if isinstance(value[key], dict | list):
            yield from holders(value[key])


@st.composite
def damaged(draw: st.DrawFn, provider: str) -> list[Any]:
    """A reply that something on the way has repeated, lost, moved or changed."""
    events = copy.deepcopy(rendered(provider, draw(replies)).events)
    for _ in range(draw(st.integers(1, 3))):
        if not events:
            break
        way = draw(st.sampled_from(["repeat", "lose", "move", "change", "drop", "one place"]))
        place = draw(st.integers(0, len(events) - 1))
        fields = list(holders(events[place])) if isinstance(events[place], dict) else []
        if way == "repeat":
            events.insert(place, copy.deepcopy(events[place]))
        elif way == "lose":
            events.pop(place)
        elif way == "move":
            events.insert(draw(st.integers(0, len(events) - 1)), events.pop(place))
        elif way == "one place":
            index = draw(st.sampled_from([0, None, "missing"]))
            for event in events:
                for holder, key in list(holders(event)) if isinstance(event, dict) else ():
                    if key in PLACES:
                        holder[key] = index
                        if index == "missing":
                            del holder[key]
        elif fields:
            holder, key = draw(st.sampled_from(fields))
            if way == "change":
                holder[key] = copy.deepcopy(draw(DAMAGED))
            elif isinstance(holder, dict):
                del holder[key]
    return events


@pytest.fixture(autouse=True)
def _quiet(caplog):
    """Each unreadable event is logged with its traceback."""
    caplog.set_level(logging.CRITICAL, logger="ethos_registry")


@pytest.mark.parametrize("provider", PROVIDERS)
def test_damaged_replies_leave_one_answer_for_each_call(provider):
    @given(damaged(provider))
    def check(events: list[Any]) -> None:
        answered(provider, events)

    check()


ADDS_ARGUMENTS = ("input_json_delta", "contentBlockDelta", "arguments.delta", "tool-call-delta")


@pytest.mark.parametrize(
    "provider", ["anthropic", "openai_chat", "openai_responses", "bedrock", "cohere"]
)
@given(reply=replies, data=st.data())
def test_a_repeated_event_runs_no_call_twice(provider, reply, data):
    whole = rendered(provider, reply)
    place = data.draw(st.integers(0, len(whole.events) - 1))
    event = json.dumps(whole.events[place])
    if any(kind in event for kind in ADDS_ARGUMENTS):
        return  # pieces of arguments have no number: nothing shows that one came before
    if provider == "openai_chat" and '"arguments"' in event and '"id"' not in event:
        return
    later = data.draw(st.integers(place, min(place + 3, len(whole.events))))
    events = [*whole.events]
    events.insert(later, copy.deepcopy(events[place]))
    ran, _ = answered(provider, events)
    assert ran == whole.args


NUMBER_AS_ID = {"contentBlockIndex": 0, "start": {"toolUse": {"toolUseId": 1, "name": "f"}}}
COHERE_CALL = {"message": {"tool_calls": {"id": 1, "function": {"name": "f", "arguments": ""}}}}


@pytest.mark.parametrize(
    ("provider", "events"),
    [
        ("gemini", [{"candidates": [{"content": {"parts": [{"functionCall": 1}]}}]}]),
        ("bedrock", [{"contentBlockStart": NUMBER_AS_ID}] * 2),
        ("cohere", [{"type": "tool-call-start", "index": 0, "delta": COHERE_CALL}] * 2),
        ("openai_chat", [{"choices": [{"delta": {"tool_calls": [{"id": 1, "index": 0}]}}]}] * 2),
    ],
)
def test_a_field_of_another_type_spoils_no_history(provider, events):
    answered(provider, events)


TWO_CALLS = [
    Said("so"),
    Said(name="f", args={}, pieces=("{}",)),
    Said(name="f", args={"a": 1}, pieces=('{"a"', ": 1}")),
]


@pytest.mark.parametrize("has_whole_arguments", [True, False])
@pytest.mark.parametrize("provider", ["anthropic", "openai_responses", "bedrock", "cohere"])
def test_an_event_once_more_changes_no_other_call(provider, has_whole_arguments):
    events = copy.deepcopy(rendered(provider, TWO_CALLS).events)
    for event in events:
        item = event.get("item", {}) if isinstance(event, dict) else {}
        if not has_whole_arguments and event.get("type") == "response.output_item.done":
            item.pop("arguments", None)
    for place, event in enumerate(events):
        if any(kind in json.dumps(event) for kind in ADDS_ARGUMENTS):
            continue
        for later in range(place, len(events) + 1):
            ran, _ = answered(provider, [*events[:later], copy.deepcopy(event), *events[later:]])
            assert ran == [{}, {"a": 1}], (place, later)


@pytest.mark.parametrize("provider", ["anthropic", "openai_responses", "bedrock"])
@given(reply=replies, index=st.sampled_from([0, None]))
def test_blocks_that_all_have_one_index_are_all_answered(provider, reply, index):
    whole = rendered(provider, reply)
    events = copy.deepcopy(whole.events)
    for event in events:
        for holder, key in list(holders(event)):
            if key in PLACES:
                holder[key] = index
    ran, _ = answered(provider, events)
    assert ran == whole.args


def function_calls(*ids: str) -> list[dict[str, Any]]:
    return [
        wire.function_call("completed", '{"a": 1}', call_id=each, id=f"fc_{each}") for each in ids
    ]


@pytest.mark.parametrize("first_index", [0, 1, 7])
@pytest.mark.parametrize("ids_at_the_end", ["the same", "others"])
def test_the_list_of_a_completed_response_runs_no_call_again(first_index, ids_at_the_end):
    streamed = function_calls("c1", "c2")
    at_end = streamed if ids_at_the_end == "the same" else function_calls("d1", "d2")
    events = []
    for index, item in enumerate(streamed, first_index):
        events.append(wire.responses("output_item.added", item=item, output_index=index))
        events.append(wire.responses("output_item.done", item=item, output_index=index))
    ran, results = answered(
        "openai_responses", [*events, wire.responses("completed", response={"output": at_end})]
    )
    assert ran == [{"a": 1}, {"a": 1}]
    assert [result.tool_call_id for result in results] == ["c1", "c2"]


def test_a_whole_chat_call_that_comes_twice_under_its_id_runs_once():
    chunk = wire.chat(wire.entry(0, "c1", "f", '{"a": 1}'))
    ran, results = answered("openai_chat", [chunk, chunk, wire.chat(finish="tool_calls")])
    assert (ran, len(results)) == ([{"a": 1}], 1)


@pytest.mark.parametrize(
    ("provider", "late"),
    [
        ("anthropic", [wire.tool_use(5, "late", "f"), wire.block_stop(5)]),
        (
            "openai_responses",
            [
                wire.responses(
                    "output_item.done", item=wire.function_call("completed"), output_index=5
                )
            ],
        ),
        ("openai_chat", [wire.chat(wire.entry(5, "late", "f", "{}"))]),
    ],
)
def test_a_call_behind_the_end_of_the_reply_is_not_in_it(provider, late):
    ran, results = answered(provider, [*rendered(provider, []).events, *late])
    assert (ran, list(results)) == ([], [])


@pytest.mark.parametrize("name", ["", "multi_tool_use.parallel"])
def test_ollama_answers_carry_the_name_that_the_reply_has(name):
    function = {"name": name, "arguments": {}}
    message = {"role": "assistant", "content": "", "tool_calls": [{"function": function}]}
    ran, results = answered("ollama", [{"message": message, "done": True}])
    assert (ran, len(results)) == ([], 1)


def test_gemini_answers_carry_the_id_that_the_reply_has():
    part = {"functionCall": {"id": "call_0", "name": "f", "args": {}}}

    async def messages() -> Any:
        async with recording_view([]).dispatch(provider="gemini") as turn:
            turn.feed(wire.gemini(part, part, finish="STOP"))
        return turn.messages()

    said, answers = asyncio.run(messages())
    ids = [each["functionCall"]["id"] for each in said["parts"]]
    assert ids == [each["function_response"]["id"] for each in answers["parts"]]
    assert len(set(ids)) == 2


def test_gemini_parts_that_repeat_name_and_id_are_one_call():
    def part(value: str, *, goes_on: bool) -> dict[str, Any]:
        piece = wire.path("$.a", stringValue=value, willContinue=goes_on)
        return wire.gemini_call(id="x", name="f", partialArgs=[piece], willContinue=goes_on)

    ran, _ = answered(
        "gemini",
        [
            wire.gemini(part("Bos", goes_on=True)),
            wire.gemini(part("ton", goes_on=False)),
            wire.gemini(finish="STOP"),
        ],
    )
    assert ran == [{"a": "Boston"}]


UNKNOWN = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 2) | st.sampled_from(["", "x", "tool_use"]),
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("xyz"), inner, max_size=2)
    ),
    max_leaves=3,
)


def objects_of(value: Any) -> Iterator[dict[str, Any]]:
    """The objects of an event, but for the arguments of calls."""
    if isinstance(value, dict):
        yield value
    for key, item in value.items() if isinstance(value, dict) else enumerate(value):
        if key not in ("args", "arguments", "input") and isinstance(item, dict | list):
            yield from objects_of(item)


@pytest.mark.parametrize("provider", PROVIDERS)
@given(reply=replies, data=st.data())
def test_keys_that_no_one_knows_change_no_call(provider, reply, data):
    whole = rendered(provider, reply)
    events = copy.deepcopy(whole.events)
    is_object = [isinstance(event, dict) for event in events]
    for place in data.draw(st.sets(st.integers(0, max(len(events) - 1, 0)), max_size=3)):
        if place >= len(events) or not is_object[place]:
            continue
        target = data.draw(st.sampled_from(list(objects_of(events[place]))))
        target["x_unknown"] = data.draw(UNKNOWN)
    ran, _ = answered(provider, events)
    assert ran == whole.args


@pytest.mark.parametrize("provider", PROVIDERS)
@given(reply=replies, data=st.data())
def test_events_of_unknown_types_change_no_call(provider, reply, data):
    whole = rendered(provider, reply)
    events = copy.deepcopy(whole.events)
    for _ in range(data.draw(st.integers(1, 3))):
        event = {"type": "x_new_event", "x_unknown": data.draw(UNKNOWN)}
        events.insert(data.draw(st.integers(0, len(events))), event)
    ran, _ = answered(provider, events)
    assert ran == whole.args
