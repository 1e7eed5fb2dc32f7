"""Processes found in Linux' `/proc`: the descendants of one, and those that carry a marker."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import time
from dataclasses import dataclass

__all__ = ["ProcessTree", "has_process_table", "kill_below", "kill_marked"]

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
