"""The tool `terminal`: one shell command in the working directory."""

from __future__ import annotations

import os
import shutil
import sys

from ethos_registry.tools._arguments import required_text, string
from ethos_registry.tools._command import CommandCall, SandboxChoice, command_tool, run_command
from ethos_registry.types import _checks
from ethos_registry.types._policy import CommandPolicy
from ethos_registry.types._result import ToolResult
from ethos_registry.types._tool import Tool

DEFAULT_MAX_OUTPUT_BYTES = 1024 * 1024
"""Half of it from the start of the output, half from the end."""
DEFAULT_TIMEOUT_SECONDS = 120.0


@_checks.checked_signature
def terminal_tool(
    *,
    max_output_bytes: int = DEFAULT_MAX_OUTPUT_BYTES,
    default_timeout_seconds: float = DEFAULT_TIMEOUT_SECONDS,
    shell: str | None = None,
    sandbox: SandboxChoice = "policy",
    commands: CommandPolicy | None = None,
) -> Tool:
    """The tool `terminal(command, timeout_seconds?, cwd?)`, in the toolset `terminal`.

    Runs `shell -c command` (by default bash, else sh; on Windows `cmd.exe /c`) in the context's
    `working_dir`, or in a `cwd` below it: the start is confined, what the command does is not.
    Standard input is empty; output and errors are one stream, never stripped, reported to the user
    while the command runs. Over `max_output_bytes` the middle is left out.

    Exit status 0: `ok(output, structured={"exit_code": 0})`. Anything else is an error
    `execution_failed` whose first line states how the command ended, followed by the output, with
    the extra field `exit_code`: the status, `-N` for signal N, `None` with `timed_out=True` after
    a timeout. If bytes were left out, `structured["dropped_bytes"]` is their number.

    Under a personality that states `fs_reach` or `network` the command runs confined to them, or
    not at all: see `CommandSandbox`. `sandbox="required"` confines every command, to the working
    directory if there is no policy, and hides the tool where that is impossible;
    `sandbox="off"` confines none.

    A command that exceeds a limit is ended, with everything that it started, and the error names
    the limit (extra field `limit`): `processes` (1,000), `total_memory_bytes` (three quarters of
    the machine's memory), both on Linux, and `output_bytes` (256 MiB). `commands` and the
    personality state others; of both the smaller one holds.

    The tool has its own timeout (`timeout_seconds` of the call, at most an hour), so that the
    output until then is not lost; the registry's timeout is longer. Timeout, abort, cancellation
    and the end of this process, even by `kill -9`, end everything that the command started: on
    Linux whatever it did to escape, on other POSIX systems its process group, on Windows only the
    shell. Where processes may have survived, the error has `may_still_run=True`. Background
    processes of a command that exits by itself run on until this process ends.
    """
    limit = _checks.whole_count(max_output_bytes, "max_output_bytes")
    shell = None if shell is None else _checks.path(shell, "shell")

    async def run(call: CommandCall) -> ToolResult:
        argv = _argv(shell, required_text(call.values, "command", "ls -la"))
        return await run_command(argv, call, max_output_bytes=limit)

    return command_tool(
        "terminal",
        "Run a shell command in the working directory and return its output. There is no input "
        "and no screen: interactive programs do not work.",
        {"command": string("The command line, as for `bash -c`.")},
        run,
        what="the command",
        folder="Folder to run in",
        default_timeout_seconds=default_timeout_seconds,
        sandbox=sandbox,
        commands=commands,
        required=["command"],
    )


def _argv(shell: str | None, command: str) -> tuple[str, ...]:
    if shell is None and sys.platform == "win32":
        return (os.environ.get("COMSPEC", "cmd.exe"), "/d", "/c", command)
    return (shell or shutil.which("bash") or "/bin/sh", "-c", command)
