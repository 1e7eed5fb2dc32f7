"""Finish: reduce, repair, trim in one crossing, whatever comes in."""

from __future__ import annotations

import sys
import threading

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oracle
from ethos_registry import _core
from texts import Lines, caps, hard_texts, texts_of_lines

KINDS = ["terminal", "read_file", "head_tail", "generic"]
kinds = st.none() | st.sampled_from(KINDS)
twins = st.sampled_from([None, "read_file", "head_tail"])
one_line = hard_texts.map(lambda text: Lines(1, text, {}, ""))
unusual_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | hard_texts | st.binary(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(hard_texts, inner, max_size=3),
    max_leaves=6,
)


def native(kind: str | None) -> _core.NativeReducer | None:
    return None if kind is None else _core.NativeReducer(kind)


def assert_equals_oracle(
    text: str, cap: int, kind: str | None = None, args: object = None, ok: bool = True
) -> None:
    assert _core.finish(text, cap, native(kind), args, ok) == oracle.finish(
        text, cap, kind, args, ok
    )


@pytest.mark.slow
@settings(max_examples=max(settings().max_examples // 4, 20))
@given(texts_of_lines(60) | texts_of_lines(200) | one_line, twins, st.booleans(), st.data())
def test_finish_equals_its_twin(
    lines: Lines, kind: str | None, ok: bool, data: st.DataObject
) -> None:
    text = lines.text
    cap = data.draw(caps | st.integers(0, len(text) + 2) | st.integers(2**60, 2**70))
    assert_equals_oracle(text, cap, kind, {"command": "make"}, ok)


@given(texts_of_lines(60), st.integers(0, 12_000), kinds)
def test_what_is_sent_stays_within_the_cap_and_holds_no_surrogate(
    lines: Lines, cap: int, kind: str | None
) -> None:
    text = lines.text
    sent, reduced_chars, truncated_from = _core.finish(text, cap, native(kind))
    sent.encode("utf-8")
    assert reduced_chars <= len(text)
    body = sent.rpartition("\n[truncated — ")[0] if truncated_from is not None else sent
    assert len(body) <= cap


@given(unusual_values, st.sampled_from(KINDS), st.booleans())
def test_no_arguments_are_too_unusual(args: object, kind: str, ok: bool) -> None:
    text = "x\n" * 6_000
    reduced = _core.NativeReducer(kind).reduce(text, args, ok)
    assert len(reduced) <= len(text)


def test_keys_that_fail_to_compare_are_no_arguments() -> None:
    class Key:
        def __hash__(self) -> int:
            return hash("command")

        def __eq__(self, other: object) -> bool:
            raise RuntimeError

    text = "x\n" * 6_000
    reducer = _core.NativeReducer("terminal")
    assert reducer.reduce(text, {Key(): "git status"}, True) == reducer.reduce(text, None, True)


@pytest.mark.parametrize("text", ["", "short", "größer", "漢字か😀"])
@pytest.mark.parametrize("kind", [None, *KINDS])
def test_a_text_that_nothing_changes_is_the_same_object(text: str, kind: str | None) -> None:
    assert _core.finish(text, 100, native(kind))[0] is text
    assert _core.finish(text, 2**70, native(kind), {}, False) == (text, len(text), None)


@pytest.mark.parametrize("character", ["x", "é", "漢"])
@pytest.mark.parametrize("kind", ["head_tail", "read_file"])
def test_large_texts_are_finished_like_small_ones(character: str, kind: str) -> None:
    text = "".join(f"{number} {character * 90}\n" for number in range(4_000))
    assert len(text) > 256 * 1024
    for cap in (0, 100, 3_000, 20_000, 10**9):
        assert_equals_oracle(text, cap, kind)


@pytest.mark.parametrize("character", ["é", "漢", "😀"])
def test_a_text_never_gets_a_cached_copy(character: str) -> None:
    text = "".join(f"{number} {character * 20}\n" for number in range(2_000))
    status = "On branch x\nUntracked files:\n" + text.replace("\n", "\n\t")
    size = sys.getsizeof(text), sys.getsizeof(status)
    for kind in KINDS:
        for cap in (10, 10**6):
            _core.finish(text, cap, native(kind))
    _core.finish(status, 500, native("terminal"), {"command": "git status"})
    _core.replace_surrogates(text)
    assert (sys.getsizeof(text), sys.getsizeof(status)) == size


@pytest.mark.filterwarnings("default")
def test_a_native_panic_leaves_the_text_as_it_was(capfd: pytest.CaptureFixture[str]) -> None:
    panics = _core.NativeReducer("_panic_for_tests")
    text = "a text"
    assert _core.finish(text, 100, panics)[0] is text
    assert panics.reduce(text, None, True) is text
    assert _core.finish(text, 3, panics) == ("a t\n[truncated — 6 chars total]", 6, 6)
    assert "a test asked for this panic" in capfd.readouterr().err


def test_an_unknown_kind_is_refused_with_the_known_ones() -> None:
    message = "unknown reducer kind: `bash`; known are `terminal`, `read_file`, `head_tail`"
    with pytest.raises(ValueError, match=message):
        _core.NativeReducer("bash")


def test_reducers_are_values() -> None:
    assert [_core.NativeReducer(kind).kind for kind in KINDS] == KINDS
    assert _core.NativeReducer("terminal") == _core.NativeReducer("terminal")
    assert _core.NativeReducer("terminal") != _core.NativeReducer("read_file")
    with pytest.raises(AttributeError):
        _core.NativeReducer("terminal").kind = "x"


def test_other_threads_run_while_a_large_text_is_reduced() -> None:
    text = "x" * 79 + "\n"
    text *= 500_000
    reducer = _core.NativeReducer("head_tail")
    gate, ran = threading.Lock(), threading.Event()

    def other() -> None:
        with gate:
            ran.set()

    interval = sys.getswitchinterval()
    gate.acquire()
    thread = threading.Thread(target=other)
    thread.start()
    sys.setswitchinterval(1_000)  # no thread is made to give way
    try:
        gate.release()
        for _ in range(500):
            reducer.reduce(text, None, True)
            if ran.is_set():
                break
        assert ran.is_set()
    finally:
        sys.setswitchinterval(interval)
        thread.join()


def test_the_comparison_sees_steps_in_the_wrong_order(monkeypatch: pytest.MonkeyPatch) -> None:
    def trim_first(text: str, cap: int, reducer: object, args: object, ok: bool) -> object:
        sent, truncated_from = _core.trim(text, cap)
        return sent, len(text), truncated_from

    text = "a line\n" * 3_000
    assert_equals_oracle(text, 5_000, "head_tail")
    monkeypatch.setattr(_core, "finish", trim_first)
    with pytest.raises(AssertionError):
        assert_equals_oracle(text, 5_000, "head_tail")
