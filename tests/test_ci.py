"""What `.ci/run` does with failed tests: they are run once more, alone, and have to pass."""

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


@pytest.mark.parametrize(
    ("then", "status"), [("pass", 0), ("assert number == 1", 1), ("pytest.skip('later')", 1)]
)
def test_what_failed_has_to_pass_alone(tmp_path: Path, then: str, status: int) -> None:
    (tmp_path / "test_a.py").write_text(TESTS.format(then=then))
    # A module that is never run must not hide that the others were.
    (tmp_path / "test_b.py").write_text("import pytest\npytest.importorskip('no_such_module')\n")
    (tmp_path / "test_c.py").write_text("def test_passes():\n    pass\n")
    script = (
        f"set -euo pipefail; source .ci/functions.sh; trap - EXIT; "
        f"run_pytest {sys.executable} -m pytest -p xdist -c /dev/null "
        f"--rootdir={tmp_path} {tmp_path}"
    )
    names = ("PYTEST_", "COV_")
    inherited = {name: text for name, text in os.environ.items() if not name.startswith(names)}
    done = subprocess.run(
        ["bash", "-c", script],
        cwd=ROOT,
        env=inherited
        | {
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
            "PYTHON": sys.executable,
            "TMPDIR": str(tmp_path),
        },
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == status, done.stdout
    assert "2 failed, 1 passed" in done.stdout
    assert ("passed when run again" in done.stdout) == (status == 0)
