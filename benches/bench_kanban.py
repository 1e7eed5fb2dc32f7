"""The kanban reducer, compared with `json.loads`, count and sort, and with `json.loads` alone."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from beside import beside
from ethos_registry import default_reducers, ok
from ethos_registry.reduction import ToolReducerContext
from inputs import fresh

TITLES = {
    "ascii": "mend the thing that broke",
    "latin": "réparer la chose cassée",
    "japanese": "壊れた物を直してください",
    "emoji": "mend the thing \U0001f527",
}
CASES = {
    "1000 tickets": (1_000, "ascii"),
    "10000 tickets": (10_000, "ascii"),
    "100000 tickets": (100_000, "ascii"),
    "1000 tickets, japanese": (1_000, "japanese"),
    "10000 tickets, latin": (10_000, "latin"),
    "10000 tickets, japanese": (10_000, "japanese"),
    "10000 tickets, emoji": (10_000, "emoji"),
}
"""Number of tickets, and the script of their titles."""
STATUSES = ("todo", "doing", "blocked", "review", "done", "archived")
PRIORITIES = ("urgent", "high", "medium", "low")
CLOSED = {"done", "archived", "cancelled", "closed"}
URGENCY = {"urgent": 5, "high": 4, "medium": 3, "low": 2}


def board(tickets: int, title: str) -> str:
    """The result of `kanban_list` with this number of tickets."""
    return json.dumps(
        [
            {
                "id": f"T-{number}",
                "title": f"Ticket {number}: {title}",
                "status": STATUSES[number * 7 % len(STATUSES)],
                "priority": PRIORITIES[number * 5 % len(PRIORITIES)],
                "created_at": 1_760_000_000_000 + number,
                "updated_at": 1_760_000_000_000 + number * 7_919 % 1_000_003,
            }
            for number in range(tickets)
        ],
        ensure_ascii=False,
        separators=(",", ":"),
    )


def loaded_and_sorted(text: str) -> str:
    """The result of the reducer for lists of ordinary tickets."""
    tickets = json.loads(text)
    counts = Counter(ticket["status"] for ticket in tickets)
    still_open = [ticket for ticket in tickets if ticket["status"] not in CLOSED]
    still_open.sort(key=lambda ticket: (-URGENCY[ticket["priority"]], -ticket["updated_at"]))
    by_status = ", ".join(f"{status}={count}" for status, count in counts.items())
    top = "; ".join(f"{ticket['id']}: {ticket['title']}" for ticket in still_open[:5])
    return f"Counts by status: {by_status}. Top 5 open: {top}"


@pytest.mark.parametrize("case", CASES)
def test_kanban_list(benchmark: Any, case: str) -> None:
    count, language = CASES[case]
    original = board(count, TITLES[language])
    reducer = default_reducers().get("kanban_list")
    assert reducer is not None
    context = ToolReducerContext({}, 1)

    def ours() -> Callable[[], str]:
        result = ok(fresh(original))
        return lambda: reducer.reduce(result, context).text

    def theirs(run: Callable[[str], Any]) -> Callable[[], Any]:
        text = fresh(original)
        return lambda: run(text)

    assert ours()() == loaded_and_sorted(original)
    beside(
        benchmark,
        ours,
        {
            "json.loads, count and sort": lambda: theirs(loaded_and_sorted),
            "json.loads alone": lambda: theirs(json.loads),
        },
        group="kanban_list",
        rounds=max(200_000 // count, 10),
        unit="list",
    )
