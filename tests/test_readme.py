"""The statements of the README are true."""

import contextlib
import io
import re
from pathlib import Path

import pytest

README = Path(__file__).parent.parent / "README.md"
OURS = re.compile(
    r"https://(?:raw\.githubusercontent|github)\.com/[\w-]+/ethos-registry/(?:(?:blob|tree)/)?main/(.+)"
)


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


def test_the_loops_are_those_of_the_providers_pages_where_they_run(text):
    for loop, name in zip(blocks(text, "py"), ("anthropic", "openai"), strict=True):
        assert loop.rstrip() in (README.parent / f"docs/providers/{name}.md").read_text("utf-8")
        assert len(loop.splitlines()) <= 15


def test_the_order_is_what_a_reader_needs_first(text):
    headings = re.findall(r"^## (.+)$", text, re.MULTILINE)
    assert headings[:4] == ["Try it", "In your loop", "One turn", "Five promises"]
    promises = re.findall(r"^\d\. .*?(?=^\d\. |^## )", text, re.MULTILINE | re.DOTALL)
    assert len(promises) == 5
    assert all("][docs/" in promise for promise in promises)


def test_the_two_lines_are_there_and_ci_runs_both(text):
    install, suite = blocks(text, "console")[0].splitlines()
    script = (README.parent / ".ci" / "run").read_text(encoding="utf-8")
    for line in (install, suite):
        wanted = re.search(r"readme_line '([^']+)'", script)
        assert wanted is not None
        script = script.replace(wanted[0], "", 1)
        assert wanted[1] in line
        assert next(each for each in text.splitlines() if wanted[1] in each) == line


def test_the_links_work_outside_of_the_repository_and_their_files_are_there(text):
    defined = dict(re.findall(r"^\[([^\]]+)\]: (\S+)$", text, re.MULTILINE))
    assert set(re.findall(r"\]\[([^\]]+)\]", text)) == defined.keys()
    assert all(link.startswith("https://") for link in re.findall(r"\]\(([^)]+)\)", text))
    local = {OURS.match(link)[1] for link in defined.values()}
    assert local == defined.keys()
    assert {"docs/demo.svg", "docs/performance.md"} <= local
    assert not [link for link in local if not (README.parent / link).exists()]
