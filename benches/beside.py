"""Measure a subject next to its baselines, round by round in one run.

On a shared machine two figures are comparable only if they were measured at the same moment. Each
round first times every baseline, then the subject. The rows of pytest-benchmark are the subject's;
the baselines are in `extra_info`. Rounds are short, so that some fall between interruptions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from statistics import median
from time import perf_counter
from typing import Any, TypeAlias

Prepare: TypeAlias = Callable[[], Callable[[], object]]
"""Creates new arguments, outside the measured time, and returns the function to time."""


def beside(
    benchmark: Any,
    subject: Prepare,
    baselines: Mapping[str, Prepare],
    *,
    group: str,
    rounds: int,
    per_round: int = 1,
    unit: str = "call",
) -> None:
    """Measure `subject` and `baselines` alternately; one round does `per_round` of `unit`.

    The ratios of a baseline are subject / baseline: of the fast rounds, and the median of all.
    On a loaded machine `--benchmark-timer=time.process_time` counts the time of the processor.
    """
    timer: Callable[[], float] = getattr(benchmark, "_timer", perf_counter)
    baseline_seconds: dict[str, list[float]] = {name: [] for name in baselines}

    def setup() -> tuple[tuple[Callable[[], object]], dict[str, Any]]:
        for name, prepare in baselines.items():
            run = prepare()
            start = timer()
            run()
            baseline_seconds[name].append(timer() - start)
        return (subject(),), {}

    benchmark.group = group
    benchmark.pedantic(_run, setup=setup, rounds=rounds, warmup_rounds=1 if rounds > 1 else 0)
    if benchmark.stats is None:  # --benchmark-disable: each side ran once, nothing was timed
        return
    subject_seconds: list[float] = benchmark.stats.stats.data
    benchmark.extra_info.update(
        unit=unit,
        per_round=per_round,
        fast_seconds=_fast(subject_seconds),
        baselines={
            name: compared(subject_seconds, seconds[-len(subject_seconds) :])
            for name, seconds in baseline_seconds.items()
        },
    )


def _run(run: Callable[[], object]) -> object:
    return run()


def _fast(seconds: list[float]) -> float:
    """The tenth part of the rounds is as fast or faster.

    The fastest itself may be too short by any amount, even zero: a kernel takes time that the host
    used for other guests off the processor time of whatever runs when it learns of it.
    """
    return sorted(seconds)[len(seconds) // 10]


def compared(subject: list[float], baseline: list[float]) -> dict[str, float]:
    """The times of the baseline and the ratios, from seconds of rounds in pairs."""
    paired = [ours / theirs for ours, theirs in zip(subject, baseline, strict=True) if theirs > 0]
    return {
        "fast_seconds": _fast(baseline),
        "median_seconds": median(baseline),
        "ratio_of_fast": _fast(subject) / _fast(baseline),
        "median_ratio": median(paired),
    }
