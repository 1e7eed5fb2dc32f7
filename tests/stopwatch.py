"""Times that can be compared: for ratios within one run, never against a clock."""

from __future__ import annotations

import gc
import time
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

_ROUNDS = 7
_MOST_ROUNDS = 70

# What other programs do on the machine does not count, where the clock of this thread is fine.
_now = (
    time.thread_time if time.get_clock_info("thread_time").resolution < 1e-6 else time.perf_counter
)


def assert_ratio_below(
    limit: float,
    subject: Callable[[], object],
    baseline: Callable[[], object],
    repeats: int,
    baseline_repeats: int | None = None,
) -> None:
    """A call of `subject` takes less than `limit` times as long as one of `baseline`.

    By the shortest of seven runs of each, in turns, and of up to seventy while that does not hold,
    then without the shortest tenth, where a kernel may have counted too little: noise goes away
    with more rounds, a real difference stays.
    """
    subjects: list[float] = []
    baselines: list[float] = []
    gc.disable()
    try:
        for done in range(1, _MOST_ROUNDS + 1):
            subjects.append(_seconds(subject, repeats))
            baselines.append(_seconds(baseline, baseline_repeats or repeats))
            subject_seconds, baseline_seconds = (
                sorted(seconds)[done // 10] for seconds in (subjects, baselines)
            )
            if done >= _ROUNDS and subject_seconds < limit * baseline_seconds:
                return
    finally:
        gc.enable()
    pytest.fail(f"takes {subject_seconds / baseline_seconds:.1f} times as long, not below {limit}")


def _seconds(action: Callable[[], object], repeats: int) -> float:
    """Seconds of one call, in a run of `repeats`."""
    start = _now()
    for _ in range(repeats):
        action()
    return max(_now() - start, 1e-9) / repeats
