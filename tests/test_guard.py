"""`benches/guard.py`: what it reports and what it records."""

import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent.parent / "benches"))

import guard
from beside import beside, compared


def measured(value, recorded, tolerance=0.2):
    return guard.Measured("row", "Python 3.11", value, tolerance, recorded)


def test_a_row_is_worse_beyond_its_tolerance_only():
    assert not measured(1.2, 1.0).is_worse
    assert measured(1.21, 1.0).is_worse
    assert not measured(5.0, None).is_worse
    assert not measured(None, 1.0).is_worse


def test_a_worse_value_is_recorded_with_a_reason_only():
    recorded = {"row": {"tolerance": 0.2, "Python 3.11": 1.0}}
    assert guard.write([measured(1.5, 1.0)], recorded, None) == ["row"]
    assert recorded["row"] == {"tolerance": 0.2, "Python 3.11": 1.0}
    assert guard.write([measured(1.5, 1.0)], recorded, "checks more") == []
    assert recorded["row"]["Python 3.11"] == 1.5
    assert recorded["row"]["reasons"] == ["Python 3.11: 1.0 -> 1.5: checks more"]


def test_a_better_value_and_a_new_one_are_recorded():
    recorded = {"row": {"tolerance": 0.2, "Python 3.11": 1.0}}
    assert guard.write([measured(0.5, 1.0)], recorded, None) == []
    assert recorded["row"]["Python 3.11"] == 0.5
    recorded = {}
    assert guard.write([measured(2.0, None)], recorded, None) == []
    assert recorded == {"row": {"tolerance": 0.2, "Python 3.11": 2.0}}


def test_noise_is_not_recorded():
    recorded = {"row": {"tolerance": 0.2, "Python 3.11": 1.0}}
    assert guard.write([measured(0.95, 1.0)], recorded, None) == []
    assert guard.write([measured(1.05, 1.0)], recorded, None) == []
    assert recorded["row"]["Python 3.11"] == 1.0


@pytest.mark.slow
def test_a_slowdown_of_30_percent_is_measured(monkeypatch):
    def work():
        return lambda: sum(range(100_000))

    def bench(benchmark):
        beside(benchmark, work, {"the same": work}, group="", rounds=1)

    monkeypatch.setattr(guard, "bench", bench, raising=False)
    row = guard.Row("row", "guard.bench", "the same")
    assert measured(guard.ratio(row, 1.3, seconds=0.5), 1.0, guard.RATIO_TOLERANCE).is_worse


def test_rounds_that_were_counted_too_short_decide_nothing():
    too_short = [0.0, 1e-9, *[1.0] * 18]
    usual = [1.0] * 20
    assert compared(too_short, usual)["ratio_of_fast"] == 1.0
    assert compared(usual, too_short)["ratio_of_fast"] == 1.0


def test_a_row_that_raises_fails_and_the_others_are_measured(monkeypatch):
    def bench(benchmark, is_broken):
        assert not is_broken, "no answer"
        beside(benchmark, lambda: dict, {"the same": lambda: dict}, group="", rounds=1)

    rows = tuple(
        guard.Row(name, "guard.bench", "the same", {"is_broken": name == "broken"})
        for name in ("broken", "whole")
    )
    monkeypatch.setattr(guard, "bench", bench, raising=False)
    monkeypatch.setattr(guard, "ROWS", rows)
    monkeypatch.setattr(guard, "NATIVE_ROWS", ())
    monkeypatch.setattr(guard, "SECONDS_A_ROW", 0.01)
    broken, whole = guard.measure([], {}, 1)
    assert (broken.is_worse, "no answer" in str(broken)) == (True, True)
    assert (whole.is_worse, whole.value is not None) == (False, True)


def test_a_missing_library_skips_its_row(monkeypatch):
    def bench(benchmark):
        pytest.importorskip("no_such_library")

    monkeypatch.setattr(guard, "bench", bench, raising=False)
    monkeypatch.setattr(guard, "ROWS", (guard.Row("row", "guard.bench", "the same"),))
    monkeypatch.setattr(guard, "NATIVE_ROWS", ())
    [row] = guard.measure([], {}, 1)
    assert (row.value, "no_such_library" in row.skipped) == (None, True)


def test_the_recorded_rows_are_those_measured():
    recorded = json.loads(guard.RECORDED.read_text(encoding="utf-8"))
    assert set(recorded) <= {row.name for row in (*guard.ROWS, *guard.NATIVE_ROWS)}
    assert all(row["tolerance"] <= 0.4 for row in recorded.values())
