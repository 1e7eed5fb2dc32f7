"""The tools `kanban_list`, `kanban_create` and `kanban_move`: one ticket board."""

from __future__ import annotations

import json
import os
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ethos_registry.contract import checks
from ethos_registry.contract.context import ToolContext
from ethos_registry.contract.errors import ConfigError
from ethos_registry.contract.result import ToolResult, ok
from ethos_registry.contract.tool import Tool
from ethos_registry.toolkit.arguments import RefusalError, known_arguments, required_text, shown
from ethos_registry.toolkit.board import Board, Ticket

__all__ = ["DEFAULT_STATUSES", "PRIORITIES", "kanban_tools"]

DEFAULT_STATUSES = ("todo", "doing", "blocked", "review", "done", "cancelled", "archived")
"""The columns; `done`, `cancelled` and `archived` need no more work."""
PRIORITIES = ("urgent", "high", "medium", "low")
_DEFAULT_PRIORITY = "medium"
_MAX_TITLE_CHARS = 300
_MAX_DIGITS = 15

_Execute = Callable[[Mapping[str, Any]], ToolResult]


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
    path = os.path.abspath(checks.path(database, "database"))
    columns = checks.strings(statuses, "statuses")
    if not columns or len(set(columns)) < len(columns) or not all(map(str.strip, columns)):
        raise ConfigError(f"`statuses` must be distinct names, at least one: {columns!r}")
    board = Board(path)
    return [
        _tool(
            "kanban_create",
            "Add a ticket to the board.",
            {
                "title": {"type": "string", "description": "What is to be done, in one line."},
                "status": _choice(columns, f"Default: {columns[0]}."),
                "priority": _choice(PRIORITIES, f"Default: {_DEFAULT_PRIORITY}."),
            },
            ("title",),
            lambda values: _create(board, values, columns),
        ),
        _tool(
            "kanban_list",
            "List the tickets of the board.",
            {"status": _choice(columns, "List only these. Default: all.")},
            (),
            lambda values: _list(board, values, columns),
            idempotent=True,
        ),
        _tool(
            "kanban_move",
            "Move a ticket of the board to another status.",
            {
                "id": {"type": "string", "description": "Id of the ticket, such as `T-1`."},
                "status": _choice(columns, "The new status."),
            },
            ("id", "status"),
            lambda values: _move(board, values, columns),
        ),
    ]


def _tool(
    name: str,
    description: str,
    properties: Mapping[str, Any],
    required: Sequence[str],
    answer: _Execute,
    *,
    idempotent: bool = False,
) -> Tool:
    def execute(args: Any, context: ToolContext) -> ToolResult:
        try:
            return answer(known_arguments(args, tuple(properties), name))
        except RefusalError as refusal:
            return refusal.error

    schema = {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
    }
    return Tool(
        name,
        description,
        schema,
        execute,
        toolset="kanban",
        max_result_chars=20_000,
        idempotent=idempotent,
    )


def _choice(choices: Sequence[str], description: str) -> Mapping[str, Any]:
    return {"type": "string", "enum": list(choices), "description": description}


def _create(board: Board, values: Mapping[str, Any], columns: Sequence[str]) -> ToolResult:
    title = " ".join(required_text(values, "title", "Fix the login page").split())
    if len(title) > _MAX_TITLE_CHARS:
        raise RefusalError(
            f"`title` must have at most {_MAX_TITLE_CHARS} characters, got {len(title)}; shorten it"
        )
    if any(unicodedata.category(character) in ("Cc", "Cs") for character in title):
        raise RefusalError(f"`title` holds a control character or a lone surrogate: {shown(title)}")
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
        raise RefusalError(f"there is no ticket {shown(wanted)}; kanban_list shows all ids")
    return _answer(ticket)


def _ticket_number(value: object) -> int:
    """The number in an id; the letter is optional."""
    text = str(value).strip().upper().removeprefix("T-")
    if isinstance(value, bool) or not isinstance(value, str | int) or not text.isascii():
        raise RefusalError(
            "`id` must be the id of a ticket, such as `T-1`; kanban_list shows all ids"
        )
    if not text.isdigit() or len(text) > _MAX_DIGITS:
        raise RefusalError(f"there is no ticket {shown(value)}; ids look like `T-1`")
    return int(text)


def _chosen(values: Mapping[str, Any], name: str, choices: Sequence[str]) -> str | None:
    """One of the choices, case-insensitive; `None` if absent."""
    if name not in values:
        return None
    value = values[name]
    for choice in choices:
        if isinstance(value, str) and value.strip().casefold() == choice.casefold():
            return choice
    raise RefusalError(f"`{name}` must be one of {', '.join(choices)}, got {shown(value)}")


def _answer(ticket: Ticket) -> ToolResult:
    return ok(_compact(ticket), structured=ticket)


def _compact(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
