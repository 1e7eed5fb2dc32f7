"""The programs of a first day run; `test_types.py` checks their types."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PROGRAMS = sorted((ROOT / "tests" / "typing").glob("*.py"))


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
