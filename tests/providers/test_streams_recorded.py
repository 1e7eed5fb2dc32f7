"""Recorded streams give exactly the calls of their manifest, by exactly the events it names."""

import pytest

from streams import MANIFEST, events_of, name_of, needs_recordings, outcomes_of, raw_of

pytestmark = needs_recordings


@pytest.mark.parametrize("stream", MANIFEST, ids=name_of)
def test_the_calls_of_a_recorded_stream_are_those_of_its_manifest(stream):
    events = events_of(raw_of(stream))
    assert len(events) == stream["events"]
    outcomes = outcomes_of(stream["format"], events)
    expected = stream["calls"]
    assert [(each.call.name, each.opened) for each in outcomes] == [
        (call["name"], call["start_event"]) for call in expected
    ]
    for each, call in zip(outcomes, expected, strict=True):
        if call["id"] is not None:
            assert each.call.tool_call_id == call["id"]
        assert each.proven == call["proven_event"]
        if call["status"] == "complete":
            assert each.call.arguments.for_call() == call["args"]
            # In interleaved streams the manifest counts how long the call could still have grown.
            assert each.closed == min(call["closed_event"], call["proven_event"])
        elif call["status"] == "malformed":
            assert isinstance(each.call.arguments.for_call(), str)
        if "args_raw" in call:
            assert each.call.arguments.text == call["args_raw"]
    ids = [each.call.tool_call_id for each in outcomes]
    assert len(set(ids)) == len(ids)
