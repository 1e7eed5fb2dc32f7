"""Charts and short tables of the documentation show the figures of the full tables."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

DOCS = Path(__file__).parent.parent / "docs"


@pytest.fixture(scope="module")
def charts() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_charts", DOCS / "make_charts.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def test_what_is_committed_is_what_the_tables_give(charts: ModuleType) -> None:
    stale = [
        path.name
        for path, content in charts.generated().items()
        if path.read_text(encoding="utf-8") != content
    ]
    assert not stale, "run `python docs/make_charts.py`"


def test_ten_rows_come_first_and_the_whole_table_is_folded(charts: ModuleType) -> None:
    for page in ("performance.md", "retention.md"):
        text = (DOCS / page).read_text(encoding="utf-8")
        short = text.partition(charts.SHORT[0])[2].partition(charts.SHORT[1])[0]
        assert short.count("\n| ") in (11, 12)
        assert text.index(charts.SHORT[1]) < text.index('<details markdown="1">')
