"""Declared programs, for tools: `context.scoped_process`."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypedDict, Unpack, cast

from ethos_registry._processes.supervised_process import (
    ResourceLimits,
    SupervisedProcess,
    SupervisorUnavailableError,
)
from ethos_registry.capabilities._run import run_program, signal_name
from ethos_registry.capabilities._sandbox import CommandSandbox, PreparedCommand, SandboxPolicy
from ethos_registry.types import _checks
from ethos_registry.types._abort import AbortSignal
from ethos_registry.types._errors import ConfigError, EthosRegistryError
from ethos_registry.types._loop_thread import run_sync
from ethos_registry.types._policy import CommandPolicy

DEFAULT_TIMEOUT_SECONDS = 60.0
DEFAULT_OUTPUT_BYTES = 1024 * 1024
_FIXED_PATHS = ("/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin")
_PASSED = ("LANG", "LC_ALL", "LC_CTYPE", "TZ", "TERM", "HOME", "USER", "TMPDIR", "SYSTEMROOT")


class BinaryNotAllowedError(EthosRegistryError, PermissionError):
    """A tool asked for a program that it did not declare."""


@dataclass(frozen=True, slots=True)
class ProgramResult:
    """How a program ended."""

    exit_code: int | None
    """`None` if a signal or the timeout ended it."""
    stdout: str
    stderr: str
    signal: str | None = None
    """The signal that ended it, for example `SIGKILL`."""
    timed_out: bool = False
    is_truncated: bool = False
    """Whether output beyond the limit was dropped."""
    exceeded: str = ""
    """The limit that ended it, for example `processes`; empty if none did."""

    @property
    def ok(self) -> bool:
        """Whether it exited with 0."""
        return self.exit_code == 0


class ProgramOptions(TypedDict, total=False):
    """The options of `ProgramRunner.run`, which has their meaning and defaults."""

    cwd: str | None
    env: Mapping[str, str] | None
    stdin: str | bytes | None
    timeout_seconds: float
    output_limit_bytes: int
    limits: ResourceLimits | None


@_checks.checked_class
class ProgramRunner:
    r"""Runs the declared programs: no shell, a clean environment, bounded output and time.

    A program is a name, looked up in a fixed list of system directories, or an absolute path that
    was declared; `*` declares all. Timeout, abort and cancellation end everything that it
    started. Under a personality with a reach or a network policy it runs confined, or not at all.
    The limits of `commands` hold for every program.

    >>> runner = ProgramRunner(["echo"], working_dir="/")
    >>> runner.run_sync("echo", ["a; b", "$(id)"]).stdout
    'a; b $(id)\n'
    """

    __slots__ = (
        "_abort_signal",
        "_allowed",
        "_commands",
        "_policy",
        "_sandbox",
        "_working_dir",
    )

    def __init__(
        self,
        allowed: Sequence[str],
        *,
        working_dir: str,
        sandbox: CommandSandbox | None = None,
        policy: SandboxPolicy | None = None,
        abort_signal: AbortSignal | None = None,
        commands: CommandPolicy | None = None,
    ) -> None:
        if isinstance(allowed, str) or not isinstance(allowed, Sequence):
            raise ConfigError(f"`process.allowedBinaries` must be a list, got {allowed!r}")
        if policy is not None and sandbox is None:
            raise ConfigError("a restricted program needs a `sandbox`")
        self._allowed = tuple(allowed)
        self._working_dir = working_dir
        self._sandbox = sandbox
        self._policy = policy
        self._abort_signal = abort_signal
        self._commands = CommandPolicy() if commands is None else commands

    async def run(
        self,
        binary: str,
        args: Sequence[str] = (),
        *,
        cwd: str | None = None,
        env: Mapping[str, str] | None = None,
        stdin: str | bytes | None = None,
        timeout_seconds: float = DEFAULT_TIMEOUT_SECONDS,
        output_limit_bytes: int = DEFAULT_OUTPUT_BYTES,
        limits: ResourceLimits | None = None,
    ) -> ProgramResult:
        """Run a program to its end.

        Args:
            binary: A declared name, or a declared absolute path.
            args: Its arguments; they do not pass through a shell.
            cwd: The working directory. Default: that of the context.
            env: Variables to add to a few harmless ones; `PATH` is fixed.
            stdin: Its input. Default: empty.
            timeout_seconds: After this time the program and everything it started are ended.
            output_limit_bytes: The most that is kept of `stdout`, and of `stderr`.
            limits: What each process may use: `cpu_seconds`, `memory_bytes`, `file_size_bytes`,
                `open_files`; all of them: `processes`, `total_memory_bytes`. Default: those of
                `commands`. Needs Linux.

        Raises:
            BinaryNotAllowedError: The program was not declared.
            UnconfinedError: The personality restricts it, and this machine cannot confine it.
            OSError: It cannot be started.

        """
        output, errors = bytearray(), bytearray()

        def keep(start: bytearray, piece: bytes) -> None:
            start += piece[: output_limit_bytes + 1 - len(start)]

        end = await run_program(
            lambda: self._prepared(binary, args, cwd, env),
            directory=cwd or self._working_dir,
            timeout_seconds=timeout_seconds,
            on_output=partial(keep, output),
            on_error_output=partial(keep, errors),
            stdin=stdin.encode() if isinstance(stdin, str) else stdin,
            when_ended="end",
            limits=lambda: joined_limits(self._commands, limits),
            output_bytes=self._commands.output_bytes,
            abort_signal=self._abort_signal,
        )
        ended_by = None
        if end.status is not None and end.status < 0:
            ended_by = signal_name(-end.status, f"signal {-end.status}")
        return ProgramResult(
            None if ended_by or end.timed_out else end.status,
            output[:output_limit_bytes].decode("utf-8", "replace"),
            errors[:output_limit_bytes].decode("utf-8", "replace"),
            ended_by,
            end.timed_out,
            max(len(output), len(errors)) > output_limit_bytes,
            end.exceeded,
        )

    def run_sync(
        self, binary: str, args: Sequence[str] = (), **options: Unpack[ProgramOptions]
    ) -> ProgramResult:
        """`run` for plain functions."""
        return run_sync(lambda: self.run(binary, args, **options))

    def spawn(
        self,
        binary: str,
        args: Sequence[str] = (),
        *,
        cwd: str | None = None,
        env: Mapping[str, str] | None = None,
        limits: ResourceLimits | None = None,
    ) -> SupervisedProcess:
        """Start a program and return at once; `stdin`, `stdout` and `stderr` are pipes.

        The caller ends it with `terminate`; it never outlives this process.
        """
        prepared = self._prepared(binary, args, cwd, env)

        def start() -> SupervisedProcess:
            process = prepared.start(
                directory=cwd or self._working_dir,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                when_ended="end",
                limits=joined_limits(self._commands, limits),
            )
            process.wait_started()
            return process

        try:
            return start()
        except SupervisorUnavailableError:
            return start()

    def _prepared(
        self, binary: str, args: Sequence[str], cwd: str | None, env: Mapping[str, str] | None
    ) -> PreparedCommand:
        program = self._program(binary)
        argv = [program, *(str(arg) for arg in args)]
        environment = _clean_environment(env or {})
        if self._policy is None or self._sandbox is None:
            return PreparedCommand(argv, environment)
        return self._sandbox.wrap(
            argv, self._policy, directory=cwd or self._working_dir, environment=environment
        )

    def _program(self, binary: str) -> str:
        if binary not in self._allowed and "*" not in self._allowed:
            raise BinaryNotAllowedError(
                f"BINARY_NOT_ALLOWED: {binary} is not in the declared allowedBinaries"
            )
        if os.path.dirname(binary):
            if not os.path.isabs(binary):
                raise BinaryNotAllowedError(
                    f"BINARY_NOT_ALLOWED: {binary} is not an absolute path; use one, or its name"
                )
            return binary
        folders = os.pathsep.join((os.path.dirname(sys.executable), *_FIXED_PATHS))
        found = shutil.which(binary, path=folders)
        if found is None:
            raise FileNotFoundError(f"spawn {binary} ENOENT: not in {', '.join(_FIXED_PATHS)}")
        return found

    def __repr__(self) -> str:
        confined = "" if self._policy is None else ", confined"
        return f"ProgramRunner({list(self._allowed)}{confined})"


def joined_limits(commands: CommandPolicy, limits: ResourceLimits | None) -> ResourceLimits:
    """The smaller one of each limit."""
    joined: dict[str, int] = dict(limits or {})  # type: ignore[arg-type]
    for name in ("processes", "total_memory_bytes"):
        if (most := getattr(commands, name)) is not None:
            joined[name] = min(most, joined.get(name, most))
    return cast("ResourceLimits", joined)


def _clean_environment(given: Mapping[str, str]) -> dict[str, str]:
    for name in given:
        if name == "PATH" or name.startswith(("LD_", "DYLD_")):
            raise ConfigError(f"the variable {name} of a program is fixed; leave it out of `env`")
    passed = {name: os.environ[name] for name in _PASSED if name in os.environ}
    return passed | {"PATH": os.pathsep.join(_FIXED_PATHS)} | dict(given)
