"""Install the wheel or the sdist of a folder in an environment of its own, and test it.

    python .ci/test_wheel.py dist

Runs the demo and the test files marked `every_python`, on the interpreter that runs this script.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).parent.parent


def main(folder: str) -> None:
    """Fail where the package cannot be installed, imported or tested."""
    [package] = [
        path for path in Path(folder).resolve().iterdir() if path.suffix in (".whl", ".gz")
    ]
    marked = [
        str(path.relative_to(ROOT))
        for path in sorted((ROOT / "tests").rglob("test_*.py"))
        if re.search(r"\bmark\.every_python\b", path.read_text(encoding="utf-8"))
    ]
    with tempfile.TemporaryDirectory() as scratch:
        # In a container the project is mounted read-only.
        os.environ["HYPOTHESIS_STORAGE_DIRECTORY"] = str(Path(scratch, "hypothesis"))
        environment = Path(scratch, "venv")
        venv.create(environment, with_pip=True)
        programs = environment / ("Scripts" if os.name == "nt" else "bin")
        python = programs / ("python.exe" if os.name == "nt" else "python")
        run(python, "-m", "pip", "install", "--quiet", "--upgrade", "pip")
        run(python, "-m", "pip", "install", "--quiet", f"{package}[cli,network]")
        run(programs / "ethos-registry", "demo")
        run(python, "-m", "pip", "install", "--quiet", "--group", "test-basic")
        run(python, "-m", "pytest", "-q", "-p", "no:cacheprovider", *marked)


def run(*command: object) -> None:
    """Run a program of the environment, from the root of the project."""
    variables = os.environ | {"HYPOTHESIS_PROFILE": "dev", "PYTHONDONTWRITEBYTECODE": "1"}
    subprocess.run([str(part) for part in command], check=True, cwd=ROOT, env=variables)


if __name__ == "__main__":
    main(*sys.argv[1:])
