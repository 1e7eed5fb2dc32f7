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
from usage_tools import is_installed, missing

HERE = Path(__file__).parent
ROOT = HERE.parent
TYPED = sorted((HERE / "typed").glob("*.py"))
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
# Ray has no types, and its example imports itself.
EXAMPLES.remove(ROOT / "examples" / "ray_batch.py")
PROGRAMS = [*sorted((HERE / "typing").glob("*.py")), *EXAMPLES]
PACKAGE = Path(ethos_registry.__file__).parent
BARE_PYTHON = Path(sys.base_prefix) / "bin" / "python3"
"""An interpreter without what the tests have installed."""
BLOCK = re.compile(r"^```py\n(.*?)^```$", re.DOTALL | re.MULTILINE)
CHECKERS = {
    "mypy": ("mypy", "--strict", "--config-file=", f"--cache-dir={os.devnull}"),
    "pyright": ("pyright", "--pythonpath", sys.executable),
}
LOOPS = {"anthropic": "standard", "openai": "strict"}
"""Pages with programs, and the mode of pyright in which their programs pass."""
EACH_CHECKER = pytest.mark.parametrize("checker", CHECKERS)


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


def need(*modules: str) -> None:
    for module in modules:
        if not is_installed(module):
            missing(module, f"{module} is not installed")


def loops_of(name: str, folder: Path) -> Path:
    """The programs of a provider's page, one after the other."""
    page = (ROOT / "docs" / "providers" / f"{name}.md").read_text(encoding="utf-8")
    programs = BLOCK.findall(page)
    assert len(programs) == 4
    path = folder / f"{name}_loops.py"
    path.write_text("\n\n".join([f"# pyright: {LOOPS[name]}", *programs]), encoding="utf-8")
    return path


@pytest.mark.slow
@EACH_CHECKER
def test_right_programs_pass_and_wrong_lines_are_refused(checker: str, tmp_path: Path) -> None:
    need(checker, "anthropic", "openai", "google.genai", "ollama")
    loops = [loops_of(name, tmp_path) for name in LOOPS]
    (tmp_path / "pyrightconfig.json").write_text("{}")  # the defaults that most users have
    expected = sorted(line for path in [*TYPED, *PROGRAMS] for line in refused_lines(path))
    assert len(expected) > 10
    assert errors(tmp_path, *CHECKERS[checker], *TYPED, *PROGRAMS, *loops) == expected


@pytest.mark.slow
@EACH_CHECKER
def test_without_any_sdk_the_types_are_the_same(checker: str, tmp_path: Path) -> None:
    need(checker)
    (tmp_path / "alone").mkdir()
    (tmp_path / "alone" / "ethos_registry").symlink_to(PACKAGE)
    source = HERE / "typed" / "without_sdks.py"
    path = tmp_path / source.name
    path.write_text(source.read_text())
    if checker == "mypy":
        options = ("--no-site-packages", "--ignore-missing-imports", "--follow-imports=silent")
        found = errors(
            tmp_path, *CHECKERS["mypy"], *options, path, MYPYPATH=str(tmp_path / "alone")
        )
    else:
        config = {"extraPaths": ["alone"], "include": [path.name]}
        (tmp_path / "pyrightconfig.json").write_text(json.dumps(config))
        found = errors(tmp_path, "pyright", "--pythonpath", BARE_PYTHON)
    assert found == refused_lines(source)
