"""The programs in `examples/` run and print what they are there to show."""

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parent.parent / "examples"

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
    "approval.py": [
        "delete_folder: ok: build was deleted (simulated) [approved]",
        "delete_folder: error: The user declined. ",
        'list_folder: ok: ["photos/notes.txt"]',
    ],
}


def test_every_example_is_run_here():
    assert {path.name for path in EXAMPLES.glob("*.py")} == EXPECTED.keys()


@pytest.mark.parametrize("name", EXPECTED)
def test_the_example_prints_what_it_shows(name, tmp_path):
    done = subprocess.run(
        [sys.executable, "-W", "error", EXAMPLES / name],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        timeout=300,
    )
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert len(lines) == len(EXPECTED[name])
    for line, expected in zip(lines, EXPECTED[name], strict=True):
        assert line.startswith(expected)


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
