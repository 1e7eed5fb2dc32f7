"""The tool `write_file`: a whole text file, new or replaced."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ethos_registry.contract.context import ToolContext
from ethos_registry.contract.policy_binding import binds_itself
from ethos_registry.contract.result import ToolResult, ok
from ethos_registry.contract.tool import Tool
from ethos_registry.toolkit.arguments import RefusalError, known_arguments, required_text, shown
from ethos_registry.toolkit.change_file import change_file
from ethos_registry.toolkit.stale import MAX_DIGEST_BYTES

__all__ = ["encoded", "write_file_tool"]

_SCHEMA = {
    "type": "object",
    "properties": {
        "path": {
            "type": "string",
            "description": "Path of the file, relative to the working directory. "
            "Missing folders are created.",
        },
        "content": {"type": "string", "description": "The whole new text of the file."},
    },
    "required": ["path", "content"],
    "additionalProperties": False,
}


def write_file_tool() -> Tool:
    """The tool `write_file(path, content)`, in the toolset `file`.

    Writes `content` as UTF-8, unchanged, to a regular file below the context's `working_dir`,
    through links inside it; missing folders are created. The file is replaced in one step and keeps
    its mode (see `change_file`). `structured` holds `path` (the real absolute path), `bytes`,
    `lines` and `created`.

    The result is an error `STALE_WRITE` if the context's `read_mtimes` has an entry for the file
    and the file was changed, replaced or deleted since; the entry is renewed after the write.
    Without a map or an entry nothing is checked.
    """

    @binds_itself
    def execute(args: Any, context: ToolContext) -> ToolResult:
        try:
            return _write(args, context)
        except RefusalError as refusal:
            return refusal.error

    return Tool(
        "write_file",
        "Write a file: create it, or replace its whole text. To change a part of a file "
        "use patch_file.",
        _SCHEMA,
        execute,
        toolset="file",
    )


def _write(args: Any, context: ToolContext) -> ToolResult:
    values = known_arguments(args, ("path", "content"), "write_file")
    path = required_text(values, "path", "src/main.py")
    content = encoded(values, "content")
    changed = change_file(
        path,
        context,
        lambda _: content,
        create=True,
        needs_content=False,
        max_bytes=MAX_DIGEST_BYTES,
    )
    lines = content.count(b"\n") + (not content.endswith(b"\n") and bool(content))
    verb = "Created" if changed.created else "Replaced"
    return ok(
        f"{verb} {shown(path)}: {len(content):,} bytes, {lines:,} lines.",
        structured={
            "path": changed.resolved,
            "bytes": len(content),
            "created": changed.created,
            "lines": lines,
        },
    )


def encoded(values: Mapping[str, Any], name: str) -> bytes:
    """A string argument as UTF-8; it can be empty but not absent."""
    value = values.get(name)
    if value is None:
        raise RefusalError(f'`{name}` is missing; give the text, `""` for none')
    if not isinstance(value, str):
        raise RefusalError(f"`{name}` must be a string, got {type(value).__name__}")
    try:
        return value.encode()
    except UnicodeEncodeError as error:
        raise RefusalError(
            f"`{name}` contains a lone surrogate at character {error.start}, which no file can; "
            "leave it out"
        ) from None
