"""Where a ledger keeps its counts."""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from time import monotonic
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
    tables,
)
from ethos_registry.usage._sql_rows import Rows, read_facts

__all__ = ["MEMORY", "Driver", "MemoryStore", "SqlStore", "UsageStore", "store_at"]


# A ledger's store over SQL: what SQLite and PostgreSQL have in common.

FORGOTTEN_AFTER_SECONDS = 90 * 86_400.0
"""The mark of a writer's last batch is dropped when nothing came from it for so long."""


class Driver(Protocol):
    """What differs between databases."""

    mark: str
    """The placeholder of a value in a statement."""
    identity: str
    """The type of a column that numbers its rows."""
    clustered: str
    """What keeps a table's rows in its primary key."""

    @property
    def place(self) -> str:
        """What messages call the database; without a password."""

    @property
    def lock_seconds(self) -> float:
        """How long one write, or one report, waits for others."""

    def connect(self, wait_seconds: float) -> Any:
        """A connection for writing, in autocommit mode."""

    def connect_to_read(self, wait_seconds: float) -> Any:
        """A connection for one report; `UsageStoreError` where nothing is stored yet."""

    def begin(self, connection: Any, wait_seconds: float) -> None:
        """Start a transaction that writes."""

    def lock_schema(self, connection: Any) -> None:
        """Keep other processes from making the same tables, until the transaction ends."""

    def begin_to_read(self, connection: Any) -> None:
        """Start a transaction in which every statement sees the same rows."""

    def execute_many(self, connection: Any, statement: str, rows: Rows) -> None:
        """Execute a statement for each row."""

    def close(self, connection: Any) -> None:
        """Close a connection; a failure is ignored."""

    def is_usable(self, connection: Any) -> bool:
        """Whether what is written through the connection reaches the database of this name."""

    def outlives(self, error: BaseException) -> bool:
        """Whether a connection can be used again after this failure of a transaction."""

    def explained(self, error: BaseException) -> str | None:
        """What went wrong, for a message; `None` for what is not the database's failure."""


class SqlStore:
    """Writes batches and reads reports; opens its connection when it first needs one.

    Every failure is a `UsageStoreError`, after which the next attempt opens a new connection.
    """

    def __init__(self, driver: Driver, *, writer: str) -> None:
        self._driver = driver
        self._writer = writer
        self._connection: Any = None
        self._name_ids: dict[str, int] = {}
        self._lock = threading.Lock()
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
        with self._turn() as deadline:
            names = self._written(lambda connection: self._write(connection, batch), deadline)
            self._name_ids.update(names)

    def count(self, keys: Sequence[LimitKey], decide: Decide) -> None:
        """Add what `decide` returns to each key, given what was used."""
        with self._turn() as deadline:
            self._written(lambda connection: self._count(connection, keys, decide), deadline)

    @contextlib.contextmanager
    def _turn(self) -> Iterator[float]:
        """The connection for this thread alone, and until when to wait for other processes."""
        seconds, lock = self._driver.lock_seconds, self._lock
        deadline = monotonic() + seconds
        if not lock.acquire(timeout=seconds):
            raise UsageStoreError(f"the ledger at {self.place} cannot be used: it is locked")
        try:
            yield deadline
        finally:
            lock.release()

    def _written(self, work: Callable[[Any], T], deadline: float) -> T:
        """What `work` returns, in one transaction that writes."""
        with self._failures():
            try:
                connection = self._open(deadline)
                return self._transaction(connection, lambda: work(connection), deadline)
            except BaseException as error:
                if not self._driver.outlives(error):
                    self._drop_connection()
                raise

    def read(self, wanted: UsageFilter, *, is_locked: bool = False) -> UsageRow:
        """What is stored, filtered and summed up. Does not wait again if it `is_locked`."""
        with self._failures():
            seconds = 0.0 if is_locked else self._driver.lock_seconds
            connection = self._driver.connect_to_read(seconds)
            try:
                self._driver.begin_to_read(connection)
                self._check_version(connection)
                return read_facts(_Statements(connection, self._driver.mark), wanted)
            finally:
                self._driver.close(connection)

    def close(self) -> None:
        """Close the connection."""
        with self._lock:
            self._drop_connection()

    # One transaction

    def _open(self, deadline: float) -> Any:
        if self._connection is not None and not self._driver.is_usable(self._connection):
            self._drop_connection()
        if self._connection is None:
            connection = self._driver.connect(_left(deadline))
            try:
                self._transaction(connection, lambda: self._make_tables(connection), deadline)
            except BaseException:
                self._driver.close(connection)
                raise
            self._connection = connection
        return self._connection

    def _transaction(self, connection: Any, work: Callable[[], T], deadline: float) -> T:
        self._driver.begin(connection, _left(deadline))
        try:
            value = work()
            connection.execute("COMMIT")
        except BaseException:
            with contextlib.suppress(Exception):  # no connection, or no transaction
                connection.execute("ROLLBACK")
            raise
        return value

    def _make_tables(self, connection: Any) -> None:
        self._driver.lock_schema(connection)
        for statement in tables(identity=self._driver.identity, clustered=self._driver.clustered):
            connection.execute(statement)
        found = connection.execute("SELECT MAX(version) FROM ethos_usage_version").fetchone()[0]
        if found is None:
            connection.execute(f"INSERT INTO ethos_usage_version VALUES ({SCHEMA_VERSION})")
        self._check_version(connection)
        connection.execute(
            f"DELETE FROM ethos_usage_writers WHERE written_at < {self._driver.mark}",
            (time.time() - FORGOTTEN_AFTER_SECONDS,),
        )
        connection.execute(
            "DELETE FROM ethos_usage_limits WHERE (scope = 'run' OR day >= 0) "
            f"AND counted_at < {self._driver.mark}",
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

    def _write(self, connection: Any, batch: UsageBatch) -> dict[str, int]:
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
        new_names = self._number_names(connection, batch)
        ids = self._name_ids | new_names
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

    def _number_names(self, connection: Any, batch: UsageBatch) -> dict[str, int]:
        """Ids of the batch's names that this store has not met yet."""
        mark = self._driver.mark
        names = {name for key in batch.counts for name in (key.agent, key.owner, key.tool)}
        names |= {key.outcome for key in batch.counts}
        names |= {name for tool in batch.tools for name in (tool.name, tool.owner)}
        new = sorted(names - self._name_ids.keys())
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
            raise UsageStoreError(f"the ledger at {self.place} {problem}") from error

    def _drop_connection(self) -> None:
        connection, self._connection = self._connection, None
        self._name_ids = {}  # the database behind the same address may be another by now
        if connection is not None:
            self._driver.close(connection)

    def after_fork_in_child(self) -> object:
        """In a child after `fork`: the connection, which only the parent may use or close."""
        connection, self._connection = self._connection, None
        self._name_ids = {}
        self._lock = threading.Lock()
        return connection


def _left(deadline: float) -> float:
    return max(deadline - monotonic(), 0.0)


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
