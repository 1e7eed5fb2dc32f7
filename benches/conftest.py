"""Collects `bench_*.py`, lets benches import each other's helpers, prints the ratios at the end."""

from __future__ import annotations

import gc
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Module | None:
    """Benches are no tests by their name, so that the suite never picks them up by accident."""
    is_bench = file_path.suffix == ".py" and file_path.name.startswith("bench_")
    if is_bench and not parent.session.isinitpath(file_path):
        return pytest.Module.from_parent(parent, path=file_path)
    return None


@pytest.fixture(autouse=True)
def _quiet_collector() -> None:
    """What pytest itself holds is not walked again and again by the collector."""
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
