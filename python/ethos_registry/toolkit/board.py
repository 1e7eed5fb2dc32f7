"""A ticket board in a SQLite file, for several threads and processes at once."""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from ethos_registry.persistence.locked_file import retried_while_locked
from ethos_registry.toolkit.arguments import RefusalError, shown

__all__ = ["Board", "Ticket"]

Ticket = dict[str, str]
"""`id, title, status, priority, updatedAt`: what the reducer of `kanban_list` reads."""

_APPLICATION_ID = 0x4574686F
"""Identifies a board, so that another program's database is never changed."""
_VERSION = 1
_BUSY_SECONDS = 10.0

_CREATE = f"""
CREATE TABLE ticket (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    title TEXT NOT NULL,
    status TEXT NOT NULL,
    priority TEXT NOT NULL,
    updated_at TEXT NOT NULL
);
PRAGMA application_id = {_APPLICATION_ID};
PRAGMA user_version = {_VERSION}
"""
_COLUMNS = "number, title, status, priority, updated_at"


class Board:
    """Tickets in the order of their creation; every call is one short transaction.

    A connection lives as long as its transaction, so that a board can be used from any thread and
    after a fork. The file, its folder and its table are created at the first call; the file has
    mode 0600. Writers wait for each other, at most 10 s.

    Every method raises `RefusalError` if it cannot be served.
    """

    def __init__(self, path: str) -> None:
        self._path = path

    def tickets(self, status: str | None) -> list[Ticket]:
        """All tickets, or those of one status."""
        where, values = ("", ()) if status is None else (" WHERE status = ?", (status,))
        with self._connection() as connection:
            rows = connection.execute(
                f"SELECT {_COLUMNS} FROM ticket{where} ORDER BY number", values
            )
            return [_ticket(row) for row in rows]

    def create(self, title: str, status: str, priority: str) -> Ticket:
        """Create a ticket."""
        with self._transaction() as connection:
            number = connection.execute(
                "INSERT INTO ticket (title, status, priority, updated_at) VALUES (?, ?, ?, ?)",
                (title, status, priority, _now()),
            ).lastrowid
            return _ticket(_row(connection, number))

    def move(self, number: int, status: str) -> Ticket | None:
        """Change the status of a ticket; `None` if it does not exist."""
        with self._transaction() as connection:
            connection.execute(
                "UPDATE ticket SET status = ?, updated_at = ? WHERE number = ?",
                (status, _now(), number),
            )
            row = _row(connection, number)
            return None if row is None else _ticket(row)

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with self._connection() as connection, _immediate(connection):
            yield connection

    @contextlib.contextmanager
    def _connection(self) -> Iterator[sqlite3.Connection]:
        try:
            with contextlib.closing(self._opened()) as connection:
                self._prepare(connection)
                yield connection
        except sqlite3.Error as error:
            raise RefusalError(
                f"the board could not be used: {error}; nothing was changed", "execution_failed"
            ) from None

    def _opened(self) -> sqlite3.Connection:
        try:
            os.makedirs(os.path.dirname(self._path), exist_ok=True)
        except OSError as error:
            reason = error.strerror or type(error).__name__
            raise RefusalError(
                f"the folder of the board cannot be created: {reason}", "execution_failed"
            ) from None
        # SQLite would create it for everybody to read, and gives its journals the same mode.
        with contextlib.suppress(OSError):
            os.close(os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
        return sqlite3.connect(self._path, timeout=_BUSY_SECONDS, isolation_level=None)

    def _prepare(self, connection: sqlite3.Connection) -> None:
        """Create the table in an empty file; refuse a file that is not a board of this version."""
        if _markers(connection) == (_APPLICATION_ID, _VERSION):
            return
        if not _is_empty(connection):
            self._check_is_ours(connection)
            return
        _use_write_ahead_log(connection)
        with _immediate(connection):
            if _is_empty(connection):
                for statement in _CREATE.split(";"):
                    connection.execute(statement)

    def _check_is_ours(self, connection: sqlite3.Connection) -> None:
        application_id, version = _markers(connection)
        if application_id != _APPLICATION_ID:
            raise RefusalError(
                f"{shown(self._path)} is a database of another program, not a board",
                "execution_failed",
            )
        if version != _VERSION:
            raise RefusalError(
                f"the board has version {version}, this program knows {_VERSION}; update it",
                "execution_failed",
            )


def _markers(connection: sqlite3.Connection) -> tuple[int, int]:
    application_id = connection.execute("PRAGMA application_id").fetchone()[0]
    return application_id, connection.execute("PRAGMA user_version").fetchone()[0]


def _is_empty(connection: sqlite3.Connection) -> bool:
    tables = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    return tables == 0 and _markers(connection) == (0, 0)


def _use_write_ahead_log(connection: sqlite3.Connection) -> None:
    """Let readers and a writer work at once; SQLite refuses the switch instead of waiting."""
    retried_while_locked(
        lambda: connection.execute("PRAGMA journal_mode = WAL").close(), _BUSY_SECONDS
    )


@contextlib.contextmanager
def _immediate(connection: sqlite3.Connection) -> Iterator[None]:
    """A transaction that writes from its start: one that began with a read could not wait."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


def _row(connection: sqlite3.Connection, number: int | None) -> Any:
    query = f"SELECT {_COLUMNS} FROM ticket WHERE number = ?"
    return connection.execute(query, (number,)).fetchone()


def _ticket(row: tuple[int, str, str, str, str]) -> Ticket:
    number, title, status, priority, updated_at = row
    return {
        "id": f"T-{number}",
        "title": title,
        "status": status,
        "priority": priority,
        "updatedAt": updated_at,
    }


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
