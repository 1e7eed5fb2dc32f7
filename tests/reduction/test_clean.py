"""Texts without escape sequences: what only a terminal understands is taken out, whole."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ethos_registry import _core, reduce_text

CASES = [
    case
    for case in json.loads(
        (Path(__file__).parents[1] / "data" / "sanitize_cases.json").read_text(encoding="ascii")
    )["cases"]
    if case["op"] == "strip_ansi"
]
CONTROLS = "\x1b\x9b\x9d\x90\x98\x9e\x9f\x9c\x08"
parts = st.sampled_from(
    ["\x1b", "[", "]", "31", ";", ":", "m", "K", "\x07", "\\", "P", "_", "^", "(", "B", "\n", "\r",
     "\x9b", "\x9d", "\x9c", "\x08", "text", "é", "漢", "0", "?25l", " "]
)  # fmt: skip


@pytest.mark.parametrize(
    ("raw", "clean"),
    [
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b[?25lx\x1b[?2004h", "x"),
        ("\x1b]8;;http://e\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1b[1 qx\x1b[!p", "x"),
        ("\x1b[38:2::255:0:0mx\x1b[m", "x"),
        ("\x9b31mx", "x"),
        ("\x1bPq#0\x1b\\x\x1b_a\x1b\\y\x1b^b\x1b\\z", "xyz"),
        ("\x1b]0;title without end\nnext", "\nnext"),
        ("\x1b" * 12 + "[0m" + "x", "x"),
        ("\x1b(Bplain\x1b=\x1b7", "plain"),
    ],
)
def test_every_kind_of_sequence_goes_d29(raw: str, clean: str) -> None:
    assert _core.without_escapes(raw) == clean


BETTER = {
    "ansi-c1-csi": "8-bit CSI goes too",
    "ansi-dcs": "DCS and APC strings go too",
    "ansi-unterminated-osc": "an OSC without an end goes up to the end of its line",
    "ansi-intermediate": "a CSI with intermediate bytes is a sequence like any other",
    "ansi-deep-nesting": "one pass takes all of it, so no tenth pass leaves a rest",
}
"""Cases of the public system that leave an escape in the text (fault D29); the last two, which have
no flag, are the same fault on inputs that its list does not name."""


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_cases_of_the_public_system_are_matched_or_leave_fewer_escapes(
    case: dict[str, Any],
) -> None:
    expected = case["expected"]["text"]
    clean = _core.without_escapes(case["input"]["text"])
    assert ("defect" in case) <= (case["id"] in BETTER)
    if case["id"] in BETTER:
        assert set(expected) & set(CONTROLS)
        assert not set(clean) & set(CONTROLS)
    else:
        assert clean == expected


@given(st.lists(parts).map("".join))
def test_no_escape_survives_and_nothing_is_added(text: str) -> None:
    clean = _core.without_escapes(text)
    assert not set(clean) & set(CONTROLS)
    letters = iter(text)
    assert all(letter in letters for letter in clean)
    assert _core.without_escapes(clean) is clean


@given(st.text(st.characters(exclude_categories=["Cc", "Cs"])))
def test_a_text_without_sequences_is_the_same_object(text: str) -> None:
    assert _core.without_escapes(text) is text


def test_colours_make_no_difference_to_a_reduced_text() -> None:
    plain = "".join(f"src/part.py:{n}: error: no name {n % 3}  [name]\n" for n in range(90))
    coloured = plain.replace("error:", "\x1b[1;31merror:\x1b[m")
    keywords = {"command": "mypy src", "exit_code": 1}
    assert reduce_text(coloured, **keywords) == reduce_text(plain, **keywords)
