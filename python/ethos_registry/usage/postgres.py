"""A ledger in PostgreSQL, for several machines; psycopg comes with the extra `postgres`."""

from __future__ import annotations

import contextlib
from typing import Any

from ethos_registry.contract.errors import ConfigError
from ethos_registry.contract.extras import missing_extra
from ethos_registry.usage.errors import NothingStoredError

__all__ = ["PostgresDriver"]

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

    def connect(self) -> Any:
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

    def connect_to_read(self) -> Any:
        """The same; the transaction that reads cannot write."""
        connection = self.connect()
        found = connection.execute("SELECT to_regclass('ethos_usage_version')").fetchone()
        if found is None or found[0] is None:
            connection.close()
            raise NothingStoredError(
                f"there is no ledger at {self._place}: nothing was recorded there"
            )
        return connection

    def begin(self, connection: Any) -> None:
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
