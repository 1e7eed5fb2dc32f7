"""The read-file reducer: 200 lines and a true hint, unless a range was asked for."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracle
from ethos_registry import _core
from texts import Lines, texts_of_lines

READ_FILE = _core.NativeReducer("read_file")

arguments = st.one_of(
    st.none(),
    st.dictionaries(
        st.sampled_from([*sorted(oracle.RANGE_ARGUMENTS), "path"]),
        st.none() | st.integers(),
    ),
)


def assert_equals_oracle(text: str, args: object, ok: bool) -> None:
    reduced = READ_FILE.reduce(text, args, ok)
    assert oracle.replace_surrogates(reduced) == oracle.replace_surrogates(
        oracle.read_file(text, args, ok)
    )


@given(texts_of_lines(200), arguments, st.booleans())
def test_read_file_equals_its_twin(lines: Lines, args: object, ok: bool) -> None:
    text = lines.text
    assert_equals_oracle(text, args, ok)


@given(texts_of_lines(200))
def test_read_file_twice_is_read_file_once_and_never_grows(lines: Lines) -> None:
    text = lines.text
    once = READ_FILE.reduce(text, {}, True)
    assert len(once) <= len(text)
    assert READ_FILE.reduce(once, {}, True) == once


@pytest.mark.parametrize("line", ["def f(): ...", "größer 漢字"])
@pytest.mark.parametrize("closing", ["", "\n"])
def test_a_file_of_200_lines_stays(line: str, closing: str) -> None:
    text = "\n".join([line] * 200) + closing
    assert READ_FILE.reduce(text, {"path": "a.py"}, True) is text


@pytest.mark.parametrize("line", ["def f(): ...", "größer 漢字"])
@pytest.mark.parametrize("closing", ["", "\n"])
def test_a_longer_file_shows_its_first_200_lines_and_its_size(line: str, closing: str) -> None:
    lines = [f"{number} {line}" for number in range(1, 1_241)]
    reduced = READ_FILE.reduce(
        "\n".join(lines) + closing, {"path": "a.py", "lineStart": None}, True
    )
    hint = (
        "File is 1240 lines. Showing lines 1-200. Call read_file with lineStart/lineEnd for more."
    )
    assert reduced == "\n".join([hint, *lines[:200]])


@pytest.mark.parametrize("name", sorted(oracle.RANGE_ARGUMENTS))
def test_a_range_that_was_asked_for_is_honoured(name: str) -> None:
    text = "a line\n" * 900
    assert READ_FILE.reduce(text, {name: 0}, True) is text
    assert READ_FILE.reduce(text, {name: None}, True) is not text


@pytest.mark.parametrize("letter", ["x", "é", "漢", "😀", "\ud83d"])
def test_a_minified_file_keeps_its_ends_and_says_what_is_between_them(letter: str) -> None:
    text = f"begin{letter * 300_000}end"
    reduced = READ_FILE.reduce(text, {"path": "a.min.js"}, True)
    assert reduced.startswith("begin")
    assert reduced.endswith("end")
    hint = "292008 characters left out; call read_file with lineStart 1 and lineEnd 1 for all"
    assert f"...[{hint}]..." in reduced
    assert len(reduced) == 8_000 + len(hint) + len("...[]...")
    assert_equals_oracle(text, {}, True)
    assert READ_FILE.reduce(text, {"lineStart": 1}, True) is text


def test_a_failed_read_stays() -> None:
    text = "a line\n" * 900
    assert READ_FILE.reduce(text, {}, False) is text


def test_the_comparison_sees_a_line_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "a line of text\n" * 300
    assert_equals_oracle(text, {}, True)
    monkeypatch.setattr(oracle, "lines_of", lambda text: text.split("\n"))
    with pytest.raises(AssertionError):
        assert_equals_oracle(text, {}, True)
