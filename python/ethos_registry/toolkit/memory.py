"""The tools `memory_read`, `memory_search` and `memory_write`: notes that outlive a session."""

from __future__ import annotations

import difflib
import os
from collections.abc import Callable, Mapping
from typing import Any

from ethos_registry import _core
from ethos_registry.contract import checks
from ethos_registry.contract.context import ToolContext
from ethos_registry.contract.result import ToolResult, ok
from ethos_registry.contract.tool import Tool
from ethos_registry.toolkit.arguments import (
    RefusalError,
    known_arguments,
    optional_whole_number,
    required_text,
    shown,
)
from ethos_registry.toolkit.memory_scope import memory_scope
from ethos_registry.toolkit.notes import Notes

__all__ = ["memory_tools"]

MAX_NOTES = 1_000
MAX_CHARS = 1_000_000
_MAX_NAME_CHARS = 100
_DEFAULT_LIMIT = 10
_MAX_LIMIT = 100
_MODES = ("replace", "append", "delete")
_NAME = {"type": "string", "maxLength": _MAX_NAME_CHARS}

_Execute = Callable[[Mapping[str, Any], ToolContext], ToolResult]


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
    checks.finite_number(max_notes, "max_notes", minimum=1, whole=True)
    checks.finite_number(max_chars, "max_chars", minimum=1, whole=True)
    notes = Notes(checks.path(database, "database"), max_notes=max_notes, max_chars=max_chars)
    return [
        _tool(
            "memory_read",
            "Read a note of your memory, or list the names of all notes.",
            {"name": {**_NAME, "description": "Name of the note. Default: list all names."}},
            (),
            lambda values, context: _read(notes, values, context),
            reads=True,
        ),
        _tool(
            "memory_search",
            "Find notes of your memory that hold all of some words.",
            {
                "query": {"type": "string", "description": "Words, such as `release date`."},
                "limit": {
                    "type": "integer",
                    "minimum": 1,
                    "maximum": _MAX_LIMIT,
                    "description": f"Most notes to return. Default: {_DEFAULT_LIMIT}.",
                },
            },
            ("query",),
            lambda values, context: _search(notes, values, context),
            reads=True,
        ),
        _tool(
            "memory_write",
            "Write a note that later sessions can read. Never store passwords or keys.",
            {
                "name": {**_NAME, "description": "Name of the note, such as `user/preferences`."},
                "content": {"type": "string", "description": "The text; not for `delete`."},
                "mode": {
                    "type": "string",
                    "enum": list(_MODES),
                    "description": "Default: replace.",
                },
            },
            ("name",),
            lambda values, context: _write(notes, values, context),
        ),
    ]


def _tool(
    name: str,
    description: str,
    properties: Mapping[str, Any],
    required: tuple[str, ...],
    work: _Execute,
    *,
    reads: bool = False,
) -> Tool:
    names = tuple(properties)

    def execute(args: Any, context: ToolContext) -> ToolResult:
        try:
            return work(known_arguments(args, names, name), context)
        except RefusalError as refusal:
            return refusal.error

    return Tool(
        name,
        description,
        {
            "type": "object",
            "properties": dict(properties),
            "required": list(required),
            "additionalProperties": False,
        },
        execute,
        toolset="memory",
        output_is_untrusted=reads,
        idempotent=reads,
    )


def _read(notes: Notes, values: Mapping[str, Any], context: ToolContext) -> ToolResult:
    scope = memory_scope(context)
    if "name" not in values:
        found = notes.all(scope)
        if not found:
            return ok("Memory has no notes; memory_write adds one.", structured={"notes": 0})
        lines = [f"{note.name} ({note.chars:,} characters, {note.updated_at})" for note in found]
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
            f"No note holds all words of {shown(query)}; use fewer words, or memory_read without a "
            "name to list all notes.",
            structured={"notes": 0},
        )
    lines = [f"{note.name}: {' '.join(note.snippet.split())}" for note in found]
    return ok("\n".join(lines), structured={"notes": len(found)})


def _write(notes: Notes, values: Mapping[str, Any], context: ToolContext) -> ToolResult:
    scope, name = memory_scope(context), _name(values)
    mode = values.get("mode", "replace")
    if mode not in _MODES:
        raise RefusalError(f"`mode` must be one of {', '.join(_MODES)}, got {shown(mode)}")
    if mode == "delete":
        if not notes.delete(scope, name):
            raise RefusalError(_no_note(notes, scope, name))
        return ok(f"Deleted the note {shown(name)}.")
    given = _core.replace_surrogates(required_text(values, "content", "Prefers short answers."))
    content = _core.redact(given)
    chars = notes.write(scope, name, content, appends=mode == "append")
    hidden = "" if content == given else " A credential in it was not stored."
    return ok(f"The note {shown(name)} has {chars:,} characters.{hidden}")


def _name(values: Mapping[str, Any]) -> str:
    name = required_text(values, "name", "user/preferences").strip()
    if len(name) > _MAX_NAME_CHARS or not name.isprintable():
        raise RefusalError(
            f"`name` must be one line of at most {_MAX_NAME_CHARS} characters, got {shown(name)}"
        )
    return name


def _no_note(notes: Notes, scope: str, name: str) -> str:
    names = [note.name for note in notes.all(scope)]
    near = difflib.get_close_matches(name, names, 1, 0.5)
    hint = f"did you mean {shown(near[0])}?" if near else "memory_read without a name lists all"
    return f"there is no note {shown(name)}; {hint}"
