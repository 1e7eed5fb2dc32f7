"""The statements of the README are true."""

import contextlib
import io
import json
import re
import textwrap
from pathlib import Path

import pytest

import providers.test_wire_clients as wire
from loopback import loopback

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


LOOPS = {"anthropic": (1, wire.anthropic_reply), "openai": (2, wire.chat_reply)}


@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("name", LOOPS)
def test_the_tool_is_called_by_the_real_client(text, name, monkeypatch):
    code = blocks(text, "py")
    index, reply = LOOPS[name]
    call = [("weather", {"city": "Oslo"})]
    printed = io.StringIO()
    with loopback(reply(call, 1), reply([], 2)) as server, contextlib.redirect_stdout(printed):
        monkeypatch.setenv(f"{name.upper()}_API_KEY", "k")
        monkeypatch.setenv(f"{name.upper()}_BASE_URL", server.url)
        exec(compile(code[0] + code[index], str(README), "exec"), {"__name__": "__main__"})
    assert printed.getvalue() == f"{wire.ANSWER}\n"
    assert "Oslo: 21 °C and sunny" in json.dumps(server.body(), ensure_ascii=False)


def test_a_loop_is_short_and_the_landing_page_has_the_same(text):
    landing = (README.parent / "docs" / "index.md").read_text(encoding="utf-8")
    code = blocks(text, "py")
    assert len(code) == 3
    for block in code:
        assert block in landing or textwrap.indent(block, "    ") in landing
        assert len(block.splitlines()) <= 15


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
