"""The tool `run_tests`: the project's tests, by the project's own runner."""

from __future__ import annotations

from ethos_registry.contract.tool import Tool
from ethos_registry.toolkit.confined import SandboxChoice
from ethos_registry.toolkit.project_command import (
    DEFAULT_TIMEOUT_SECONDS,
    ProjectCommand,
    project_tool,
)
from ethos_registry.toolkit.runners import LOOKED_FOR, runners_in

__all__ = ["run_tests_tool"]

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


def run_tests_tool(
    *,
    default_timeout_seconds: float = DEFAULT_TIMEOUT_SECONDS,
    sandbox: SandboxChoice = "policy",
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
    one. Timeout, abort and cancellation end what the tests started, and `sandbox` confines them, as
    for `terminal`.
    """
    return project_tool(_COMMAND, default_timeout_seconds=default_timeout_seconds, sandbox=sandbox)
