"""The statements of the README are true."""

import contextlib
import io
import re
from pathlib import Path

import pytest

README = Path(__file__).parent.parent / "README.md"


@pytest.fixture(scope="module")
def text() -> str:
    return README.read_text(encoding="utf-8")


def blocks(text: str, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)


def test_the_example_prints_the_output_below_it_and_the_three_lines_run(text):
    code = blocks(text, "python")
    assert len(code) == 2
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile("\n".join(code), str(README), "exec"), {"__name__": "__main__"})
    assert printed.getvalue() == blocks(text, "text")[0]


def test_the_loop_is_that_of_the_providers_page_where_it_runs(text):
    page = (README.parent / "docs/providers/anthropic.md").read_text(encoding="utf-8")
    [loop] = blocks(text, "py")
    assert loop in page


def test_the_two_lines_are_there_and_ci_runs_both(text):
    install, suite = blocks(text, "console")[0].splitlines()
    script = (README.parent / ".ci" / "run").read_text(encoding="utf-8")
    for line in (install, suite):
        wanted = re.search(r"readme_line '([^']+)'", script)
        assert wanted is not None
        script = script.replace(wanted[0], "", 1)
        assert wanted[1] in line
        assert next(each for each in text.splitlines() if wanted[1] in each) == line


def test_every_file_that_it_links_is_there(text):
    links = re.findall(r"\]\(([^)#]+)\)", text)
    local = [link for link in links if "://" not in link]
    assert {"docs/demo.svg", "docs/performance.md"} <= set(local)
    missing = [link for link in local if not (README.parent / link).exists()]
    assert not missing
