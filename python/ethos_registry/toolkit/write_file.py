"""The tool `write_file`: a whole text file, new or replaced."""

from __future__ import annotations

import codecs
import unicodedata
from collections.abc import Mapping
from typing import Any

from ethos_registry.contract.context import ToolContext
from ethos_registry.contract.policy_binding import binds_itself
from ethos_registry.contract.result import ToolResult, ok
from ethos_registry.contract.tool import Tool
from ethos_registry.toolkit.arguments import RefusalError, known_arguments, required_text, shown
from ethos_registry.toolkit.change_file import change_file
from ethos_registry.toolkit.stale import MAX_DIGEST_BYTES

__all__ = ["encoded", "with_kept_bytes", "write_file_tool"]

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

    Writes `content` as UTF-8 to a regular file below the context's `working_dir`, through links
    inside it; missing folders are created. The file is replaced in one step and keeps its mode (see
    `change_file`), its byte order mark, its line ends, and the bytes of lines that the model has
    not changed, as far as it can see them (see `with_kept_bytes`). `structured` holds `path` (the
    real absolute path), `bytes`, `lines` and `created`.

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
        lambda current: with_kept_bytes(content, current.readable()),
        create=True,
        max_bytes=MAX_DIGEST_BYTES,
    )
    content = changed.content
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


def with_kept_bytes(new: bytes, old: bytes) -> bytes:
    r"""`new` with the bytes of the lines of `old` that a reader cannot see it changed.

    A model that writes a file back has seen neither a byte order mark nor bytes that are not UTF-8,
    and writes composed characters and `\n`. A line that is otherwise the same stays as it was; a
    changed one gets the line end that most lines have, unless `new` has carriage returns itself.

    >>> with_kept_bytes(b"a\nnew\n", b"\xef\xbb\xbfa\r\nb\r\n")
    b'\xef\xbb\xbfa\r\nnew\r\n'
    """
    if not old or b"\0" in old:
        return new
    if old.startswith(codecs.BOM_UTF8):
        return codecs.BOM_UTF8 + with_kept_bytes(
            new.removeprefix(codecs.BOM_UTF8), old[len(codecs.BOM_UTF8) :]
        )
    if old.isascii() and b"\r" not in old:
        return new
    keeps_ends = b"\r" in new
    known: dict[str, list[bytes]] = {}
    for line in reversed(old.split(b"\n")):
        known.setdefault(_as_seen(line, keeps_ends), []).append(line)
    end = b"\r" if 2 * old.count(b"\r\n") > old.count(b"\n") and not keeps_ends else b""
    lines = new.split(b"\n")
    for at, line in enumerate(lines):
        same = known.get(_as_seen(line, keeps_ends))
        if same:
            lines[at] = same.pop() if len(same) > 1 else same[0]
        elif at < len(lines) - 1:
            lines[at] = line + end
    return b"\n".join(lines)


def _as_seen(line: bytes, keeps_ends: bool) -> str:
    text = line.decode(errors="replace")
    return unicodedata.normalize("NFC", text if keeps_ends else text.removesuffix("\r"))


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
