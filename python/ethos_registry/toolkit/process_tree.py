"""All processes that one command has left running, and signals to them."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from dataclasses import dataclass

__all__ = ["ProcessTree"]


@dataclass(frozen=True, slots=True)
class _Process:
    pid: int
    started: int
    """Clock ticks after boot: tells a process from a later one with the same id."""


@dataclass(frozen=True, slots=True)
class _Entry:
    process: _Process
    parent: int
    group: int
    session: int


class ProcessTree:
    """The processes that descend from `leader`, which was started in a session of its own.

    On Linux these are the descendants and everything in the sessions that they lead: programs
    that make a process group of their own, as `timeout` and `bash -m` do, are found too. What
    made a session of its own and lost its parent before the first look is not (a daemon that
    detached itself on purpose). On other POSIX systems only the leader's process group is known,
    and on Windows nothing but the leader, which the caller ends.
    """

    __slots__ = ("_known", "_leader", "_sessions")

    def __init__(self, leader: int) -> None:
        self._leader = leader
        entry = _entry(str(leader)) if _has_process_table() else None
        self._known: frozenset[_Process] = frozenset({entry.process} if entry else ())
        self._sessions = {leader}

    def send(self, number: int) -> None:
        """Send a signal to all of them; those that are gone or belong to others are skipped."""
        if sys.platform == "win32":
            return
        members = self._members()
        if members or not _has_process_table():
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._leader, number)
        for entry in members:
            if entry.group != self._leader:  # a handler must not run twice
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(entry.process.pid, number)

    def kill(self) -> None:
        """Send SIGKILL until no process is found that was not sent one.

        What was started between the look and the signal is met in the next round.
        """
        if sys.platform == "win32":
            return
        killed: frozenset[_Process] = frozenset()
        for _ in range(_KILL_ROUNDS):
            self.send(signal.SIGKILL)
            if self._known <= killed:
                return
            killed |= self._known

    def is_running(self) -> bool:
        """Whether any of them still runs; zombies do not count where they can be told."""
        if sys.platform == "win32":
            return False
        if _has_process_table():
            return bool(self._members())
        try:
            os.killpg(self._leader, 0)
        except (ProcessLookupError, PermissionError):
            return False
        return True

    def _members(self) -> list[_Entry]:
        """Those that run now, with the ones seen before that have lost their parents since."""
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


_KILL_ROUNDS = 20


def _has_process_table() -> bool:
    return os.path.exists("/proc/self/stat")


def _process_table() -> list[_Entry]:
    """Every process that has not ended, from Linux' `/proc`; empty where there is none."""
    if not _has_process_table():
        return []
    entries = (_entry(name) for name in os.listdir("/proc") if name.isdigit())
    return [entry for entry in entries if entry is not None]


def _entry(pid: str) -> _Entry | None:
    """One line of the table; `None` for a process that has ended."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            fields = file.read().rpartition(b")")[2].split()
    except OSError:
        return None
    if len(fields) < 20 or fields[0] in (b"Z", b"X"):
        return None
    parent, group, session = (int(field) for field in fields[1:4])
    return _Entry(_Process(int(pid), int(fields[19])), parent, group, session)
