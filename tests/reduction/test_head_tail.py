"""Head and tail: the first 40 and last 20 lines of what is long, and nothing false."""

from __future__ import annotations

import pytest
from hypothesis import given

import oracle
from ethos_registry import _core
from texts import Lines, texts_of_lines

HEAD_TAIL = _core.NativeReducer("head_tail")
TERMINAL = _core.NativeReducer("terminal")


def head_tail(text: str) -> str:
    return HEAD_TAIL.reduce(text, None, True)


def assert_equals_oracle(text: str) -> None:
    assert oracle.replace_surrogates(head_tail(text)) == oracle.replace_surrogates(
        oracle.head_tail(text)
    )


@pytest.mark.slow
@given(texts_of_lines(60))
def test_head_tail_equals_its_twin(lines: Lines) -> None:
    text = lines.text
    assert_equals_oracle(text)


@given(texts_of_lines(60))
def test_head_tail_twice_is_head_tail_once(lines: Lines) -> None:
    text = lines.text
    once = head_tail(text)
    assert head_tail(once) == once


@given(texts_of_lines(60))
def test_head_tail_never_grows_a_text_and_returns_what_it_leaves(lines: Lines) -> None:
    text = lines.text
    reduced = head_tail(text)
    if reduced is not text:
        assert len(reduced) < len(text)


@pytest.mark.parametrize("chars", [8_192, 8_193])
def test_only_what_is_over_8192_characters_is_cut(chars: int) -> None:
    text = ("é\n" * 5_000)[-chars:]
    assert (head_tail(text) is text) == (chars == 8_192)


@pytest.mark.parametrize("lines", [59, 60, 61])
@pytest.mark.parametrize("closing", ["", "\n"])
def test_sixty_lines_have_nothing_between_head_and_tail(lines: int, closing: str) -> None:
    text = "\n".join(f"{number:0500}" for number in range(lines)) + closing
    assert (head_tail(text) is text) == (lines <= 60)


def test_one_giant_line_is_left_to_the_trim() -> None:
    text = "x" * 8_193
    assert head_tail(text) is text
    assert _core.finish(text, 10, HEAD_TAIL) == (
        "x" * 10 + "\n[truncated — 8193 chars total]",
        8_193,
        8_193,
    )


def test_the_notice_counts_lines_and_characters() -> None:
    text = "".join(f"line {number}\n" for number in range(2_000))
    reduced = head_tail(text)
    assert (
        f"\nline 39\n... [reduced from 2000 lines / {len(text)} chars to head+tail] ...\n"
        in reduced
    )
    assert reduced.endswith("\nline 1999\n")
    assert head_tail(text[:-1]).endswith("\nline 1999")


def test_the_comparison_sees_an_overlap_of_head_and_tail(monkeypatch: pytest.MonkeyPatch) -> None:
    def overlapping(text: str) -> str:
        lines = text.split("\n")
        return "\n".join([*lines[:40], "...", *lines[-20:]])

    text = "\n".join("x" * 200 for _ in range(50))
    assert_equals_oracle(text)
    monkeypatch.setattr(oracle, "head_tail", overlapping)
    with pytest.raises(AssertionError):
        assert_equals_oracle(text)
