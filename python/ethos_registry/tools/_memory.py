"""The tools `memory_read`, `memory_search` and `memory_write`: notes that outlive a session."""

from __future__ import annotations

import functools
import os
import sqlite3
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any, TypeVar

from ethos_registry import _core
from ethos_registry._persistence.sqlite_file import SqliteFile, sqlite_problem
from ethos_registry._suggest import nearest
from ethos_registry.tools._arguments import (
    RefusalError,
    argument_tool,
    optional_whole_number,
    quoted,
    required_text,
    string,
    whole_number,
)
from ethos_registry.types import _checks
from ethos_registry.types._context import ToolContext
from ethos_registry.types._result import ToolResult, ok
from ethos_registry.types._tool import Tool

# Which memory a turn has.


def memory_scope(context: ToolContext) -> str:
    """The context's `memory_scope_id`, else its `memory_scope`, else its team.

    Raises:
        RefusalError: The context has none of them.

    """
    if context.memory_scope_id is not None:
        return f"id:{context.memory_scope_id}"
    if context.memory_scope == "global":
        return "global"
    if context.memory_scope == "per-personality":
        if context.personality_id is None:
            raise RefusalError(
                "memory is kept per personality, and this turn has none; tell the user",
                "not_available",
            )
        return f"personality:{context.personality_id}"
    if context.team_id is not None:
        return f"team:{context.team_id}"
    raise RefusalError(
        "this turn has no memory; tell the user that its host sets memory_scope_id, memory_scope "
        "or team_id for that",
        "not_available",
    )


# Notes in a SQLite file, by scope and name, with a full-text index.

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


class Notes:
    """Notes of all scopes; every method raises `RefusalError` if it cannot be served."""

    def __init__(self, path: str | os.PathLike[str], *, max_notes: int, max_chars: int) -> None:
        self._file = SqliteFile(path, _SCHEMA, application_id=_APPLICATION_ID)
        self.max_notes = max_notes
        self.max_chars = max_chars

    def all(self, scope: str) -> list[tuple[str, int, str]]:
        """Name, number of characters and last change (ISO 8601, UTC) of each note, by name."""
        query = "SELECT name, length(content), updated_at FROM notes WHERE scope=? ORDER BY name"
        return self._read(lambda connection: connection.execute(query, (scope,)).fetchall())

    def content(self, scope: str, name: str) -> str | None:
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
        def work(connection: sqlite3.Connection) -> bool:
            done = connection.execute("DELETE FROM notes WHERE scope=? AND name=?", (scope, name))
            return done.rowcount > 0

        return self._write(work)

    def search(self, scope: str, words: str, limit: int) -> list[tuple[str, str]]:
        """Name and snippet of the notes that hold all of the words, the best first."""
        phrases = " ".join('"' + word.replace('"', '""') + '"' for word in words.split())
        query = (
            "SELECT notes.name, snippet(note_search, 1, '', '', ' ... ', 40) FROM note_search "
            "JOIN notes ON notes.number = note_search.rowid "
            "WHERE note_search MATCH ? AND scope = ? ORDER BY rank, notes.name LIMIT ?"
        )
        return self._read(
            lambda connection: connection.execute(query, (phrases, scope, limit)).fetchall()
        )

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


MAX_NOTES = 1_000
MAX_CHARS = 1_000_000
_MAX_NAME_CHARS = 100
_DEFAULT_LIMIT = 10
_MAX_LIMIT = 100
_MODES = ("replace", "append", "delete")


@_checks.checked_signature
def memory_tools(
    database: str | os.PathLike[str],
    *,
    max_notes: int = MAX_NOTES,
    max_chars: int = MAX_CHARS,
) -> list[Tool]:
    """`memory_read`, `memory_search` and `memory_write`, in the toolset `memory`: named notes.

    `database` is a SQLite file for notes alone, created at the first call with mode 0600; several
    threads and processes can share it. Whose notes a call sees is the host's decision: those of the
    context's `memory_scope_id`, else of its `memory_scope` (`global`, or the personality), else of
    its `team_id`. A turn with none of them is refused. A scope has at most `max_notes` notes and
    `max_chars` characters.

    `memory_read(name?)` returns a note, or the names of all; `memory_search(query, limit?)` those
    that hold all of the words, with the words around them; `memory_write(name, content, mode?)`
    replaces a note, appends to it or deletes it. Credentials of a known shape are not stored. What
    is read is untrusted output: notes may repeat what a page said. No reducer: a note is returned
    whole, up to the cap of the call.
    """
    _checks.whole_count(max_notes, "max_notes")
    _checks.whole_count(max_chars, "max_chars")
    notes = Notes(_checks.path(database, "database"), max_notes=max_notes, max_chars=max_chars)
    make = functools.partial(argument_tool, toolset="memory")
    name = functools.partial(string, maxLength=_MAX_NAME_CHARS)
    return [
        make(
            "memory_read",
            "Read a note of your memory, or list the names of all notes.",
            {"name": name("Name of the note. Default: list all names.")},
            lambda values, context: _read(notes, values, context),
            required=[],
            output_is_untrusted=True,
            idempotent=True,
        ),
        make(
            "memory_search",
            "Find notes of your memory that hold all of some words.",
            {
                "query": string("Words, such as `release date`."),
                "limit": whole_number(
                    f"Most notes to return. Default: {_DEFAULT_LIMIT}.", maximum=_MAX_LIMIT
                ),
            },
            lambda values, context: _search(notes, values, context),
            required=["query"],
            output_is_untrusted=True,
            idempotent=True,
        ),
        make(
            "memory_write",
            "Write a note that later sessions can read. Never store passwords or keys.",
            {
                "name": name("Name of the note, such as `user/preferences`."),
                "content": string("The text; not for `delete`."),
                "mode": string("Default: replace.", enum=list(_MODES)),
            },
            lambda values, context: _write(notes, values, context),
            required=["name"],
        ),
    ]


def _read(notes: Notes, values: Mapping[str, Any], context: ToolContext) -> ToolResult:
    scope = memory_scope(context)
    if "name" not in values:
        found = notes.all(scope)
        if not found:
            return ok("Memory has no notes; memory_write adds one.", structured={"notes": 0})
        lines = [f"{name} ({chars:,} characters, {time})" for name, chars, time in found]
        return ok("\n".join(lines), structured={"notes": len(found)})
    name = _name(values)
    content = notes.content(scope, name)
    if content is None:
        raise RefusalError(_no_note(notes, scope, name))
    return ok(content, structured={"name": name})


def _search(notes: Notes, values: Mapping[str, Any], context: ToolContext) -> ToolResult:
    scope = memory_scope(context)
    query = required_text(values, "query", "release date")
    limit = min(optional_whole_number(values, "limit", minimum=1) or _DEFAULT_LIMIT, _MAX_LIMIT)
    found = notes.search(scope, query, limit)
    if not found:
        return ok(
            f"No note holds all words of {quoted(query)}; use fewer words, or memory_read without "
            "a name to list all notes.",
            structured={"notes": 0},
        )
    lines = [f"{name}: {' '.join(snippet.split())}" for name, snippet in found]
    return ok("\n".join(lines), structured={"notes": len(found)})


def _write(notes: Notes, values: Mapping[str, Any], context: ToolContext) -> ToolResult:
    scope, name = memory_scope(context), _name(values)
    mode = values.get("mode", "replace")
    if mode not in _MODES:
        raise RefusalError(f"`mode` must be one of {', '.join(_MODES)}, got {quoted(mode)}")
    if mode == "delete":
        if not notes.delete(scope, name):
            raise RefusalError(_no_note(notes, scope, name))
        return ok(f"Deleted the note {quoted(name)}.")
    given = _core.replace_surrogates(required_text(values, "content", "Prefers short answers."))
    content = _core.redact(given)
    chars = notes.write(scope, name, content, appends=mode == "append")
    hidden = "" if content == given else " A credential in it was not stored."
    return ok(f"The note {quoted(name)} has {chars:,} characters.{hidden}")


def _name(values: Mapping[str, Any]) -> str:
    name = required_text(values, "name", "user/preferences").strip()
    if len(name) > _MAX_NAME_CHARS or not name.isprintable():
        raise RefusalError(
            f"`name` must be one line of at most {_MAX_NAME_CHARS} characters, got {quoted(name)}"
        )
    return name


def _no_note(notes: Notes, scope: str, name: str) -> str:
    near = nearest(name, [known for known, _, _ in notes.all(scope)])
    hint = f"did you mean {quoted(near)}?" if near else "memory_read without a name lists all"
    return f"there is no note {quoted(name)}; {hint}"
