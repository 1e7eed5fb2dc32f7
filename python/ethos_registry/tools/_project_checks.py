"""Find the programs that lint and type-check a project, by the project's files."""

from __future__ import annotations

import configparser
import os
from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

from ethos_registry.tools._command import SandboxChoice
from ethos_registry.tools._project_command import (
    DEFAULT_TIMEOUT_SECONDS,
    ProjectCommand,
    ProjectProgram,
    file_names,
    file_text,
    make_target,
    node_script,
    package_json,
    project_program,
    project_python,
    project_tool,
    pyproject_tools,
    with_go_packages,
)
from ethos_registry.types import _checks
from ethos_registry.types._policy import CommandPolicy
from ethos_registry.types._tool import Tool

__all__ = [
    "LINTERS_LOOKED_FOR",
    "LOOKED_FOR",
    "TYPE_CHECKERS_LOOKED_FOR",
    "ProjectProgram",
    "lint_tool",
    "linters_in",
    "run_tests_tool",
    "runners_in",
    "type_checkers_in",
    "typecheck_tool",
]


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

_Find: TypeAlias = Callable[[str, set[str]], ProjectProgram | None]
"""The program of a folder with these names; `None` if the folder is not set up for it."""
_After: TypeAlias = Callable[[Sequence[str]], Sequence[str]]


def _as_given(arguments: Sequence[str]) -> Sequence[str]:
    return arguments


def _or_here(arguments: Sequence[str]) -> Sequence[str]:
    """The folder itself, unless the arguments name a path."""
    names_some = any(not text.startswith("-") for text in arguments)
    return arguments if names_some else [*arguments, os.curdir]


def _all_in(folder: str, finders: Sequence[_Find]) -> list[ProjectProgram]:
    names = set(file_names(folder))
    return [found for find in finders if (found := find(folder, names)) is not None]


def _by_file(
    name: str,
    files: Sequence[str],
    program: str,
    *before: str,
    after: _After = _as_given,
    is_of_project: bool = False,
) -> _Find:
    """A program that one of the files speaks for; the project may have one of its own."""

    def find(folder: str, names: set[str]) -> ProjectProgram | None:
        there = next((file for file in files if file in names), None)
        if there is None:
            return None
        place = project_program(folder, program) if is_of_project else program
        return ProjectProgram(name, f"{there} {_THERE}", place, before, after)

    return find


def _by_settings(name: str, files: Sequence[str], *before: str, after: _After = _as_given) -> _Find:
    """A Python tool that settings speak for; `-m` starts its module."""

    def find(folder: str, names: set[str]) -> ProjectProgram | None:
        reason = _python_reason(folder, names, name, files)
        if not reason:
            return None
        is_module = before[:1] == ("-m",)
        program = project_python(folder) if is_module else project_program(folder, name)
        return ProjectProgram(name, reason, program, before, after)

    return find


def _by_script(*scripts: str) -> _Find:
    """The first of these scripts of package.json."""

    def find(folder: str, names: set[str]) -> ProjectProgram | None:
        return next(filter(None, (node_script(folder, script) for script in scripts)), None)

    return find


def _by_target(name: str) -> _Find:
    return lambda folder, names: make_target(folder, name)


def linters_in(folder: str) -> list[ProjectProgram]:
    """All linters that the folder is set up for; the first is the one to use.

    Only files of this folder are examined; those that cannot be read or parsed are ignored.
    """
    return _all_in(folder, _LINTERS)


def type_checkers_in(folder: str) -> list[ProjectProgram]:
    """All type checkers that the folder is set up for; the first is the one to use."""
    return _all_in(folder, _TYPE_CHECKERS)


def _python_reason(folder: str, names: set[str], tool: str, files: Sequence[str]) -> str:
    """Which file has settings for a Python tool; empty if none has."""
    if tool in pyproject_tools(folder):
        return f"pyproject.toml {_SETTINGS}"
    for name in files:
        if name in names:
            return f"{name} {_THERE}"
    for name in ("setup.cfg", "tox.ini"):
        if name in names and any(
            section == tool or section.startswith(f"{tool}-")
            for section in _ini(folder, name).sections()
        ):
            return f"{name} {_SETTINGS}"
    return ""


def _ini(folder: str, name: str) -> configparser.RawConfigParser:
    parser = configparser.RawConfigParser(strict=False)
    try:
        parser.read_string(file_text(folder, name) or "")
    except configparser.Error:
        return configparser.RawConfigParser()
    return parser


def _mypy(folder: str, names: set[str]) -> ProjectProgram | None:
    wanted = ("files", "modules", "packages")
    settings = pyproject_tools(folder).get("mypy")
    names_files = isinstance(settings, dict) and any(name in settings for name in wanted)
    names_files = names_files or any(
        _ini(folder, file).has_option("mypy", name)
        for file in ("mypy.ini", ".mypy.ini", "setup.cfg")
        for name in wanted
    )
    after = _as_given if names_files else _or_here
    return _by_settings("mypy", ("mypy.ini", ".mypy.ini"), "-m", "mypy", after=after)(folder, names)


def _eslint(folder: str, names: set[str]) -> ProjectProgram | None:
    settings = [
        name
        for name in sorted(names)
        if name.startswith(("eslint.config.", ".eslintrc.")) or name == ".eslintrc"
    ]
    if settings:
        reason = f"{settings[0]} {_THERE}"
    elif "eslintConfig" in package_json(folder):
        reason = f"package.json {_SETTINGS}"
    else:
        return None
    return ProjectProgram("eslint", reason, project_program(folder, "eslint"), (), _or_here)


def _go_linter(folder: str, names: set[str]) -> ProjectProgram | None:
    settings = [f".golangci.{ending}" for ending in ("yml", "yaml", "toml", "json")]
    linter = _by_file("golangci-lint", settings, "golangci-lint", "run")(folder, names)
    return linter if linter and "go.mod" in names else _GO_VET(folder, names)


_CARGO, _GO = ("Cargo.toml",), ("go.mod",)
_GO_VET = _by_file("go vet", _GO, "go", "vet", after=with_go_packages)
_LINTERS = (
    _by_settings("ruff", ("ruff.toml", ".ruff.toml"), "check"),
    _by_settings("flake8", (".flake8",), "-m", "flake8"),
    _by_settings(
        "pylint", (".pylintrc", "pylintrc"), "-m", "pylint", "--recursive=y", after=_or_here
    ),
    _by_script("lint"),
    _eslint,
    _by_file("biome", ("biome.json", "biome.jsonc"), "biome", "lint", is_of_project=True),
    _by_file("clippy", _CARGO, "cargo", "clippy"),
    _go_linter,
    _by_target("lint"),
)
_TYPE_CHECKERS = (
    _mypy,
    _by_settings("pyright", ("pyrightconfig.json",)),
    _by_settings("ty", ("ty.toml",), "check"),
    _by_settings("pyrefly", ("pyrefly.toml",), "check"),
    _by_script("typecheck", "type-check"),
    _by_file("tsc", ("tsconfig.json",), "tsc", "--noEmit", is_of_project=True),
    _by_file("cargo check", _CARGO, "cargo", "check"),
    _GO_VET,
    _by_target("typecheck"),
)


# Find the program that runs a project's tests, by the project's files.

LOOKED_FOR = (
    "pytest settings (pyproject.toml, pytest.ini, tox.ini, setup.cfg) or a folder of test_*.py",
    "a test script in package.json",
    "Cargo.toml",
    "go.mod",
    "a test target in a Makefile",
)
"""The first one found is used."""

_PYTEST_SETTINGS = (
    ("pytest.ini", ""),
    (".pytest.ini", ""),
    ("tox.ini", "[pytest]"),
    ("setup.cfg", "[tool:pytest]"),
)
_TEST_FOLDERS = ("tests", "test", os.curdir)
_NO_TEST_SCRIPT = "no test specified"


def runners_in(folder: str) -> list[ProjectProgram]:
    """All runners that the folder is set up for; the first is the one to use.

    Only files of this folder are examined (and the names in its folder of tests). Files that
    cannot be read or parsed are ignored.
    """
    return _all_in(folder, _RUNNERS)


def _pytest(folder: str, names: set[str]) -> ProjectProgram | None:
    reason = next(_pytest_reasons(folder), None)
    if reason is None:
        return None
    return ProjectProgram("pytest", reason, project_python(folder), ("-m", "pytest"))


def _pytest_reasons(folder: str) -> Iterator[str]:
    if "pytest" in pyproject_tools(folder):
        yield f"pyproject.toml {_SETTINGS}"
    for name, section in _PYTEST_SETTINGS:
        text = file_text(folder, name)
        if text is not None and section in text:
            yield f"{name} {_SETTINGS}"
    for name in _TEST_FOLDERS:
        for file in file_names(os.path.join(folder, name)):
            if file == "conftest.py" or _is_test_module(file):
                yield f"{os.path.normpath(os.path.join(name, file))} {_THERE}"
                break


def _is_test_module(name: str) -> bool:
    return name.endswith(".py") and (name.startswith("test_") or name.endswith("_test.py"))


def _node(folder: str, names: set[str]) -> ProjectProgram | None:
    scripts = package_json(folder).get("scripts")
    script = scripts.get("test") if isinstance(scripts, dict) else None
    if isinstance(script, str) and _NO_TEST_SCRIPT in script:
        return None
    return node_script(folder, "test")


_RUNNERS = (
    _pytest,
    _node,
    _by_file("cargo test", _CARGO, "cargo", "test"),
    _by_file("go test", _GO, "go", "test", after=with_go_packages),
    _by_target("test"),
)


# The tools `lint` and `typecheck`: the project's own linter and type checker.

_LINT = ProjectCommand(
    "lint",
    "Lint the project in the working directory, by the linter that the project is set up for "
    "(ruff, flake8, pylint, eslint, biome, clippy, golangci-lint, go vet or a lint script).",
    linters_in,
    LINTERS_LOOKED_FOR,
    kind="linter",
    activity="the project is linted by",
    example="src/login.py",
    default="the whole project is linted",
    otherwise="Run a linter in the terminal, or tell the user that the project has none",
)
_TYPECHECK = ProjectCommand(
    "typecheck",
    "Check the types of the project in the working directory, by the type checker that the "
    "project is set up for (mypy, pyright, ty, pyrefly, tsc, cargo check, go vet or a script).",
    type_checkers_in,
    TYPE_CHECKERS_LOOKED_FOR,
    kind="type checker",
    activity="types are checked by",
    example="src/login.py",
    default="the whole project is checked",
    otherwise="Run a type checker in the terminal, or tell the user that the project has none",
)


@_checks.checked_signature
def lint_tool(
    *,
    default_timeout_seconds: float = DEFAULT_TIMEOUT_SECONDS,
    sandbox: SandboxChoice = "policy",
    commands: CommandPolicy | None = None,
) -> Tool:
    """The tool `lint(arguments?, cwd?, timeout_seconds?)`, in the toolset `terminal`.

    Finds the linter by the files of the context's `working_dir`, or of `cwd` below it: ruff, flake8
    and pylint by their settings, a `lint` script of package.json, eslint, biome, clippy for
    Cargo.toml, golangci-lint or `go vet` for go.mod, `make lint`. Programs of `.venv`, `venv` and
    `node_modules` come before those on `PATH`. The first line of the result names the command and
    why it was chosen. Everything else, with confinement, timeout and errors, is as in
    `run_tests_tool`: findings are an error `execution_failed` with the linter's `exit_code`.
    """
    return project_tool(_LINT, default_timeout_seconds, sandbox, commands)


@_checks.checked_signature
def typecheck_tool(
    *,
    default_timeout_seconds: float = DEFAULT_TIMEOUT_SECONDS,
    sandbox: SandboxChoice = "policy",
    commands: CommandPolicy | None = None,
) -> Tool:
    """The tool `typecheck(arguments?, cwd?, timeout_seconds?)`, in the toolset `terminal`.

    Like `lint_tool`, with mypy, pyright, ty and pyrefly by their settings, a `typecheck` script of
    package.json, `tsc --noEmit` for tsconfig.json, `cargo check`, `go vet ./...`, `make typecheck`.
    """
    return project_tool(_TYPECHECK, default_timeout_seconds, sandbox, commands)


# The tool `run_tests`: the project's tests, by the project's own runner.

_COMMAND = ProjectCommand(
    "run_tests",
    "Run the tests of the project in the working directory, by the runner that the project "
    "is set up for (pytest, npm and similar, cargo, go or make).",
    runners_in,
    LOOKED_FOR,
    kind="test runner",
    activity="the tests are run by",
    example="tests/test_login.py -x",
    default="all tests run",
    otherwise="Run the tests in the terminal",
)


@_checks.checked_signature
def run_tests_tool(
    *,
    default_timeout_seconds: float = DEFAULT_TIMEOUT_SECONDS,
    sandbox: SandboxChoice = "policy",
    commands: CommandPolicy | None = None,
) -> Tool:
    """The tool `run_tests(arguments?, cwd?, timeout_seconds?)`, in the toolset `terminal`.

    Finds the runner by the files of the context's `working_dir`, or of `cwd` below it, in the
    order of `LOOKED_FOR`: pytest (with the interpreter of `.venv` or `venv` if there is one), the
    test script of package.json (npm, pnpm, yarn or bun by the lock file), `cargo test`,
    `go test ./...`, `make test`. `arguments` are split as a shell would and passed on; no shell
    runs. The first line of the result names the command and why it was chosen; then comes the
    output, as from `terminal`: success with `structured={"exit_code": 0, ...}`, or an error
    `execution_failed` with the extra field `exit_code`. `structured` has `runner` and `command` in
    either case. Without a runner the error names what was looked for, and a subfolder that has
    one. Timeout, abort and cancellation end what the tests started, `sandbox` confines them and
    `commands` limits them, as for `terminal`.
    """
    return project_tool(_COMMAND, default_timeout_seconds, sandbox, commands)
