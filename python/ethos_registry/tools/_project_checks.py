"""Find the programs that lint and type-check a project, by the project's files."""

from __future__ import annotations

import configparser
import os
from collections.abc import Iterator, Sequence

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


def linters_in(folder: str) -> list[ProjectProgram]:
    """All linters that the folder is set up for; the first is the one to use.

    Only files of this folder are examined; those that cannot be read or parsed are ignored.
    """
    return list(_linters(folder))


def type_checkers_in(folder: str) -> list[ProjectProgram]:
    """All type checkers that the folder is set up for; the first is the one to use."""
    return list(_type_checkers(folder))


def _linters(folder: str) -> Iterator[ProjectProgram]:
    names = set(file_names(folder))
    if reason := _python_reason(folder, names, "ruff", ("ruff.toml", ".ruff.toml")):
        yield ProjectProgram("ruff", reason, project_program(folder, "ruff"), ("check",))
    if reason := _python_reason(folder, names, "flake8", (".flake8",)):
        yield ProjectProgram("flake8", reason, project_python(folder), ("-m", "flake8"))
    if reason := _python_reason(folder, names, "pylint", (".pylintrc", "pylintrc")):
        yield ProjectProgram(
            "pylint", reason, project_python(folder), ("-m", "pylint", "--recursive=y"), _or_here
        )
    if script := node_script(folder, "lint"):
        yield script
    if reason := _eslint_reason(folder, names):
        yield ProjectProgram("eslint", reason, project_program(folder, "eslint"), (), _or_here)
    for name in ("biome.json", "biome.jsonc"):
        if name in names:
            yield ProjectProgram(
                "biome", f"{name} {_THERE}", project_program(folder, "biome"), ("lint",)
            )
            break
    if "Cargo.toml" in names:
        yield ProjectProgram("clippy", f"Cargo.toml {_THERE}", "cargo", ("clippy",))
    if "go.mod" in names:
        yield _go_linter(names)
    if target := make_target(folder, "lint"):
        yield target


def _type_checkers(folder: str) -> Iterator[ProjectProgram]:
    names = set(file_names(folder))
    if reason := _python_reason(folder, names, "mypy", ("mypy.ini", ".mypy.ini")):
        after = _as_given if _mypy_names_files(folder) else _or_here
        yield ProjectProgram("mypy", reason, project_python(folder), ("-m", "mypy"), after)
    if reason := _python_reason(folder, names, "pyright", ("pyrightconfig.json",)):
        yield ProjectProgram("pyright", reason, project_program(folder, "pyright"))
    for name in ("ty", "pyrefly"):
        if reason := _python_reason(folder, names, name, (f"{name}.toml",)):
            yield ProjectProgram(name, reason, project_program(folder, name), ("check",))
    script = node_script(folder, "typecheck") or node_script(folder, "type-check")
    if script:
        yield script
    if "tsconfig.json" in names:
        yield ProjectProgram(
            "tsc", f"tsconfig.json {_THERE}", project_program(folder, "tsc"), ("--noEmit",)
        )
    if "Cargo.toml" in names:
        yield ProjectProgram("cargo check", f"Cargo.toml {_THERE}", "cargo", ("check",))
    if "go.mod" in names:
        yield ProjectProgram("go vet", f"go.mod {_THERE}", "go", ("vet",), with_go_packages)
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


def _go_linter(names: set[str]) -> ProjectProgram:
    for ending in ("yml", "yaml", "toml", "json"):
        if f".golangci.{ending}" in names:
            reason = f".golangci.{ending} {_THERE}"
            return ProjectProgram("golangci-lint", reason, "golangci-lint", ("run",))
    return ProjectProgram("go vet", f"go.mod {_THERE}", "go", ("vet",), with_go_packages)


def _as_given(arguments: Sequence[str]) -> Sequence[str]:
    return arguments


def _or_here(arguments: Sequence[str]) -> Sequence[str]:
    """The folder itself, unless the arguments name a path."""
    names_some = any(not text.startswith("-") for text in arguments)
    return arguments if names_some else [*arguments, os.curdir]


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
    found = (
        _pytest(folder),
        _node(folder),
        _cargo(folder),
        _go(folder),
        make_target(folder, "test"),
    )
    return [runner for runner in found if runner is not None]


def _pytest(folder: str) -> ProjectProgram | None:
    reason = next(_pytest_reasons(folder), None)
    if reason is None:
        return None
    return ProjectProgram("pytest", reason, project_python(folder), ("-m", "pytest"))


def _pytest_reasons(folder: str) -> Iterator[str]:
    if "pytest" in pyproject_tools(folder):
        yield "pyproject.toml has settings for it"
    for name, section in _PYTEST_SETTINGS:
        text = file_text(folder, name)
        if text is not None and section in text:
            yield f"{name} has settings for it"
    for name in _TEST_FOLDERS:
        for file in file_names(os.path.join(folder, name)):
            if file == "conftest.py" or _is_test_module(file):
                yield f"{os.path.normpath(os.path.join(name, file))} is there"
                break


def _is_test_module(name: str) -> bool:
    return name.endswith(".py") and (name.startswith("test_") or name.endswith("_test.py"))


def _node(folder: str) -> ProjectProgram | None:
    scripts = package_json(folder).get("scripts")
    script = scripts.get("test") if isinstance(scripts, dict) else None
    if isinstance(script, str) and _NO_TEST_SCRIPT in script:
        return None
    return node_script(folder, "test")


def _cargo(folder: str) -> ProjectProgram | None:
    if not os.path.isfile(os.path.join(folder, "Cargo.toml")):
        return None
    return ProjectProgram("cargo test", "Cargo.toml is there", "cargo", ("test",))


def _go(folder: str) -> ProjectProgram | None:
    if not os.path.isfile(os.path.join(folder, "go.mod")):
        return None
    return ProjectProgram("go test", "go.mod is there", "go", ("test",), with_go_packages)


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
