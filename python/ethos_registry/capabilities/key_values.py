"""Values that outlive a call, for tools: `context.kv_store`."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from ethos_registry.contract.errors import EthosRegistryError

__all__ = [
    "KeyValueDatabase",
    "KeyValueError",
    "KeyValues",
    "QuotaExceededError",
    "SyncKeyValues",
]

R = TypeVar("R")

_SCHEMA = """
CREATE TABLE IF NOT EXISTS entries (
    scope TEXT NOT NULL,
    key TEXT NOT NULL,
    value TEXT NOT NULL,
    is_json INTEGER NOT NULL,
    size_bytes INTEGER NOT NULL,
    expires_at REAL,
    PRIMARY KEY (scope, key)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS entries_expiry ON entries (expires_at) WHERE expires_at IS NOT NULL;
"""
_LIVE = "(expires_at IS NULL OR expires_at > :now)"
_MAX_KEY_CHARS = 512
_BUSY_SECONDS = 10.0
_FOREVER = None


class KeyValueError(EthosRegistryError, OSError):
    """The store failed: a full disk, a damaged file, a key or value that cannot be stored."""


class QuotaExceededError(KeyValueError):
    """A scope is full; nothing was changed."""


class KeyValueDatabase:
    """One SQLite file for the values of all scopes; safe under many threads and processes.

    `path=":memory:"` keeps them in this process. Each scope holds at most `max_keys` live keys and
    `max_bytes` of keys and values. Expired values do not count and are deleted at the next write of
    any scope. When `set` returns, the value is on the disk.

    >>> database = KeyValueDatabase(":memory:")
    >>> notes = database.scope("session:1").sync
    >>> notes.set("city", "Oslo")
    >>> notes.get("city"), notes.get("other")
    ('Oslo', None)
    >>> database.close()
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        max_keys: int = 10_000,
        max_bytes: int = 10 * 1024 * 1024,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._path = os.fspath(path)
        self.max_keys = max_keys
        self.max_bytes = max_bytes
        self._now = now
        self._lock = threading.RLock()
        self._connection: sqlite3.Connection | None = None
        self._owner_pid = 0

    def scope(self, scope: str) -> KeyValues:
        """The values of one scope, for example `tool:notes` or `session:42`."""
        return KeyValues(self, scope)

    def close(self) -> None:
        """Close the file; the next use opens it again."""
        with self._lock:
            if self._connection is not None and self._owner_pid == os.getpid():
                self._connection.close()
            self._connection = None

    def __del__(self) -> None:
        with contextlib.suppress(Exception):
            self.close()

    def run(self, work: Callable[[sqlite3.Connection, float], R]) -> R:
        """`work` in one transaction; `KeyValueError` for whatever SQLite raises."""
        try:
            with self._lock, self._transaction() as connection:
                return work(connection, self._now())
        except sqlite3.Error as error:
            raise KeyValueError(f"the key-value store {self._path} failed: {error}") from error

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        connection = self._opened()
        connection.execute("BEGIN IMMEDIATE")
        try:
            yield connection
        except BaseException:
            connection.execute("ROLLBACK")
            raise
        connection.execute("COMMIT")

    def read(self, work: Callable[[sqlite3.Connection, float], R]) -> R:
        """`work`, which only reads."""
        try:
            with self._lock:
                return work(self._opened(), self._now())
        except sqlite3.Error as error:
            raise KeyValueError(f"the key-value store {self._path} failed: {error}") from error

    def _opened(self) -> sqlite3.Connection:
        """A connection of this process; one that a fork copied must not be used."""
        if self._connection is None or self._owner_pid != os.getpid():
            if self._path != ":memory:":
                # SQLite makes the file with the umask's mode; values belong to the owner only.
                descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600)
                os.close(descriptor)
            connection = sqlite3.connect(
                self._path, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False
            )
            connection.execute("PRAGMA journal_mode=WAL")
            connection.execute("PRAGMA synchronous=FULL")
            connection.executescript(_SCHEMA)
            self._connection, self._owner_pid = connection, os.getpid()
        return self._connection


class SyncKeyValues:
    """The values of one scope, for plain functions; see `KeyValues`."""

    __slots__ = ("_database", "_scope")

    def __init__(self, database: KeyValueDatabase, scope: str) -> None:
        self._database = database
        self._scope = scope

    def get(self, key: str) -> Any:
        """The value, or `None`."""

        def work(connection: sqlite3.Connection, now: float) -> Any:
            row = connection.execute(
                f"SELECT value, is_json FROM entries WHERE scope=:scope AND key=:key AND {_LIVE}",
                {"scope": self._scope, "key": key, "now": now},
            ).fetchone()
            return None if row is None else json.loads(row[0]) if row[1] else row[0]

        return self._database.read(work)

    def set(self, key: str, value: Any, *, ttl_seconds: float | None = None) -> None:
        """Store text or a JSON value, permanently or for some seconds.

        Raises `QuotaExceededError` if the scope has no room, `KeyValueError` for a key that is
        empty or longer than 512 characters and for a value that is not JSON.
        """
        if not isinstance(key, str) or not 0 < len(key) <= _MAX_KEY_CHARS:
            raise KeyValueError(f"a key must be a string of 1 to {_MAX_KEY_CHARS} characters")
        if ttl_seconds is not None and not ttl_seconds > 0:
            raise KeyValueError(f"`ttl_seconds` must be greater than 0, got {ttl_seconds!r}")
        is_json = not isinstance(value, str)
        try:
            text = json.dumps(value, allow_nan=False, ensure_ascii=False) if is_json else value
            size = len(key.encode()) + len(text.encode())
        except (TypeError, ValueError, RecursionError) as error:
            raise KeyValueError(f"the value of {key!r} is not text or JSON: {error}") from None
        self._database.run(
            lambda connection, now: self._store(
                connection, now, key, text, is_json, size, ttl_seconds
            )
        )

    def _store(
        self,
        connection: sqlite3.Connection,
        now: float,
        key: str,
        text: str,
        is_json: bool,
        size: int,
        ttl_seconds: float | None,
    ) -> None:
        database = self._database
        connection.execute("DELETE FROM entries WHERE expires_at <= ?", (now,))
        count, used = connection.execute(
            "SELECT COUNT(*), COALESCE(SUM(size_bytes), 0) FROM entries WHERE scope=? AND key<>?",
            (self._scope, key),
        ).fetchone()
        if count + 1 > database.max_keys:
            raise QuotaExceededError(
                f"{self._scope} has {count} keys, its limit; delete some first"
            )
        if used + size > database.max_bytes:
            raise QuotaExceededError(
                f"{self._scope} has {used} bytes; {size} more exceed its limit of "
                f"{database.max_bytes}; delete something first"
            )
        connection.execute(
            "INSERT INTO entries VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (scope, key) DO UPDATE SET "
            "value=excluded.value, is_json=excluded.is_json, size_bytes=excluded.size_bytes, "
            "expires_at=excluded.expires_at",
            (
                self._scope,
                key,
                text,
                is_json,
                size,
                _FOREVER if ttl_seconds is None else now + ttl_seconds,
            ),
        )

    def delete(self, key: str) -> bool:
        """Delete a value; returns whether there was one."""

        def work(connection: sqlite3.Connection, now: float) -> bool:
            found = connection.execute(
                f"SELECT 1 FROM entries WHERE scope=:scope AND key=:key AND {_LIVE}",
                {"scope": self._scope, "key": key, "now": now},
            ).fetchone()
            connection.execute("DELETE FROM entries WHERE scope=? AND key=?", (self._scope, key))
            return found is not None

        return self._database.run(work)

    def list(self, prefix: str = "") -> list[str]:
        """The keys that start with `prefix`, sorted by code point."""

        def work(connection: sqlite3.Connection, now: float) -> list[str]:
            rows = connection.execute(
                "SELECT key FROM entries WHERE scope=:scope AND substr(key, 1, :length)=:prefix "
                f"AND {_LIVE} ORDER BY key",
                {"scope": self._scope, "prefix": prefix, "length": len(prefix), "now": now},
            )
            return [row[0] for row in rows]

        return self._database.read(work)


class KeyValues:
    """The values of one scope, for `async` tools; `sync` has the methods for plain functions."""

    __slots__ = ("sync",)

    sync: SyncKeyValues

    def __init__(self, database: KeyValueDatabase, scope: str) -> None:
        self.sync = SyncKeyValues(database, scope)

    async def get(self, key: str) -> Any:
        """The value, or `None`."""
        return await asyncio.to_thread(self.sync.get, key)

    async def set(self, key: str, value: Any, *, ttl_seconds: float | None = None) -> None:
        """Store text or a JSON value; see `SyncKeyValues.set` for limits and errors."""
        await asyncio.to_thread(self.sync.set, key, value, ttl_seconds=ttl_seconds)

    async def delete(self, key: str) -> bool:
        """Delete a value; returns whether there was one."""
        return await asyncio.to_thread(self.sync.delete, key)

    async def list(self, prefix: str = "") -> list[str]:
        """The keys that start with `prefix`, sorted by code point."""
        return await asyncio.to_thread(self.sync.list, prefix)
