"""Declared programs, for tools: `context.scoped_process`."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import IO, cast

from ethos_registry._processes.own_thread import on_own_thread
from ethos_registry._processes.supervised_process import (
    ResourceLimits,
    SupervisedProcess,
    SupervisorUnavailableError,
)
from ethos_registry.capabilities._sandbox import CommandSandboxPort, PreparedCommand, SandboxPolicy
from ethos_registry.types import _checks
from ethos_registry.types._abort import AbortSignal
from ethos_registry.types._errors import ConfigError, EthosRegistryError
from ethos_registry.types._policy import CommandPolicy

__all__ = ["BinaryNotAllowedError", "ProgramResult", "ProgramRunner"]


DEFAULT_TIMEOUT_SECONDS = 60.0
DEFAULT_OUTPUT_BYTES = 1024 * 1024
_GRACE_SECONDS = 0.5
_PIPE_GRACE_SECONDS = 0.5
"""How long to wait for more output after the exit, if other processes hold the pipe open."""
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
        sandbox: CommandSandboxPort | None = None,
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
        run = _Run(output_limit_bytes, self._commands.output_bytes)
        work = on_own_thread(
            lambda: self._run(run, binary, args, cwd, env, stdin, timeout_seconds, limits)
        )
        try:
            return await asyncio.shield(work)
        except asyncio.CancelledError:
            run.end()
            with contextlib.suppress(BaseException):
                await asyncio.wait_for(asyncio.shield(work), 2 * _GRACE_SECONDS + 1)
            raise

    def run_sync(
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
        """`run` for plain functions."""
        run = _Run(output_limit_bytes, self._commands.output_bytes)
        return self._run(run, binary, args, cwd, env, stdin, timeout_seconds, limits)

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
        return self._started(prepared, cwd, subprocess.PIPE, limits)

    def _run(
        self,
        run: _Run,
        binary: str,
        args: Sequence[str],
        cwd: str | None,
        env: Mapping[str, str] | None,
        stdin: str | bytes | None,
        timeout_seconds: float,
        limits: ResourceLimits | None,
    ) -> ProgramResult:
        prepared = self._prepared(binary, args, cwd, env)
        try:
            process = self._started(
                prepared, cwd, subprocess.DEVNULL if stdin is None else subprocess.PIPE, limits
            )
            signal_of_turn = self._abort_signal
            remove = None if signal_of_turn is None else signal_of_turn.add_listener(run.end)
            try:
                data = stdin.encode() if isinstance(stdin, str) else stdin
                return run.to_end(process, data, timeout_seconds)
            finally:
                if remove is not None:
                    remove()
        finally:
            prepared.clean_up()

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

    def _started(
        self,
        prepared: PreparedCommand,
        cwd: str | None,
        stdin: int,
        limits: ResourceLimits | None,
    ) -> SupervisedProcess:
        def start() -> SupervisedProcess:
            process = prepared.start(
                directory=cwd or self._working_dir,
                stdin=stdin,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                when_ended="end",
                grace_seconds=_GRACE_SECONDS,
                limits=joined_limits(self._commands, limits),
            )
            process.wait_started()
            return process

        try:
            return start()
        except SupervisorUnavailableError:
            return start()

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


class _Run:
    """One run of a program."""

    def __init__(self, output_limit_bytes: int, output_bytes: int | None) -> None:
        self._limit = output_limit_bytes
        self._room = output_bytes
        self._exceeded = ""
        self._lock = threading.Lock()
        self._process: SupervisedProcess | None = None
        self._is_ended = False
        self._is_truncated = False

    def end(self) -> None:
        """End the program and everything that it started. Thread-safe."""
        with self._lock:
            self._is_ended = True
            process = self._process
        if process is not None:
            process.terminate(_GRACE_SECONDS)

    def to_end(
        self, process: SupervisedProcess, stdin: bytes | None, timeout_seconds: float
    ) -> ProgramResult:
        """Send the input, collect the output, wait for the exit."""
        with self._lock:
            self._process = process
            if self._is_ended:
                process.terminate(_GRACE_SECONDS)
        streams = [self._reader(process.stdout), self._reader(process.stderr)]
        if stdin is not None:
            threading.Thread(target=_feed, args=(process.stdin, stdin), daemon=True).start()
        timed_out = False
        try:
            status = process.wait(timeout_seconds)
        except TimeoutError:
            timed_out = True
            process.terminate(_GRACE_SECONDS)
            try:
                status = process.wait(2 * _GRACE_SECONDS)
            except TimeoutError:
                process.destroy()
                status = process.wait(5)
        for thread, _ in streams:
            thread.join(_PIPE_GRACE_SECONDS)
        outputs = [b"".join(chunks).decode("utf-8", "replace") for _, chunks in streams]
        ended_by = None if status >= 0 else _signal_name(-status)
        is_normal = ended_by is None and not timed_out
        return ProgramResult(
            status if is_normal else None,
            outputs[0],
            outputs[1],
            ended_by,
            timed_out,
            self._is_truncated,
            self._exceeded or process.exceeded,
        )

    def _count(self, new_bytes: int) -> None:
        """End the program if both streams together are longer than they may be."""
        if self._room is None:
            return
        with self._lock:
            self._room -= new_bytes
            if self._room < 0 and not self._exceeded:
                self._exceeded = "output_bytes"
                if self._process is not None:
                    self._process.kill()

    def _reader(self, pipe: IO[bytes] | None) -> tuple[threading.Thread, list[bytes]]:
        assert pipe is not None
        chunks: list[bytes] = []

        def read() -> None:
            stored_bytes = 0
            with contextlib.suppress(OSError, ValueError), pipe:
                while chunk := pipe.read(65_536):
                    self._count(len(chunk))
                    room = self._limit - stored_bytes
                    if len(chunk) > room:
                        self._is_truncated = True
                        chunk = chunk[:room]
                    stored_bytes += len(chunk)
                    if chunk:
                        chunks.append(chunk)

        thread = threading.Thread(target=read, name="ethos-registry-output", daemon=True)
        thread.start()
        return thread, chunks


def joined_limits(commands: CommandPolicy, limits: ResourceLimits | None) -> ResourceLimits:
    """The smaller one of each limit."""
    joined: dict[str, int] = dict(limits or {})  # type: ignore[arg-type]
    for name in ("processes", "total_memory_bytes"):
        if (most := getattr(commands, name)) is not None:
            joined[name] = min(most, joined.get(name, most))
    return cast("ResourceLimits", joined)


def _feed(pipe: IO[bytes] | None, data: bytes) -> None:
    if pipe is not None:
        with contextlib.suppress(OSError), pipe:
            view = memoryview(data)
            while view:
                view = view[pipe.write(view) :]


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _clean_environment(given: Mapping[str, str]) -> dict[str, str]:
    for name in given:
        if name == "PATH" or name.startswith(("LD_", "DYLD_")):
            raise ConfigError(f"the variable {name} of a program is fixed; leave it out of `env`")
    passed = {name: os.environ[name] for name in _PASSED if name in os.environ}
    return passed | {"PATH": os.pathsep.join(_FIXED_PATHS)} | dict(given)
