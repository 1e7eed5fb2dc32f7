"""What `.ci/run` does with what fails: a test has to pass alone, a step's end is shown last."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="`.ci/run` is a program for Linux"),
]
TESTS = """
import pathlib
import pytest

@pytest.mark.parametrize("number", [1, 2])
def test_fails_at_first(number):
    place = pathlib.Path(__file__).with_name(f"seen{{number}}")
    if not place.exists():
        place.touch()
        raise AssertionError
    {then}
"""


def run_with_functions(folder: Path, script: str) -> subprocess.CompletedProcess[str]:
    names = ("PYTEST_", "COV_")
    inherited = {name: text for name, text in os.environ.items() if not name.startswith(names)}
    return subprocess.run(
        ["bash", "-c", f"set -euo pipefail; source .ci/functions.sh; {script}"],
        cwd=ROOT,
        env=inherited
        | {
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
            "PYTHON": sys.executable,
            "TMPDIR": str(folder),
        },
        capture_output=True,
        text=True,
        timeout=120,
    )


@pytest.mark.parametrize(
    ("then", "status"), [("pass", 0), ("assert number == 1", 1), ("pytest.skip('later')", 1)]
)
def test_what_failed_has_to_pass_alone(tmp_path: Path, then: str, status: int) -> None:
    (tmp_path / "test_a.py").write_text(TESTS.format(then=then))
    # A module that is never run must not hide that the others were.
    (tmp_path / "test_b.py").write_text("import pytest\npytest.importorskip('no_such_module')\n")
    (tmp_path / "test_c.py").write_text("def test_passes():\n    pass\n")
    script = (
        f"trap - EXIT; run_pytest {sys.executable} -m pytest -p xdist -c /dev/null "
        f"--rootdir={tmp_path} {tmp_path}"
    )
    done = run_with_functions(tmp_path, script)
    assert done.returncode == status, done.stdout
    assert "2 failed, 1 passed" in done.stdout
    assert ("passed when run again" in done.stdout) == (status == 0)


def test_the_end_of_a_step_that_fails_is_shown_last(tmp_path: Path) -> None:
    beside = "beside() { step beside; sleep 60; }; start beside"
    failing = "step two; seq 1 9; echo 'no such row' >&2; exit 3"
    done = run_with_functions(tmp_path, f"step one; {beside}; {failing}")
    assert (done.returncode, done.stderr) == (3, "")
    shown, _, end = done.stdout.partition("== The end of the step that failed\n")
    assert "  two (failed)\n" in shown
    assert end.endswith("8\n9\nno such row\n")


def test_steps_that_pass_are_shown_once(tmp_path: Path) -> None:
    done = run_with_functions(tmp_path, "step one; echo output; end_step")
    assert (done.returncode, done.stdout.count("output\n")) == (0, 1)
