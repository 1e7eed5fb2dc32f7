"""The native search: lines that match, their neighbours, limits, and linear time."""

from __future__ import annotations

import threading
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracle_grep
from ethos_registry import _core
from stopwatch import assert_ratio_below

TEXTS = st.lists(
    st.sampled_from(["a", "b", "A", "é", " ", "_", "\n", "\n", "\r\n", "𝄞", "ab\nab\n"]),
    max_size=40,
).map("".join)
ATOMS = st.sampled_from(["a", "b", ".", "[^a]", r"\s", r"\w", "é", "(?:a|b)", "(ab)", "[a-z]"])
QUANTIFIERS = st.sampled_from(["", "", "*", "+", "?", "{2}"])
PIECES = st.one_of(
    st.tuples(ATOMS, QUANTIFIERS).map("".join), st.sampled_from(["^", "$", r"\b", "|"])
)
PATTERNS = st.lists(PIECES, max_size=5).map("".join)


def grep(text: str | bytes, pattern: str, flags: str = "", **options: Any) -> tuple[str, int, int]:
    found = _core.Grep(pattern, flags, **options)
    found.feed(text)
    return found.text, found.matches, found.shown


class TestItsTwin:
    @given(TEXTS, PATTERNS, st.sampled_from(["", "i"]), st.integers(0, 3), st.integers(0, 4))
    def test_finds_the_same_lines_with_the_same_neighbours(
        self, text: str, pattern: str, flags: str, context_lines: int, max_matches: int
    ) -> None:
        options: dict[str, Any] = {"context_lines": context_lines, "max_matches": max_matches}
        expected = oracle_grep.grep(text, pattern, flags, **options)
        assert grep(text, pattern, flags, **options) == expected
        assert grep(text.encode(), pattern, flags, **options) == expected

    @given(TEXTS, st.text("ab.(\\é ", max_size=4), st.sampled_from(["", "i"]))
    def test_takes_plain_text_as_it_is(self, text: str, pattern: str, flags: str) -> None:
        assert grep(text, pattern, flags, literal=True) == oracle_grep.grep(
            text, pattern, flags, literal=True
        )

    @given(TEXTS, PATTERNS, st.integers(0, 3), st.data())
    def test_finds_the_same_however_the_text_is_cut_into_pieces(
        self, text: str, pattern: str, context_lines: int, data: st.DataObject
    ) -> None:
        ends = [place for place, character in enumerate(text, 1) if character == "\n"]
        cuts = sorted(data.draw(st.sets(st.sampled_from(ends)))) if ends else []
        search = _core.Grep(pattern, context_lines=context_lines)
        for start, end in pairwise([0, *cuts, len(text)]):
            search.feed(text[start:end])
        assert (search.text, search.matches, search.shown) == oracle_grep.grep(
            text, pattern, context_lines=context_lines
        )

    def test_sees_a_fault(self) -> None:
        with pytest.raises(AssertionError):
            assert grep("a\nb\n", "b", context_lines=1) == oracle_grep.grep("a\nb\n", "b")


class TestLimits:
    def test_a_line_that_does_not_fit_ends_the_text_and_is_counted(self) -> None:
        assert grep("é1\né2\né3\n", "é", max_chars=9) == ("1:é1\n2:é2", 3, 2)
        assert grep("abc\n", "b", max_chars=3) == ("", 1, 0)

    def test_of_a_long_line_the_part_around_its_match_is_shown(self) -> None:
        text = "x" * 1_000 + "needle" + "y" * 2_000
        shown, _, _ = grep(text, "need.e", max_line_bytes=30)
        before, after = "[... 990 bytes ...]", "[... 1,986 bytes ...]"
        assert shown == f"1:{before}{'x' * 10}needle{'y' * 14}{after}"

    def test_lines_may_be_counted_from_zero(self) -> None:
        shown, _, _ = grep("a\nb\n", "b", first_number=0, context_lines=1)
        assert shown == "0-a\n1:b"

    def test_lines_far_apart_keep_their_numbers_and_neighbours(self) -> None:
        text = "".join(f"line {number}\n" for number in range(200_000))
        shown, matches, _ = grep(text, " (60000|199999)$", context_lines=1)
        assert shown.split("\n") == [
            "60000-line 59999",
            "60001:line 60000",
            "60002-line 60001",
            "--",
            "199999-line 199998",
            "200000:line 199999",
        ]
        assert matches == 2

    def test_bytes_that_are_no_text_become_replacement_characters(self) -> None:
        assert grep(b"\xffa\n\xff\n", "a") == ("1:\ufffda", 1, 1)

    def test_a_lone_surrogate_reads_as_a_replacement_character(self) -> None:
        assert grep("\ud800a\nb\n", "\ufffda") == ("1:\ufffda", 1, 1)


class TestWrongPatterns:
    @pytest.mark.parametrize(
        ("pattern", "reported"),
        [
            ("a(", "at character 1: unclosed group"),
            (
                "[z-a]",
                "at character 1: invalid character class range, the start must be <= the end",
            ),
            ("*", "at character 0: repetition operator missing expression"),
            (
                "(?<=a)b",
                (
                    "at character 0: look-around, including look-ahead and look-behind, "
                    "is not supported"
                ),
            ),
            (r"(a)\1", "at character 3: backreferences are not supported"),
            (r"(?:\w{900}){900}", "it is too large; use fewer or shorter repetitions"),
        ],
    )
    def test_are_reported_in_one_line(self, pattern: str, reported: str) -> None:
        with pytest.raises(ValueError, match=r"character|large") as refused:
            _core.Grep(pattern)
        assert str(refused.value) == reported

    @pytest.mark.parametrize("flags", ["g", "y", "ii ", "x"])
    def test_a_flag_that_does_not_exist_is_refused(self, flags: str) -> None:
        with pytest.raises(ValueError, match="flags are i, m, s, u"):
            _core.Grep("a", flags)

    def test_neither_text_nor_bytes_is_refused(self) -> None:
        with pytest.raises(TypeError, match="must be str or bytes"):
            _core.Grep("a").feed(bytearray(b"a"))  # type: ignore[arg-type]


@pytest.mark.parametrize("pattern", ["(a*)*b", "(?s)a.*b", r"(x+x+)+y", r"a\s*b"])
def test_patterns_that_explode_in_other_engines_take_linear_time(pattern: str) -> None:
    line = "a" * 100 + "x" * 100 + "\n"
    small, large = line * 160, line * 1_600
    assert_ratio_below(40, lambda: grep(large, pattern), lambda: grep(small, pattern), 1, 5)


def test_other_threads_run_while_a_large_text_is_searched() -> None:
    text = ("no match in this line\n" * 500_000).encode()
    search = _core.Grep("[a-z]+[0-9]")
    started, done = threading.Event(), threading.Event()

    def work() -> None:
        started.set()
        for _ in range(3):
            search.feed(text)
        done.set()

    thread = threading.Thread(target=work)
    thread.start()
    started.wait()
    turns = 0
    while not done.wait(0.0005):
        turns += 1
    thread.join()
    assert turns > 4  # as many as there are between the pieces, and more
    assert search.matches == 0
