"""The supervisor: a process of its own that starts one command and can end all it started.

Linux only. `ethos_registry._processes.supervisor` passes the compiled module to `python -I -S`,
and `main` runs. Imports built-in modules only, because its start delays every command.

It is the subreaper of the command: a descendant that loses its parent becomes a child of this
process, whatever sessions or process groups it made. When this process has no children left,
nothing that the command started is running.

Lines read from CONTROL: `end SECONDS` (SIGTERM to all, SIGKILL to what is left after the
seconds), `signal N`, `stop N SECONDS` (the signal, unless the whole process group got it already;
then SIGKILL after the seconds), `detach` (keep running until the command's processes or the host
have ended). The end of CONTROL or of the host is `end` with the grace of the request.

Lines written to STATUS: `ready`, then `failed ERRNO 1` (0: the directory) or
`started PID`, `exit STATUS 1` (0: nothing is watched any more) and `ended N`, where N processes
could not be killed. Before them `limit NAME` if all were killed for a limit.
"""

# ruff: noqa: SIM105, UP031 (contextlib takes as long to import as the rest)
from __future__ import annotations

import _ctypes
import _signal  # type: ignore[import-not-found]
import posix
import select
from time import monotonic, sleep

TYPE_CHECKING = False  # `typing` takes as long to import as the interpreter to start

if TYPE_CHECKING:
    from typing import Any


# What the supervisor's child sets for itself before it becomes the command.

_PR_SET_NO_NEW_PRIVS = 38
_PR_SET_SECCOMP = 22
_SECCOMP_MODE_FILTER = 2
_LANDLOCK_ADD_RULE = 445
_LANDLOCK_RESTRICT_SELF = 446
_PATH_BENEATH = 1
_READ_FILE_AND_FOLDER = 0b1100
_INSTRUCTION_BYTES = 8
_PR_CAPBSET_DROP = 24
_PR_CAP_AMBIENT = 47
_PR_CAP_AMBIENT_CLEAR_ALL = 4
_CAPABILITIES = 64
_CAPABILITY_VERSION = 0x20080522


def _call(name: str, *arguments: int | bytes) -> None:
    library = _ctypes.dlopen(None, 0)  # type: ignore[arg-type]
    function = _ctypes.dlsym(library, name)
    if _ctypes.call_function(function, arguments) != 0:
        raise OSError(name + " failed")


def prctl(option: int, value: int) -> None:
    _call("prctl", option, value, 0, 0, 0)


def drop_capabilities() -> None:
    """Give up every capability, also those that root gets by executing a program."""
    for option, first, second in (
        (_PR_CAP_AMBIENT, _PR_CAP_AMBIENT_CLEAR_ALL, 0),
        *((_PR_CAPBSET_DROP, capability, 0) for capability in range(_CAPABILITIES)),
    ):
        try:
            _call("prctl", option, first, second, 0, 0)
        except OSError:
            pass  # the capability does not exist, or this process may not drop it: then it has none
    header = _CAPABILITY_VERSION.to_bytes(4, "little") + bytes(4)
    _call("capset", header, bytes(24))


class Restriction:
    """Landlock rules and a seccomp filter that the host has prepared, for the child to enter."""

    def __init__(self, rules: int, instructions: bytes) -> None:
        native: Any = _ctypes
        char = type("char", (native._SimpleCData,), {"_type_": "c"})
        fields = {"_type_": char, "_length_": len(instructions)}
        buffer: Any = type("buffer", (native.Array,), fields)
        self.rules = rules
        self.instructions: Any = None
        if not instructions:
            return
        self.instructions = buffer.from_buffer_copy(instructions)
        length = len(instructions) // _INSTRUCTION_BYTES
        address = native.addressof(self.instructions)
        # struct sock_fprog: the length, six bytes of padding, the address. Landlock and seccomp are
        # used on 64-bit processors with this byte order only.
        self.program = length.to_bytes(8, "little") + address.to_bytes(8, "little")

    def enter(self) -> None:
        prctl(_PR_SET_NO_NEW_PRIVS, 1)
        if not self.instructions:  # rules for sockets alone: other means confine the rest
            _call("syscall", _LANDLOCK_RESTRICT_SELF, self.rules, 0)
            return
        # In the host `/proc/self` would be the host's process, with its environment.
        own = posix.open("/proc/self", posix.O_PATH | posix.O_CLOEXEC)
        beneath = _READ_FILE_AND_FOLDER.to_bytes(8, "little") + own.to_bytes(4, "little")
        _call("syscall", _LANDLOCK_ADD_RULE, self.rules, _PATH_BENEATH, beneath, 0)
        posix.close(own)
        _call("syscall", _LANDLOCK_RESTRICT_SELF, self.rules, 0)
        drop_capabilities()
        _call("prctl", _PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, self.program, 0, 0)


def set_limits(limits: list[tuple[str, int]]) -> None:
    import resource

    for name, value in (("RLIMIT_CORE", 0), *limits):
        number = getattr(resource, name)
        most = resource.getrlimit(number)[1]
        # SIGXCPU comes at the lower one, SIGKILL at the upper one.
        pair = (value, value + 1) if name == "RLIMIT_CPU" else (value, value)
        if most != resource.RLIM_INFINITY:
            pair = (min(pair[0], most), min(pair[1], most))
        resource.setrlimit(number, pair)


COUNTED = ("processes", "total_memory_bytes")
"""Limits of all processes together: counted here, because the kernel's bind a user, or one process,
and do not bind root."""
_COUNT_SECONDS = 0.05
_COUNT_SHARE = 10
"""Counting takes at most a tenth of the time."""
_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_KILL_SECONDS = 3.0
_LEFTOVER_SECONDS = 1.0
_SLOW_KILL_SECONDS = 0.25
_SIGNAL_FROM_KERNEL = 0x80
_MAX_LINE_BYTES = 256


class Supervisor:
    def __init__(self, control: int, status: int, host_pid: int, request: dict[str, Any]) -> None:
        self.control = control
        """-1 when it is closed."""
        self.status = status
        """-1 when it is closed."""
        self.host_pid = host_pid
        self.request = request
        self.command = 0
        self.has_exited = False
        self.exit_status = 0
        self.deadline: float | None = None
        """When everything that is left is killed."""
        self.is_stopping = False
        """Whether something asked for the end, by `stop` or by `end`."""
        self.is_ending = False
        """Whether everything was sent SIGTERM already."""
        self.is_detached = False
        self.unread = b""
        self.is_in_directory = True
        self.counted = dict(limit for limit in request["limits"] if limit[0] in COUNTED)
        self.next_count = monotonic()
        restriction = request["restriction"]
        self.restriction = None if restriction is None else Restriction(*restriction)

    def run(self) -> None:
        self.old_mask = _signal.pthread_sigmask(
            _signal.SIG_BLOCK, (_signal.SIGINT, _signal.SIGQUIT, _signal.SIGTERM, _signal.SIGHUP)
        )
        self.old_child_action = _signal.signal(_signal.SIGCHLD, lambda number, frame: None)
        self.wake_up, waker = posix.pipe()
        posix.set_blocking(self.wake_up, False)
        posix.set_blocking(waker, False)
        _signal.set_wakeup_fd(waker, warn_on_full_buffer=False)
        prctl(_PR_SET_CHILD_SUBREAPER, 1)
        # A command may have stopped this process when the host is killed.
        prctl(_PR_SET_PDEATHSIG, _signal.SIGCONT)
        self.poll = select.poll()
        self.poll.register(self.wake_up, select.POLLIN)
        self.poll.register(self.control, select.POLLIN)
        host = self.host_descriptor()
        if host is not None:
            self.poll.register(host, select.POLLIN)
        self.looks_for_host = host is None
        self.tell(b"ready\n")
        if is_readable(self.control, 0):
            self.read_control()
        if self.is_stopping:  # cancelled before there was anything to cancel
            self.tell(b"ended 0\n")
            return
        if not self.start():
            return
        self.let_go_of_descriptors({self.wake_up, waker, self.control, self.status, host})
        self.watch(host)

    def host_descriptor(self) -> int | None:
        try:
            return posix.pidfd_open(self.host_pid)
        except (AttributeError, OSError):
            return None

    def tell(self, line: bytes) -> None:
        if self.status >= 0:
            try:
                posix.write(self.status, line)
            except OSError:
                pass

    def start(self) -> bool:
        result, report = posix.pipe()
        self.command = posix.fork()
        if self.command == 0:
            try:
                self.execute()
            except (OSError, ValueError) as error:
                number = getattr(error, "errno", None) or 0
                posix.write(report, b"%d %d" % (number, self.is_in_directory))
            finally:
                posix._exit(127)
        posix.close(report)
        failure = posix.read(result, 16)
        posix.close(result)
        if failure:
            self.tell(b"failed %s\n" % failure)
            return False
        self.tell(b"started %d\n" % self.command)
        return True

    def execute(self) -> None:
        """In the child: become the command."""
        request = self.request
        prctl(_PR_SET_PDEATHSIG, _signal.SIGKILL)
        if request["new_session"]:
            posix.setsid()
        self.is_in_directory = False
        if request["directory"] is not None:
            posix.chdir(request["directory"])
        self.is_in_directory = True
        _signal.set_wakeup_fd(-1)
        _signal.signal(_signal.SIGPIPE, _signal.SIG_DFL)
        _signal.signal(_signal.SIGXFSZ, _signal.SIG_DFL)
        if self.old_child_action == _signal.SIG_IGN:
            _signal.signal(_signal.SIGCHLD, _signal.SIG_IGN)
        _signal.pthread_sigmask(_signal.SIG_SETMASK, self.old_mask)
        if request["limits"]:
            set_limits([limit for limit in request["limits"] if limit[0] not in COUNTED])
        if self.restriction is not None:
            self.restriction.enter()
        found: OSError | None = None
        for program in request["programs"]:
            try:
                posix.execve(program, request["argv"], request["environment"])
            except (FileNotFoundError, NotADirectoryError) as error:
                found = found or error
            except OSError as error:
                found = error
                if error.errno != 13:
                    break
        if found is not None:
            raise found

    def let_go_of_descriptors(self, needed: set[int | None]) -> None:
        """Hold no pipe of the command open: its reader would never see the end."""
        nothing = posix.open("/dev/null", posix.O_RDWR)
        for number in (0, 1, 2):
            posix.dup2(nothing, number)
        for name in posix.listdir("/proc/self/fd"):
            if int(name) > 2 and int(name) not in needed:
                try:
                    posix.close(int(name))
                except OSError:
                    pass
        posix.chdir("/")

    def watch(self, host: int | None) -> None:
        """Until no process of the command is left."""
        while self.reap():
            if self.has_exited and not self.is_stopping:
                if self.request["when_ended"] == "leave":
                    return
                if self.request["when_ended"] == "end":
                    self.end(self.request["grace_seconds"])
            if self.deadline is not None and monotonic() >= self.deadline:
                self.kill_everything()
                return
            if self.counted and monotonic() >= self.next_count and (name := self.exceeded()):
                self.tell(b"limit %s\n" % name.encode())
                self.is_stopping = self.is_ending = True
                self.kill_everything()
                return
            for descriptor, _ in self.poll.poll(self.milliseconds()):
                if descriptor == self.wake_up:
                    posix.read(self.wake_up, 4096)
                elif descriptor == self.control:
                    self.read_control()
                else:
                    self.poll.unregister(descriptor)
                    self.end(self.request["grace_seconds"])
            if self.looks_for_host and posix.getppid() != self.host_pid:
                self.looks_for_host = False
                self.end(self.request["grace_seconds"])
        self.tell(b"ended 0\n")

    def milliseconds(self) -> float | None:
        waits = [500.0] if self.looks_for_host else []
        ends = (self.deadline, self.next_count if self.counted else None)
        waits += [max(0.0, end - monotonic()) * 1000 + 1 for end in ends if end is not None]
        return min(waits) if waits else None

    def exceeded(self) -> str:
        """The limit of all processes together that is exceeded; empty if none is."""
        start = monotonic()
        most = self.counted.get("processes", _UNCOUNTED)
        pids = tree(most)
        memory = self.counted.get("total_memory_bytes", _UNCOUNTED)
        # What was forked and not changed counts for each process, until it matters.
        is_large = memory < _UNCOUNTED and resident(pids) > memory and proportional(pids) > memory
        end = monotonic()
        self.next_count = end + max(_COUNT_SECONDS, (end - start) * _COUNT_SHARE)
        return "processes" if len(pids) > most else "total_memory_bytes" if is_large else ""

    def read_control(self) -> None:
        data = posix.read(self.control, 4096)
        self.unread += data
        while b"\n" in self.unread:
            line, _, self.unread = self.unread.partition(b"\n")
            self.obey(line.split(b" "))
        self.unread = self.unread[-_MAX_LINE_BYTES:]
        if not data and self.control >= 0:
            self.close_control()
            if not self.is_detached:
                self.end(self.request["grace_seconds"])

    def close_control(self) -> None:
        if self.control >= 0:
            self.poll.unregister(self.control)
            posix.close(self.control)
            self.control = -1

    def obey(self, words: list[bytes]) -> None:
        order = words[0]
        if order == b"end":
            self.end(float(words[1]))
        elif order == b"signal":
            self.send(int(words[1]))
        elif order == b"stop":
            self.stop(int(words[1]), float(words[2]))
        elif order == b"detach":
            self.is_detached = True
            self.request["when_ended"] = "keep"
            self.close_control()
            if self.status >= 0:
                posix.close(self.status)
                self.status = -1

    def end(self, grace_seconds: float, repeat: bool = False) -> None:
        if (repeat or not self.is_stopping) and grace_seconds > 0:
            self.send(_signal.SIGTERM)
        self.is_stopping = self.is_ending = True
        self.shorten(grace_seconds)

    def stop(self, number: int, seconds: float) -> None:
        received = _signal.sigtimedwait((number,), 0)
        if received is None and number in (_signal.SIGINT, _signal.SIGQUIT):
            self.send(number)  # as the keys of a terminal do: a shell waits for its children
        elif received is None:
            kill(self.command, number)
        self.is_stopping = True
        if received is None or received.si_code != _SIGNAL_FROM_KERNEL:
            self.shorten(seconds)
        if self.has_exited:
            self.end(_LEFTOVER_SECONDS, repeat=True)

    def shorten(self, seconds: float) -> None:
        deadline = monotonic() + seconds
        self.deadline = deadline if self.deadline is None else min(self.deadline, deadline)

    def send(self, number: int) -> None:
        for pid in descendants():
            kill(pid, number)

    def reap(self) -> bool:
        """Whether there are children still."""
        is_news = False
        while True:
            try:
                pid, status = posix.waitpid(-1, posix.WNOHANG)
            except ChildProcessError:
                pid = -1
            if pid <= 0:
                break
            if pid == self.command and not self.has_exited:
                self.exit_status = posix.waitstatus_to_exitcode(status)
                self.has_exited = is_news = True
        if is_news:
            is_watched = (pid == 0 and self.request["when_ended"] != "leave") or self.is_stopping
            self.tell(b"exit %d %d\n" % (self.exit_status, is_watched))
            if self.is_stopping:
                self.end(_LEFTOVER_SECONDS, repeat=not self.is_ending)
        return pid == 0

    def kill_everything(self) -> None:
        """Until there are no children, for as long as that takes; reported after 3 s."""
        try:
            posix.setpriority(posix.PRIO_PROCESS, 0, -10)  # before what there is to kill
        except OSError:
            pass  # needs root
        give_up = monotonic() + _KILL_SECONDS
        is_reported = False
        before: list[int] = []
        while self.reap():
            everything = descendants()
            for pid in everything:
                kill(pid, _signal.SIGKILL)
            # An orphan becomes a child here: what forks faster than the whole table is read is
            # met in this list, which costs a hundredth of that.
            for _ in range(20):
                children = direct_children()
                if children is None:
                    break
                for pid in children:
                    kill(pid, _signal.SIGKILL)
                if not self.reap():
                    break
                if children == before and is_readable(self.wake_up, 2):
                    posix.read(self.wake_up, 4096)
                before = children
            if monotonic() > give_up:
                if not is_reported:
                    self.tell(b"ended %d\n" % len(descendants()))
                    is_reported = True
                sleep(_SLOW_KILL_SECONDS)
        if not is_reported:
            self.tell(b"ended 0\n")


def is_readable(descriptor: int, milliseconds: int) -> bool:
    waiting = select.poll()
    waiting.register(descriptor, select.POLLIN)
    return bool(waiting.poll(milliseconds))


def kill(pid: int, number: int) -> None:
    try:
        posix.kill(pid, number)
    except OSError:
        pass


_UNCOUNTED = 1 << 62


def tree(most: int) -> list[int]:
    """All processes below this one, and not many more than `most`.

    Faster than the table of all processes: there may be thousands.
    """
    if direct_children() is None:
        return descendants()
    found: list[int] = []
    waiting = [posix.getpid()]
    while waiting and len(found) <= most:
        place = "/proc/%d/task/" % waiting.pop()
        try:
            threads = posix.listdir(place)
        except OSError:
            continue
        for thread in threads:
            children = [int(pid) for pid in (contents(place + thread + "/children") or b"").split()]
            found += children
            waiting += children
    return found


def resident(pids: list[int]) -> int:
    """Their memory in bytes without that of files; what was forked counts for each."""
    fields = [(contents("/proc/%d/statm" % pid) or b"").split() for pid in pids]
    pages = sum(int(field[1]) - int(field[2]) for field in fields if len(field) > 2)
    return pages * posix.sysconf("SC_PAGE_SIZE")


def proportional(pids: list[int]) -> int:
    """The same, with what processes share divided between them; slower."""
    total = 0
    for pid in pids:
        rollup = contents("/proc/%d/smaps_rollup" % pid)
        if rollup is None:
            total += resident([pid])
        for line in (rollup or b"").splitlines():
            if line.startswith((b"Pss_Anon:", b"Pss_Shmem:")):
                total += int(line.split()[1]) * 1024
    return total


def direct_children() -> list[int] | None:
    """`None` where the kernel does not offer the list."""
    own = posix.getpid()
    data = contents("/proc/%d/task/%d/children" % (own, own))
    return None if data is None else [int(pid) for pid in data.split()]


def processes() -> list[tuple[int, int, int, bool]]:
    """Every process: id, parent, session, and whether its first thread has ended."""
    found = []
    for name in posix.listdir("/proc"):
        if name.isdigit():
            fields = (contents("/proc/" + name + "/stat") or b"").rpartition(b")")[2].split()
            if len(fields) > 3:
                is_ended = fields[0] in (b"Z", b"X")
                found.append((int(name), int(fields[1]), int(fields[3]), is_ended))
    return found


def descendants(top: int = 0, with_ended: bool = True) -> list[int]:
    """All processes below one, by default this one, parents first."""
    below: dict[int, list[int]] = {}
    for pid, parent, _, is_ended in processes():
        if with_ended or not is_ended:
            below.setdefault(parent, []).append(pid)
    found: list[int] = []
    waiting = [top or posix.getpid()]
    while waiting:
        children = below.pop(waiting.pop(), [])
        found += children
        waiting += children
    return found


def contents(path: str) -> bytes | None:
    try:
        descriptor = posix.open(path, posix.O_RDONLY | posix.O_CLOEXEC)
    except OSError:
        return None
    try:
        data = b""
        while piece := posix.read(descriptor, 65536):
            data += piece
        return data
    except OSError:
        return None
    finally:
        posix.close(descriptor)


def main(control: int, status: int, host_pid: int, request: dict[str, Any]) -> None:
    rules = () if request["restriction"] is None else request["restriction"][:1]
    for descriptor in (control, status, *rules):
        posix.set_inheritable(descriptor, False)
    Supervisor(control, status, host_pid, request).run()
    posix._exit(0)
