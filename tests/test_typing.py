"""The programs of a first day run, and pass mypy --strict and pyright as an application would."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PROGRAMS = sorted((ROOT / "tests" / "typing").glob("*.py"))
CHECKED = [*PROGRAMS, *sorted((ROOT / "examples").glob("*.py"))]


def checker(folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    """Run a type checker away from this project's own configuration."""
    return subprocess.run(
        [sys.executable, "-m", *command, *map(str, CHECKED)],
        capture_output=True,
        text=True,
        cwd=folder,
        timeout=500,
    )


def test_there_is_a_program_for_each_part_of_a_first_day() -> None:
    assert [path.stem for path in PROGRAMS] == [
        "approval_filter",
        "async_and_plain",
        "models",
        "observed_and_approved",
        "plain",
        "scoped_objects",
        "streamed_ui",
        "turn_with_artifacts",
    ]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.stem)
def test_the_program_runs(program: Path, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", program],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        timeout=300,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.strip()


def test_the_programs_pass_mypy_strict(tmp_path: Path) -> None:
    done = checker(
        tmp_path, "mypy", "--strict", "--config-file=", f"--cache-dir={tmp_path / 'cache'}"
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_programs_pass_pyright(tmp_path: Path) -> None:
    (tmp_path / "pyrightconfig.json").write_text("{}")  # the defaults that most users have
    done = checker(tmp_path, "pyright", "--outputjson", f"--pythonpath={sys.executable}")
    problems = [
        f"{each['file']}:{each['range']['start']['line'] + 1}: {each['message']}"
        for each in json.loads(done.stdout)["generalDiagnostics"]
        if each["severity"] == "error"
    ]
    assert problems == []
    assert json.loads(done.stdout)["summary"]["filesAnalyzed"] >= len(CHECKED)
