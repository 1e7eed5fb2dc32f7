"""Find the program that runs a project's tests, by the project's files."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

__all__ = ["LOOKED_FOR", "Runner", "runners_in"]

LOOKED_FOR = (
    "pytest settings (pyproject.toml, pytest.ini, tox.ini, setup.cfg) or a folder of test_*.py",
    "a test script in package.json",
    "Cargo.toml",
    "go.mod",
    "a test target in a Makefile",
)
"""The first one found is used."""

_MAX_FILE_BYTES = 1_000_000
_MAX_NAMES = 5_000
_PYTEST_SETTINGS = (
    ("pytest.ini", ""),
    (".pytest.ini", ""),
    ("tox.ini", "[pytest]"),
    ("setup.cfg", "[tool:pytest]"),
)
_TEST_FOLDERS = ("tests", "test", os.curdir)
_NODE_PROGRAMS = (
    ("pnpm-lock.yaml", "pnpm"),
    ("yarn.lock", "yarn"),
    ("bun.lock", "bun"),
    ("bun.lockb", "bun"),
    ("package-lock.json", "npm"),
)
_NO_TEST_SCRIPT = "no test specified"
_TEST_TARGET = re.compile(r"^test[ \t]*:(?!=)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Runner:
    """One way to run the tests of a project."""

    name: str
    reason: str
    """The file that speaks for it."""
    program: str
    before: Sequence[str] = ()
    """Arguments before those of the model."""
    after: Callable[[Sequence[str]], Sequence[str]] = lambda arguments: arguments
    """Converts the model's arguments for this program."""
    variables: Mapping[str, str] = field(default_factory=dict)

    def argv(self, arguments: Sequence[str]) -> list[str]:
        """The command line with the model's arguments."""
        return [self.program, *self.before, *self.after(arguments)]


def runners_in(folder: str) -> list[Runner]:
    """All runners that the folder is set up for; the first is the one to use.

    Only files of this folder are examined (and the names in its folder of tests). Files that
    cannot be read or parsed are ignored.
    """
    found = (_pytest(folder), _node(folder), _cargo(folder), _go(folder), _make(folder))
    return [runner for runner in found if runner is not None]


def _pytest(folder: str) -> Runner | None:
    reason = next(_pytest_reasons(folder), None)
    if reason is None:
        return None
    return Runner("pytest", reason, _python(folder), ("-m", "pytest"))


def _pytest_reasons(folder: str) -> Iterator[str]:
    tool = _toml(folder, "pyproject.toml").get("tool")
    if isinstance(tool, dict) and "pytest" in tool:
        yield "pyproject.toml has settings for it"
    for name, section in _PYTEST_SETTINGS:
        text = _text(folder, name)
        if text is not None and section in text:
            yield f"{name} has settings for it"
    for name in _TEST_FOLDERS:
        for file in _names(os.path.join(folder, name)):
            if file == "conftest.py" or _is_test_module(file):
                yield f"{os.path.normpath(os.path.join(name, file))} is there"
                break


def _is_test_module(name: str) -> bool:
    return name.endswith(".py") and (name.startswith("test_") or name.endswith("_test.py"))


def _python(folder: str) -> str:
    """The interpreter of the project's own environment, else the one on `PATH`."""
    place = ("Scripts", "python.exe") if sys.platform == "win32" else ("bin", "python")
    for environment in (".venv", "venv"):
        python = os.path.join(folder, environment, *place)
        if os.access(python, os.X_OK):
            return python
    return shutil.which("python3") or shutil.which("python") or sys.executable


def _node(folder: str) -> Runner | None:
    try:
        package = json.loads(_text(folder, "package.json") or "{}")
    except (ValueError, RecursionError):
        return None
    scripts = package.get("scripts") if isinstance(package, dict) else None
    script = scripts.get("test") if isinstance(scripts, dict) else None
    if not isinstance(script, str) or not script.strip() or _NO_TEST_SCRIPT in script:
        return None
    present = set(_names(folder))
    lock, program = next(
        ((lock, program) for lock, program in _NODE_PROGRAMS if lock in present), ("", "npm")
    )
    reason = f"package.json has a test script{f' and {lock} is there' if lock else ''}"
    return Runner(
        f"{program} test",
        reason,
        program,
        ("run", "test") if program == "bun" else ("test",),
        lambda given: ["--", *given] if given and program == "npm" else given,
        {"CI": "true"},  # without it some runners watch for changes and never end
    )


def _cargo(folder: str) -> Runner | None:
    if not os.path.isfile(os.path.join(folder, "Cargo.toml")):
        return None
    return Runner("cargo test", "Cargo.toml is there", "cargo", ("test",))


def _go(folder: str) -> Runner | None:
    if not os.path.isfile(os.path.join(folder, "go.mod")):
        return None
    return Runner("go test", "go.mod is there", "go", ("test",), _with_go_packages)


def _with_go_packages(arguments: Sequence[str]) -> Sequence[str]:
    """All packages, unless the arguments name some."""
    names_some = any(text.startswith(".") or "..." in text for text in arguments)
    return arguments if names_some else [*arguments, "./..."]


def _make(folder: str) -> Runner | None:
    for name in ("GNUmakefile", "makefile", "Makefile"):
        if _TEST_TARGET.search(_text(folder, name) or ""):
            return Runner("make test", f"{name} has a test target", "make", ("test",))
    return None


def _toml(folder: str, name: str) -> Mapping[str, Any]:
    try:
        return tomllib.loads(_text(folder, name) or "")
    except (ValueError, RecursionError):
        return {}


def _text(folder: str, name: str) -> str | None:
    """The text of a small regular file; `None` if it cannot be read."""
    path = os.path.join(folder, name)
    try:
        if not os.path.isfile(path) or os.path.getsize(path) > _MAX_FILE_BYTES:
            return None
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return None


def _names(folder: str) -> list[str]:
    try:
        with os.scandir(folder) as entries:
            names = [entry.name for _, entry in zip(range(_MAX_NAMES), entries, strict=False)]
    except OSError:
        return []
    return sorted(names)
