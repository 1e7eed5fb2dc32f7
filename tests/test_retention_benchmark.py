"""`benches/retention`: what it measures, and that anyone can add a runner."""

import ast
import importlib
import re
import subprocess
import sys
from pathlib import Path

import pytest

from corpora import Recorded

ROOM = Path(__file__).parent.parent / "benches" / "retention"
OUTPUT = "start\nalpha.py:3: error: lost\n" + "ok line\n" * 8 + "beta.py:4: warning: old\nend\n"


@pytest.fixture
def room(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOM))
    return importlib.import_module


def test_a_row_that_is_not_in_the_output_or_moved_is_false(room):
    false_rows = room("judge").false_rows
    assert false_rows(OUTPUT, OUTPUT) == []
    assert false_rows(OUTPUT, "start\n  alpha.py:3: error:   lost\nend") == []
    assert false_rows(OUTPUT, "start\nalpha.py:3: error: found") == ["alpha.py:3: error: found"]
    assert false_rows(OUTPUT, "end\nstart") == ["start"]
    assert false_rows(OUTPUT, "start\n[9 lines hidden]\nend", r"\[\d+ lines hidden\]") == []
    assert false_rows(OUTPUT, "ok line ×8\nend") == []
    assert false_rows("a" * 90, "aaa...[84 chars]...aaa") == []
    assert false_rows("a" * 90, "aaa...[84 chars]...aba") == ["aaa...[84 chars]...aba"]


def test_what_is_missing_is_counted_at_its_place(room):
    is_counted = room("judge").is_counted
    assert is_counted(OUTPUT, OUTPUT)
    assert is_counted(OUTPUT, "start\nalpha.py:3: error: lost\n[9 lines left out]\nend")
    assert not is_counted(OUTPUT, "start\nalpha.py:3: error: lost\n[8 lines left out]\nend")
    assert not is_counted(OUTPUT, "start\nalpha.py:3: error: lost\nend")


def test_a_lost_fact_costs_a_part_of_an_extra_turn(room):
    scoring = room("judge")
    cost = scoring.Cost(later_turns=10, context_tokens=1_000, call_tokens=10, second_look_chars=50)
    output = Recorded("a", "", "make", 1, OUTPUT, ("error: lost", "warning: old"), ())
    score = scoring.Score(cost, len)
    score.add(output, "alpha.py:3: error: lost", "")
    tokens = len("alpha.py:3: error: lost")
    again = 0.1 * (1_000 + tokens) + 5 * 10 + (1.25 + 1) * 50
    assert score.cost == pytest.approx((1.25 + 1) * tokens + again / 2)
    assert score.figures()["extra turns"] == 0.5
    assert score.figures()["facts kept %"] == 50.0


def test_each_runner_leaves_a_short_output_true(room):
    scoring = room("judge")
    for runner in room("runners").RUNNERS:
        if runner.skipped is None:
            reduced = runner.reduce("make", 1, OUTPUT, 16_000)
            assert scoring.false_rows(OUTPUT, reduced, runner.mark) == []


def test_the_baseline_keeps_its_target_and_its_size(room):
    baseline = room("baseline")
    long = "\n".join(f"step {number} done" for number in range(4_000)) + "\nfatal: no disk\n"
    reduced = baseline.reduce("make", 1, long, 1_000)
    assert len(reduced) <= 1_000
    assert "fatal: no disk" in reduced
    assert len((ROOM / "baseline.py").read_text(encoding="utf-8").splitlines()) <= 120


def test_the_runner_of_the_page_is_the_example_of_20_lines():
    example = (ROOM / "example_runner.py").read_text(encoding="utf-8")
    [block] = re.findall(r"```python\n(.*?)```", (ROOM / "README.md").read_text("utf-8"), re.DOTALL)
    assert block == example
    assert len(example.splitlines()) <= 20
    ast.parse(example)


@pytest.mark.slow
def test_the_table_has_a_row_for_a_runner_of_yours():
    done = subprocess.run(
        [sys.executable, ROOM, "--quick", "--runner", ROOM / "example_runner.py"],
        capture_output=True,
        text=True,
        timeout=600,
        check=True,
    )
    rows = re.findall(r"^\| ([^|]+?) \| ([\d.]+) \|", done.stdout, re.MULTILINE)
    percent_by_name = {name: float(percent) for name, percent in rows}
    assert percent_by_name["everything"] == 100.0
    assert 0 < percent_by_name["example runner, 4,000"] < 100
    assert percent_by_name["ethos-registry, 16,000"] > percent_by_name["head and tail, 16,000"]
