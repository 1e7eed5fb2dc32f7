"""The tool `read_file`: a file, or some of its lines, unchanged."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from io import FileIO
from typing import Any

from ethos_registry.tools._arguments import (
    RefusalError,
    optional_whole_number,
    quoted,
    required_text,
    whole_number,
)
from ethos_registry.tools._folder import (
    FILE_PATH,
    MAX_DIGEST_BYTES,
    WorkingFiles,
    file_tool,
    forget,
    new_digest,
    note,
    status_of,
)
from ethos_registry.types import _checks
from ethos_registry.types._context import ToolContext
from ethos_registry.types._result import ToolResult, ok
from ethos_registry.types._tool import Tool

# Lines out of a stream of bytes, in memory that does not grow with the file.

_CHUNK_BYTES = 256 * 1024
_BINARY_CHECK_BYTES = 8_192
_UTF_16_BYTE_ORDER_MARKS = (b"\xff\xfe", b"\xfe\xff")
_COUNT_UP_TO_BYTES = 1 << 30
"""A larger file is not read to its end just to count its lines."""


class TooLargeError(Exception):
    """The requested lines have more bytes than the limit."""


class BinaryContentError(Exception):
    """The content has NUL bytes, so it is not text; the message is a hint, or empty."""


@dataclass(frozen=True, slots=True)
class LineScan:
    """Lines `first` to `last`, unchanged, and facts about the whole file."""

    data: bytes
    first: int
    last: int
    """The last line that exists; less than `first` if none of them does."""
    lines: int | None
    """All lines of the file, with or without a newline at its end; `None` = not counted."""
    file_bytes: int


def scan_lines(
    read: Callable[[int], bytes],
    expected_bytes: int,
    first: int,
    last: int | None,
    max_bytes: int,
) -> LineScan:
    r"""Lines `first` to `last` (from 1, both included; `None` = to the end) of what `read` gives.

    `read(size)` returns at most `size` bytes, none at the end. A line ends with `\n` and with
    nothing else. Holds at most `max_bytes` and a chunk.

    Raises:
        TooLargeError: The lines have more than `max_bytes`.
        BinaryContentError: There are NUL bytes at the start of the file or in the lines.

    """
    collected = bytearray()
    line, seen_bytes, ends_open = 1, 0, False
    while chunk := read(_CHUNK_BYTES):
        if seen_bytes == 0 and b"\0" in chunk[:_BINARY_CHECK_BYTES]:
            is_utf_16 = chunk[:2] in _UTF_16_BYTE_ORDER_MARKS
            raise BinaryContentError("; it looks like UTF-16" if is_utf_16 else "")
        newlines = chunk.count(b"\n")
        if line + newlines >= first and (last is None or line <= last):
            start = _after_newlines(chunk, first - line)
            end = len(chunk)
            if last is not None and newlines > last - line:
                end = _after_newlines(chunk, last - line + 1)
            collected += memoryview(chunk)[start:end]
            if len(collected) > max_bytes:
                raise TooLargeError
        line += newlines
        seen_bytes += len(chunk)
        ends_open = not chunk.endswith(b"\n")
        if last is not None and line > last and expected_bytes > _COUNT_UP_TO_BYTES:
            return LineScan(_text_bytes(collected), first, last, None, expected_bytes)
    lines = line if ends_open else line - 1
    shown_last = lines if last is None else min(last, lines)
    return LineScan(_text_bytes(collected), first, shown_last, lines, seen_bytes)


def _after_newlines(chunk: bytes, count: int) -> int:
    """The position after the first `count` newlines."""
    return len(chunk) - len(chunk.split(b"\n", count)[count]) if count > 0 else 0


def _text_bytes(collected: bytearray) -> bytes:
    if b"\0" in collected:
        raise BinaryContentError
    return bytes(collected)


DEFAULT_MAX_BYTES = 10_000_000
"""The largest text that one call returns."""

_PROPERTIES = {
    "path": FILE_PATH,
    "lineStart": whole_number("First line to return, counted from 1. Default: the first."),
    "lineEnd": whole_number("Last line to return, itself included. Default: the last."),
}


@_checks.checked_signature
def read_file_tool(*, max_bytes: int = DEFAULT_MAX_BYTES) -> Tool:
    """The tool `read_file(path, lineStart?, lineEnd?)`, in the toolset `file`.

    Returns the text unchanged, line ends included; bytes that are not UTF-8 become U+FFFD, and a
    last line states it.
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
    limit = _checks.whole_count(max_bytes, "max_bytes")

    return file_tool(
        "read_file",
        "Read a UTF-8 file. Long files are shown in part: give lineStart and lineEnd "
        "(counted from 1, both included) to read just these lines.",
        _PROPERTIES,
        lambda values, context: _read(values, context, limit),
        required=["path"],
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


def _read(values: Mapping[str, Any], context: ToolContext, max_bytes: int) -> ToolResult:
    path = required_text(values, "path", "src/main.py")
    first = optional_whole_number(values, "lineStart", minimum=1)
    last = optional_whole_number(values, "lineEnd", minimum=1)
    if first is not None and last is not None and first > last:
        raise RefusalError(f"`lineStart` {first} is after `lineEnd` {last}; swap them")
    request = _Request(path, first, last)
    files = WorkingFiles(context)
    try:
        descriptor, resolved = files.open(request.path)
        with os.fdopen(descriptor, "rb", buffering=0) as file:
            status = os.fstat(descriptor)
            if not request.has_range and status.st_size > max_bytes:
                raise _too_large(request, status.st_size, max_bytes)
            found, digest = _scanned(file, status, request, context, max_bytes)
    except IsADirectoryError:
        raise RefusalError(
            f"{quoted(request.path)} is a directory; list it and read a file inside it"
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


def _scanned(
    file: FileIO,
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
        data = file.read(size)
        if takes_digest:
            digest.update(data)
        return data

    try:
        found = scan_lines(read, status.st_size, request.first or 1, request.last, max_bytes)
    except TooLargeError:
        raise _too_large(request, status.st_size, max_bytes) from None
    except BinaryContentError as error:
        raise RefusalError(
            f"{quoted(request.path)} is a binary file of {status.st_size:,} bytes{error}; "
            "read_file reads UTF-8 text only"
        ) from None
    if found.lines is not None and found.first > max(found.lines, 1):
        raise RefusalError(
            f"{quoted(request.path)} has {found.lines} lines; `lineStart` {found.first} is after "
            "the last"
        )
    return found, digest.hexdigest() if takes_digest else ""


def _too_large(request: _Request, file_bytes: int, max_bytes: int) -> RefusalError:
    path = quoted(request.path)
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
