"""Every example in a docstring and every Python block of the README runs."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
import re
from pathlib import Path
from types import ModuleType

import pytest

import ethos_registry
from usage_tools import missing

ROOT = Path(__file__).parent.parent
MODULES = sorted(
    {
        "ethos_registry",
        *(
            found.name
            for found in pkgutil.walk_packages(ethos_registry.__path__, "ethos_registry.")
            if found.name.rpartition(".")[2] not in ("_core", "__main__")
        ),
    }
)
BLOCK = re.compile(
    r"^(?P<mark><!-- not run: [^\n]+ -->\n+)?"
    r"(?P<fence>`{3,})python[^\n]*\n(?P<code>.*?)^(?P=fence)$",
    re.DOTALL | re.MULTILINE,
)


def imported(name: str) -> ModuleType:
    """The module; skips the test if it is the adapter of a framework that is not installed."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if not name.startswith("ethos_registry.adapters.") or "ethos_registry" in str(error.name):
            raise
        extra = "google-adk" if name.endswith(".google_adk") else "frameworks"
        missing(extra, f"{name} needs {error.name}")
        raise


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_of_docstrings_hold(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = imported(name)
    monkeypatch.chdir(tmp_path)
    reports: list[str] = []
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    for test in doctest.DocTestFinder(exclude_empty=True).find(module):
        runner.run(test, out=reports.append)
    assert runner.failures == 0, "".join(reports)


def test_there_are_examples() -> None:
    finder = doctest.DocTestFinder(exclude_empty=True)
    found = [
        test
        for name in MODULES
        if not name.startswith("ethos_registry.adapters.")
        for test in finder.find(importlib.import_module(name))
        if test.examples
    ]
    assert len(found) > 30
    assert len(MODULES) > 80


def blocks(page: str) -> list[str]:
    """The Python blocks of a page that run; lines keep their numbers."""
    return [
        "\n" * page.count("\n", 0, match.start("code")) + match["code"]
        for match in BLOCK.finditer(page)
        if match["mark"] is None
    ]


def test_blocks_are_found_and_marked_ones_left_out() -> None:
    page = "a\n```python\nx = 1\n```\n<!-- not run: needs a key -->\n```python\ny = 2\n```\n"
    assert blocks(page) == ["\n\nx = 1\n"]


def test_the_blocks_of_the_readme_run_in_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = ROOT / "README.md"
    monkeypatch.chdir(tmp_path)
    names = {"__name__": "__main__"}
    for block in blocks(page.read_text(encoding="utf-8")):
        exec(compile(block, str(page), "exec"), names)
