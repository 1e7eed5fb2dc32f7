"""A program in a process group of its own: what can be ended where there is no supervisor."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import IO

from ethos_registry._processes.supervised_process import SupervisedProcess, WhenEnded

__all__ = [
    "UNKNOWN_STATUS",
    "GroupProcess",
    "ProcessTree",
    "has_process_table",
    "kill_below",
    "kill_marked",
]


# Processes found in Linux' `/proc`: the descendants of one, and those that carry a marker.

_KILL_ROUNDS = 50
_PAUSE_SECONDS = 0.002


@dataclass(frozen=True, slots=True)
class _Process:
    pid: int
    started: int
    """Clock ticks after boot: distinguishes a process from a later one with the same id."""


@dataclass(frozen=True, slots=True)
class _Entry:
    process: _Process
    parent: int
    group: int
    session: int


class ProcessTree:
    """The processes that descend from `leader`, which was started in a session of its own.

    On Linux: its descendants and every process in the sessions that they lead. A process that
    made its own session and lost its parent before the first look is missed; a supervisor
    (`SupervisedProcess`) misses none. On other POSIX systems: the leader's process group. On
    Windows nothing is found, and the caller ends the leader itself.
    """

    __slots__ = ("_known", "_leader", "_sessions")

    def __init__(self, leader: int) -> None:
        self._leader = leader
        entry = _entry(str(leader)) if has_process_table() else None
        self._known: frozenset[_Process] = frozenset({entry.process} if entry else ())
        self._sessions = {leader}

    def send(self, number: int) -> None:
        """Send a signal to all of them; those that are gone or belong to others are skipped."""
        if sys.platform == "win32":
            return
        members = self._members()
        if members or not has_process_table():
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._leader, number)
        for entry in members:
            if entry.group != self._leader:  # a handler must not run twice
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(entry.process.pid, number)

    def kill(self) -> None:
        """Send SIGKILL in rounds, until a round finds no new process."""
        if sys.platform == "win32":
            return
        killed: frozenset[_Process] = frozenset()
        for _ in range(_KILL_ROUNDS):
            self.send(signal.SIGKILL)
            if self._known <= killed:
                return
            killed |= self._known

    def is_running(self) -> bool:
        """Whether any of them is running; zombies do not count on Linux."""
        if sys.platform == "win32":
            return False
        if has_process_table():
            return bool(self._members())
        try:
            os.killpg(self._leader, 0)
        except (ProcessLookupError, PermissionError):
            return False
        return True

    def _members(self) -> list[_Entry]:
        """The running ones, including those seen before that have lost their parents since."""
        entries = _process_table()
        found = [entry for entry in entries if entry.process in self._known]
        grew = True
        while grew:
            parents = {entry.process.pid for entry in found}
            self._sessions |= parents
            new = [
                entry
                for entry in entries
                if entry.process in self._known
                or entry.parent in parents
                or entry.session in self._sessions
            ]
            grew = len(new) > len(found)
            found = new
        self._known = frozenset(entry.process for entry in found)
        return found


def kill_below(pid: int) -> None:
    """Kill every descendant of a process, then the process itself. Linux only."""
    for _ in range(_KILL_ROUNDS):
        below = _descendants(pid)
        if not below:
            break
        _kill(below)
        time.sleep(_PAUSE_SECONDS)
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(pid, signal.SIGKILL)


def kill_marked(marker: bytes, session: int | None) -> int:
    """Kill all processes of a session and all with `marker` in their environment. Linux only.

    Returns how many are left. A process that left the session and cleared its environment is
    not found.
    """
    found: list[_Entry] = []
    for _ in range(_KILL_ROUNDS):
        found = [
            entry
            for entry in _process_table()
            if entry.session == session or _has_marker(entry, marker)
        ]
        if not found:
            break
        _kill(found)
        time.sleep(_PAUSE_SECONDS)
    return len(found)


def _descendants(pid: int) -> list[_Entry]:
    below: dict[int, list[_Entry]] = {}
    for entry in _process_table():
        below.setdefault(entry.parent, []).append(entry)
    found = below.pop(pid, [])
    for entry in found:  # grows while it is read
        found += below.pop(entry.process.pid, [])
    return found


def _kill(entries: list[_Entry]) -> None:
    for entry in entries:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(entry.process.pid, signal.SIGKILL)


def _has_marker(entry: _Entry, marker: bytes) -> bool:
    try:
        with open(f"/proc/{entry.process.pid}/environ", "rb") as file:
            return marker in file.read()
    except OSError:
        return False


def has_process_table() -> bool:
    """Whether processes can be listed here."""
    return os.path.exists("/proc/self/stat")


def _process_table() -> list[_Entry]:
    """Every process that has not ended, from `/proc`; empty where there is none."""
    if not has_process_table():
        return []
    entries = (_entry(name) for name in os.listdir("/proc") if name.isdigit())
    return [entry for entry in entries if entry is not None]


def _entry(pid: str) -> _Entry | None:
    """One row of the table; `None` for a process that has ended."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            fields = file.read().rpartition(b")")[2].split()
    except OSError:
        return None
    if len(fields) < 20 or fields[0] in (b"Z", b"X"):
        return None
    parent, group, session = (int(field) for field in fields[1:4])
    return _Entry(_Process(int(pid), int(fields[19])), parent, group, session)


UNKNOWN_STATUS = 255
_POLL_SECONDS = 0.02
_KILL_SECONDS = 3.0


class GroupProcess(SupervisedProcess):
    """A program that is a child of this process; see `start_supervised` for the arguments."""

    def __init__(
        self,
        argv: Sequence[str | bytes],
        *,
        directory: str | None,
        environment: Mapping[str, str] | None,
        stdin: int | IO[bytes] | None,
        stdout: int | IO[bytes] | None,
        stderr: int | IO[bytes] | None,
        new_session: bool,
        close_fds: bool,
        when_ended: WhenEnded,
        grace_seconds: float,
    ) -> None:
        super().__init__()
        self.containment = "process" if sys.platform == "win32" or not new_session else "group"
        self._process = subprocess.Popen(
            argv,
            bufsize=0,
            stdin=stdin,
            stdout=stdout,
            stderr=stderr,
            cwd=directory,
            env=None if environment is None else dict(environment),
            start_new_session=new_session,
            close_fds=close_fds,
        )
        self.stdin, self.stdout, self.stderr = (
            self._process.stdin,
            self._process.stdout,
            self._process.stderr,
        )
        self._tree = ProcessTree(self._process.pid) if self.containment == "group" else None
        self._when_ended = when_ended
        self._grace_seconds = grace_seconds
        self._is_ending = False
        self._lock = threading.Lock()
        self._started.set_result(self._process.pid)
        try:
            self._thread(self._wait)
        except RuntimeError:  # no more threads: a program without a waiting thread must not run
            self.destroy()
            raise

    def send_signal(self, number: int) -> None:
        """Send a signal to the process group; on Windows, to the program."""
        if self._tree is not None:
            self._tree.send(number)
        elif not self._exited.done():
            self._process.send_signal(number)

    def stop(self, number: int, seconds: float) -> None:
        """Pass on a signal, and kill what is left after `seconds`."""
        self.send_signal(number)
        self._thread(lambda: self._kill_after(seconds))

    def terminate(self, grace_seconds: float = 0.5) -> None:
        """End the process group: SIGTERM, then SIGKILL after `grace_seconds`."""
        with self._lock:
            is_first, self._is_ending = not self._is_ending, True
        if grace_seconds <= 0:
            self.destroy()
        elif is_first and self._tree is not None:
            self._tree.send(signal.SIGTERM)
        if is_first or grace_seconds <= 0:
            self._thread(lambda: self._kill_after(grace_seconds))

    def destroy(self) -> None:
        """Send SIGKILL at once."""
        if self._tree is not None:
            self._tree.kill()
        elif not self._exited.done():
            self._process.kill()

    def detach(self) -> None:
        """Stop watching: without a supervisor, what is left lives on."""
        self._finish(0)

    def _thread(self, run: object) -> None:
        assert callable(run)
        threading.Thread(target=run, name="ethos-registry-wait", daemon=True).start()

    def _wait(self) -> None:
        if sys.platform == "win32":
            status = self._process.wait()
        else:
            status = self._process.returncode = _exit_status(self._process.pid)
        self._exited.set_result(status)
        if self._when_ended == "leave" or self._tree is None:
            self._finish(0)
        elif self._when_ended == "end":
            self.terminate(self._grace_seconds)

    def _kill_after(self, grace_seconds: float) -> None:
        if not self._all_ended_within(grace_seconds):
            self.destroy()
            self._all_ended_within(_KILL_SECONDS)
        # Where only the group is known, what left it may still be running.
        self._finish(0 if self._ended_all() else None)

    def _all_ended_within(self, seconds: float) -> bool:
        deadline = time.monotonic() + seconds
        while not (ended := self._ended_all()) and time.monotonic() < deadline:
            time.sleep(_POLL_SECONDS)
        return ended

    def _ended_all(self) -> bool:
        return self._exited.done() and (self._tree is None or not self._tree.is_running())


def _exit_status(pid: int) -> int:
    """The status, awaited; unknown for a child that somebody else has waited for.

    `Popen.wait` would call that a success, and every child where SIGCHLD is ignored.
    """
    try:
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    except ChildProcessError:
        return UNKNOWN_STATUS
