"""The tool `read_file`: a file, or some of its lines, unchanged."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
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
from ethos_registry.toolkit.folder import status_of
from ethos_registry.toolkit.line_scan import BinaryContentError, LineScan, TooLargeError, scan_lines
from ethos_registry.toolkit.reach_check import WorkingFiles
from ethos_registry.toolkit.stale import MAX_DIGEST_BYTES, forget, new_digest, note

__all__ = ["DEFAULT_MAX_BYTES", "read_file_tool"]

DEFAULT_MAX_BYTES = 10_000_000
"""The largest text that one call returns."""

_SCHEMA = {
    "type": "object",
    "properties": {
        "path": {
            "type": "string",
            "description": "Path of the file, relative to the working directory.",
        },
        "lineStart": {
            "type": "integer",
            "minimum": 1,
            "description": "First line to return, counted from 1. Default: the first.",
        },
        "lineEnd": {
            "type": "integer",
            "minimum": 1,
            "description": "Last line to return, itself included. Default: the last.",
        },
    },
    "required": ["path"],
    "additionalProperties": False,
}


def read_file_tool(*, max_bytes: int = DEFAULT_MAX_BYTES) -> Tool:
    """The tool `read_file(path, lineStart?, lineEnd?)`, in the toolset `file`.

    Returns the text unchanged, line ends included; bytes that are not UTF-8 become U+FFFD, and a
    last line says so.
    `structured` holds `path` (the real absolute path), `lines` (of the whole file; `None` if
    a range of a file over 1 GiB was read), `bytes` (of the whole file), `lineStart` and `lineEnd`
    (of what was returned; an empty file gives 1 and 0) and, if there are any, `replacements`
    (how many invalid bytes became U+FFFD).

    Only regular files below the context's `working_dir` are opened, and never one that could
    block. Binary files (with NUL bytes) and files over `max_bytes` are refused; a range of a
    larger file is streamed. If the context has `read_mtimes`, the file is recorded there under its
    real absolute path, with the modification time from before the read; a missing file is removed
    from there.
    """
    limit = int(checks.finite_number(max_bytes, "max_bytes", minimum=1, whole=True))

    @binds_itself
    def execute(args: Any, context: ToolContext) -> ToolResult:
        try:
            return _read(args, context, limit)
        except RefusalError as refusal:
            return refusal.error

    return Tool(
        "read_file",
        "Read a UTF-8 file. Long files are shown in part: give lineStart and lineEnd "
        "(counted from 1, both included) to read just these lines.",
        _SCHEMA,
        execute,
        toolset="file",
        max_result_chars=40_000,
        output_is_untrusted=True,
        idempotent=True,
    )


@dataclass(frozen=True, slots=True)
class _Request:
    path: str
    first: int | None
    last: int | None

    @property
    def has_range(self) -> bool:
        return self.first is not None or self.last is not None


def _request(args: Any) -> _Request:
    values = known_arguments(args, ("path", "lineStart", "lineEnd"), "read_file")
    path = required_text(values, "path", "src/main.py")
    first = optional_whole_number(values, "lineStart", minimum=1)
    last = optional_whole_number(values, "lineEnd", minimum=1)
    if first is not None and last is not None and first > last:
        raise RefusalError(f"`lineStart` {first} is after `lineEnd` {last}; swap them")
    return _Request(path, first, last)


def _read(args: Any, context: ToolContext, max_bytes: int) -> ToolResult:
    request = _request(args)
    files = WorkingFiles(context)
    try:
        with _opened(files, request.path) as (descriptor, resolved):
            status = os.fstat(descriptor)
            if not request.has_range and status.st_size > max_bytes:
                raise _too_large(request, status.st_size, max_bytes)
            found, digest = _scanned(descriptor, status, request, context, max_bytes)
    except IsADirectoryError:
        raise RefusalError(
            f"{shown(request.path)} is a directory; list it and read a file inside it"
        ) from None
    except OSError as error:
        if isinstance(error, FileNotFoundError):
            forget(context, files.real_path(request.path))
        raise files.refusal(request.path, error) from None
    structured: dict[str, Any] = {
        "path": resolved,
        "lines": found.lines,
        "bytes": found.file_bytes,
        "lineStart": found.first,
        "lineEnd": found.last,
    }
    text, replacements = _decoded(found.data)
    if replacements:
        structured["replacements"] = replacements
        text += (
            f"\n[... {replacements:,} bytes are not UTF-8 and are shown as U+FFFD; write_file and "
            "patch_file keep them in lines that they do not change ...]"
        )
    note(context, resolved, status_of(status), digest)
    return ok(text, structured=structured)


@contextlib.contextmanager
def _opened(files: WorkingFiles, path: str) -> Iterator[tuple[int, str]]:
    descriptor, resolved = files.open(path)
    try:
        yield descriptor, resolved
    finally:
        os.close(descriptor)


def _scanned(
    descriptor: int,
    status: os.stat_result,
    request: _Request,
    context: ToolContext,
    max_bytes: int,
) -> tuple[LineScan, str]:
    """The lines, and the digest of the file, `""` if it is not needed."""
    signal = context.abort_signal
    takes_digest = context.read_mtimes is not None and status.st_size <= MAX_DIGEST_BYTES
    digest = new_digest()

    def read(size: int) -> bytes:
        if signal.aborted:
            raise RefusalError("reading was stopped: the turn was aborted", "execution_failed")
        data = os.read(descriptor, size)
        if takes_digest:
            digest.update(data)
        return data

    try:
        found = scan_lines(read, status.st_size, request.first or 1, request.last, max_bytes)
    except TooLargeError:
        raise _too_large(request, status.st_size, max_bytes) from None
    except BinaryContentError as error:
        hint = "; it looks like UTF-16" if error.looks_like_utf_16 else ""
        raise RefusalError(
            f"{shown(request.path)} is a binary file of {status.st_size:,} bytes{hint}; "
            "read_file reads UTF-8 text only"
        ) from None
    if found.lines is not None and found.first > max(found.lines, 1):
        raise RefusalError(
            f"{shown(request.path)} has {found.lines} lines; `lineStart` {found.first} is after "
            "the last"
        )
    return found, digest.hexdigest() if takes_digest else ""


def _too_large(request: _Request, file_bytes: int, max_bytes: int) -> RefusalError:
    path = shown(request.path)
    if not request.has_range:
        return RefusalError(
            f"{path} has {file_bytes:,} bytes, more than the {max_bytes:,} that one call returns; "
            "give lineStart and lineEnd, such as 1 and 200"
        )
    return RefusalError(
        f"the requested lines of {path} have more than the {max_bytes:,} bytes that one call "
        "returns; ask for fewer"
    )


def _decoded(data: bytes) -> tuple[str, int]:
    """The text, and how many invalid bytes became U+FFFD."""
    try:
        return data.decode(), 0
    except UnicodeDecodeError:
        text = data.decode(errors="replace")
        return text, text.count("\ufffd") - data.count("\ufffd".encode())
