"""Pure parts of the command line: what is visible, valid JSON."""

import json

from hypothesis import given
from hypothesis import strategies as st

from ethos_registry._cli.console import first_line, json_text, visible

texts = st.text(st.characters(codec=None), max_size=80)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | texts | st.binary(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=10,
)


@given(texts)
def test_a_visible_text_has_nothing_that_a_terminal_obeys(text):
    assert visible(text).isprintable()
    assert len(visible(text)) >= len(text)
    if text.isprintable():
        assert visible(text) == text


def test_a_long_text_is_cut_and_says_so():
    assert visible("abcdefgh", 6) == "abc..."
    assert visible("abcdef", 6) == "abcdef"


def test_the_first_line_is_the_first_that_is_not_blank():
    assert first_line("\n  \n  one \ntwo") == "one"
    assert first_line(" \n") == ""


@given(values, st.booleans())
def test_json_of_any_value_is_valid_and_a_second_time_the_same(value, only_ascii):
    text = json_text(value, only_ascii=only_ascii)
    again = json.loads(text, parse_constant=lambda constant: 1 / 0)
    assert json_text(again, only_ascii=only_ascii) == text
    if only_ascii:
        assert text.isascii()


def test_json_of_a_value_without_end_ends():
    endless: list = []
    endless.append(endless)
    assert '"..."' in json_text(endless)
