"""However the bytes of a stream are cut, a parser finds the same calls by the same events."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

import stream_cases
from ethos_registry.providers._by_name import reply_parser
from ethos_registry.providers._sse import EventDecoder
from ethos_registry.providers._stream_parser import CallClosed, CallProven
from long_counts import counts
from stream_cases import CASES, Case
from streams import MANIFEST, events_of, in_chunks, name_of, needs_recordings, raw_of


def found(provider: str, raw: bytes, places: Any) -> list[Any]:
    """The calls of a stream in chunks, the events that closed and proved them, and the reply."""
    parser, decoder, facts, number = reply_parser(provider), EventDecoder(), [], 0
    for chunk in [*in_chunks(raw, places), None]:
        for payload in decoder.end() if chunk is None else decoder.feed(chunk):
            event = "[DONE]" if payload.strip() == b"[DONE]" else json.loads(payload)
            for fact in parser.feed(event):
                if isinstance(fact, CallClosed | CallProven):
                    facts.append((type(fact), fact.call.position, number))  # noqa: PERF401
            number += 1
    calls = [(call.tool_call_id, call.name, call.arguments.for_call()) for call in parser.calls]
    return [calls, facts, parser.reply()]


def smallest_of_each_format() -> list[dict[str, Any]]:
    smallest: dict[str, dict[str, Any]] = {}
    for stream in MANIFEST:
        known = smallest.get(stream["format"])
        if stream["calls"] and (known is None or len(raw_of(stream)) < len(raw_of(known))):
            smallest[stream["format"]] = stream
    return list(smallest.values())


@pytest.mark.parametrize("case", CASES, ids=[f"{case.provider}: {case.name}" for case in CASES])
@counts("step", 7, 1)
def test_synthetic_streams_may_be_cut_at_every_place(case: Case, step: int) -> None:
    raw = stream_cases.raw_of(case)
    whole = found(case.provider, raw, [])
    for place in range(0, len(raw), step):
        assert found(case.provider, raw, [place]) == whole


@needs_recordings
@pytest.mark.parametrize("stream", smallest_of_each_format(), ids=name_of)
def test_one_recorded_stream_of_each_format_may_be_cut_at_every_place(stream):
    raw = raw_of(stream)
    whole = found(stream["format"], raw, [])
    for place in range(len(raw)):
        assert found(stream["format"], raw, [place]) == whole


@needs_recordings
@pytest.mark.parametrize("stream", MANIFEST, ids=name_of)
@counts("seeds", 3, 100)
def test_recorded_streams_may_come_one_byte_at_a_time_and_in_random_chunks(stream, seeds):
    raw = raw_of(stream)
    whole = found(stream["format"], raw, [])
    assert found(stream["format"], raw, range(len(raw))) == whole
    for seed in range(seeds):
        places = random.Random(seed).sample(range(len(raw)), min(len(raw), 30))
        assert found(stream["format"], raw, places) == whole


@needs_recordings
@pytest.mark.parametrize("stream", MANIFEST, ids=name_of)
@counts("cuts", 20, 1_000_000)
def test_recorded_streams_may_be_cut_at_places_all_over(stream, cuts):
    raw = raw_of(stream)
    whole = found(stream["format"], raw, [])
    step = len(raw) // cuts + 1
    for place in range(0, len(raw), step):
        assert found(stream["format"], raw, [place]) == whole
    assert len(events_of(raw)) == stream["events"]
