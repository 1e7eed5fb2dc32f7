"""A ledger in a file of SQLite."""

from __future__ import annotations

import contextlib
import os
import sqlite3
from typing import Any
from urllib.parse import quote

from ethos_registry._persistence.files import make_private_file, retried_while_locked
from ethos_registry.types._errors import ConfigError
from ethos_registry.types._extras import missing_extra
from ethos_registry.usage._record import NothingStoredError

__all__ = ["PostgresDriver", "SqliteDriver"]


# A ledger in PostgreSQL, for several machines; psycopg comes with the extra `postgres`.

CONNECT_SECONDS = 5
STATEMENT_MILLISECONDS = 30_000
_SCHEMA_LOCK = 0x_E7_05_0001
"""A number that only this package locks: the tables are made by one process at a time."""


class PostgresDriver:
    """Connections to one database.

    Raises:
        ConfigError: psycopg is not installed, or the URL cannot be read.

    """

    mark = "%s"
    identity = "BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY"
    clustered = ""
    lock_seconds = 2 * STATEMENT_MILLISECONDS / 1_000

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
        self._place = f"postgresql://{at}/{parts.get('dbname') or ''}"

    @property
    def place(self) -> str:
        """The URL, without its password and options."""
        return self._place

    def connect(self, wait_seconds: float = 0.0) -> Any:
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

    def connect_to_read(self, wait_seconds: float) -> Any:
        """The same; the transaction that reads cannot write."""
        connection = self.connect()
        found = connection.execute("SELECT to_regclass('ethos_usage_version')").fetchone()
        if found is None or found[0] is None:
            connection.close()
            raise NothingStoredError(
                f"there is no ledger at {self._place}: nothing was recorded there"
            )
        return connection

    def begin(self, connection: Any, wait_seconds: float) -> None:
        """Start a transaction."""
        connection.execute("BEGIN")

    def lock_schema(self, connection: Any) -> None:
        """Make the tables alone: `IF NOT EXISTS` fails where two processes are at it."""
        connection.execute(f"SELECT pg_advisory_xact_lock({_SCHEMA_LOCK})")

    def begin_to_read(self, connection: Any) -> None:
        """A transaction over the rows of now."""
        connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")

    def execute_many(self, connection: Any, statement: str, rows: list[tuple[Any, ...]]) -> None:
        """Execute a statement for each row, in one exchange with the server."""
        with connection.cursor() as cursor:
            cursor.executemany(statement, rows)

    def close(self, connection: Any) -> None:
        """Close the connection."""
        with contextlib.suppress(self._psycopg.Error, OSError):
            connection.close()

    def is_usable(self, connection: Any) -> bool:
        """Whether the connection is not known to be broken."""
        return not connection.closed

    def outlives(self, error: BaseException) -> bool:
        """No connection is trusted after a failure."""
        return False

    def explained(self, error: BaseException) -> str | None:
        """The first line of what the server or the connection reports."""
        if isinstance(error, self._psycopg.Error | OSError):
            lines = str(error).strip().splitlines() or [type(error).__name__]
            return f"cannot be used: {lines[0]}"
        return None


BUSY_SECONDS = 5.0
"""How long a write waits for another process before it is tried again later."""
_CORRUPT = ("not a database", "malformed", "corrupt")


class SqliteDriver:
    """Connections to one file."""

    mark = "?"
    identity = "INTEGER PRIMARY KEY"
    clustered = " WITHOUT ROWID"

    @property
    def lock_seconds(self) -> float:
        """How long a write waits for others, in this process and in others."""
        return BUSY_SECONDS

    def __init__(self, path: str) -> None:
        self._path = path
        self._file: tuple[int, int] | None = None

    @property
    def place(self) -> str:
        """The path."""
        return self._path

    def connect(self, wait_seconds: float) -> Any:
        """A connection for writing: write-ahead log, a process crash loses nothing committed."""
        with contextlib.suppress(OSError):  # SQLite reports it better
            make_private_file(self._path)
        # `retried_while_locked` waits: SQLite's own time would begin again at each statement.
        connection = self._opened(f"file:{quote(os.path.abspath(self._path))}?mode=rwc", 0.0)
        try:
            retried_while_locked(
                lambda: connection.execute("PRAGMA journal_mode = WAL").close(), wait_seconds
            )
            connection.execute("PRAGMA synchronous = NORMAL").close()
        except BaseException:
            connection.close()
            raise
        self._file = _identity(self._path)
        return connection

    def connect_to_read(self, wait_seconds: float) -> Any:
        """A connection that changes nothing."""
        path = os.path.abspath(self._path)
        if not os.path.exists(path):
            raise NothingStoredError(
                f"there is no ledger at {self._path}: nothing was recorded there"
            )
        address = f"file:{quote(path)}?mode=ro"
        connection = self._opened(address, wait_seconds)
        try:
            connection.execute("SELECT COUNT(*) FROM sqlite_schema").fetchone()
        except sqlite3.OperationalError as error:
            connection.close()
            # A full disk and a read-only folder have no room for the shared memory of a
            # write-ahead log. An empty log holds nothing that would be missed without it.
            if "locked" in str(error) or _size_bytes(f"{path}-wal") > 0:
                raise
            connection = self._opened(f"{address}&immutable=1", wait_seconds)
        return connection

    def _opened(self, address: str, wait_seconds: float) -> sqlite3.Connection:
        return sqlite3.connect(
            address,
            timeout=wait_seconds,
            isolation_level=None,
            check_same_thread=False,
            uri=True,
        )

    def begin(self, connection: Any, wait_seconds: float) -> None:
        """Take the write lock at once: a transaction that only later turns to writing may fail."""
        retried_while_locked(lambda: connection.execute("BEGIN IMMEDIATE"), wait_seconds)

    def lock_schema(self, connection: Any) -> None:
        """Nothing: the transaction has the only write lock."""

    def begin_to_read(self, connection: Any) -> None:
        """A transaction over the rows of now."""
        connection.execute("BEGIN")

    def execute_many(self, connection: Any, statement: str, rows: list[tuple[Any, ...]]) -> None:
        """Execute a statement for each row."""
        connection.executemany(statement, rows)

    def close(self, connection: Any) -> None:
        """Close the file."""
        with contextlib.suppress(sqlite3.Error):
            connection.close()

    def is_usable(self, connection: Any) -> bool:
        """Whether the file is still the one that was opened; a removed one takes lost writes."""
        return _identity(self._path) == self._file

    def outlives(self, error: BaseException) -> bool:
        """A file that is locked or a disk that is full; readers need what is open meanwhile."""
        return isinstance(error, sqlite3.OperationalError)

    def explained(self, error: BaseException) -> str | None:
        """What SQLite or the system reports."""
        if isinstance(error, sqlite3.Error):
            text = str(error)
            if any(word in text for word in _CORRUPT):
                return (
                    f"is damaged or is not a ledger ({text}): move it away, and a new one is made"
                )
            if "no such table: ethos_usage" in text:
                return "is a database without the tables of a ledger"
            return f"cannot be used: {text}"
        if isinstance(error, OSError):
            return f"cannot be used: {error.strerror or error}"
        return None


def _size_bytes(path: str) -> int:
    try:
        return os.stat(path).st_size
    except OSError:
        return 0


def _identity(path: str) -> tuple[int, int] | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino
