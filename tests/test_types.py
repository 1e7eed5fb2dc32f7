"""What type checkers say of programs: with the SDKs, and where none is installed."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import ethos_registry

pytest.importorskip("mypy")
pytest.importorskip("pyright")
for sdk in ("anthropic", "openai", "google.genai", "ollama"):
    pytest.importorskip(sdk)

HERE = Path(__file__).parent
ROOT = HERE.parent
TYPED = sorted((HERE / "typed").glob("*.py"))
PROGRAMS = [*sorted((HERE / "typing").glob("*.py")), *sorted((ROOT / "examples").glob("*.py"))]
PACKAGE = Path(ethos_registry.__file__).parent
BARE_PYTHON = Path(sys.base_prefix) / "bin" / "python3"
"""An interpreter without what the tests have installed."""
BLOCK = re.compile(r"^```py\n(.*?)^```$", re.DOTALL | re.MULTILINE)
MYPY = ("mypy", "--strict", "--config-file=", "--cache-dir=cache")


def refused_lines(path: Path) -> list[str]:
    """The places of the lines that end with `# refused`."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return [
        f"{path.name}:{number}"
        for number, line in enumerate(lines, 1)
        if line.endswith("# refused")
    ]


def errors(folder: Path, *command: object, **variables: str) -> list[str]:
    """The places of all errors, away from this project's own configuration."""
    done = subprocess.run(
        [sys.executable, "-m", *map(str, command)],
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
        env=os.environ | variables,
    )
    assert done.returncode in (0, 1), done.stdout + done.stderr
    found = re.findall(
        r"^\s*(?:.*/)?([^/:]+:\d+)(?::\d+)?(?::| -) error", done.stdout, re.MULTILINE
    )
    assert bool(found) == bool(done.returncode), done.stdout
    return sorted(set(found))


@pytest.mark.slow
@pytest.mark.parametrize("checker", ["mypy", "pyright"])
def test_right_programs_pass_and_wrong_lines_are_refused(checker: str, tmp_path: Path) -> None:
    page = (ROOT / "docs" / "providers" / "openai.md").read_text(encoding="utf-8")
    loops = tmp_path / "loops.py"
    loops.write_text("\n\n".join(BLOCK.findall(page)), encoding="utf-8")
    programs = [*TYPED, *PROGRAMS, loops]
    (tmp_path / "pyrightconfig.json").write_text("{}")  # the defaults that most users have
    command = MYPY if checker == "mypy" else ("pyright", "--pythonpath", sys.executable)
    expected = sorted(line for path in programs for line in refused_lines(path))
    assert len(expected) > 10
    assert errors(tmp_path, *command, *programs) == expected


@pytest.mark.slow
@pytest.mark.parametrize("checker", ["mypy", "pyright"])
def test_without_any_sdk_the_types_are_the_same(checker: str, tmp_path: Path) -> None:
    (tmp_path / "alone").mkdir()
    (tmp_path / "alone" / "ethos_registry").symlink_to(PACKAGE)
    source = HERE / "typed" / "without_sdks.py"
    path = tmp_path / source.name
    path.write_text(source.read_text())
    if checker == "mypy":
        options = ("--no-site-packages", "--ignore-missing-imports", "--follow-imports=silent")
        found = errors(tmp_path, *MYPY, *options, path, MYPYPATH=str(tmp_path / "alone"))
    else:
        config = {"extraPaths": ["alone"], "include": [path.name]}
        (tmp_path / "pyrightconfig.json").write_text(json.dumps(config))
        found = errors(tmp_path, "pyright", "--pythonpath", BARE_PYTHON)
    assert found == refused_lines(source)
