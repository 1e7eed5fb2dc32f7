"""The trim: the first characters, whole clusters, an honest marker, at any size."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import oracle
from ethos_registry import _core
from stopwatch import assert_ratio_below
from texts import HARD_PARTS, caps, hard_texts

DATA = Path(__file__).parents[1] / "data"


def grapheme_break_cases() -> list[list[str]]:
    """The clusters of each line of Unicode's own test file."""
    cases = []
    for line in (DATA / "GraphemeBreakTest.txt").read_text(encoding="utf-8").splitlines():
        if rule := line.partition("#")[0].strip():
            clusters = rule.strip("÷ ").split(" ÷ ")
            cases.append(
                ["".join(chr(int(code, 16)) for code in each.split(" × ")) for each in clusters]
            )
    return cases


def assert_equals_oracle(text: str, cap: int) -> None:
    assert _core.trim(text, cap) == oracle.trim(text, cap)


@given(hard_texts, caps)
@example("", 0)
@example("\r\n", 1)
@example("a\r\nb", 2)
@example("\ud83d\ude00", 1)
def test_trim_equals_its_twin(text: str, cap: int) -> None:
    assert_equals_oracle(text, cap)


@given(st.sampled_from(HARD_PARTS), st.integers(1, 300), st.integers(0, 3), caps)
def test_trim_equals_its_twin_behind_long_runs(part: str, times: int, end: int, cap: int) -> None:
    text = f"ab{part * times}c"
    assert_equals_oracle(text, max(len(text) - end, 0))
    assert_equals_oracle(text, cap)


@given(hard_texts, caps)
def test_what_is_kept_is_a_prefix_within_the_cap(text: str, cap: int) -> None:
    sent, truncated_from = _core.trim(text, cap)
    if truncated_from is None:
        assert sent == oracle.replace_surrogates(text)
        assert len(sent) <= cap
        return
    remaining, _, _ = sent.rpartition("\n[truncated — ")
    assert len(remaining) <= cap
    assert oracle.replace_surrogates(text).startswith(remaining)
    if sent != oracle.replace_surrogates(text):
        assert truncated_from == len(text)


@given(hard_texts, caps)
def test_no_surrogate_is_sent(text: str, cap: int) -> None:
    _core.trim(text, cap)[0].encode("utf-8")


@given(hard_texts, caps)
def test_trimming_twice_is_trimming_once(text: str, cap: int) -> None:
    once, truncated_from = _core.trim(text, cap)
    assert _core.trim(once, cap) == (once, truncated_from)


def test_unicode_and_the_twin_agree_on_every_cluster() -> None:
    cases = grapheme_break_cases()
    assert len(cases) > 700
    for clusters in cases:
        assert oracle.clusters("".join(clusters)) == clusters


@pytest.mark.parametrize("before", ["", "\n", "漢字\n"])
def test_no_cluster_of_unicodes_own_test_is_split(before: str) -> None:
    for clusters in grapheme_break_cases():
        text = before + "".join(clusters)
        boundaries = [len(before)]
        for cluster in clusters:
            boundaries.append(boundaries[-1] + len(cluster))
        for cap in range(max(boundaries[0], 1), len(text)):
            whole = max(boundary for boundary in boundaries if boundary <= cap)
            remaining = _core.trim(text, cap)[0].rpartition("\n[truncated")[0]
            assert remaining == text[: whole or cap]


def test_the_first_cluster_is_cut_at_exactly_the_cap() -> None:
    remaining = "e\u0301\u0301\u0301"
    assert _core.trim("e" + "\u0301" * 9, 4) == (f"{remaining}\n[truncated — 10 chars total]", 10)


def test_a_cap_of_zero_leaves_the_marker_alone() -> None:
    assert _core.trim("abc", 0) == ("\n[truncated — 3 chars total]", 3)
    assert _core.trim("", 0) == ("", None)


@pytest.mark.parametrize("cap", [3, 10, 2**31, 2**63, 2**64, 2**200])
@pytest.mark.parametrize("text", ["abc", "äöü", "漢字か"])
def test_a_text_that_fits_is_the_same_object(text: str, cap: int) -> None:
    assert _core.trim(text, cap)[0] is text


def test_a_subclass_of_str_is_cut_by_its_characters_alone() -> None:
    class Loud(str):
        __slots__ = ()

        def __getitem__(self, key: object) -> str:
            raise AssertionError(key)

        def isascii(self) -> bool:
            raise AssertionError

    text = Loud("abcé")
    assert _core.trim(text, 9)[0] is text
    assert _core.trim(text, 2) == ("ab\n[truncated — 4 chars total]", 4)


def test_a_marker_counts_only_when_it_can_be_true() -> None:
    true = "abc\n[truncated — 4 chars total]"
    assert _core.trim(true, 3) == (true, 4)
    for forged in ("3", "04", "+9", "9" * 20, "1,000", ""):
        text = f"abc\n[truncated — {forged} chars total]"
        assert _core.trim(text, 3) == (f"abc\n[truncated — {len(text)} chars total]", len(text))


def test_bad_caps_are_refused() -> None:
    with pytest.raises(ValueError, match="`cap` must be at least 0: -1"):
        _core.trim("abc", -1)
    for cap in (1.5, "3", None):
        with pytest.raises(TypeError):
            _core.trim("abc", cap)


@given(hard_texts)
def test_surrogates_equal_their_twin(text: str) -> None:
    replaced = _core.replace_surrogates(text)
    assert replaced == oracle.replace_surrogates(text)
    if replaced == text:
        assert replaced is text


def test_surrogates_far_into_a_text_are_replaced() -> None:
    text = "é" * 200_000 + "\udcff" + "漢" * 70_000 + "\ud83d\ude00"
    assert _core.replace_surrogates(text) == oracle.replace_surrogates(text)


def test_the_comparison_sees_a_broken_trim(monkeypatch: pytest.MonkeyPatch) -> None:
    def split_clusters(text: str, cap: int) -> tuple[str, int | None]:
        if len(text) <= cap:
            return text, None
        return f"{text[:cap]}\n[truncated — {len(text)} chars total]", len(text)

    assert_equals_oracle("e\u0301x", 2)
    monkeypatch.setattr(_core, "trim", split_clusters)
    with pytest.raises(AssertionError):
        assert_equals_oracle("ae\u0301x", 2)


def test_the_comparison_sees_joined_surrogates(monkeypatch: pytest.MonkeyPatch) -> None:
    def join(text: str) -> str:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")

    monkeypatch.setattr(_core, "replace_surrogates", join)
    with pytest.raises(AssertionError):
        test_surrogates_far_into_a_text_are_replaced()


@pytest.mark.parametrize(
    "part",
    ["\u0301", "🇩", "👩\u200d", "\u200d", "क\u094d", "\u1100", "\u0600", "\r\n", "漢", "\ud83d"],
)
def test_the_cut_takes_linear_time(part: str) -> None:
    short, long = ("a" + part * (chars // len(part)) for chars in (10_000, 100_000))
    assert_ratio_below(
        40, lambda: _core.trim(long, len(long) - 1), lambda: _core.trim(short, len(short) - 1), 1
    )


MEASURE = """
import resource, sys
from ethos_registry import _core
def peak(): return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
character, chars, kind = sys.argv[1], int(sys.argv[2]), sys.argv[3]
_core.finish("warm é" * 9, 5, _core.NativeReducer("head_tail"))
text = character * chars
reducer = _core.NativeReducer(kind) if kind else None
size, before = sys.getsizeof(text), peak()
sent, reduced_chars, truncated_from = _core.finish(text, 20_000, reducer)
assert truncated_from == reduced_chars == chars * len(character), (reduced_chars, truncated_from)
assert sys.getsizeof(text) == size, "the text got a cached copy"
print(peak() - before)
"""


@pytest.mark.parametrize("kind", ["", "head_tail"])
@pytest.mark.parametrize(("character", "chars"), [("a", 10**9), ("é", 2 * 10**8), ("漢", 10**8)])
def test_a_giant_text_that_is_only_cut_is_not_copied(character: str, chars: int, kind: str) -> None:
    process = subprocess.run(
        [sys.executable, "-c", MEASURE, character, str(chars), kind],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert process.returncode == 0, process.stderr
    assert int(process.stdout) < 64 * 1024 * 1024
