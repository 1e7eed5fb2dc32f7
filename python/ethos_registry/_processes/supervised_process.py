"""A running program whose whole process tree can be ended: the interface of its handle."""

from __future__ import annotations

import abc
import os
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO, Any, Literal, TypeAlias, TypedDict

from ethos_registry import _core
from ethos_registry._suggest import did_you_mean
from ethos_registry.types import _checks
from ethos_registry.types._errors import ConfigError, EthosRegistryError

# What a program may use and access, set in its process before it runs.


class ResourceLimits(TypedDict, total=False):
    """The most that a program may use; what is not given is not limited.

    The first four bind each of its processes, by the kernel. The last two bind all of them
    together: the supervisor counts twenty times a second, and kills them all beyond a limit.
    """

    cpu_seconds: int
    """Processor time; then `SIGXCPU`, and `SIGKILL` a second later."""
    memory_bytes: int
    """Address space; allocations beyond it fail."""
    file_size_bytes: int
    """The size of a file that it writes; then `SIGXFSZ`."""
    open_files: int
    """Open descriptors."""
    processes: int
    """Processes at the same time."""
    total_memory_bytes: int
    """Memory of all processes; what they share counts once, as far as the kernel shows it."""


_NAMES = {
    "cpu_seconds": "RLIMIT_CPU",
    "memory_bytes": "RLIMIT_AS",
    "file_size_bytes": "RLIMIT_FSIZE",
    "open_files": "RLIMIT_NOFILE",
    "processes": "processes",
    "total_memory_bytes": "total_memory_bytes",
}


def checked_limits(limits: ResourceLimits | None) -> list[tuple[str, int]]:
    """The limits by the names that the system uses; `ConfigError` for an unknown one."""
    found = []
    given: Mapping[str, object] = limits or {}
    for name, value in given.items():
        if name not in _NAMES:
            raise ConfigError(
                f"`limits` has an unknown resource {name!r}{did_you_mean(name, _NAMES)}; "
                f"known are {', '.join(_NAMES)}"
            )
        number = _checks.finite_number(value, f"limits.{name}", minimum=1, whole=True)
        found.append((_NAMES[name], int(number)))
    return found


@dataclass(frozen=True, slots=True)
class SocketScope:
    """Rules for abstract names of sockets, for a program that other means confine."""

    @contextmanager
    def prepared(self) -> Iterator[tuple[int, bytes] | None]:
        """The descriptor of the rules, and no filter; `None` if the kernel has no such rules."""
        descriptor = _core.prepare_socket_scope()
        try:
            yield None if descriptor is None else (descriptor, b"")
        finally:
            if descriptor is not None:
                os.close(descriptor)


@dataclass(frozen=True, slots=True)
class LandlockRules:
    """What a program may access, enforced by Landlock and seccomp.

    The rules are prepared here; the process that becomes the program enters them with three system
    calls between `fork` and `exec`.
    """

    read: Sequence[str]
    write: Sequence[str]
    network: bool

    @contextmanager
    def prepared(self) -> Iterator[tuple[int, bytes]]:
        """The descriptor of the rules, open while the program is started, and the filter.

        Raises:
            OSError: The kernel cannot do it; the program must not be started.

        """
        descriptor, instructions = _core.prepare_confinement(
            list(self.read), list(self.write), self.network
        )
        try:
            yield descriptor, instructions
        finally:
            os.close(descriptor)


@dataclass(frozen=True, slots=True, kw_only=True)
class StartOptions:
    """How a program is started; see `start_supervised`."""

    directory: str | None
    environment: Mapping[str, str] | None
    stdin: int | IO[bytes] | None
    stdout: int | IO[bytes] | None
    stderr: int | IO[bytes] | None
    new_session: bool
    close_fds: bool
    when_ended: WhenEnded
    grace_seconds: float

    def popen(self, argv: Sequence[str | bytes], **more: Any) -> subprocess.Popen[bytes]:
        """Start the program, with unbuffered pipes; `more` is for `subprocess.Popen`."""
        return subprocess.Popen(
            argv,
            bufsize=0,
            stdin=self.stdin,
            stdout=self.stdout,
            stderr=self.stderr,
            start_new_session=self.new_session,
            close_fds=self.close_fds,
            **more,
        )


Containment: TypeAlias = Literal["tree", "group", "process"]
"""What can be ended: every descendant (Linux), the process group (other POSIX systems), or only
the program itself (Windows)."""

WhenEnded: TypeAlias = Literal["end", "keep", "leave"]
"""What happens to processes that are left when the program itself has ended: they are ended, they
are kept until `detach`, `terminate` or the end of this process, or they are no longer watched."""

DEFAULT_GRACE_SECONDS = 0.5
"""From SIGTERM to SIGKILL."""


class SupervisorUnavailableError(EthosRegistryError, OSError):
    """The supervisor did not start, so the program was not started either.

    `start_supervised` uses process groups from now on: call it again.
    """

    __module__ = "ethos_registry.capabilities"


class SupervisedProcess(abc.ABC):
    """A program started by `start_supervised`; its methods may be called from any thread.

    `stdin`, `stdout` and `stderr` are unbuffered binary pipes, or `None` if they were not `PIPE`.
    """

    containment: Containment
    stdin: IO[bytes] | None
    stdout: IO[bytes] | None
    stderr: IO[bytes] | None
    exceeded: str = ""
    """The limit of all processes together that ended the program; empty if none did."""

    def __init__(self) -> None:
        self._started: Future[int] = Future()
        self._exited: Future[int] = Future()
        self._ended: Future[int | None] = Future()

    def _owns(self, process: subprocess.Popen[bytes]) -> None:
        """Take the process that was started, and its pipes."""
        self._process = process
        self.stdin, self.stdout, self.stderr = process.stdin, process.stdout, process.stderr

    def wait_started(self, timeout: float | None = None) -> int:
        """The process id of the program, once it runs.

        Raises:
            OSError: The program could not be started.
            SupervisorUnavailableError: The supervisor could not be started.
            TimeoutError: Neither happened within `timeout` seconds.

        """
        return self._started.result(timeout)

    def wait(self, timeout: float | None = None) -> int:
        """The exit status of the program: negative for a signal, 255 if it is unknown.

        Raises:
            OSError: The program could not be started.
            TimeoutError: It is still running after `timeout` seconds.

        """
        return self._exited.result(timeout)

    def wait_ended(self, timeout: float | None = None) -> int | None:
        """How many processes could not be ended; `None` if that is not known.

        Returns when everything that the program started has ended, or when what is left is no
        longer watched: after `detach`, and after the exit of the program with `when_ended="leave"`.

        Raises:
            TimeoutError: Something is still running after `timeout` seconds.

        """
        return self._ended.result(timeout)

    def on_exit(self, callback: Callable[[], None]) -> None:
        """Call `callback`, on some thread, when the program has exited or could not be started."""
        self._exited.add_done_callback(lambda _: callback())

    def on_end(self, callback: Callable[[], None]) -> None:
        """Call `callback`, on some thread, when `wait_ended` would return."""
        self._ended.add_done_callback(lambda _: callback())

    @abc.abstractmethod
    def send_signal(self, number: int) -> None:
        """Send a signal to every process of the program."""

    @abc.abstractmethod
    def stop(self, number: int, seconds: float) -> None:
        """Pass on a signal that this process received, and kill what is left after `seconds`.

        Without `new_session` the terminal's keys and signals to the process group reach the
        program directly: then it is not sent twice. After the terminal's keys there is no limit.
        """

    @abc.abstractmethod
    def terminate(self, grace_seconds: float = DEFAULT_GRACE_SECONDS) -> None:
        """End every process: SIGTERM, then SIGKILL after `grace_seconds`. Does not wait."""

    def kill(self) -> None:
        """End every process with SIGKILL. Does not wait."""
        self.terminate(0)

    @abc.abstractmethod
    def destroy(self) -> None:
        """End everything without the help of the supervisor, which may be stopped."""

    @abc.abstractmethod
    def detach(self) -> None:
        """Release the descriptors held here; what is running is ended when this process ends."""

    def _fail(self, error: OSError) -> None:
        for future in (self._started, self._exited):
            if not future.done():
                future.set_exception(error)
        self._finish(0)

    def _finish(self, left: int | None) -> None:
        if not self._ended.done():
            self._ended.set_result(left)
