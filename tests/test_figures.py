"""The measured figures of the pages are those of recorded runs."""

from __future__ import annotations

import importlib.util
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
RECORDS = sorted((ROOT / "benches" / "records").glob("*.json"))
PAGES = ("README.md", "docs/index.md", "docs/comparison.md", "docs/retention.md",
         "docs/performance.md", "docs/benchmarks.md")  # fmt: skip
PERCENT = re.compile(r"\d[\d.,]* %")
OTHER_PERCENTAGES = {"100 %"}


@pytest.fixture(scope="module")
def figures():
    path = ROOT / "docs" / "make_figures.py"
    spec = importlib.util.spec_from_file_location("make_figures", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def test_the_pages_show_what_the_records_say(figures):
    stale = [path.name for path, text in figures.pages() if path.read_text("utf-8") != text]
    assert not stale, "run `python docs/make_figures.py`"
    assert {path for path, _ in figures.pages()} == {ROOT / page for page in PAGES}


@pytest.mark.parametrize("path", RECORDS, ids=lambda path: path.stem)
def test_a_record_has_the_commit_and_the_date_of_its_run(path):
    measured = json.loads(path.read_text(encoding="utf-8"))["measured"]
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", measured["date"])
    assert re.fullmatch(r"[0-9a-f]{7,40}", measured["commit"])
    if (ROOT / ".git").exists():
        kind = subprocess.run(["git", "cat-file", "-t", measured["commit"]], cwd=ROOT,
                              capture_output=True, text=True, check=False)  # fmt: skip
        shallow = subprocess.run(["git", "rev-parse", "--is-shallow-repository"], cwd=ROOT,
                                 capture_output=True, text=True, check=False)  # fmt: skip
        assert kind.stdout == "commit\n" or shallow.stdout == "true\n"


def test_a_figure_that_differs_from_its_record_is_replaced(figures):
    template = "it kept {kept} % of {facts} facts"
    text = "And it kept 99.9 % of\n1 facts."
    found = figures._filled("page", text, template, {"kept": 98.2, "facts": "1,002"})
    assert found == "And it kept 98.2 % of\n1,002 facts."
    with pytest.raises(SystemExit, match="0 sentences"):
        figures._filled("page", "other", template, {})


@pytest.mark.parametrize("page", PAGES)
def test_each_percentage_in_a_sentence_comes_from_a_record(figures, page):
    text = (ROOT / page).read_text(encoding="utf-8")
    for of, template, _ in figures.SENTENCES:
        if of == page:
            text = figures.pattern(template).sub("", text)
    prose = "\n".join(line for line in text.splitlines() if not line.startswith("|"))
    assert set(PERCENT.findall(prose)) <= OTHER_PERCENTAGES
