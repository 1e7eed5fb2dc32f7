"""Where a ledger keeps its counts."""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias
from uuid import uuid4

from ethos_registry._persistence.background_writer import Store
from ethos_registry.types import _checks
from ethos_registry.types._errors import ConfigError
from ethos_registry.types._usage_limits import LimitKey, UsageAmounts
from ethos_registry.usage._record import (
    CountedCalls,
    KnownTool,
    UsageBatch,
    UsageFilter,
    UsageRow,
    UsageStoreError,
    sums_by_key,
)
from ethos_registry.usage._schema import COUNT_TABLES, SCHEMA_VERSION, additive_upsert
from ethos_registry.usage._sql_rows import Statements, count_rows, read_facts

if TYPE_CHECKING:  # each is imported with its database
    from ethos_registry.usage._databases import PostgresDriver, SqliteDriver

# A ledger's store over SQL: what SQLite and PostgreSQL have in common.

FORGOTTEN_AFTER_SECONDS = 90 * 86_400.0
"""The mark of a writer's last batch is dropped when nothing came from it for so long."""


class SqlStore(Store):
    """Writes batches and reads reports; opens its connection when it first needs one.

    Every failure is a `UsageStoreError`, after which the next attempt opens a new connection.
    """

    def __init__(self, driver: SqliteDriver | PostgresDriver) -> None:
        self._driver = driver
        self._writer = uuid4().hex
        self._known: tuple[Any, dict[str, int]] = (None, {})
        """A connection whose tables were checked, and the ids of names in its database."""

    @property
    def place(self) -> str:
        """What messages call the database."""
        return self._driver.place

    def write(self, batch: UsageBatch) -> None:
        """Store a batch, once: one whose earlier attempt was committed after all adds nothing."""
        with self._transaction() as connection:
            ids = self._known[1]
            names = self._write(connection, batch, ids)
        ids.update(names)

    def count(self, keys: Sequence[LimitKey], decide: Decide) -> None:
        """Add what `decide` returns to each key, given what was used; nothing comes in between."""
        mark = self._driver.mark
        where = f"WHERE scope = {mark} AND key = {mark} AND day = {mark}"
        with self._transaction() as connection:
            # Locks the rows, in one order everywhere: two writers never wait for each other's.
            for key in sorted(keys):
                connection.execute(
                    "INSERT INTO ethos_usage_limits "
                    "(scope, key, day, calls, cost_nano_usd, tokens, counted_at) "
                    f"VALUES ({mark}, {mark}, {mark}, 0, 0, 0, {mark}) ON CONFLICT (scope, key, "
                    "day) DO UPDATE SET counted_at = excluded.counted_at",
                    (*key, time.time()),
                )
            read = f"SELECT calls, cost_nano_usd, tokens FROM ethos_usage_limits {where}"
            used = [UsageAmounts(*connection.execute(read, tuple(key)).fetchone()) for key in keys]
            added = decide(used)
            for key, before in zip(keys, used, strict=True):
                connection.execute(
                    f"UPDATE ethos_usage_limits SET calls = {mark}, cost_nano_usd = {mark}, "
                    f"tokens = {mark} {where}",
                    (*summed(before, added), *key),
                )

    def read(self, wanted: UsageFilter, *, is_locked: bool = False) -> UsageRow:
        """What is stored, filtered and summed up. Does not wait again if it `is_locked`."""
        with self._failures(), self._driver.snapshot(is_locked=is_locked) as connection:
            self._check_version(connection)
            return read_facts(Statements(connection, self._driver.mark), wanted)

    def close(self) -> None:
        self._driver.close()

    # One transaction

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[Any]:
        with self._failures(), self._driver.transaction() as connection:
            if connection is not self._known[0]:
                self._prepare(connection)
                # The database behind the same address may be another than before.
                self._known = (connection, {})
            yield connection

    def _prepare(self, connection: Any) -> None:
        self._driver.make_tables(connection)
        self._check_version(connection)
        for table, also in (
            ("ethos_usage_writers WHERE written_at", ""),
            ("ethos_usage_limits WHERE counted_at", " AND (scope = 'run' OR day >= 0)"),
        ):
            connection.execute(
                f"DELETE FROM {table} < {self._driver.mark}{also}",
                (time.time() - FORGOTTEN_AFTER_SECONDS,),
            )

    def _check_version(self, connection: Any) -> None:
        found = connection.execute("SELECT MAX(version) FROM ethos_usage_version").fetchone()[0]
        if found is not None and found != SCHEMA_VERSION:
            is_newer = found > SCHEMA_VERSION
            raise UsageStoreError(
                f"the ledger at {self.place} was written by "
                f"{'a newer' if is_newer else 'an unreleased'} version of ethos-registry "
                f"(tables {found}, this one reads {SCHEMA_VERSION}): "
                f"{'install that version' if is_newer else 'name another place'}"
            )

    def _write(
        self, connection: Any, batch: UsageBatch, known: Mapping[str, int]
    ) -> dict[str, int]:
        """The ids of names that were not known."""
        mark, execute = self._driver.mark, connection.execute
        last = execute(
            f"SELECT batch FROM ethos_usage_writers WHERE writer = {mark}", (self._writer,)
        ).fetchone()
        if last is not None and last[0] == batch.uuid:
            return {}  # committed by an attempt whose answer was lost
        execute(
            "INSERT INTO ethos_usage_writers (writer, batch, written_at) "
            f"VALUES ({mark}, {mark}, {mark}) ON CONFLICT (writer) DO UPDATE "
            "SET batch = excluded.batch, written_at = excluded.written_at",
            (self._writer, batch.uuid, time.time()),
        )
        new_names = self._number_names(connection, batch, known)
        ids = {**known, **new_names}
        tools = [(ids[name], ids[owner], *others) for name, owner, *others in batch.tools]
        for statement, rows in (
            *zip(
                (additive_upsert(table, mark) for table in COUNT_TABLES),
                count_rows(batch.counts, ids),
                strict=True,
            ),
            (_put_tools(mark), tools),
        ):
            if rows:
                # In one order everywhere: two writers never wait for each other's rows.
                connection.cursor().executemany(statement, sorted(rows))
        return new_names

    def _number_names(
        self, connection: Any, batch: UsageBatch, known: Mapping[str, int]
    ) -> dict[str, int]:
        mark = self._driver.mark
        names = {name for key in batch.counts for name in (key.agent, key.owner, key.tool)}
        names |= {key.outcome for key in batch.counts}
        names |= {name for tool in batch.tools for name in (tool.name, tool.owner)}
        new = sorted(names - known.keys())
        if not new:
            return {}
        connection.cursor().executemany(
            f"INSERT INTO ethos_usage_names (name) VALUES ({mark}) ON CONFLICT (name) DO NOTHING",
            [(name,) for name in new],
        )
        ids = {}
        for start in range(0, len(new), 500):
            some = new[start : start + 500]
            found = connection.execute(
                "SELECT name, id FROM ethos_usage_names "
                f"WHERE name IN ({', '.join([mark] * len(some))})",
                tuple(some),
            )
            ids.update(found.fetchall())
        return ids

    # Failures

    @contextlib.contextmanager
    def _failures(self) -> Iterator[None]:
        try:
            yield
        except Exception as error:
            problem = self._driver.explained(error)
            if problem is None:
                raise
            raise UsageStoreError(
                f"the ledger at {self.place} cannot be used: {problem}"
            ) from error

    def after_fork_in_child(self) -> object:
        """In a child after `fork`: the connections, which only the parent may use or close."""
        known, self._known = self._known, (None, {})
        return known, self._driver.after_fork_in_child()


def _put_tools(mark: str) -> str:
    # The first registration counts: a tool is as old as the catalogue knows it.
    return (
        "INSERT INTO ethos_usage_tools "
        "(tool_id, owner_id, description, parameter_count, registered_at) "
        f"VALUES ({', '.join([mark] * 5)}) ON CONFLICT (tool_id) DO UPDATE "
        "SET owner_id = excluded.owner_id, description = excluded.description, "
        "parameter_count = excluded.parameter_count, registered_at = CASE "
        "WHEN excluded.registered_at < ethos_usage_tools.registered_at "
        "THEN excluded.registered_at ELSE ethos_usage_tools.registered_at END"
    )


MEMORY = ":memory:"
_POSTGRES = ("postgresql://", "postgres://")

Decide: TypeAlias = Callable[[Sequence[UsageAmounts]], UsageAmounts]
_MOST = 2**62
"""A sum that a database stores."""
_MOST_KEYS = 100_000
"""How many runs, days and tenants are kept in memory."""


def summed(used: UsageAmounts, added: UsageAmounts) -> UsageAmounts:
    """Both together, never less than nothing."""
    return UsageAmounts(*(min(max(a + b, 0), _MOST) for a, b in zip(used, added, strict=True)))


class MemoryStore(Store):
    """Keeps everything in this process, as long as it runs, closed or not."""

    place = MEMORY

    def __init__(self) -> None:
        self._counts: CountedCalls = {}
        self._tools: dict[str, KnownTool] = {}
        self._used: dict[LimitKey, UsageAmounts] = {}
        self._lock = threading.Lock()

    def count(self, keys: Sequence[LimitKey], decide: Decide) -> None:
        """Add what `decide` returns to each key, given what was used."""
        with self._lock:
            used = [self._used.get(key, UsageAmounts()) for key in keys]
            added = decide(used)
            for key, before in zip(keys, used, strict=True):
                self._used.pop(key, None)  # the one that was counted last is the last one
                self._used[key] = summed(before, added)
            if len(self._used) > _MOST_KEYS:
                oldest = next((key for key in self._used if key.scope != "tenant"), None)
                self._used.pop(oldest or next(iter(self._used)))

    def write(self, batch: UsageBatch) -> None:
        with self._lock:
            self._counts = sums_by_key(chain(self._counts.items(), batch.counts.items()))
            self._tools.update((tool.name, tool) for tool in batch.tools)

    def read(self, wanted: UsageFilter, *, is_locked: bool = False) -> UsageRow:
        """What was added, filtered and summed up."""
        with self._lock:
            counts, tools = self._counts, list(self._tools.values())
        facts = UsageRow()
        facts.add_tools(tools)
        facts.add_counts(counts, wanted)
        return facts

    def after_fork_in_child(self) -> object:
        """Nothing; the child counts from zero."""
        self.__init__()  # type: ignore[misc]
        return None


UsageStore: TypeAlias = SqlStore | MemoryStore
"""Keeps batches; every failure is a `UsageStoreError`."""


def store_at(place: str | os.PathLike[str], *, is_read_only: bool = False) -> UsageStore:
    """The store that a path, a PostgreSQL URL or `:memory:` names; nothing is opened yet.

    `ConfigError` for a folder, for a path whose folder does not exist (unless `is_read_only`:
    reading reports that there is no ledger), and for a URL of another kind.
    """
    text = _checks.path(place, "place")
    if text == MEMORY:
        return MemoryStore()
    if text.startswith(_POSTGRES):
        from ethos_registry.usage._databases import PostgresDriver

        return SqlStore(PostgresDriver(text))
    if "://" in text:
        raise ConfigError(
            "`place` must be a path, ':memory:' or a URL that begins with postgresql://: "
            f"{_checks.brief(text.split('://')[0])}"
        )
    if os.path.isdir(text):
        raise ConfigError(f"`place` is a folder: {_checks.brief(text)}; name a file in it")
    folder = Path(text).absolute().parent
    if not is_read_only and not folder.is_dir():
        raise ConfigError(
            f"`place` is in a folder that does not exist: {_checks.brief(str(folder))}; "
            "make it first"
        )
    from ethos_registry.usage._databases import SqliteDriver

    return SqlStore(SqliteDriver(text))
