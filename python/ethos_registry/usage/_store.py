"""Where a ledger keeps its counts."""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypeAlias, TypeVar
from uuid import uuid4

from ethos_registry.types import _checks
from ethos_registry.types._errors import ConfigError
from ethos_registry.types._usage_limits import LimitKey, UsageAmounts
from ethos_registry.usage import _sql_rows
from ethos_registry.usage._record import (
    CountedCalls,
    KnownTool,
    UsageBatch,
    UsageFilter,
    UsageRow,
    UsageStoreError,
    merged,
)
from ethos_registry.usage._schema import (
    ADDED,
    SCHEMA_VERSION,
    SPAN_DURATION_KEYS,
    SPAN_KEYS,
    additive_upsert,
)
from ethos_registry.usage._sql_rows import Rows, read_facts

# A ledger's store over SQL: what SQLite and PostgreSQL have in common.

FORGOTTEN_AFTER_SECONDS = 90 * 86_400.0
"""The mark of a writer's last batch is dropped when nothing came from it for so long."""


class Driver(Protocol):
    """What differs between databases."""

    mark: str
    """The placeholder of a value in a statement."""
    place: str
    """What messages call the database; without a password."""

    def transaction(self) -> AbstractContextManager[Any]:
        """A connection of this thread alone, in a transaction that writes.

        Waits for other threads and processes, a bounded time in all.
        """

    def make_tables(self, connection: Any) -> None:
        """Make the tables where they are missing, at the start of a connection."""

    def snapshot(self, *, is_locked: bool) -> AbstractContextManager[Any]:
        """A connection that reads the rows of one moment; does not wait if it `is_locked`.

        `NothingStoredError` where nothing is stored yet.
        """

    def execute_many(self, connection: Any, statement: str, rows: Rows) -> None:
        """Execute a statement for each row."""

    def close(self) -> None:
        """Close what is open; a failure is ignored."""

    def after_fork_in_child(self) -> object:
        """In a child after `fork`: the connection, which only the parent may use or close."""

    def explained(self, error: BaseException) -> str | None:
        """What went wrong, for a message; `None` for what is not the database's failure."""


class SqlStore:
    """Writes batches and reads reports; opens its connection when it first needs one.

    Every failure is a `UsageStoreError`, after which the next attempt opens a new connection.
    """

    def __init__(self, driver: Driver, *, writer: str) -> None:
        self._driver = driver
        self._writer = writer
        self._known: tuple[Any, dict[str, int]] = (None, {})
        """A connection whose tables were checked, and the ids of names in its database."""
        mark = driver.mark
        cell_keys = ("agent_id", "tool_id", "day", "owner_id", "outcome_id", "bucket")
        total_keys = ("agent_id", "tool_id", "owner_id", "outcome_id", "reached")
        day_keys = ("day", "agent_id", "outcome_id", "reached")
        self._add_cells = additive_upsert("ethos_usage_cells", cell_keys, ADDED, mark)
        self._add_totals = additive_upsert("ethos_usage_totals", total_keys, ADDED, mark)
        self._add_durations = additive_upsert(
            "ethos_usage_durations", ("tool_id", "bucket"), ("calls",), mark
        )
        self._add_days = additive_upsert("ethos_usage_days", day_keys, ("calls",), mark)
        self._add_spans = additive_upsert("ethos_usage_spans", SPAN_KEYS, ADDED, mark)
        self._add_span_durations = additive_upsert(
            "ethos_usage_span_durations", SPAN_DURATION_KEYS, ("calls",), mark
        )

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
        """Add what `decide` returns to each key, given what was used."""
        with self._transaction() as connection:
            self._count(connection, keys, decide)

    def read(self, wanted: UsageFilter, *, is_locked: bool = False) -> UsageRow:
        """What is stored, filtered and summed up. Does not wait again if it `is_locked`."""
        with self._failures(), self._driver.snapshot(is_locked=is_locked) as connection:
            self._check_version(connection)
            return read_facts(_Statements(connection, self._driver.mark), wanted)

    def close(self) -> None:
        """Close the connection."""
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
        many = self._driver.execute_many
        for statement, values in (
            (self._add_cells, _sql_rows.cells(batch.counts, ids)),
            (self._add_totals, _sql_rows.totals(batch.counts, ids)),
            (self._add_durations, _sql_rows.durations(batch.counts, ids)),
            (self._add_days, _sql_rows.days(batch.counts, ids)),
            (self._add_spans, _sql_rows.spans(batch.counts, ids)),
            (self._add_span_durations, _sql_rows.span_durations(batch.counts, ids)),
            (_put_tools(mark), _sql_rows.tools(batch.tools, ids)),
        ):
            if values:
                # In one order everywhere: two writers never wait for each other's rows.
                many(connection, statement, sorted(values))
        return new_names

    def _count(self, connection: Any, keys: Sequence[LimitKey], decide: Decide) -> None:
        mark, execute = self._driver.mark, connection.execute
        where = f"WHERE scope = {mark} AND key = {mark} AND day = {mark}"
        # Locks the rows, in one order everywhere: two writers never wait for each other's.
        for key in sorted(keys):
            execute(
                "INSERT INTO ethos_usage_limits "
                "(scope, key, day, calls, cost_nano_usd, tokens, counted_at) "
                f"VALUES ({mark}, {mark}, {mark}, 0, 0, 0, {mark}) ON CONFLICT (scope, key, day) "
                "DO UPDATE SET counted_at = excluded.counted_at",
                (*key, time.time()),
            )
        read = f"SELECT calls, cost_nano_usd, tokens FROM ethos_usage_limits {where}"
        used = [UsageAmounts(*execute(read, tuple(key)).fetchone()) for key in keys]
        added = decide(used)
        for key, before in zip(keys, used, strict=True):
            execute(
                f"UPDATE ethos_usage_limits SET calls = {mark}, cost_nano_usd = {mark}, "
                f"tokens = {mark} {where}",
                (*summed(before, added), *key),
            )

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
        self._driver.execute_many(
            connection,
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


class _Statements(NamedTuple):
    """Runs the statements of a report, written with `?` for values."""

    connection: Any
    mark: str

    def rows(self, statement: str, values: Sequence[Any] = ()) -> Iterable[tuple[Any, ...]]:
        """All rows of a query."""
        text = statement if self.mark == "?" else statement.replace("?", self.mark)
        found: Rows = self.connection.execute(text, tuple(values)).fetchall()
        return found


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


T = TypeVar("T")
Decide: TypeAlias = Callable[[Sequence[UsageAmounts]], UsageAmounts]
_MOST = 2**62
"""A sum that a database stores."""
_MOST_KEYS = 100_000
"""How many runs, days and tenants are kept in memory."""


def summed(used: UsageAmounts, added: UsageAmounts) -> UsageAmounts:
    """Both together, never less than nothing."""
    return UsageAmounts(*(min(max(a + b, 0), _MOST) for a, b in zip(used, added, strict=True)))


class UsageStore(Protocol):
    """Keeps batches; every failure is a `UsageStoreError`."""

    @property
    def place(self) -> str:
        """What messages call it."""

    def write(self, batch: UsageBatch) -> None:
        """Store a batch, once, however often it is tried."""

    def count(self, keys: Sequence[LimitKey], decide: Decide) -> None:
        """Add what `decide` returns to each key, given what was used; nothing comes in between."""

    def read(self, wanted: UsageFilter, *, is_locked: bool = False) -> UsageRow:
        """What is stored, filtered and summed up. Does not wait again if it `is_locked`."""

    def close(self) -> None:
        """Let go of files and connections."""

    def after_fork_in_child(self) -> object:
        """In a child after `fork`: what only the parent may use; hold it and do not touch it."""


class MemoryStore:
    """Keeps everything in this process, as long as it runs."""

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
        """Add a batch."""
        with self._lock:
            self._counts = merged([self._counts, batch.counts])
            self._tools.update((tool.name, tool) for tool in batch.tools)

    def read(self, wanted: UsageFilter, *, is_locked: bool = False) -> UsageRow:
        """What was added, filtered and summed up."""
        with self._lock:
            counts, tools = self._counts, list(self._tools.values())
        facts = UsageRow()
        facts.add_tools(tools)
        facts.add_counts(counts, wanted)
        return facts

    def close(self) -> None:
        """Nothing: the counts can still be read."""

    def after_fork_in_child(self) -> object:
        """Nothing; the child counts from zero."""
        self.__init__()  # type: ignore[misc]
        return None


def store_at(place: str | os.PathLike[str], *, is_read_only: bool = False) -> UsageStore:
    """The store that a path, a PostgreSQL URL or `:memory:` names; nothing is opened yet.

    `ConfigError` for a folder, for a path whose folder does not exist (unless `is_read_only`:
    reading reports that there is no ledger), and for a URL of another kind.
    """
    text = _checks.path(place, "place")
    if text == MEMORY:
        return MemoryStore()
    writer = uuid4().hex
    if text.startswith(_POSTGRES):
        from ethos_registry.usage._databases import PostgresDriver

        return SqlStore(PostgresDriver(text), writer=writer)
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

    return SqlStore(SqliteDriver(text), writer=writer)
