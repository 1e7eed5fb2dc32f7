"""Start programs under a supervisor, which ends everything that they started."""

from __future__ import annotations

import contextlib
import errno
import functools
import importlib.util
import marshal
import os
import secrets
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import CodeType
from typing import IO, Any

from ethos_registry._processes.process_group import UNKNOWN_STATUS, GroupProcess
from ethos_registry._processes.supervised_process import (
    DEFAULT_GRACE_SECONDS,
    Containment,
    LandlockRules,
    ResourceLimits,
    SocketScope,
    StartOptions,
    SupervisedProcess,
    SupervisorUnavailableError,
    WhenEnded,
    checked_limits,
)

_PROGRAM = "ethos_registry._processes.supervisor_program"
_START = (
    "import marshal,posix,sys\n"
    "c,s,m,h=map(int,sys.argv[2:])\n"
    "n=int.from_bytes(posix.read(m,8),'little')\n"
    "d=b''\n"
    "while len(d)<n:d+=posix.read(m,n-len(d)) or sys.exit(1)\n"
    "posix.close(m)\n"
    "code,request=marshal.loads(d)\n"
    "exec(code,globals())\n"
    "main(c,s,h,request)\n"
)
"""Compiling the program again would take as long as the start of the interpreter."""
_TITLE = "ethos-registry-supervisor"
"""For people who read the list of processes."""
_MARKER_VARIABLE = "ETHOS_REGISTRY_PROCESS"

_KILL_ROUNDS = 50
_PAUSE_SECONDS = 0.002

_is_unavailable = False


def containment() -> Containment:
    """What `start_supervised` can end on this system: `tree`, `group` or `process`.

    `tree` needs Linux with `/proc`, and the interpreter of this process as an executable file.
    """
    if sys.platform == "win32":
        return "process"
    return "tree" if _can_supervise() else "group"


def _can_supervise() -> bool:
    return (
        sys.platform == "linux"
        and not _is_unavailable
        and not getattr(sys, "frozen", False)
        and bool(sys.executable)
        and os.access(sys.executable, os.X_OK)
        and os.path.exists("/proc/self/stat")
        and importlib.util.find_spec("_ctypes") is not None
    )


def start_supervised(
    argv: Sequence[str | bytes],
    *,
    directory: str | None = None,
    environment: Mapping[str, str] | None = None,
    stdin: int | IO[bytes] | None = subprocess.DEVNULL,
    stdout: int | IO[bytes] | None = None,
    stderr: int | IO[bytes] | None = None,
    new_session: bool = True,
    close_fds: bool = True,
    when_ended: WhenEnded = "end",
    grace_seconds: float = DEFAULT_GRACE_SECONDS,
    limits: ResourceLimits | None = None,
    rules: LandlockRules | SocketScope | None = None,
) -> SupervisedProcess:
    """Start a program whose every descendant can be ended; returns before it runs.

    On Linux a supervisor process starts it and adopts its orphans, so that a descendant cannot
    escape by a session of its own, a double fork or the death of its parents. If this process
    ends, in whatever way, the supervisor ends the program: SIGTERM, then SIGKILL after
    `grace_seconds`. Elsewhere see `containment`: less can be ended, and nothing when this process
    is killed. A program that another service starts on request (`systemd-run`, `docker`, `at`)
    is not a descendant.

    Args:
        argv: The program, looked up in the `PATH` of `environment`, and its arguments.
        directory: Its working directory. Default: that of this process.
        environment: All its environment variables. Default: those of this process. With
            `new_session` the variable `ETHOS_REGISTRY_PROCESS` is added, by which survivors are
            found if the program kills its supervisor.
        stdin: As for `subprocess.Popen`: `None` inherits. Default: empty input.
        stdout: The same. Default: inherited.
        stderr: The same.
        new_session: Run it apart from the terminal of this process.
        close_fds: Whether inheritable descriptors of this process are closed in the program.
        when_ended: What happens to the processes that the program leaves when it exits.
        grace_seconds: From SIGTERM to SIGKILL if this process ends, and for `when_ended="end"`.
        limits: What each of its processes may use: `cpu_seconds`, `memory_bytes`,
            `file_size_bytes`, `open_files`; and what all together may: `processes`,
            `total_memory_bytes`. Needs Linux.
        rules: What it may access; see `CommandSandbox`. Needs Linux.

    Raises:
        OSError: No process can be started, or not with these `limits` or `rules`. That the
            program cannot be started is raised by `wait_started` and `wait`.
        ValueError: An argument or variable contains a NUL character.

    >>> process = start_supervised(["sh", "-c", "exit 3"])
    >>> process.wait(), process.wait_ended()
    (3, 0)

    """
    checked = checked_limits(limits)
    options = StartOptions(
        directory=directory,
        environment=environment,
        stdin=stdin,
        stdout=stdout,
        stderr=stderr,
        new_session=new_session,
        close_fds=close_fds,
        when_ended=when_ended,
        grace_seconds=grace_seconds,
    )
    if _can_supervise():
        with contextlib.nullcontext() if rules is None else rules.prepared() as restriction:
            return _SupervisedOnLinux(argv, options, checked, restriction)
    if checked or rules is not None:
        raise OSError(
            errno.ENOTSUP, "resource limits and access rules need the supervisor, on Linux"
        )
    return GroupProcess(argv, options)


class _SupervisedOnLinux(SupervisedProcess):
    """A program below `supervisor_program`, with a pipe to it and a pipe from it."""

    containment = "tree"

    def __init__(
        self,
        argv: Sequence[str | bytes],
        options: StartOptions,
        limits: Sequence[tuple[str, int]],
        restriction: tuple[int, bytes] | None,
    ) -> None:
        super().__init__()
        variables = dict(os.environ if options.environment is None else options.environment)
        self._marker = b""
        if options.new_session:
            mark = secrets.token_hex(8)
            variables[_MARKER_VARIABLE] = mark
            self._marker = f"{_MARKER_VARIABLE}={mark}".encode()
        self._argv = [os.fsencode(part) for part in argv]
        directory = self._directory = options.directory
        self._is_destroyed = False
        self._lock = threading.Lock()
        request = {
            "argv": self._argv,
            "programs": _programs(self._argv[0], variables),
            "environment": {
                os.fsencode(name): os.fsencode(value) for name, value in variables.items()
            },
            "directory": None if directory is None else os.fsencode(directory),
            "new_session": options.new_session,
            "when_ended": options.when_ended,
            "grace_seconds": float(options.grace_seconds),
            "limits": list(limits),
            "restriction": restriction,
        }
        inherited = () if restriction is None else restriction[:1]
        _check(request)
        with contextlib.ExitStack() as stack:
            control_read, self._control = os.pipe()
            stack.callback(os.close, control_read)
            self._status, status_write = os.pipe()
            stack.callback(os.close, status_write)
            request_read, self._request = os.pipe()
            stack.callback(os.close, request_read)
            try:
                theirs = (control_read, status_write, request_read)
                self._owns(_start_program(theirs, inherited, options))
            except BaseException:
                for descriptor in (self._control, self._status, self._request):
                    os.close(descriptor)
                raise
        self._content = marshal.dumps((_program_code(), request))
        reader = threading.Thread(target=self._read_status, name="ethos-registry-wait", daemon=True)
        try:
            reader.start()
        except RuntimeError:  # no more threads: a program without a waiting thread must not run
            self.kill()
            self.detach()
            os.close(self._request)
            os.close(self._status)
            raise

    def send_signal(self, number: int) -> None:
        self._order(f"signal {int(number)}")

    def stop(self, number: int, seconds: float) -> None:
        """Pass on a signal; the supervisor knows whether the program received it already."""
        self._order(f"stop {int(number)} {seconds!r}")

    def terminate(self, grace_seconds: float = DEFAULT_GRACE_SECONDS) -> None:
        self._order(f"end {float(grace_seconds)!r}")

    def destroy(self) -> None:
        """Kill the whole tree below the supervisor, then the supervisor."""
        self._is_destroyed = True
        if not self._ended.done():
            _kill_found(partial(_program().descendants, self._process.pid, with_ended=False))
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(self._process.pid, signal.SIGKILL)

    def detach(self) -> None:
        """Release the control pipe; the supervisor goes on while anything is running."""
        self._order("detach")
        with self._lock:
            control, self._control = self._control, -1
        if control >= 0:
            os.close(control)

    def _order(self, line: str) -> None:
        with self._lock:
            if self._control >= 0:
                with contextlib.suppress(BrokenPipeError):
                    os.write(self._control, f"{line}\n".encode())

    def _read_status(self) -> None:
        """On a thread of its own: not every event loop can watch pipes."""
        global _is_unavailable
        _send(self._request, self._content)
        is_ready = False
        status = UNKNOWN_STATUS
        left: int | None = None
        with open(self._status, "rb") as lines:
            for line in lines:
                word, *numbers = line.split()
                is_ready = True
                if word == b"started":
                    self._started.set_result(int(numbers[0]))
                elif word == b"failed":
                    self._fail(self._start_error(int(numbers[0]), numbers[1] == b"1"))
                elif word == b"exit":
                    status = int(numbers[0])
                    if numbers[1] == b"1":
                        self._exited.set_result(status)
                elif word == b"limit":
                    self.exceeded = numbers[0].decode()
                elif word == b"ended":
                    left = int(numbers[0])
                    if left:  # the supervisor goes on trying
                        self._finish(left)
        if not is_ready and not self._is_destroyed:
            _is_unavailable = True
            self._fail(SupervisorUnavailableError("the supervisor process could not be started"))
        elif left is None and self._control >= 0 and not self._ended.done():
            left = self._after_lost_supervisor()
        if not self._exited.done():
            self._exited.set_result(status)
        if not self._started.done():
            self._started.set_exception(OSError("the program was ended before it started"))
        self._finish(left)
        self.detach()
        self._reap()

    def _after_lost_supervisor(self) -> int | None:
        """The supervisor ended without a report: by `when_ended="leave"`, or it was killed."""
        self._reap()
        if self._process.returncode == 0:
            return 0
        if self._marker:
            _kill_found(self._marked)
        return None

    def _marked(self) -> list[int]:
        """The processes of its session, and those that have its marker in their environment."""
        session = self._started.result() if self._started.done() else None
        program = _program()
        return [
            pid
            for pid, _, found, is_ended in program.processes()
            if not is_ended
            and (
                found == session
                or self._marker in (program.contents(f"/proc/{pid}/environ") or b"")
            )
        ]

    def _reap(self) -> None:
        with contextlib.suppress(ChildProcessError):  # SIGCHLD is ignored
            status = os.waitpid(self._process.pid, 0)[1]
            self._process.returncode = os.waitstatus_to_exitcode(status)
        if self._process.returncode is None:
            self._process.returncode = 0

    def _start_error(self, number: int, is_in_directory: bool) -> OSError:
        if number == 0:
            name = os.fsdecode(self._argv[0])
            return OSError(errno.EPERM, "its restrictions cannot be set", name)
        place = self._argv[0] if is_in_directory else os.fsencode(self._directory or ".")
        return OSError(number, os.strerror(number), os.fsdecode(place))


def _program() -> Any:
    return importlib.import_module(_PROGRAM)


def _kill_found(find: Callable[[], list[int]]) -> None:
    """Kill what `find` finds, until it finds nothing."""
    for _ in range(_KILL_ROUNDS):
        found = find()
        if not found:
            return
        for pid in found:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(_PAUSE_SECONDS)


def _programs(name: bytes, variables: Mapping[str, str]) -> list[bytes]:
    """The files to try, as a shell does."""
    if os.path.dirname(name):
        return [name]
    folders = os.get_exec_path(variables)
    return [os.path.join(os.fsencode(folder), name) for folder in folders]


def _check(request: Mapping[str, Any]) -> None:
    """Refuse what no system call takes, before there is a process."""
    strings = [*request["argv"], request["directory"] or b"", *request["environment"].values()]
    if any(b"\0" in text for text in strings):
        raise ValueError("embedded null byte")
    if any(not name or b"=" in name or b"\0" in name for name in request["environment"]):
        raise ValueError("illegal environment variable name")


@functools.cache
def _program_code() -> CodeType:
    spec = importlib.util.find_spec(_PROGRAM)
    code = spec.loader.get_code(_PROGRAM) if spec is not None else None  # type: ignore[union-attr]
    assert isinstance(code, CodeType)
    return code


def _send(descriptor: int, content: bytes) -> None:
    """The length and the content; a file in memory would count for the limit on file sizes."""
    with contextlib.suppress(BrokenPipeError), open(descriptor, "wb") as pipe:
        pipe.write(len(content).to_bytes(8, "little") + content)


def _start_program(
    descriptors: tuple[int, int, int],
    inherited: tuple[int, ...],
    options: StartOptions,
) -> subprocess.Popen[bytes]:
    argv = [sys.executable, "-I", "-S", "-c", _START, _TITLE]
    argv += map(str, (*descriptors, os.getpid()))
    passed = (*descriptors, *inherited)
    if not options.close_fds:
        for descriptor in passed:
            os.set_inheritable(descriptor, True)
    return options.popen(argv, pass_fds=passed if options.close_fds else ())
