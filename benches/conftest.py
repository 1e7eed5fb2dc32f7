"""Collect `bench_*.py`, let benchmarks import each other's helpers, print the ratios at the end."""

from __future__ import annotations

import gc
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Module | None:
    """Collect `bench_*.py`, which the test suite does not collect by name."""
    is_bench = file_path.suffix == ".py" and file_path.name.startswith("bench_")
    if is_bench and not parent.session.isinitpath(file_path):
        return pytest.Module.from_parent(parent, path=file_path)
    return None


@pytest.fixture(autouse=True)
def _quiet_collector() -> None:
    """Keep the garbage collector from traversing the objects of pytest in each run."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(trylast=True)
def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """The table of `docs/performance.md`."""
    from summary import row_of, table

    session = getattr(terminalreporter.config, "_benchmarksession", None)
    benchmarks = [] if session is None else session.benchmarks
    rows = [row_of(bench.as_dict(include_data=False)) for bench in benchmarks if bench.extra_info]
    if rows:
        terminalreporter.write_line("")
        terminalreporter.write_line(table(rows))
