"""One SQLite file for many threads and processes, readable by its owner only."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import threading
import weakref
from collections.abc import Callable, Iterator, Sequence
from typing import Literal, TypeVar

from ethos_registry._persistence.files import POLL_SECONDS, make_private_file, retried_while_locked

__all__ = ["SqliteFile", "sqlite_problem"]


R = TypeVar("R")

_BUSY_SECONDS = 30.0
_DAMAGED = ("not a database", "malformed", "corrupt")
_IN_MEMORY = ":memory:"


class SqliteFile:
    """The connection of this process to one file; the file is created when it is first used.

    A new file has mode 0600. Writers of all processes wait for each other, at most 30 seconds. A
    child made by `fork` opens a connection of its own; a file that was removed or replaced is
    opened again, so that no write is lost in a file without a name.

    `schema` are the statements that create the tables in an empty file. Every method raises
    `sqlite3.Error` or `OSError`; `sqlite_problem` turns either into a sentence.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        schema: Sequence[str],
        *,
        application_id: int,
        synchronous: Literal["FULL", "NORMAL"] = "FULL",
    ) -> None:
        given = os.fspath(path)
        self.path = given if given == _IN_MEMORY else os.path.abspath(given)
        self._schema = tuple(schema)
        self._application_id = application_id
        self._synchronous = synchronous
        self._connection: sqlite3.Connection | None = None
        self._identity: tuple[int, int] | None = None
        self._lock = threading.RLock()
        _files.add(self)

    @contextlib.contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """A transaction that writes: committed after the block, undone if the block raises."""
        with self._lock:
            connection = self._opened()
            _retried(lambda: connection.execute("BEGIN IMMEDIATE"))
            try:
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:  # a full disk may have ended it already
                    connection.execute("ROLLBACK")
                raise

    def read(self, work: Callable[[sqlite3.Connection], R]) -> R:
        """What `work` returns, which only reads; it may be called again."""
        with self._lock:
            connection = self._opened()
            return _retried(lambda: work(connection))

    def close(self) -> None:
        """Close the file; the next use opens it again."""
        with self._lock:
            connection, self._connection = self._connection, None
            if connection is not None:
                connection.close()

    def __del__(self) -> None:
        with contextlib.suppress(Exception):
            self.close()

    def leave_to_parent(self) -> object:
        """In a child after `fork`: the parent's connection, which must be left alone."""
        connection, self._connection = self._connection, None
        self._lock = threading.RLock()
        return connection

    def _opened(self) -> sqlite3.Connection:
        if self._connection is not None:
            if self.path == _IN_MEMORY or _identity(self.path) == self._identity:
                return self._connection
            self.close()
        if self.path != _IN_MEMORY:
            # SQLite would create it with the umask's mode, and gives its journals the same.
            make_private_file(self.path)
        connection = sqlite3.connect(
            self.path, timeout=POLL_SECONDS, isolation_level=None, check_same_thread=False
        )
        try:
            self._prepare(connection)
        except BaseException:
            connection.close()
            raise
        self._connection, self._identity = connection, _identity(self.path)
        return connection

    def _prepare(self, connection: sqlite3.Connection) -> None:
        is_ours = _retried(lambda: self._is_ours(connection))
        _retried(lambda: connection.execute("PRAGMA journal_mode = WAL").close())
        connection.execute(f"PRAGMA synchronous = {self._synchronous}").close()
        if is_ours:
            return
        _retried(lambda: connection.execute("BEGIN IMMEDIATE"))
        try:
            if not self._is_ours(connection):  # another process was faster
                for statement in self._schema:
                    connection.execute(statement)
                connection.execute(f"PRAGMA application_id = {self._application_id}").close()
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise

    def _is_ours(self, connection: sqlite3.Connection) -> bool:
        """Whether the tables exist; raises for the database of another program."""
        # In this order: who sees the tables that another process creates sees its id too.
        tables = connection.execute("SELECT COUNT(*) FROM sqlite_master").fetchone()[0]
        found = connection.execute("PRAGMA application_id").fetchone()[0]
        if found == self._application_id:
            return True
        if found or tables:
            raise sqlite3.DatabaseError("it is a database of another program; name another file")
        return False


def sqlite_problem(error: BaseException) -> str:
    """Why a file cannot be used, and the way out, in one sentence without the path."""
    if isinstance(error, OSError):
        return error.strerror or str(error)
    text = str(error)
    if any(word in text for word in _DAMAGED):
        return f"{text}; the file is damaged: move it away, and a new one is created"
    if "full" in text or "disk I/O" in text:
        return f"{text}; free some space on its disk"
    if "locked" in text:
        return f"{text}: another process has been writing for {_BUSY_SECONDS:g} s; try again"
    if "readonly" in text:
        return f"{text}; this user may not write it"
    return text


def _retried(work: Callable[[], R]) -> R:
    return retried_while_locked(work, _BUSY_SECONDS)


def _identity(path: str) -> tuple[int, int] | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino


_files: weakref.WeakSet[SqliteFile] = weakref.WeakSet()
_left_to_parents: list[object] = []
"""Connections of a parent process: closing one here could close it there."""


def _forget_parents() -> None:
    _left_to_parents.extend([file.leave_to_parent() for file in list(_files)])


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_parents)
