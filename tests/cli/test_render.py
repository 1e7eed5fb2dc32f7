"""Pure parts of the command line: what is visible, valid JSON, a report drawn at any width."""

import json

from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console

from ethos_registry._cli.call_report import RenderedReport, milliseconds, share
from ethos_registry._cli.console import first_line, json_text, visible

counts = st.integers(0, 10**12)
texts = st.text(st.characters(codec=None), max_size=80)
calls = st.fixed_dictionaries(
    {
        "tool_call_id": texts,
        "name": texts,
        "args": st.dictionaries(texts, texts, max_size=2) | st.none() | texts,
        "outcome": st.sampled_from(["ok", "execution_failed", "not_available"]),
        "reason": st.none() | st.sampled_from(["timeout", "cancelled"]),
        "raw_chars": counts,
        "reduced_chars": counts,
        "sent_chars": counts,
        "truncated_from": st.none() | counts,
        "duration_seconds": st.floats(0, 4_000),
        "result": st.just({}),
    }
)
reports = st.fixed_dictionaries(
    {
        "budget_chars": counts,
        "elapsed_seconds": st.floats(0, 4_000),
        "calls": st.lists(calls, max_size=3),
        "totals": st.fixed_dictionaries(
            {
                "raw_chars": counts,
                "reduced_chars": counts,
                "sent_chars": counts,
                "duration_seconds": st.floats(0, 4_000),
            }
        ),
        "skipped": st.lists(st.fixed_dictionaries({"call": texts, "why": texts}), max_size=2),
    }
)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | texts | st.binary(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=10,
)


def drawn(report: dict, width: int) -> str:
    console = Console(width=width, color_system=None, markup=False, emoji=False, highlight=False)
    with console.capture() as captured:
        console.print(RenderedReport(report))
    return captured.get()


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


@settings(max_examples=60)
@given(reports, st.sampled_from([40, 60, 76, 80, 200]))
def test_every_figure_of_any_report_is_drawn_whole(report, width):
    text = drawn(report, width)
    assert all(line.isprintable() for line in text.splitlines())
    joined = "".join(text.split())
    for call in report["calls"]:
        for figure in ("raw_chars", "reduced_chars", "sent_chars"):
            assert f"{call[figure]:,}" in joined
    assert f"{report['budget_chars']:,}characters" in joined


def test_figures_too_wide_for_a_table_are_drawn_whole():
    call = {"tool_call_id": "1", "name": "read", "args": None, "outcome": "ok", "reason": None}
    call |= {"raw_chars": 10**10, "reduced_chars": 10**11, "sent_chars": 10**12}
    call |= {"truncated_from": None, "duration_seconds": 4_000.0, "result": {}}
    totals = {"raw_chars": 1, "reduced_chars": 1, "sent_chars": 10**12, "duration_seconds": 1.0}
    report = {"budget_chars": 1, "elapsed_seconds": 1.0, "calls": [call], "totals": totals}
    for width in range(40, 120):
        joined = "".join(drawn(report | {"skipped": []}, width).split())
        for figure in ("10,000,000,000", "100,000,000,000", "-900%", "-9000%", "4000.00s"):
            assert figure in joined, width


def test_a_share_and_a_time_are_read_by_people():
    assert share(150, 200) == "75 %"
    assert share(-10, 10) == "-100 %"
    assert share(0, 0) == "-"
    assert milliseconds(0.0004) == "0 ms"
    assert milliseconds(1) == "1.00 s"
