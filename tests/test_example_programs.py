"""The programs in `examples/` run and print what they are there to show."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from ethos_registry.usage import read_usage

EXAMPLES = Path(__file__).parent.parent / "examples"

KEYS = {"ANTHROPIC_API_KEY", "SEARCH_BRAVE", "SEARCH_TAVILY"}
EXPECTED = {
    "weather.py": [
        "ok: Oslo: 12 degrees and rain for 3 day(s)",
        "input_invalid: city: ",
        "input_invalid: city: ",
        "input_invalid: arguments are not valid JSON: ",
    ],
    "scripted_turn.py": [
        'It is Thursday: ["call Ada about the demo","demo on Friday"]',
    ],
    "plugin_reducer.py": [
        "make: done",
        "make: done",
        "followed by a long log",
    ],
    "newsroom.py": [
        "[editor] calls delegate_parallel",
        "[delegate_parallel] researcher: calls search_notes",
        "[delegate_parallel] researcher: calls search_notes",
        "[editor] calls task",
        "[task] writer: calls count_words, search_notes",
        "The old harbour reopens on Friday after two years of work. The first ferry leaves",
        "count_words: 1 invocations, 0 refused",
        "delegate_parallel: 1 invocations, 0 refused",
        "read_microfilm: 0 invocations, 0 refused",
        "search_notes: 2 invocations, 1 refused",
        "task: 1 invocations, 0 refused",
        "newsroom.html shows who called what",
    ],
    "durable_approval.py": [
        "model reads: Tool delete_folder has not run yet: it waits for approval: deletes build",
        "delete_folder: build/old was deleted (simulated)",
        "second click: used",
    ],
    "research.py": [
        "web_search: ok",
        "read_attachment: ok",
        "fetch_url: ok (cut, stored)",
        "fetch_url: ok",
        "fetch_url: HOST_NOT_ALLOWED: '169.254.169.254' is not permitted for this personality",
        "artifact_grep: ok",
        "memory_write: ok",
        "memory_read: ok",
        "The first ferry to Gull Island leaves at 07:30 (ferries). The pier is open (news).",
    ],
    "approval.py": [
        "delete_folder: ok: build was deleted (simulated) [approved]",
        "delete_folder: error: The user declined. ",
        'list_folder: ok: ["photos/notes.txt"]',
    ],
}


def test_every_example_is_run():
    services = (EXAMPLES.parent / "tests" / "test_example_services.py").read_text("utf-8")
    others = {path.name for path in EXAMPLES.glob("*.py")} - EXPECTED.keys()
    assert {name for name in others if f'"{name}"' not in services} == set()


@pytest.mark.parametrize("name", EXPECTED)
def test_the_example_prints_what_it_shows(name, tmp_path):
    done = subprocess.run(
        [sys.executable, "-W", "error", EXAMPLES / name],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={name: value for name, value in os.environ.items() if name not in KEYS},
        timeout=300,
    )
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert len(lines) == len(EXPECTED[name])
    for line, expected in zip(lines, EXPECTED[name], strict=True):
        assert line.startswith(expected)


def test_the_newsroom_leaves_a_ledger_and_a_page_of_its_calls(tmp_path):
    subprocess.run([sys.executable, EXAMPLES / "newsroom.py"], check=True, cwd=tmp_path,
                   env={"PATH": os.environ["PATH"]}, capture_output=True, timeout=300)  # fmt: skip
    report = read_usage(tmp_path / "newsroom.sqlite3")
    tools = {each.name: each for each in report.tools}
    assert dict(tools["search_notes"].callers) == {"researcher": 2, "writer": 1}
    assert dict(tools["search_notes"].called_by_others) == {"writer": 1}
    assert dict(tools["delegate_parallel"].callers) == {"editor": 1}
    page = (tmp_path / "newsroom.html").read_text(encoding="utf-8")
    assert '"name":"search_notes"' in page


def test_the_approval_asks_a_person_at_the_keyboard(tmp_path):
    done = subprocess.run(
        [sys.executable, "-W", "error", EXAMPLES / "approval.py", "--ask"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        timeout=300,
        input="no\nYes\n",
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.count("[y/N]") == 2
    assert "error: The user declined." in done.stdout
    assert "photos was deleted" in done.stdout
