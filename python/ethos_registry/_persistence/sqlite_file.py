"""One SQLite file for many threads and processes, readable by its owner only."""

from __future__ import annotations

import contextlib
import errno
import os
import random
import sqlite3
import threading
import time
import weakref
from collections.abc import Callable, Iterator, Sequence
from typing import Literal, TypeVar
from urllib.parse import quote

from ethos_registry._persistence.files import leave_to_parent, make_private_file

R = TypeVar("R")

_BUSY_SECONDS = 30.0
_DAMAGED = ("not a database", "malformed", "corrupt")
_IN_MEMORY = ":memory:"
_POLL_SECONDS = 0.002
_FOREIGN = "it is a database of another program; name another file"
_MAGIC = b"SQLite format 3\0"
_APPLICATION_ID_AT = 68


class SqliteFile:
    """The connection of this process to one file; the file is created when it is first used.

    A new file has mode 0600. Writers of all threads and processes wait for each other, at most
    `busy_seconds` for one transaction. A child made by `fork` opens a connection of its own; a file
    that was removed or replaced is opened again, so that no write is lost in a file without a name.
    A file that another program made is refused before SQLite opens it, so that not even its journal
    changes.

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
        busy_seconds: float = _BUSY_SECONDS,
    ) -> None:
        given = os.fspath(path)
        self.path = given if given == _IN_MEMORY else os.path.abspath(given)
        self._schema = tuple(schema)
        self._application_id = application_id
        self._synchronous = synchronous
        self._busy_seconds = busy_seconds
        self._connection: sqlite3.Connection | None = None
        self._identity: tuple[int, int] | None = None
        self._lock = threading.RLock()
        _files.add(self)

    @contextlib.contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """A transaction that writes: committed after the block, undone if the block raises."""
        with self._turn() as wait:
            connection = self._opened(wait)
            with _written(connection, wait):
                yield connection

    def read(self, work: Callable[[sqlite3.Connection], R]) -> R:
        """What `work` returns, which only reads; it may be called again."""
        with self._turn() as wait:
            connection = self._opened(wait)
            return wait(lambda: work(connection))

    @contextlib.contextmanager
    def snapshot(self, wait_seconds: float | None = None) -> Iterator[sqlite3.Connection]:
        """One moment of a file that exists, read by a connection that changes nothing.

        Raises `FileNotFoundError` if nothing was stored there.
        """
        if not self._has_tables():
            raise FileNotFoundError(errno.ENOENT, "nothing was stored there", self.path)
        with contextlib.closing(
            self._connected_to_read(self._busy_seconds if wait_seconds is None else wait_seconds)
        ) as connection:
            connection.execute("BEGIN")
            yield connection

    def close(self) -> None:
        """Close the file; the next use opens it again."""
        with self._lock:
            connection, self._connection = self._connection, None
            if connection is not None:
                connection.close()

    def __del__(self) -> None:
        with contextlib.suppress(Exception):
            self.close()

    def forget_parent(self) -> object:
        """In a child after `fork`: the parent's connection, which must be left alone."""
        connection, self._connection = self._connection, None
        self._lock = threading.RLock()
        return connection

    @contextlib.contextmanager
    def _turn(self) -> Iterator[_Wait]:
        """The connection for this thread alone, and how to wait for other processes."""
        wait = _Wait(self._busy_seconds)
        if not self._lock.acquire(timeout=self._busy_seconds):
            raise wait.too_long()
        try:
            yield wait
        finally:
            self._lock.release()

    def _opened(self, wait: _Wait) -> sqlite3.Connection:
        if self._connection is not None:
            if self.path == _IN_MEMORY or _identity(self.path) == self._identity:
                return self._connection
            self.close()
        if self.path != _IN_MEMORY:
            # SQLite would create it with the umask's mode, and gives its journals the same.
            make_private_file(self.path)
            self._has_tables()
        connection = _connected(self.path, _POLL_SECONDS)
        try:
            # A process that was killed while it created the tables has left a journal that undoes
            # them when SQLite first reads the file.
            if wait(lambda: _application_id(connection)) != self._application_id:
                self._create_tables(connection, wait)
            wait(lambda: connection.execute("PRAGMA journal_mode = WAL").close())
            connection.execute(f"PRAGMA synchronous = {self._synchronous}").close()
        except BaseException:
            connection.close()
            raise
        self._connection, self._identity = connection, _identity(self.path)
        return connection

    def _create_tables(self, connection: sqlite3.Connection, wait: _Wait) -> None:
        with _written(connection, wait):
            tables = connection.execute("SELECT COUNT(*) FROM sqlite_master").fetchone()[0]
            found = _application_id(connection)
            if found == self._application_id:
                return  # another process was faster
            if found or tables:
                raise sqlite3.DatabaseError(_FOREIGN)
            for statement in self._schema:
                connection.execute(statement)
            connection.execute(f"PRAGMA application_id = {self._application_id}").close()

    def _has_tables(self) -> bool:
        """Whether the file is not empty; raises for the database of another program.

        Read without SQLite, which may move a write-ahead log or undo a transaction when it opens a
        file. The id is in the first page of ours before the file has a write-ahead log.
        """
        try:
            with open(self.path, "rb", opener=_without_waiting) as file:
                header = file.read(_APPLICATION_ID_AT + 4)
        except FileNotFoundError:
            return False
        if not header:
            return False
        if not header.startswith(_MAGIC):
            raise sqlite3.DatabaseError("file is not a database")
        if int.from_bytes(header[_APPLICATION_ID_AT:], "big") != self._application_id:
            raise sqlite3.DatabaseError(_FOREIGN)
        return True

    def _connected_to_read(self, wait_seconds: float) -> sqlite3.Connection:
        address = f"file:{quote(self.path)}?mode=ro"
        connection = _connected(address, wait_seconds)
        try:
            connection.execute("SELECT COUNT(*) FROM sqlite_master").fetchone()
        except sqlite3.OperationalError as error:
            connection.close()
            # A full disk and a read-only folder have no room for the shared memory of a
            # write-ahead log. An empty log holds nothing that would be missed without it.
            if "locked" in str(error) or _size_bytes(f"{self.path}-wal") > 0:
                raise
            return _connected(f"{address}&immutable=1", wait_seconds)
        except BaseException:
            connection.close()
            raise
        return connection


class _Wait:
    """Tries again while another process holds the file, for a bounded time in all."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._deadline = time.monotonic() + seconds

    def __call__(self, work: Callable[[], R]) -> R:
        """What `work` returns as soon as no other process holds the file.

        SQLite itself waits longer from try to try, up to 100 ms, so that one of many writers may
        never find the moment between two others; and it does not wait at all for the write-ahead
        log.
        """
        while True:
            try:
                return work()
            except sqlite3.OperationalError as error:
                if "locked" not in str(error):
                    raise
                if time.monotonic() > self._deadline:
                    raise self.too_long() from error
                time.sleep(_POLL_SECONDS * random.random())

    def too_long(self) -> sqlite3.OperationalError:
        """The error after the time is over."""
        return sqlite3.OperationalError(
            f"database is locked: others have been writing for {self._seconds:g} s; try again"
        )


@contextlib.contextmanager
def _written(connection: sqlite3.Connection, wait: _Wait) -> Iterator[None]:
    """One transaction that writes."""
    wait(lambda: connection.execute("BEGIN IMMEDIATE"))
    try:
        yield
        # Before the write-ahead log is on, a commit waits for readers too.
        wait(lambda: connection.execute("COMMIT"))
    except BaseException:
        if connection.in_transaction:  # a full disk may have ended it already
            connection.execute("ROLLBACK")
        raise


def sqlite_problem(error: BaseException) -> str:
    """Why a file cannot be used, and the way out, in one sentence without the path."""
    if isinstance(error, OSError):
        return error.strerror or str(error)
    text = str(error)
    if any(word in text for word in _DAMAGED):
        return f"{text}; the file is damaged: move it away, and a new one is created"
    if "full" in text or "disk I/O" in text:
        return f"{text}; free some space on its disk"
    if "readonly" in text:
        return f"{text}; this user may not write it"
    return text


def _connected(place: str, wait_seconds: float) -> sqlite3.Connection:
    return sqlite3.connect(
        place,
        timeout=wait_seconds,
        isolation_level=None,
        check_same_thread=False,
        uri=place.startswith("file:"),
    )


def _application_id(connection: sqlite3.Connection) -> int:
    found: int = connection.execute("PRAGMA application_id").fetchone()[0]
    return found


def _without_waiting(path: str, flags: int) -> int:
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def _identity(path: str) -> tuple[int, int] | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _size_bytes(path: str) -> int:
    try:
        return os.stat(path).st_size
    except OSError:
        return 0


_files: weakref.WeakSet[SqliteFile] = weakref.WeakSet()
leave_to_parent(_files, SqliteFile.forget_parent)
