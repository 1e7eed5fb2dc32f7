"""How tools change a file: checked, locked, replaced in one step."""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
from collections.abc import Callable
from dataclasses import dataclass

from ethos_registry.contract.context import ToolContext
from ethos_registry.toolkit.arguments import RefusalError, shown
from ethos_registry.toolkit.folder import (
    TEMPORARY_NAME,
    TEMPORARY_PREFIX,
    Folder,
    folder_below,
)
from ethos_registry.toolkit.folder_lock import locked
from ethos_registry.toolkit.paths import os_refusal, resolve_below, working_directory
from ethos_registry.toolkit.reach_check import check_reach
from ethos_registry.toolkit.stale import check_fresh, digest_of, note

__all__ = ["Changed", "change_file"]

_WRITE_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_EXCL
_CHUNK_BYTES = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Changed:
    """A written file."""

    resolved: str
    """Its real absolute path."""
    content: bytes
    created: bool


def change_file(
    path: str,
    context: ToolContext,
    new_content: Callable[[bytes], bytes],
    *,
    create: bool,
    needs_content: bool,
    max_bytes: int,
) -> Changed:
    """Replace the content of a file below the context's `working_dir`.

    `new_content` gets the bytes of the file (`b""` for a new one or if `needs_content` is false),
    returns the new ones, and may raise `RefusalError`. With `create`, a missing file and its
    missing folders are created. Check, change and renewal of the context's entry happen under one
    lock (`folder_lock`), and other readers see the old file or the new one, never a part: the
    new bytes are written to a temporary file, which replaces it. Mode and, if permitted, owner
    stay; a hard link elsewhere keeps the old content. Nothing is flushed to the disk by force.

    The temporary file of an existing one has mode 0600. If its writer is killed it stays, tools
    do not show it, and the next write in the folder removes it.

    Raises:
        RefusalError: Nothing was written.

    """
    root = working_directory(context.working_dir)
    resolved = resolve_below(root, path)
    check_reach(context, path, resolved, "write")
    if resolved == root:
        raise _not_a_file(path, "a directory")
    parent, name = os.path.split(resolved)
    try:
        with (
            _parent_folder(root, parent, path, resolved, context, create=create) as folder,
            locked(folder, context.abort_signal) as is_alone,
        ):
            before = _checked_status(folder, name, path)
            current = _Current(folder, name, path, before, max_bytes)
            check_fresh(context, resolved, path, before, current.content)
            if before is None and not create:
                raise FileNotFoundError(path)
            content = new_content(current.content() if needs_content else b"")
            if context.abort_signal.aborted:
                raise RefusalError("nothing was written: the turn was aborted", "execution_failed")
            after = _replaced(folder, name, content, before, is_alone=is_alone)
            note(context, resolved, after, digest_of(content))
    except FileNotFoundError as error:
        raise os_refusal(path, resolved, error) from None
    except OSError as error:
        raise _refusal(path, error) from None
    return Changed(resolved, content, before is None)


def _parent_folder(
    root: str, parent: str, path: str, resolved: str, context: ToolContext, *, create: bool
) -> Folder:
    """The folder of the file; not created for a file that was deleted together with it."""
    try:
        return folder_below(root, parent)
    except FileNotFoundError:
        check_fresh(context, resolved, path, None, bytes)
        if not create:
            raise
    return folder_below(root, parent, create=True)


def _checked_status(folder: Folder, name: str, path: str) -> os.stat_result | None:
    status = folder.status(name)
    if status is None:
        return None
    if stat.S_ISDIR(status.st_mode):
        raise _not_a_file(path, "a directory")
    if stat.S_ISLNK(status.st_mode):
        raise _not_a_file(path, "a symbolic link that leads to itself")
    if not stat.S_ISREG(status.st_mode):
        raise _not_a_file(path, "a pipe, socket or device")
    if not status.st_mode & 0o222 or not folder.may_write(name):
        raise RefusalError(
            f"{shown(path)} is write-protected, so nothing was written; ask the user whether it "
            "may be changed",
            "execution_failed",
        )
    return status


def _not_a_file(path: str, kind: str) -> RefusalError:
    return RefusalError(f"{shown(path)} is {kind}, not a file; give the path of a file")


class _Current:
    """The current content of the file, read on demand and once."""

    def __init__(
        self, folder: Folder, name: str, path: str, status: os.stat_result | None, max_bytes: int
    ) -> None:
        self._folder = folder
        self._name = name
        self._path = path
        self._status = status
        self._max_bytes = max_bytes
        self._content: bytes | None = None

    def content(self) -> bytes:
        if self._content is None:
            self._content = b"" if self._status is None else self._read()
        return self._content

    def _read(self) -> bytes:
        with os.fdopen(self._folder.open(self._name), "rb") as file:
            content = file.read(self._max_bytes + 1)
        if len(content) > self._max_bytes:
            raise RefusalError(
                f"{shown(self._path)} has more than {self._max_bytes:,} bytes; "
                "change it with a command in the terminal"
            )
        return content


def _replaced(
    folder: Folder, name: str, content: bytes, before: os.stat_result | None, *, is_alone: bool
) -> os.stat_result:
    """Replace the file; the status of the new one."""
    # A new file gets the mode of the umask at once; the content of an old one must not be readable
    # by more people than the file was, not even for a moment.
    mode = 0o666 if before is None else 0o600
    temporary, descriptor = _temporary(folder, mode, is_alone=is_alone)
    try:
        try:
            _write(descriptor, content)
            if before is not None:
                _keep_owner_and_mode(descriptor, before)
            written = os.fstat(descriptor)
        finally:
            os.close(descriptor)
        folder.replace(temporary, name)
    except BaseException:
        with contextlib.suppress(OSError):
            folder.remove(temporary)
        raise
    return written


def _temporary(folder: Folder, mode: int, *, is_alone: bool) -> tuple[str, int]:
    """A new file beside the target, and its name.

    The holder of the folder's lock is the only writer there: a file of that name was left by a
    writer that was killed.
    """
    if is_alone:
        with contextlib.suppress(OSError):
            with contextlib.suppress(FileNotFoundError):
                folder.remove(TEMPORARY_NAME)
            return TEMPORARY_NAME, folder.open(TEMPORARY_NAME, _WRITE_FLAGS, mode)
    name = f"{TEMPORARY_PREFIX}{secrets.token_hex(8)}.tmp"
    return name, folder.open(name, _WRITE_FLAGS, mode)


def _write(descriptor: int, content: bytes) -> None:
    rest = memoryview(content)
    while rest:
        rest = rest[os.write(descriptor, rest[:_CHUNK_BYTES]) :]


def _keep_owner_and_mode(descriptor: int, before: os.stat_result) -> None:
    if hasattr(os, "fchown") and (before.st_uid, before.st_gid) != (os.geteuid(), os.getegid()):
        with contextlib.suppress(PermissionError):
            os.fchown(descriptor, before.st_uid, before.st_gid)
    if hasattr(os, "fchmod"):
        os.fchmod(descriptor, stat.S_IMODE(before.st_mode))


def _refusal(path: str, error: OSError) -> RefusalError:
    if isinstance(error, NotADirectoryError | IsADirectoryError | FileExistsError):
        return RefusalError(
            f"{shown(path)} could not be written: a part of that path is a file or a link"
        )
    if isinstance(error, PermissionError):
        return RefusalError(f"no permission to write {shown(path)}", "execution_failed")
    reason = error.strerror or type(error).__name__
    return RefusalError(f"{shown(path)} could not be written: {reason}", "execution_failed")
