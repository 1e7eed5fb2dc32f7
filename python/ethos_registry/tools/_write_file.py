"""The tool `write_file`: a whole text file, new or replaced."""

from __future__ import annotations

import codecs
import errno
import functools
import stat
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ethos_registry import _core
from ethos_registry.tools._arguments import RefusalError, quoted, required_text, string
from ethos_registry.tools._folder import (
    MAX_DIGEST_BYTES,
    PathTarget,
    Status,
    WorkingFiles,
    check_fresh,
    digest_of,
    file_tool,
    locked,
    note,
)
from ethos_registry.types import _checks
from ethos_registry.types._context import ToolContext
from ethos_registry.types._result import ToolResult, ok
from ethos_registry.types._tool import Tool

# How tools change a file: checked, locked, replaced in one step.


@dataclass(frozen=True, slots=True)
class Changed:
    resolved: str
    """Its real absolute path."""
    content: bytes
    created: bool


def change_file(
    path: str,
    context: ToolContext,
    new_content: Callable[[Callable[[], bytes]], bytes],
    *,
    create: bool,
    max_bytes: int,
) -> Changed:
    """Replace the content of a file below the context's `working_dir`.

    `new_content` gets a function that reads the old bytes (`b""` if there is no file; a
    `RefusalError` over `max_bytes`), returns the new ones, and may raise `RefusalError`. With
    `create`, a missing file and its missing folders are created. Check, change and renewal of the
    context's entry happen under one lock (`folder_lock`), and other readers see the old file or the
    new one, never a part: the new bytes are written to a temporary file, which replaces it. Mode,
    access list and, if permitted, owner stay, without set-user-ID bits; a hard link elsewhere keeps
    the old content. Nothing is flushed to the disk by force.

    The temporary file of an existing one has mode 0600. If its writer is killed it stays, tools
    do not show it, and the next write in the folder removes it.

    Raises:
        RefusalError: Nothing was written.

    """
    files = WorkingFiles(context)
    try:
        target = _target(files, path, context, create=create)
        if target.path == files.root:
            raise _not_a_file(path, "a directory")
        with locked(target, context.abort_signal):
            before = _checked_status(target, path)

            @functools.cache
            def old_content() -> bytes:
                try:
                    return b"" if before is None else target.read(max_bytes)
                except OSError as error:
                    if error.errno != errno.EFBIG:
                        raise
                    raise RefusalError(
                        f"{quoted(path)} has more than {max_bytes:,} bytes; "
                        "change it with a command in the terminal"
                    ) from None

            check_fresh(context, target.path, path, before, old_content)
            if before is None and not create:
                raise FileNotFoundError(errno.ENOENT, "", path)
            content = new_content(old_content)
            if context.abort_signal.aborted:
                raise RefusalError("nothing was written: the turn was aborted", "execution_failed")
            note(context, target.path, target.replace(content), digest_of(content))
    except OSError as error:
        raise files.refusal(path, error, "write") from None
    return Changed(target.path, content, before is None)


def _target(
    files: WorkingFiles, path: str, context: ToolContext, *, create: bool
) -> _core.ScopedTarget | PathTarget:
    """Where the file is; no folder is created for one that was deleted together with it."""
    try:
        return files.target(path)
    except FileNotFoundError:
        check_fresh(context, files.real_path(path), path, None, bytes)
        if not create:
            raise
    return files.target(path, make_folders=True)


def _checked_status(target: _core.ScopedTarget | PathTarget, path: str) -> Status | None:
    if (status := target.status()) is None:
        return None
    mode = status[0]
    if not stat.S_ISREG(mode):
        raise _not_a_file(path, _KINDS.get(stat.S_IFMT(mode), "a pipe, socket or device"))
    if not mode & 0o222 or not target.may_write():
        raise RefusalError(
            f"{quoted(path)} is write-protected, so nothing was written; ask the user whether it "
            "may be changed",
            "execution_failed",
        )
    return status


_KINDS = {
    stat.S_IFDIR: "a directory",
    stat.S_IFLNK: "a symbolic link that leads to itself",
}


def _not_a_file(path: str, kind: str) -> RefusalError:
    return RefusalError(f"{quoted(path)} is {kind}, not a file; give the path of a file")


_PROPERTIES = {
    "path": string(
        "Path of the file, relative to the working directory. Missing folders are created."
    ),
    "content": string("The whole new text of the file."),
}


@_checks.checked_signature
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
    return file_tool(
        "write_file",
        "Write a file: create it, or replace its whole text. To change a part of a file "
        "use patch_file.",
        _PROPERTIES,
        _write,
        required=["path", "content"],
    )


def _write(values: Mapping[str, Any], context: ToolContext) -> ToolResult:
    path = required_text(values, "path", "src/main.py")
    given = encoded(values, "content")

    def new_content(old_content: Callable[[], bytes]) -> bytes:
        try:
            return with_kept_bytes(given, old_content())
        except (OSError, RefusalError):  # it cannot be read, or is too large
            return given

    changed = change_file(path, context, new_content, create=True, max_bytes=MAX_DIGEST_BYTES)
    content = changed.content
    lines = content.count(b"\n") + (not content.endswith(b"\n") and bool(content))
    verb = "Created" if changed.created else "Replaced"
    return ok(
        f"{verb} {quoted(path)}: {len(content):,} bytes, {lines:,} lines.",
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
