"""Bytes of a stream become events, however they are cut."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ethos_registry.providers._sse import EventDecoder, JsonLinesDecoder, SseDecoder

LINE_ENDS = ["\n", "\r\n", "\r"]


def decoded(raw: bytes, cuts: list[int]) -> list[bytes]:
    decoder, events = SseDecoder(), []
    for start, end in zip([0, *cuts], [*cuts, len(raw)], strict=True):
        events += decoder.feed(raw[start:end])
    return events + decoder.end()


data_lines = st.text(st.characters(blacklist_characters="\r\n", codec="utf-8"))
events = st.lists(st.lists(data_lines, min_size=1, max_size=3), max_size=4)


@given(events, st.sampled_from(LINE_ENDS), st.booleans(), st.data())
def test_every_event_is_read_once_whatever_the_line_ends_and_the_chunks(
    expected, line_end, names_events, data
):
    text = "".join(
        line_end.join(
            [
                *([": comment", "event: x", "id: 1", "retry"] if names_events else []),
                *[f"data: {line}" for line in lines],
                "",
                "",
            ]
        )
        for lines in expected
    )
    raw = text.encode()
    cuts = sorted(data.draw(st.lists(st.integers(0, len(raw)), max_size=8)))
    assert decoded(raw, cuts) == ["\n".join(lines).encode() for lines in expected]


def test_each_place_of_a_stream_may_be_a_cut():
    raw = 'data: {"a": "é\u2028\u0085😀"}\r\n\r\ndata:x\rdata: y\r\rdata\n\n'.encode()
    expected = ['{"a": "é\u2028\u0085😀"}'.encode(), b"x\ny", b""]
    for cut in range(len(raw) + 1):
        assert decoded(raw, [cut]) == expected
    assert decoded(raw, list(range(1, len(raw)))) == expected


def test_a_byte_order_mark_and_data_before_its_event_name_are_read():
    raw = b"\xef\xbb\xbfdata: {}\nevent: x\n\n"
    for cut in range(len(raw)):
        assert decoded(raw, [cut]) == [b"{}"]


def test_an_event_without_its_blank_line_is_dropped():
    assert decoded(b"data: 1\n\ndata: 2\n", []) == [b"1"]


def test_json_lines_are_known_by_their_first_character():
    for cut in range(12):
        raw = b'{"a": "\xc3\xa9"}\r\n\n{"b": 1}'
        decoder = EventDecoder()
        events = [*decoder.feed(raw[:cut]), *decoder.feed(raw[cut:]), *decoder.end()]
        assert [event.strip() for event in events] == [b'{"a": "\xc3\xa9"}', b'{"b": 1}']


@pytest.mark.parametrize("decoder", [SseDecoder(), JsonLinesDecoder()])
def test_a_long_line_in_many_chunks_takes_linear_time(decoder):
    for _ in range(200_000):
        assert decoder.feed(b"0123456789") == []
    decoder.feed(b"\n\n")


def test_many_blank_lines_before_the_first_event_take_linear_time():
    decoder = EventDecoder()
    for _ in range(200_000):
        assert decoder.feed(b"\n") == []
    assert decoder.feed(b"data: 1\n\n") == [b"1"]
