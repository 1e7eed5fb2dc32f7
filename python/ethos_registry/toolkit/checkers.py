"""Find the programs that lint and type-check a project, by the project's files."""

from __future__ import annotations

import configparser
import os
from collections.abc import Iterator, Sequence

from ethos_registry.toolkit.project_files import (
    Runner,
    file_names,
    file_text,
    make_target,
    node_script,
    own_program,
    package_json,
    project_python,
    pyproject_tools,
    with_go_packages,
)

__all__ = ["LINTERS_LOOKED_FOR", "TYPE_CHECKERS_LOOKED_FOR", "linters_in", "type_checkers_in"]

LINTERS_LOOKED_FOR = (
    "settings of ruff, flake8 or pylint (pyproject.toml or files of their own)",
    "a lint script in package.json",
    "settings of eslint or biome",
    "Cargo.toml",
    "go.mod",
    "a lint target in a Makefile",
)
TYPE_CHECKERS_LOOKED_FOR = (
    "settings of mypy, pyright, ty or pyrefly (pyproject.toml or files of their own)",
    "a typecheck script in package.json",
    "tsconfig.json",
    "Cargo.toml",
    "go.mod",
    "a typecheck target in a Makefile",
)
"""The first one found is used."""

_THERE = "is there"
_SETTINGS = "has settings for it"


def linters_in(folder: str) -> list[Runner]:
    """All linters that the folder is set up for; the first is the one to use.

    Only files of this folder are examined; those that cannot be read or parsed are ignored.
    """
    return list(_linters(folder))


def type_checkers_in(folder: str) -> list[Runner]:
    """All type checkers that the folder is set up for; the first is the one to use."""
    return list(_type_checkers(folder))


def _linters(folder: str) -> Iterator[Runner]:
    names = set(file_names(folder))
    if reason := _python_reason(folder, names, "ruff", ("ruff.toml", ".ruff.toml")):
        yield Runner("ruff", reason, own_program(folder, "ruff"), ("check",))
    if reason := _python_reason(folder, names, "flake8", (".flake8",)):
        yield Runner("flake8", reason, project_python(folder), ("-m", "flake8"))
    if reason := _python_reason(folder, names, "pylint", (".pylintrc", "pylintrc")):
        yield Runner(
            "pylint", reason, project_python(folder), ("-m", "pylint", "--recursive=y"), _or_here
        )
    if script := node_script(folder, "lint"):
        yield script
    if reason := _eslint_reason(folder, names):
        yield Runner("eslint", reason, own_program(folder, "eslint"), (), _or_here)
    for name in ("biome.json", "biome.jsonc"):
        if name in names:
            yield Runner("biome", f"{name} {_THERE}", own_program(folder, "biome"), ("lint",))
            break
    if "Cargo.toml" in names:
        yield Runner("clippy", f"Cargo.toml {_THERE}", "cargo", ("clippy",))
    if "go.mod" in names:
        yield _go_linter(names)
    if target := make_target(folder, "lint"):
        yield target


def _type_checkers(folder: str) -> Iterator[Runner]:
    names = set(file_names(folder))
    if reason := _python_reason(folder, names, "mypy", ("mypy.ini", ".mypy.ini")):
        after = _as_given if _mypy_names_files(folder) else _or_here
        yield Runner("mypy", reason, project_python(folder), ("-m", "mypy"), after)
    if reason := _python_reason(folder, names, "pyright", ("pyrightconfig.json",)):
        yield Runner("pyright", reason, own_program(folder, "pyright"))
    for name in ("ty", "pyrefly"):
        if reason := _python_reason(folder, names, name, (f"{name}.toml",)):
            yield Runner(name, reason, own_program(folder, name), ("check",))
    script = node_script(folder, "typecheck") or node_script(folder, "type-check")
    if script:
        yield script
    if "tsconfig.json" in names:
        yield Runner("tsc", f"tsconfig.json {_THERE}", own_program(folder, "tsc"), ("--noEmit",))
    if "Cargo.toml" in names:
        yield Runner("cargo check", f"Cargo.toml {_THERE}", "cargo", ("check",))
    if "go.mod" in names:
        yield Runner("go vet", f"go.mod {_THERE}", "go", ("vet",), with_go_packages)
    if target := make_target(folder, "typecheck"):
        yield target


def _python_reason(folder: str, names: set[str], tool: str, files: Sequence[str]) -> str:
    """Which file has settings for a Python tool; empty if none has."""
    if tool in pyproject_tools(folder):
        return f"pyproject.toml {_SETTINGS}"
    for name in files:
        if name in names:
            return f"{name} {_THERE}"
    for name in ("setup.cfg", "tox.ini"):
        if name in names and any(
            section == tool or section.startswith(f"{tool}-") for section in _sections(folder, name)
        ):
            return f"{name} {_SETTINGS}"
    return ""


def _sections(folder: str, name: str) -> list[str]:
    return _ini(folder, name).sections()


def _ini(folder: str, name: str) -> configparser.RawConfigParser:
    parser = configparser.RawConfigParser(strict=False)
    try:
        parser.read_string(file_text(folder, name) or "")
    except configparser.Error:
        return configparser.RawConfigParser()
    return parser


def _mypy_names_files(folder: str) -> bool:
    """Whether mypy's settings name what to check."""
    wanted = ("files", "modules", "packages")
    settings = pyproject_tools(folder).get("mypy")
    if isinstance(settings, dict) and any(name in settings for name in wanted):
        return True
    return any(
        _ini(folder, file).has_option("mypy", name)
        for file in ("mypy.ini", ".mypy.ini", "setup.cfg")
        for name in wanted
    )


def _eslint_reason(folder: str, names: set[str]) -> str:
    for name in sorted(names):
        if name.startswith(("eslint.config.", ".eslintrc.")) or name == ".eslintrc":
            return f"{name} {_THERE}"
    return f"package.json {_SETTINGS}" if "eslintConfig" in package_json(folder) else ""


def _go_linter(names: set[str]) -> Runner:
    for ending in ("yml", "yaml", "toml", "json"):
        if f".golangci.{ending}" in names:
            reason = f".golangci.{ending} {_THERE}"
            return Runner("golangci-lint", reason, "golangci-lint", ("run",))
    return Runner("go vet", f"go.mod {_THERE}", "go", ("vet",), with_go_packages)


def _as_given(arguments: Sequence[str]) -> Sequence[str]:
    return arguments


def _or_here(arguments: Sequence[str]) -> Sequence[str]:
    """The folder itself, unless the arguments name a path."""
    names_some = any(not text.startswith("-") for text in arguments)
    return arguments if names_some else [*arguments, os.curdir]
