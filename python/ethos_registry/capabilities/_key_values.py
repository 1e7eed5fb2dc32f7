"""Values that outlive a call, for tools: `context.kv_store`."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import sqlite3
import time
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from ethos_registry._persistence.sqlite_file import SqliteFile, sqlite_problem
from ethos_registry.types._errors import EthosRegistryError

R = TypeVar("R")

_APPLICATION_ID = 0x4574684B
"""Identifies a key-value store, so that another program's database is never changed."""
_SCHEMA = (
    """
    CREATE TABLE entries (
        scope TEXT NOT NULL,
        key TEXT NOT NULL,
        value TEXT NOT NULL,
        is_json INTEGER NOT NULL,
        size_bytes INTEGER NOT NULL,
        expires_at REAL,
        PRIMARY KEY (scope, key)
    ) WITHOUT ROWID
    """,
    "CREATE INDEX entries_expiry ON entries (expires_at) WHERE expires_at IS NOT NULL",
    # Sums over `entries`, written in the same transactions: a quota costs one row, not a scan.
    """
    CREATE TABLE scopes (
        scope TEXT NOT NULL PRIMARY KEY,
        key_count INTEGER NOT NULL,
        size_bytes INTEGER NOT NULL
    ) WITHOUT ROWID
    """,
)
_LIVE = "(expires_at IS NULL OR expires_at > :now)"
_MAX_KEY_CHARS = 512


class KeyValueError(EthosRegistryError, OSError):
    """The store failed: a full disk, a damaged file, a key or value that cannot be stored."""

    __module__ = "ethos_registry.capabilities"


class QuotaExceededError(KeyValueError):
    """A scope is full; nothing was changed."""

    __module__ = "ethos_registry.capabilities"


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
        self._file = SqliteFile(self._path, _SCHEMA, application_id=_APPLICATION_ID)

    def scope(self, scope: str) -> KeyValues:
        """The values of one scope, for example `tool:notes` or `session:42`."""
        return KeyValues(self, scope)

    def close(self) -> None:
        """Close the file; the next use opens it again."""
        self._file.close()

    def run(self, work: Callable[[sqlite3.Connection, float], R]) -> R:
        """`work` in one transaction; `KeyValueError` for whatever SQLite or the system raises."""
        with self._failures(), self._file.transaction() as connection:
            return work(connection, self._now())

    def read(self, work: Callable[[sqlite3.Connection, float], R]) -> R:
        """`work`, which only reads."""
        with self._failures():
            return self._file.read(lambda connection: work(connection, self._now()))

    @contextlib.contextmanager
    def _failures(self) -> Iterator[None]:
        try:
            yield
        except KeyValueError:
            raise
        except (sqlite3.Error, OSError) as error:
            raise KeyValueError(
                f"the key-value store {self._path} failed: {sqlite_problem(error)}"
            ) from error


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
        database, scope = self._database, self._scope

        def work(connection: sqlite3.Connection, now: float) -> None:
            _delete_expired(connection, now)
            count, used = _used(connection, scope)
            old_size = _size_of(connection, scope, key)
            if old_size is not None:
                count, used = count - 1, used - old_size
            if count + 1 > database.max_keys:
                raise QuotaExceededError(f"{scope} has {count} keys, its limit; delete some first")
            if used + size > database.max_bytes:
                raise QuotaExceededError(
                    f"{scope} has {used} bytes; {size} more exceed its limit of "
                    f"{database.max_bytes}; delete something first"
                )
            expires_at = None if ttl_seconds is None else now + ttl_seconds
            connection.execute(
                "REPLACE INTO entries VALUES (?, ?, ?, ?, ?, ?)",
                (scope, key, text, is_json, size, expires_at),
            )
            _set_used(connection, scope, count + 1, used + size)

        database.run(work)

    def delete(self, key: str) -> bool:
        """Delete a value; returns whether there was one."""

        def work(connection: sqlite3.Connection, now: float) -> bool:
            _delete_expired(connection, now)
            size = _size_of(connection, self._scope, key)
            if size is None:
                return False
            connection.execute("DELETE FROM entries WHERE scope=? AND key=?", (self._scope, key))
            count, used = _used(connection, self._scope)
            _set_used(connection, self._scope, count - 1, used - size)
            return True

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


def _delete_expired(connection: sqlite3.Connection, now: float) -> None:
    """Delete what has expired in any scope; usually one look into an index."""
    expired = connection.execute(
        "SELECT scope, COUNT(*), SUM(size_bytes) FROM entries WHERE expires_at <= ? GROUP BY scope",
        (now,),
    ).fetchall()
    if not expired:
        return
    connection.execute("DELETE FROM entries WHERE expires_at <= ?", (now,))
    for scope, expired_count, expired_bytes in expired:
        count, used = _used(connection, scope)
        _set_used(connection, scope, count - expired_count, used - expired_bytes)


def _used(connection: sqlite3.Connection, scope: str) -> tuple[int, int]:
    """The keys and bytes of a scope."""
    found: tuple[int, int] | None = connection.execute(
        "SELECT key_count, size_bytes FROM scopes WHERE scope=?", (scope,)
    ).fetchone()
    return found or (0, 0)


def _set_used(connection: sqlite3.Connection, scope: str, count: int, size_bytes: int) -> None:
    if count == 0:
        connection.execute("DELETE FROM scopes WHERE scope=?", (scope,))
    else:
        connection.execute("REPLACE INTO scopes VALUES (?, ?, ?)", (scope, count, size_bytes))


def _size_of(connection: sqlite3.Connection, scope: str, key: str) -> int | None:
    found = connection.execute(
        "SELECT size_bytes FROM entries WHERE scope=? AND key=?", (scope, key)
    ).fetchone()
    return None if found is None else int(found[0])
