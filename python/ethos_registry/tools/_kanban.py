"""The tools `kanban_list`, `kanban_create` and `kanban_move`: one ticket board."""

from __future__ import annotations

import contextlib
import functools
import json
import os
import sqlite3
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from ethos_registry._persistence.files import make_private_folder
from ethos_registry._persistence.sqlite_file import SqliteFile, sqlite_problem
from ethos_registry.tools._arguments import (
    RefusalError,
    argument_tool,
    quoted,
    required_text,
    string,
)
from ethos_registry.types import _checks
from ethos_registry.types._errors import ConfigError
from ethos_registry.types._result import ToolResult, ok
from ethos_registry.types._tool import Tool

# A ticket board in a SQLite file, for several threads and processes at once.

Ticket = dict[str, str]
"""`id, title, status, priority, updatedAt`: what the reducer of `kanban_list` reads."""

_APPLICATION_ID = 0x4574686F
"""Identifies a board, so that another program's database is never changed."""
_VERSION = 1
_SCHEMA = (
    """
    CREATE TABLE ticket (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        title TEXT NOT NULL,
        status TEXT NOT NULL,
        priority TEXT NOT NULL,
        updated_at TEXT NOT NULL
    )
    """,
    f"PRAGMA user_version = {_VERSION}",
)
_COLUMNS = "'T-' || number, title, status, priority, updated_at"


class Board:
    """Tickets in the order of their creation; every call is one short transaction.

    The file is open as long as a transaction. It, its folder and its table are created at the first
    call; the file has mode 0600. Writers wait for each other, at most 30 s.

    Every method raises `RefusalError` if it cannot be served.
    """

    def __init__(self, path: str) -> None:
        self._folder = os.path.dirname(path)
        self._file = SqliteFile(path, _SCHEMA, application_id=_APPLICATION_ID)

    def tickets(self, status: str | None) -> list[Ticket]:
        where = () if status is None else ("WHERE status = ?", status)

        def found(connection: sqlite3.Connection) -> list[Ticket]:
            _check_version(connection)
            return _tickets(connection, *where)

        with self._opened():
            return self._file.read(found)

    def create(self, title: str, status: str, priority: str) -> Ticket:
        with self._transaction() as connection:
            number = connection.execute(
                "INSERT INTO ticket (title, status, priority, updated_at) VALUES (?, ?, ?, ?)",
                (title, status, priority, _now()),
            ).lastrowid
            return _tickets(connection, "WHERE number = ?", number)[0]

    def move(self, number: int, status: str) -> Ticket | None:
        with self._transaction() as connection:
            connection.execute(
                "UPDATE ticket SET status = ?, updated_at = ? WHERE number = ?",
                (status, _now(), number),
            )
            return next(iter(_tickets(connection, "WHERE number = ?", number)), None)

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with self._opened(), self._file.transaction() as connection:
            _check_version(connection)
            yield connection

    @contextlib.contextmanager
    def _opened(self) -> Iterator[None]:
        try:
            make_private_folder(self._folder)
        except OSError as error:
            reason = error.strerror or type(error).__name__
            raise RefusalError(
                f"the folder of the board cannot be created: {reason}", "execution_failed"
            ) from None
        try:
            with contextlib.closing(self._file):
                yield
        except (sqlite3.Error, OSError) as error:
            raise RefusalError(
                f"the board could not be used: {sqlite_problem(error)}; nothing was changed",
                "execution_failed",
            ) from None


def _check_version(connection: sqlite3.Connection) -> None:
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    if version != _VERSION:
        raise RefusalError(
            f"the board has version {version}, this program knows {_VERSION}; update it",
            "execution_failed",
        )


def _tickets(connection: sqlite3.Connection, where: str = "", *values: Any) -> list[Ticket]:
    rows = connection.execute(f"SELECT {_COLUMNS} FROM ticket {where} ORDER BY number", values)
    return [
        {"id": name, "title": title, "status": status, "priority": priority, "updatedAt": changed}
        for name, title, status, priority, changed in rows
    ]


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


DEFAULT_STATUSES = ("todo", "doing", "blocked", "review", "done", "cancelled", "archived")
"""The columns; `done`, `cancelled` and `archived` need no more work."""
PRIORITIES = ("urgent", "high", "medium", "low")
_DEFAULT_PRIORITY = "medium"
_MAX_TITLE_CHARS = 300
_MAX_DIGITS = 15


@_checks.checked_signature
def kanban_tools(
    database: str | os.PathLike[str], *, statuses: Sequence[str] = DEFAULT_STATUSES
) -> list[Tool]:
    """`kanban_create`, `kanban_list` and `kanban_move`, in the toolset `kanban`, on one board.

    `database` is a SQLite file for the board alone, created at the first call with mode 0600;
    several threads and processes can share it. `statuses` are the columns; new tickets start in
    the first.

    `kanban_list(status?)` returns a compact JSON array of the tickets in the order of their
    creation; `kanban_create(title, status?, priority?)` and `kanban_move(id, status)` with the
    ticket. A ticket has the fields `id` (`T-1`), `title`, `status`, `priority` (urgent, high,
    medium or low) and `updatedAt` (ISO 8601, UTC, such as `2026-01-31T09:05:00.000Z`).
    `structured` is the ticket, or `tickets`, their number.
    """
    path = os.path.abspath(_checks.path(database, "database"))
    columns = _checks.strings(statuses, "statuses")
    if not columns or len(set(columns)) < len(columns) or not all(map(str.strip, columns)):
        raise ConfigError(f"`statuses` must be distinct names, at least one: {columns!r}")
    board = Board(path)
    make = functools.partial(argument_tool, toolset="kanban", max_result_chars=20_000)
    return [
        make(
            "kanban_create",
            "Add a ticket to the board.",
            {
                "title": string("What is to be done, in one line."),
                "status": string(f"Default: {columns[0]}.", enum=list(columns)),
                "priority": string(f"Default: {_DEFAULT_PRIORITY}.", enum=list(PRIORITIES)),
            },
            lambda values, _: _create(board, values, columns),
            required=["title"],
        ),
        make(
            "kanban_list",
            "List the tickets of the board.",
            {"status": string("List only these. Default: all.", enum=list(columns))},
            lambda values, _: _list(board, values, columns),
            required=[],
            idempotent=True,
        ),
        make(
            "kanban_move",
            "Move a ticket of the board to another status.",
            {
                "id": string("Id of the ticket, such as `T-1`."),
                "status": string("The new status.", enum=list(columns)),
            },
            lambda values, _: _move(board, values, columns),
            required=["id", "status"],
        ),
    ]


def _create(board: Board, values: Mapping[str, Any], columns: Sequence[str]) -> ToolResult:
    title = " ".join(required_text(values, "title", "Fix the login page").split())
    if len(title) > _MAX_TITLE_CHARS:
        raise RefusalError(
            f"`title` must have at most {_MAX_TITLE_CHARS} characters, got {len(title)}; shorten it"
        )
    if any(unicodedata.category(character) in ("Cc", "Cs") for character in title):
        raise RefusalError(
            f"`title` holds a control character or a lone surrogate: {quoted(title)}"
        )
    status = _chosen(values, "status", columns) or columns[0]
    priority = _chosen(values, "priority", PRIORITIES) or _DEFAULT_PRIORITY
    return _answer(board.create(title, status, priority))


def _list(board: Board, values: Mapping[str, Any], columns: Sequence[str]) -> ToolResult:
    tickets = board.tickets(_chosen(values, "status", columns))
    return ok(_compact(tickets), structured={"tickets": len(tickets)})


def _move(board: Board, values: Mapping[str, Any], columns: Sequence[str]) -> ToolResult:
    wanted = values.get("id")
    number = _ticket_number(wanted)
    status = _chosen(values, "status", columns)
    if status is None:
        raise RefusalError(f"`status` is missing; give one of {', '.join(columns)}")
    ticket = board.move(number, status)
    if ticket is None:
        raise RefusalError(f"there is no ticket {quoted(wanted)}; kanban_list shows all ids")
    return _answer(ticket)


def _ticket_number(value: object) -> int:
    """The number in an id; the letter is optional."""
    text = str(value).strip().upper().removeprefix("T-")
    if isinstance(value, bool) or not isinstance(value, str | int) or not text.isascii():
        raise RefusalError(
            "`id` must be the id of a ticket, such as `T-1`; kanban_list shows all ids"
        )
    if not text.isdigit() or len(text) > _MAX_DIGITS:
        raise RefusalError(f"there is no ticket {quoted(value)}; ids look like `T-1`")
    return int(text)


def _chosen(values: Mapping[str, Any], name: str, choices: Sequence[str]) -> str | None:
    """One of the choices, case-insensitive; `None` if absent."""
    if name not in values:
        return None
    value = values[name]
    for choice in choices:
        if isinstance(value, str) and value.strip().casefold() == choice.casefold():
            return choice
    raise RefusalError(f"`{name}` must be one of {', '.join(choices)}, got {quoted(value)}")


def _answer(ticket: Ticket) -> ToolResult:
    return ok(_compact(ticket), structured=ticket)


def _compact(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
