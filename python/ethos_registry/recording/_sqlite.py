"""A recording in a SQLite file."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

from ethos_registry._persistence.sqlite_file import SqliteFile, sqlite_problem
from ethos_registry.recording._rows import (
    COLUMNS,
    SCHEMA,
    RecordingError,
    RecordingStore,
    call_of,
    row_of,
)
from ethos_registry.types import _checks
from ethos_registry.types._observer import RecordedCall

_APPLICATION_ID = 0x45746852
"""Identifies a recording, so that another program's database is never changed."""
_NAMES = ", ".join(COLUMNS)
_INDEXED_CHARS = 200_000
_INDEXED_COLUMNS = "number, tool, args, output"
_DECLARED = ",\n        ".join(f"{each.name} {each.sqlite}" for each in SCHEMA)
_SCHEMA = (
    f"""
    CREATE TABLE recorded_calls (
        number INTEGER PRIMARY KEY,
        {_DECLARED}
    )
    """,
    "CREATE INDEX recorded_calls_turn ON recorded_calls (session, turn)",
    f"CREATE VIEW calls AS SELECT {_NAMES} FROM recorded_calls",
    # The index reads its text from the view: nothing is stored twice.
    f"""
    CREATE VIEW searched_calls AS SELECT number, tool, args,
        substr(coalesce(raw, value), 1, {_INDEXED_CHARS}) AS output FROM recorded_calls
    """,
    """
    CREATE VIRTUAL TABLE call_search USING fts5(
        tool, args, output, content='searched_calls', content_rowid='number'
    )
    """,
)
_INSERT = f"INSERT INTO recorded_calls ({_NAMES}) VALUES ({', '.join('?' * len(COLUMNS))})"
_INDEX = (
    f"INSERT INTO call_search (rowid, tool, args, output) SELECT {_INDEXED_COLUMNS} "
    "FROM searched_calls WHERE number > ?"
)
_TIME_FORMAT = "%Y-%m-%d %H:%M:%S.%f"


def _file(path: str) -> SqliteFile:
    # In the write-ahead log a commit survives the end of the process in any mode; the end of the
    # machine may take the last ones.
    return SqliteFile(path, _SCHEMA, application_id=_APPLICATION_ID, synchronous="NORMAL")


class SqliteRecordingStore(RecordingStore):
    """Appends calls to a SQLite file that several processes may share."""

    def __init__(self, path: str) -> None:
        self.place = path
        self._file = _file(path)

    def write(self, calls: Sequence[RecordedCall]) -> None:
        """Store all of the calls, or none."""
        rows = [_stored(row_of(call)) for call in calls]
        try:
            with self._file.transaction() as connection:
                last = connection.execute("SELECT MAX(number) FROM recorded_calls").fetchone()[0]
                connection.executemany(_INSERT, rows)
                connection.execute(_INDEX, (last or 0,))
        except (sqlite3.Error, OSError) as error:
            raise _failure(self.place, error) from error

    def close(self) -> None:
        """Close the file."""
        with contextlib.suppress(sqlite3.Error):
            self._file.close()


class FoundCall(NamedTuple):
    """A call that a search found, and the place in it."""

    call: RecordedCall
    snippet: str
    """The output around the first match in it, else its start."""


@_checks.checked_class
class SqliteRecording:
    """Reads a recording; see `Recording`."""

    def __init__(self, path: str) -> None:
        self.place = path
        self._file = _file(path)

    def calls(
        self, *, session_id: str | None = None, turn: int | None = None, tool: str | None = None
    ) -> Iterator[RecordedCall]:
        """The calls in the order in which they were stored; those of a session, turn or tool."""
        wanted = {"session": session_id, "turn": turn, "tool": tool}
        given = {name: value for name, value in wanted.items() if value is not None}
        where = " AND ".join(f"{name} = :{name}" for name in given) or "1"
        query = f"SELECT number, {_NAMES} FROM recorded_calls WHERE {where} ORDER BY number"
        with self._connection() as connection:
            for number, *row in connection.execute(query, given):
                yield _call(row, number)

    def call(self, number: int) -> RecordedCall | None:
        """The call with this number; `None` if there is none."""
        query = f"SELECT number, {_NAMES} FROM recorded_calls WHERE number = ?"
        with self._connection() as connection:
            found = connection.execute(query, (number,)).fetchone()
        return None if found is None else _call(found[1:], found[0])

    def search(
        self,
        words: str,
        *,
        session_id: str | None = None,
        caller_id: str | None = None,
        limit: int = 10,
    ) -> list[FoundCall]:
        """The calls whose tool, arguments or output hold all of the words, the best first."""
        quoted = " ".join('"' + word.replace('"', '""') + '"' for word in words.split())
        if not quoted:
            return []
        columns = ", ".join(f"recorded_calls.{name}" for name in ("number", *COLUMNS))
        query = (
            f"SELECT {columns}, snippet(call_search, 2, '', '', ' ... ', 40) "
            "FROM call_search JOIN recorded_calls ON recorded_calls.number = call_search.rowid "
            "WHERE call_search MATCH :words AND (:session IS NULL OR session = :session) "
            "AND (:agent IS NULL OR agent = :agent) ORDER BY rank, number DESC LIMIT :limit"
        )
        values = {"words": quoted, "session": session_id, "agent": caller_id, "limit": limit}
        with self._connection() as connection:
            return [
                FoundCall(_call(row, number), snippet)
                for number, *row, snippet in connection.execute(query, values)
            ]

    @contextlib.contextmanager
    def _connection(self) -> Iterator[sqlite3.Connection]:
        """A connection that changes nothing."""
        try:
            with self._file.snapshot() as connection:
                yield connection
        except (sqlite3.Error, OSError) as error:
            raise _failure(self.place, error) from error


def _stored(row: tuple[Any, ...]) -> tuple[Any, ...]:
    return (row[0].strftime(_TIME_FORMAT), *row[1:])


def _call(row: Sequence[Any], number: int) -> RecordedCall:
    ts = datetime.strptime(row[0], _TIME_FORMAT).replace(tzinfo=UTC)
    return call_of((ts, *row[1:]), number)


def _failure(place: str, error: sqlite3.Error | OSError) -> RecordingError:
    return RecordingError(f"the recording {place} cannot be used: {sqlite_problem(error)}")
