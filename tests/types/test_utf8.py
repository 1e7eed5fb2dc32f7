"""Texts of any width reach the native side as they are, in pieces and as a whole."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracle
from ethos_registry import _core

PIECE_CHARS = 4_096
"""Longer texts are encoded in pieces."""
unusual = st.sampled_from(
    ["é", "ÿ", "Ж", "漢", "\uffff", "😀", "\U0010ffff", "\x00", "\ud83d", "\ude00"]
)


def through(text: str) -> str:
    """`text` as the native side read it: the escape in front lets nothing of it be handed back."""
    return _core.without_escapes("\x1b[m" + text)


@given(
    st.lists(
        st.tuples(st.integers(0, 2 * PIECE_CHARS), st.lists(unusual, max_size=4)),
        min_size=1,
        max_size=4,
    )
)
def test_a_text_with_unusual_characters_anywhere_is_read_as_it_is(
    parts: list[tuple[int, list[str]]],
) -> None:
    text = "".join("a" * plain + "".join(characters) for plain, characters in parts)
    assert through(text) == oracle.replace_surrogates(text)


@pytest.mark.parametrize("sign", ["é", "漢", "😀", "\ud83d\ude00"])
def test_characters_on_both_sides_of_each_end_of_a_piece_stay(sign: str) -> None:
    text = (sign * PIECE_CHARS) + "a" + (sign * PIECE_CHARS)
    assert through(text) == oracle.replace_surrogates(text)


def test_two_surrogates_that_python_holds_apart_are_no_pair() -> None:
    text = "a" * PIECE_CHARS + "\ud83d\ude00"
    assert through(text) == "a" * PIECE_CHARS + "\ufffd\ufffd"
