"""The databases of ledgers: PostgreSQL and files of SQLite."""

from __future__ import annotations

import contextlib
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import Any

from ethos_registry._persistence.sqlite_file import SqliteFile, sqlite_problem
from ethos_registry.types._errors import ConfigError
from ethos_registry.types._extras import missing_extra
from ethos_registry.usage._record import NothingStoredError, UsageStoreError
from ethos_registry.usage._schema import tables

# A ledger in PostgreSQL, for several machines; psycopg comes with the extra `postgres`.

CONNECT_SECONDS = 5
STATEMENT_MILLISECONDS = 30_000
LOCK_SECONDS = 2 * STATEMENT_MILLISECONDS / 1_000
_SCHEMA_LOCK = 0x_E7_05_0001
"""A number that only this package locks: the tables are made by one process at a time."""


class PostgresDriver:
    """Connections to one database.

    Raises:
        ConfigError: psycopg is not installed, or the URL cannot be read.

    """

    mark = "%s"

    def __init__(self, url: str) -> None:
        try:
            import psycopg
            from psycopg.conninfo import conninfo_to_dict
        except ImportError:
            raise missing_extra("a ledger in PostgreSQL", "postgres") from None
        try:
            parts = conninfo_to_dict(url)
        except psycopg.Error as error:
            # The message may repeat the URL, and with it a password.
            raise ConfigError(
                f"`place` is a PostgreSQL URL that cannot be read ({type(error).__name__}); "
                "write postgresql://user@host:5432/database"
            ) from None
        self._psycopg = psycopg
        self._url = url
        host, port = parts.get("host") or "", parts.get("port")
        user = f"{parts['user']}@" if parts.get("user") else ""
        at = f"{user}{host}{f':{port}' if port else ''}"
        self.place = f"postgresql://{at}/{parts.get('dbname') or ''}"
        """The URL, without its password and options."""
        self._connection: Any = None
        self._lock = threading.Lock()

    @contextlib.contextmanager
    def transaction(self) -> Iterator[Any]:
        """A transaction that writes; no connection is trusted after a failure."""
        if not self._lock.acquire(timeout=LOCK_SECONDS):
            raise UsageStoreError(f"the ledger at {self.place} cannot be used: it is locked")
        try:
            if self._connection is None or self._connection.closed:
                self._connection = self._connected()
            self._connection.execute("BEGIN")
            yield self._connection
            self._connection.execute("COMMIT")
        except BaseException:
            self._drop_connection()
            raise
        finally:
            self._lock.release()

    def _connected(self) -> Any:
        """A connection in autocommit mode that gives up on a server that does not answer."""
        return self._psycopg.connect(
            self._url,
            autocommit=True,
            connect_timeout=CONNECT_SECONDS,
            application_name="ethos-registry",
            options=f"-c statement_timeout={STATEMENT_MILLISECONDS}",
            keepalives_idle=10,
            keepalives_interval=5,
            keepalives_count=3,
            tcp_user_timeout=STATEMENT_MILLISECONDS,
        )

    def make_tables(self, connection: Any) -> None:
        """Alone: `IF NOT EXISTS` fails where two processes are at it."""
        connection.execute(f"SELECT pg_advisory_xact_lock({_SCHEMA_LOCK})")
        identity = "BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY"
        for statement in tables(identity=identity, clustered=""):
            connection.execute(statement)

    @contextlib.contextmanager
    def snapshot(self, *, is_locked: bool) -> Iterator[Any]:
        """The rows of one moment, in a transaction that cannot write."""
        with contextlib.closing(self._connected()) as connection:
            found = connection.execute("SELECT to_regclass('ethos_usage_version')").fetchone()
            if found is None or found[0] is None:
                raise NothingStoredError(
                    f"there is no ledger at {self.place}: nothing was recorded there"
                )
            connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
            yield connection

    def close(self) -> None:
        with self._lock:
            self._drop_connection()

    def _drop_connection(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            with contextlib.suppress(self._psycopg.Error, OSError):
                connection.close()

    def after_fork_in_child(self) -> object:
        """In a child after `fork`: the connection, which only the parent may use or close."""
        connection, self._connection = self._connection, None
        self._lock = threading.Lock()
        return connection

    def explained(self, error: BaseException) -> str | None:
        """The first line of what the server or the connection reports."""
        if isinstance(error, self._psycopg.Error | OSError):
            lines = str(error).strip().splitlines() or [type(error).__name__]
            return lines[0]
        return None


BUSY_SECONDS = 5.0
"""How long a write waits for another thread or process before it is tried again later."""
_APPLICATION_ID = 0x45746855
"""Identifies a ledger, so that another program's database is never changed."""


class SqliteDriver:
    """One file."""

    mark = "?"

    def __init__(self, path: str) -> None:
        self.place = path
        self._file = SqliteFile(
            path,
            tables(identity="INTEGER PRIMARY KEY", clustered=" WITHOUT ROWID"),
            application_id=_APPLICATION_ID,
            # A crash of the process loses nothing committed; one of the machine may lose the last.
            synchronous="NORMAL",
            busy_seconds=BUSY_SECONDS,
        )

    def transaction(self) -> AbstractContextManager[Any]:
        return self._file.transaction()

    def make_tables(self, connection: Any) -> None:
        """Nothing: the file is created with them."""

    @contextlib.contextmanager
    def snapshot(self, *, is_locked: bool) -> Iterator[Any]:
        try:
            with self._file.snapshot(0.0 if is_locked else None) as connection:
                yield connection
        except FileNotFoundError:
            raise NothingStoredError(
                f"there is no ledger at {self.place}: nothing was recorded there"
            ) from None

    def close(self) -> None:
        with contextlib.suppress(sqlite3.Error):
            self._file.close()

    def after_fork_in_child(self) -> object:
        """Nothing: a SQLite file takes care of forks itself."""
        return None

    def explained(self, error: BaseException) -> str | None:
        """What SQLite or the system reports."""
        return sqlite_problem(error) if isinstance(error, sqlite3.Error | OSError) else None
