"""Turns at the rate of a million a day; `.ci/run --long` runs an hour of them."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

import turns_at_rate

PROGRAM = Path(turns_at_rate.__file__)
GOOD = turns_at_rate.Report(
    turns=2,
    failed=0,
    counted_calls=20,
    seconds_late=0.1,
    cpu_seconds=0.02,
    resident_bytes=[10 << 20, 40 << 20, 41 << 20],
    descriptors_left=0,
    tasks_left=0,
)


@pytest.mark.skipif(sys.platform != "linux", reason="counts descriptors")
def test_three_seconds_at_that_rate():
    done = subprocess.run(
        [sys.executable, PROGRAM, "0.05", "--wait-seconds", "0.2", "--late-seconds", "60"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.startswith("36 turns of 10 calls, 0 failed")


@pytest.mark.parametrize(
    "fault",
    [
        {"failed": 1},
        {"counted_calls": 19},
        {"seconds_late": 1.1},
        {"resident_bytes": [10 << 20, 40 << 20, 49 << 20]},
        {"descriptors_left": 1},
        {"tasks_left": 1},
    ],
    ids=lambda fault: next(iter(fault)),
)
def test_each_fault_is_a_problem(fault):
    assert list(GOOD.problems(1.0)) == []
    assert len(list(replace(GOOD, **fault).problems(1.0))) == 1
