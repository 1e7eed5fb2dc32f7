"""Notes in a SQLite file, by scope and name, with a full-text index."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from datetime import UTC, datetime
from typing import NamedTuple, TypeVar

from ethos_registry.persistence.sqlite_file import SqliteFile, sqlite_problem
from ethos_registry.toolkit.arguments import RefusalError

__all__ = ["FoundNote", "Note", "Notes"]

R = TypeVar("R")

_APPLICATION_ID = 0x4574684D
"""Identifies a file of notes, so that another program's database is never changed."""
_SCHEMA = (
    """
    CREATE TABLE notes (
        number INTEGER PRIMARY KEY,
        scope TEXT NOT NULL,
        name TEXT NOT NULL,
        content TEXT NOT NULL,
        updated_at TEXT NOT NULL,
        UNIQUE (scope, name)
    )
    """,
    """
    CREATE VIRTUAL TABLE note_search USING fts5(
        name, content, content='notes', content_rowid='number'
    )
    """,
    """
    CREATE TRIGGER notes_inserted AFTER INSERT ON notes BEGIN
        INSERT INTO note_search (rowid, name, content) VALUES (new.number, new.name, new.content);
    END
    """,
    """
    CREATE TRIGGER notes_deleted AFTER DELETE ON notes BEGIN
        INSERT INTO note_search (note_search, rowid, name, content)
        VALUES ('delete', old.number, old.name, old.content);
    END
    """,
    """
    CREATE TRIGGER notes_updated AFTER UPDATE ON notes BEGIN
        INSERT INTO note_search (note_search, rowid, name, content)
        VALUES ('delete', old.number, old.name, old.content);
        INSERT INTO note_search (rowid, name, content) VALUES (new.number, new.name, new.content);
    END
    """,
)


class Note(NamedTuple):
    """A note without its content."""

    name: str
    chars: int
    updated_at: str
    """ISO 8601, UTC."""


class FoundNote(NamedTuple):
    """A note that a search found."""

    name: str
    snippet: str


class Notes:
    """Notes of all scopes; every method raises `RefusalError` if it cannot be served."""

    def __init__(self, path: str | os.PathLike[str], *, max_notes: int, max_chars: int) -> None:
        self._file = SqliteFile(path, _SCHEMA, application_id=_APPLICATION_ID)
        self.max_notes = max_notes
        self.max_chars = max_chars

    def all(self, scope: str) -> list[Note]:
        """The notes of a scope, by name."""
        query = "SELECT name, length(content), updated_at FROM notes WHERE scope=? ORDER BY name"
        rows = self._read(lambda connection: connection.execute(query, (scope,)).fetchall())
        return [Note(*row) for row in rows]

    def content(self, scope: str, name: str) -> str | None:
        """The content of a note; `None` if there is none."""
        return self._read(lambda connection: _content(connection, scope, name))

    def write(self, scope: str, name: str, content: str, *, appends: bool) -> int:
        """Write a note, or add a paragraph to it; how many characters it has then."""

        def work(connection: sqlite3.Connection) -> int:
            old = _content(connection, scope, name)
            new = f"{old}\n{content}" if appends and old else content
            count, used = connection.execute(
                "SELECT COUNT(*), COALESCE(SUM(length(content)), 0) FROM notes WHERE scope=?",
                (scope,),
            ).fetchone()
            if old is None and count >= self.max_notes:
                raise RefusalError(
                    f"memory has {count} notes, its limit; delete or merge some first"
                )
            total = used - len(old or "") + len(new)
            if total > self.max_chars:
                raise RefusalError(
                    f"memory would have {total:,} characters, its limit is {self.max_chars:,}; "
                    "delete or shorten notes first"
                )
            connection.execute(
                "INSERT INTO notes (scope, name, content, updated_at) VALUES (?, ?, ?, ?) "
                "ON CONFLICT (scope, name) DO UPDATE "
                "SET content=excluded.content, updated_at=excluded.updated_at",
                (scope, name, new, f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}"),
            )
            return len(new)

        return self._write(work)

    def delete(self, scope: str, name: str) -> bool:
        """Delete a note; returns whether there was one."""

        def work(connection: sqlite3.Connection) -> bool:
            done = connection.execute("DELETE FROM notes WHERE scope=? AND name=?", (scope, name))
            return done.rowcount > 0

        return self._write(work)

    def search(self, scope: str, words: str, limit: int) -> list[FoundNote]:
        """The notes that hold all of the words, the best first."""
        quoted = " ".join('"' + word.replace('"', '""') + '"' for word in words.split())
        query = (
            "SELECT notes.name, snippet(note_search, 1, '', '', ' ... ', 40) FROM note_search "
            "JOIN notes ON notes.number = note_search.rowid "
            "WHERE note_search MATCH ? AND scope = ? ORDER BY rank, notes.name LIMIT ?"
        )
        rows = self._read(
            lambda connection: connection.execute(query, (quoted, scope, limit)).fetchall()
        )
        return [FoundNote(*row) for row in rows]

    def _read(self, work: Callable[[sqlite3.Connection], R]) -> R:
        try:
            return self._file.read(work)
        except (sqlite3.Error, OSError) as error:
            raise _failure("read", error) from None

    def _write(self, work: Callable[[sqlite3.Connection], R]) -> R:
        try:
            with self._file.transaction() as connection:
                return work(connection)
        except (sqlite3.Error, OSError) as error:
            raise _failure("written", error) from None


def _content(connection: sqlite3.Connection, scope: str, name: str) -> str | None:
    found = connection.execute(
        "SELECT content FROM notes WHERE scope=? AND name=?", (scope, name)
    ).fetchone()
    return None if found is None else str(found[0])


def _failure(how: str, error: sqlite3.Error | OSError) -> RefusalError:
    return RefusalError(
        f"memory could not be {how}: {sqlite_problem(error)}; tell the user", "execution_failed"
    )
