"""The files of a project, and the programs that they choose."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

__all__ = [
    "Runner",
    "file_names",
    "file_text",
    "make_target",
    "node_script",
    "own_program",
    "package_json",
    "project_python",
    "pyproject_tools",
    "with_go_packages",
]

_MAX_FILE_BYTES = 1_000_000
_MAX_NAMES = 5_000
_NODE_PROGRAMS = (
    ("pnpm-lock.yaml", "pnpm"),
    ("yarn.lock", "yarn"),
    ("bun.lock", "bun"),
    ("bun.lockb", "bun"),
    ("package-lock.json", "npm"),
)
_ENVIRONMENTS = (".venv", "venv")


@dataclass(frozen=True, slots=True)
class Runner:
    """One way to run a program of a project."""

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


def project_python(folder: str) -> str:
    """The interpreter of the project's own environment, else the one on `PATH`."""
    place = ("Scripts", "python.exe") if sys.platform == "win32" else ("bin", "python")
    for environment in _ENVIRONMENTS:
        python = os.path.join(folder, environment, *place)
        if os.access(python, os.X_OK):
            return python
    return shutil.which("python3") or shutil.which("python") or sys.executable


def own_program(folder: str, name: str) -> str:
    """A program of the project's own environment or node modules, else its bare name."""
    scripts = "Scripts" if sys.platform == "win32" else "bin"
    places = [(environment, scripts) for environment in _ENVIRONMENTS]
    for place in (*places, ("node_modules", ".bin")):
        program = os.path.join(folder, *place, name)
        if os.access(program, os.X_OK):
            return program
    return name


def pyproject_tools(folder: str) -> Mapping[str, Any]:
    """The table `tool` of pyproject.toml; empty if there is none."""
    try:
        tools = tomllib.loads(file_text(folder, "pyproject.toml") or "").get("tool")
    except (ValueError, RecursionError):
        return {}
    return tools if isinstance(tools, dict) else {}


def package_json(folder: str) -> Mapping[str, Any]:
    """The object in package.json; empty if there is none."""
    try:
        package = json.loads(file_text(folder, "package.json") or "{}")
    except (ValueError, RecursionError):
        return {}
    return package if isinstance(package, dict) else {}


def node_script(folder: str, name: str) -> Runner | None:
    """A script of package.json, run by the program whose lock file is there."""
    scripts = package_json(folder).get("scripts")
    script = scripts.get(name) if isinstance(scripts, dict) else None
    if not isinstance(script, str) or not script.strip():
        return None
    present = set(file_names(folder))
    lock, program = next(
        ((lock, program) for lock, program in _NODE_PROGRAMS if lock in present), ("", "npm")
    )
    reason = f"package.json has a {name} script{f' and {lock} is there' if lock else ''}"
    is_test = name == "test"
    return Runner(
        f"{program} test" if is_test else f"{program} run {name}",
        reason,
        program,
        ("test",) if is_test and program != "bun" else ("run", name),
        lambda given: ["--", *given] if given and program == "npm" else given,
        {"CI": "true"},  # without it some programs watch for changes and never end
    )


def make_target(folder: str, name: str) -> Runner | None:
    """A target of a Makefile."""
    target = re.compile(rf"^{re.escape(name)}[ \t]*:(?!=)", re.MULTILINE)
    for file in ("GNUmakefile", "makefile", "Makefile"):
        if target.search(file_text(folder, file) or ""):
            return Runner(f"make {name}", f"{file} has a {name} target", "make", (name,))
    return None


def with_go_packages(arguments: Sequence[str]) -> Sequence[str]:
    """All packages, unless the arguments name some."""
    names_some = any(text.startswith(".") or "..." in text for text in arguments)
    return arguments if names_some else [*arguments, "./..."]


def file_text(folder: str, name: str) -> str | None:
    """The text of a small regular file; `None` if it cannot be read."""
    path = os.path.join(folder, name)
    try:
        if not os.path.isfile(path) or os.path.getsize(path) > _MAX_FILE_BYTES:
            return None
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return None


def file_names(folder: str) -> list[str]:
    """The sorted names in a folder; empty if it cannot be read."""
    try:
        with os.scandir(folder) as entries:
            names = [entry.name for _, entry in zip(range(_MAX_NAMES), entries, strict=False)]
    except OSError:
        return []
    return sorted(names)
