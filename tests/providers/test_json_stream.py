"""The incremental scanner of JSON text, held against parsers that read the whole text."""

import json

import pydantic_core
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ethos_registry import _core
from ethos_registry.execution._arguments import BadArgumentsError, parse_json_arguments
from ethos_registry.providers._stream_parser import StreamedArguments

scalars = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
)
values = st.recursive(
    scalars | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
objects = st.dictionaries(st.text(), values, max_size=4)


def written(value: object, *, ascii_only: bool) -> str:
    return json.dumps(value, ensure_ascii=ascii_only)


def scanned(*pieces: str) -> _core.JsonStream:
    stream = _core.JsonStream()
    for piece in pieces:
        stream.push(piece)
    return stream


def pieces_of(text: str, data: st.DataObject) -> list[str]:
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=6)))
    return [text[start:end] for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True)]


@given(objects, st.booleans(), st.data())
def test_a_written_object_is_whole_at_its_last_bracket_and_not_before(value, ascii_only, data):
    text = written(value, ascii_only=ascii_only)
    stream = scanned(*pieces_of(text[:-1], data))
    assert not stream.is_object()
    assert not stream.is_invalid()
    stream.push(text[-1])
    assert stream.is_object()
    stream.push(" \n")
    assert stream.is_object()
    assert pydantic_core.from_json(stream.text()) == value


def is_part_of(part: object, whole: object) -> bool:
    """Whether a partial value holds nothing that the whole value does not have in its place."""
    if isinstance(part, dict):
        return isinstance(whole, dict) and all(
            key in whole and is_part_of(item, whole[key]) for key, item in part.items()
        )
    if isinstance(part, list):
        return (
            isinstance(whole, list)
            and len(part) <= len(whole)
            and all(map(is_part_of, part, whole))
        )
    if isinstance(part, str):
        return isinstance(whole, str) and whole.startswith(part)
    return part == whole and type(part) is type(whole)


@given(objects, st.booleans())
def test_every_partial_value_is_part_of_the_whole_and_they_only_grow(value, ascii_only):
    text = written(value, ascii_only=ascii_only)
    last: object = {}
    stream = _core.JsonStream()
    for character in text:
        stream.push(character)
        partial = stream.partial()
        assert partial is not None
        parsed = pydantic_core.from_json(partial)
        assert is_part_of(parsed, value)
        assert is_part_of(last, parsed)
        last = parsed
    assert last == value


@given(st.text(st.sampled_from('{}[]",:\\u0d8eaE+-.1 \n\ttrufalsn\u00e9')))
def test_what_is_whole_is_what_the_parser_of_arguments_takes(text):
    stream = scanned(*text)
    try:
        value = parse_json_arguments(text)
        is_object = isinstance(value, dict) and text.strip(" \t\r\n") not in ("", "null")
    except BadArgumentsError:
        is_object = False
    if text.strip() == text.strip(" \t\r\n"):
        assert stream.is_object() == is_object


@given(objects, st.data())
def test_an_invalid_text_stays_invalid(value, data):
    text = written(value, ascii_only=False) + data.draw(st.sampled_from(["x", "{}", ",", "]"]))
    stream = scanned(text)
    assert stream.is_invalid()
    stream.push("}")
    assert stream.is_invalid()


@pytest.mark.parametrize(
    "text",
    [
        '{"a": 1, "a": 2}',
        '{"a": 1, "\\u0061": 2}',
        '{"a":' * 128 + "[",
        '{"a": 1e999}',
        '{"a": NaN}',
    ],
)
def test_what_arguments_must_not_have_is_invalid(text):
    assert scanned(text).is_invalid()


def test_a_pair_of_surrogates_that_two_pieces_share_is_joined():
    arguments = StreamedArguments()
    arguments.add('{"a": "\ud83d')
    assert not arguments.is_object
    arguments.add('\ude00"}')
    assert arguments.for_call() == {"a": "\U0001f600"}


def test_a_lone_surrogate_becomes_a_replacement_character():
    arguments = StreamedArguments()
    for piece in ('{"a": "\ud83d', "x", '\\ud83d"}'):
        arguments.add(piece)
    assert arguments.for_call() == {"a": "\ufffdx\ufffd"}


def test_long_arguments_give_a_partial_value_for_each_sixteenth_they_grow():
    arguments, shown = StreamedArguments(), 0
    arguments.add('{"a": "')
    for _ in range(20_000):
        arguments.add("0123456789")
        shown += arguments.partial() is not None
    assert 400 < shown < 500  # each piece up to 4,096 characters, then about log(200,000 / 4,096)


def test_arguments_that_are_no_object_are_sent_back_as_invalid_json():
    arguments = StreamedArguments()
    arguments.add('{"a": ')
    assert arguments.for_reply() == {"INVALID_JSON": '{"a": '}
    assert json.loads(arguments.text_for_reply()) == {"INVALID_JSON": '{"a": '}
