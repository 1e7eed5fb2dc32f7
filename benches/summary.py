"""The ratios of a benchmark run as a Markdown table.

    python benches/summary.py            # runs the benches, prints the table
    python benches/summary.py FILE.json  # of a run saved with --benchmark-json

Any other arguments go to pytest, so `-k execute` measures a part.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
_HEADING = (
    "| subject | case | fast / median | baseline | fast / median | ratio of fast | median ratio |"
)
_SCALES = ((1.0, "s"), (1e-3, "ms"), (1e-6, "us"), (1e-9, "ns"))


@dataclass(frozen=True)
class Row:
    """One subject with its baselines; times are seconds per unit.

    A tenth of the rounds are as fast as `fast_seconds`, or faster.
    """

    group: str
    case: str
    unit: str
    fast_seconds: float
    median_seconds: float
    baselines: Mapping[str, Mapping[str, float]]
    per_round: int


def row_of(benchmark: Mapping[str, Any]) -> Row:
    """A benchmark as pytest-benchmark writes it."""
    extra, stats = benchmark["extra_info"], benchmark["stats"]
    per_round = extra["per_round"]
    name = benchmark["name"]
    return Row(
        benchmark["group"],
        benchmark["param"] or name.removeprefix("test_").replace("_", " "),
        extra["unit"],
        extra["fast_seconds"] / per_round,
        stats["median"] / per_round,
        extra["baselines"],
        per_round,
    )


def table(rows: Iterable[Row]) -> str:
    """Every ratio of every row; a ratio over 1 means that the baseline is faster."""
    lines = [_HEADING, "|---|---|---|---|---|---|---|"]
    for row in rows:
        times = _time(row.fast_seconds, row.median_seconds)
        subject = f"| {row.group} | {row.case} | {times} per {row.unit}"
        for name, baseline in row.baselines.items():
            theirs = _time(
                baseline["fast_seconds"] / row.per_round, baseline["median_seconds"] / row.per_round
            )
            ratios = f"{_ratio(baseline['ratio_of_fast'])} | {_ratio(baseline['median_ratio'])}"
            lines.append(f"{subject} | {name} | {theirs} | {ratios} |")
    return "\n".join(lines)


def _time(smallest: float, middle: float) -> str:
    scale, unit = next((item for item in _SCALES if smallest >= item[0]), _SCALES[-1])
    return f"{smallest / scale:.3g} / {middle / scale:.3g} {unit}"


def _ratio(value: float) -> str:
    return f"{value:.2f}" if value >= 0.1 else f"{value:.2g}"


def _measured(arguments: list[str]) -> Any:
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "benchmarks.json"
        command = [sys.executable, "-m", "pytest", str(HERE), "--benchmark-enable", "-q"]
        command += ["--timeout=0", f"--benchmark-json={report}", *arguments]
        subprocess.run(command, check=True, stdout=sys.stderr)
        return json.loads(report.read_text(encoding="utf-8"))


def main(arguments: list[str]) -> None:
    """Print the table of a saved run, or of one made now."""
    saved = [Path(argument) for argument in arguments if argument.endswith(".json")]
    others = [argument for argument in arguments if not argument.endswith(".json")]
    report = json.loads(saved[0].read_text(encoding="utf-8")) if saved else _measured(others)
    print(table(row_of(benchmark) for benchmark in report["benchmarks"]))


if __name__ == "__main__":
    main(sys.argv[1:])
