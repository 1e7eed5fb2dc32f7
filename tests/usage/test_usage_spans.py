"""Reports over the last days read sums over spans of days, and agree with the single calls."""

from __future__ import annotations

import random
import time
from pathlib import Path
from uuid import uuid4

from hypothesis import given
from hypothesis import strategies as st

from ethos_registry.usage import read_usage
from ethos_registry.usage._record import (
    NOT_REACHED,
    SECONDS_PER_DAY,
    CountedCalls,
    CountKey,
    Totals,
    UsageBatch,
    UsageFilter,
    UsageRow,
)
from ethos_registry.usage._schema import WIDTHS, first_days, spans_from
from ethos_registry.usage._store import store_at


@given(first=st.integers(0, 40_000), later=st.integers(-40, 400))
def test_the_spans_from_a_day_on_hold_each_later_day_once(first: int, later: int) -> None:
    day = first + later
    held = [
        (span.width, start)
        for span in spans_from(first)
        for width, start in first_days(day)
        if width == span.width and span.start <= start and (span.end is None or start < span.end)
    ]
    assert len(held) == (later >= 0)


@given(first=st.integers(0, 40_000))
def test_a_report_reads_few_spans_before_the_widest(first: int) -> None:
    *narrow, (width, _, end) = spans_from(first)
    assert (width, end) == (WIDTHS[-1], None)
    assert all((span.end or 0) - span.start < 4 * span.width for span in narrow)


def made(seed: int, today: int) -> CountedCalls:
    draw = random.Random(seed)
    counts: CountedCalls = {}
    for _ in range(1_500):
        outcome = draw.choice(("ok", "ok", "failed", "denied"))
        bucket = NOT_REACHED if outcome == "denied" else draw.randrange(60, 64)
        key = CountKey(
            today - draw.randrange(70),
            f"agent_{draw.randrange(3)}",
            f"agent_{draw.randrange(2)}",
            f"tool_{draw.randrange(5)}",
            outcome,
            bucket,
        )
        calls = draw.randrange(1, 5)
        counts[key] = Totals(calls, calls * 9, calls * 5, calls * 3, calls * 7, calls * 11)
    return counts


def report_facts(path: Path, wanted: UsageFilter) -> UsageRow:
    return store_at(path).read(wanted)


def test_every_number_of_days_gives_the_sums_of_the_single_calls(tmp_path: Path) -> None:
    path = tmp_path / "usage.sqlite3"
    today = int(time.time() // SECONDS_PER_DAY)
    parts = [made(seed, today) for seed in range(3)]
    store = store_at(path)
    for counts in parts:
        store.write(UsageBatch(uuid4().hex, counts, ()))
    store.close()
    for days in range(1, 75):
        wanted = UsageFilter(first_day=today - days + 1)
        expected = UsageRow()
        for counts in parts:
            expected.add_counts(counts, wanted)
        assert report_facts(path, wanted) == expected
    assert read_usage(path, days=7).calls < read_usage(path, days=30).calls
