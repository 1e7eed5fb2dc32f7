"""The table itself: every case has its expected kind of answer, and every reason names a case."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from adapters.table import BUDGET_CHARS, FRAMEWORK_FIRST, PNG, TABLE, Desk, cases, expected

KINDS = {
    "ok": [(False, "3")],
    "coerced": [(False, "3")],
    "raising": [(True, "the disk is full")],
    "invalid": [(True, "a: should be a whole number")],
    "unknown": [(True, "Unknown tool: missing")],
    "denied": [(True, "not permitted")],
    "timeout": [(True, "timed out after 0.05 s")],
    "duplicate id": [(False, "2"), (False, "4")],
    "huge result": [(False, "line 1")],
    "untrusted": [(False, "<untrusted source=")],
    "image": [(False, "the chart")],
    "a turn": [(False, "2"), (True, "the disk is full"), (False, "line 1"), (False, "10")],
}


@pytest.mark.parametrize("case", TABLE)
async def test_the_view_answers_each_case_as_its_name_says(case: str) -> None:
    answers = await expected(Desk(), case)
    for answer, (is_error, part) in zip(answers, KINDS[case], strict=True):
        assert answer.is_error is is_error
        assert part in answer.text
        assert len(answer.text) < BUDGET_CHARS + 500
        assert answer.images == ((PNG,) if case == "image" else ())


def test_the_table_holds_twelve_cases_and_every_exception_has_a_reason() -> None:
    assert len(TABLE) + 1 >= 12  # with `slow and cancelled`
    for framework, reasons in FRAMEWORK_FIRST.items():
        assert reasons.keys() <= TABLE.keys()
        assert all(len(reason) > 20 for reason in reasons.values())
        assert {*cases(framework), *cases(framework, first=True)} == TABLE.keys()


WORDS = {
    "unknown name": "unknown",
    "tool that the view does not show": "denied",
    "argument to coerce": "coerced",
    "invalid argument": "invalid",
    "two calls with one id": "duplicate id",
}


def test_the_page_lists_each_place_where_a_framework_answers_first() -> None:
    page = Path(__file__).parents[2] / "docs" / "frameworks" / "index.md"
    _, _, section = page.read_text(encoding="utf-8").partition("## Where the framework answers")
    listed: dict[str, set[str]] = {}
    for extra, calls in re.findall(r"^\| `([\w-]+)` \| ([^|]+) \|", section, re.MULTILINE):
        listed.setdefault(extra, set()).update(WORDS[call] for call in calls.split(", "))
    assert listed == {name: set(reasons) for name, reasons in FRAMEWORK_FIRST.items()}
