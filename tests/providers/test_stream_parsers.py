"""The calls of synthetic streams: when each is closed and proven, and what it is given."""

import pytest

from ethos_registry.providers._by_name import STREAMS, reply_parser
from stream_cases import CASES, Case, raw_of
from streams import events_of, outcomes_of


def title(case: Case) -> str:
    return f"{case.provider}: {case.name}"


@pytest.mark.parametrize("case", CASES, ids=title)
def test_each_call_is_closed_and_proven_by_the_right_event(case):
    outcomes = outcomes_of(case.provider, case.events)
    assert [(each.call.name, each.closed, each.proven) for each in outcomes] == [
        (call.name, call.closed, call.proven) for call in case.calls
    ]
    for each, call in zip(outcomes, case.calls, strict=True):
        if call.id is not None:
            assert each.call.tool_call_id == call.id
        if call.raw is None:
            assert each.call.arguments.for_call() == call.args
        else:
            assert each.call.arguments.for_call() == call.raw
    ids = [each.call.tool_call_id for each in outcomes]
    assert len(set(ids)) == len(ids)


@pytest.mark.parametrize("case", CASES, ids=title)
def test_a_stream_as_bytes_has_the_events_of_the_stream(case):
    assert events_of(raw_of(case)) == case.events


@pytest.mark.parametrize("provider", STREAMS)
@pytest.mark.parametrize(
    "event",
    [
        {},
        {"type": None, "choices": None, "candidates": [None], "message": 1, "delta": "x"},
        {"choices": [None, 1, {"delta": {"tool_calls": [None, {"function": 3}]}}]},
        {"type": "content_block_delta", "index": 9, "delta": None},
        {"type": "response.output_item.added", "item": None},
        {"contentBlockDelta": {}, "contentBlockStart": None},
        "text",
        pytest.param(object(), id="object"),
    ],
    ids=repr,
)
def test_an_event_that_means_nothing_does_no_harm(provider, event):
    parser = reply_parser(provider)
    parser.feed(event)
    parser.finish()
    assert isinstance(parser.reply_messages(), list)
