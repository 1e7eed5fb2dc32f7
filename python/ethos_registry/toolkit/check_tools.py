"""The tools `lint` and `typecheck`: the project's own linter and type checker."""

from __future__ import annotations

from ethos_registry.contract.tool import Tool
from ethos_registry.toolkit.checkers import (
    LINTERS_LOOKED_FOR,
    TYPE_CHECKERS_LOOKED_FOR,
    linters_in,
    type_checkers_in,
)
from ethos_registry.toolkit.confined import SandboxChoice
from ethos_registry.toolkit.project_command import (
    DEFAULT_TIMEOUT_SECONDS,
    ProjectCommand,
    project_tool,
)

__all__ = ["lint_tool", "typecheck_tool"]

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


def lint_tool(
    *,
    default_timeout_seconds: float = DEFAULT_TIMEOUT_SECONDS,
    sandbox: SandboxChoice = "policy",
) -> Tool:
    """The tool `lint(arguments?, cwd?, timeout_seconds?)`, in the toolset `terminal`.

    Finds the linter by the files of the context's `working_dir`, or of `cwd` below it: ruff, flake8
    and pylint by their settings, a `lint` script of package.json, eslint, biome, clippy for
    Cargo.toml, golangci-lint or `go vet` for go.mod, `make lint`. Programs of `.venv`, `venv` and
    `node_modules` come before those on `PATH`. The first line of the result names the command and
    why it was chosen. Everything else, with confinement, timeout and errors, is as in
    `run_tests_tool`: findings are an error `execution_failed` with the linter's `exit_code`.
    """
    return project_tool(_LINT, default_timeout_seconds=default_timeout_seconds, sandbox=sandbox)


def typecheck_tool(
    *,
    default_timeout_seconds: float = DEFAULT_TIMEOUT_SECONDS,
    sandbox: SandboxChoice = "policy",
) -> Tool:
    """The tool `typecheck(arguments?, cwd?, timeout_seconds?)`, in the toolset `terminal`.

    Like `lint_tool`, with mypy, pyright, ty and pyrefly by their settings, a `typecheck` script of
    package.json, `tsc --noEmit` for tsconfig.json, `cargo check`, `go vet ./...`, `make typecheck`.
    """
    return project_tool(
        _TYPECHECK, default_timeout_seconds=default_timeout_seconds, sandbox=sandbox
    )
