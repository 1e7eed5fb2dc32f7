"""The tool `list_files`: the entries of a folder, several levels deep."""

from __future__ import annotations

import os
from contextlib import closing
from typing import Any

from ethos_registry.contract import checks
from ethos_registry.contract.context import ToolContext
from ethos_registry.contract.policy_binding import binds_itself
from ethos_registry.contract.result import ToolResult, ok
from ethos_registry.contract.tool import Tool
from ethos_registry.toolkit.arguments import (
    RefusalError,
    known_arguments,
    optional_whole_number,
    required_text,
    shown,
)
from ethos_registry.toolkit.glob_match import Glob
from ethos_registry.toolkit.reach_check import WorkingFiles
from ethos_registry.toolkit.walk import MAX_DEPTH, NOT_ENTERED, Found, Walk, printable

__all__ = ["DEFAULT_DEPTH", "DEFAULT_MAX_ENTRIES", "list_files_tool"]

DEFAULT_DEPTH = 2
"""Levels that are listed when no pattern is given; with one, all are."""
DEFAULT_MAX_ENTRIES = 1_000

_SCHEMA = {
    "type": "object",
    "properties": {
        "path": {
            "type": "string",
            "description": "Folder to list, relative to the working directory. Default: itself.",
        },
        "pattern": {
            "type": "string",
            "description": "Glob for names, such as `*.py`, or for paths, such as "
            "`src/**/*.{ts,tsx}`.",
        },
        "depth": {
            "type": "integer",
            "minimum": 1,
            "description": f"Levels to go down. Default: {DEFAULT_DEPTH}, all with a pattern.",
        },
    },
    "additionalProperties": False,
}


def list_files_tool(*, max_entries: int = DEFAULT_MAX_ENTRIES) -> Tool:
    """The tool `list_files(path?, pattern?, depth?)`, in the toolset `file`.

    Returns one path per line, relative to the context's `working_dir`, depth first and in code
    point order; a folder ends with `/`. Links are listed and never followed; folders that programs
    fill (`.git`, `node_modules`, ...) are listed and not entered. After
    `max_entries` lines, or 30 s, the last line reports that there is more. `structured` has `path`
    (the real absolute path), `files` (links included), `folders` and `truncated`.
    """
    limit = int(checks.finite_number(max_entries, "max_entries", minimum=1, whole=True))

    @binds_itself
    def execute(args: Any, context: ToolContext) -> ToolResult:
        try:
            return _list(args, context, limit)
        except RefusalError as refusal:
            return refusal.error

    return Tool(
        "list_files",
        "List the files and folders in a folder, or all that match a pattern.",
        _SCHEMA,
        execute,
        toolset="file",
        max_result_chars=20_000,
        output_is_untrusted=True,
        idempotent=True,
    )


def _list(args: Any, context: ToolContext, max_entries: int) -> ToolResult:
    values = known_arguments(args, ("path", "pattern", "depth"), "list_files")
    path = required_text(values, "path", "src") if "path" in values else os.curdir
    glob = Glob(required_text(values, "pattern", "*.py")) if "pattern" in values else None
    depth = optional_whole_number(values, "depth", minimum=1)
    files = WorkingFiles(context)
    if depth is None:
        depth = MAX_DEPTH if glob else DEFAULT_DEPTH
    walk = Walk(files, context.abort_signal, max_depth=depth)
    shown_entries: list[str] = []
    folders = 0
    is_full = False
    try:
        resolved, names = files.names(path)
        from_root = os.path.relpath(resolved, files.root).replace(os.sep, "/")
        prefix = "" if resolved == files.root else f"{from_root}/"
        with closing(walk.below(resolved, names)) as entries:
            for found in entries:
                if glob and not (glob.matches(found.path) or glob.matches(prefix + found.path)):
                    continue
                is_full = len(shown_entries) == max_entries
                if is_full:
                    break
                folders += found.kind == "directory"
                shown_entries.append(_line(prefix, found))
    except NotADirectoryError:
        raise RefusalError(f"{shown(path)} is a file, not a folder; read_file reads it") from None
    except OSError as error:
        raise files.refusal(path, error) from None
    lines = [*shown_entries, *_remarks(walk, max_entries, is_full=is_full)]
    if not shown_entries:
        what = "Nothing matches in" if glob else "No entries in"
        lines.insert(0, f"{what} {shown(path)}.")
    return ok(
        "\n".join(lines),
        structured={
            "path": resolved,
            "files": len(shown_entries) - folders,
            "folders": folders,
            "truncated": is_full or walk.is_cut,
        },
    )


def _line(prefix: str, found: Found) -> str:
    path = printable(prefix + found.path)
    if found.kind == "directory":
        return f"{path}/ (not entered)" if found.name in NOT_ENTERED else f"{path}/"
    return f"{path} (link)" if found.kind == "symlink" else path


def _remarks(walk: Walk, max_entries: int, *, is_full: bool) -> list[str]:
    remarks = []
    if is_full:
        remarks.append(
            f"[... there is more than these {max_entries:,} entries: give a deeper path or a "
            "pattern ...]"
        )
    if walk.is_cut:
        remarks.append(
            f"[... stopped after {walk.max_seconds:g} s: give a deeper path or a smaller depth ...]"
        )
    if walk.unreadable:
        remarks.append(f"[... {walk.unreadable:,} folders could not be opened ...]")
    return remarks
