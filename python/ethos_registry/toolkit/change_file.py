"""How tools change a file: checked, locked, replaced in one step."""

from __future__ import annotations

import errno
import stat
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ethos_registry.contract.context import ToolContext
from ethos_registry.toolkit.arguments import RefusalError, shown
from ethos_registry.toolkit.folder import Status
from ethos_registry.toolkit.folder_lock import locked
from ethos_registry.toolkit.reach_check import WorkingFiles
from ethos_registry.toolkit.stale import check_fresh, digest_of, note

__all__ = ["Changed", "Current", "change_file"]


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
    new_content: Callable[[Current], bytes],
    *,
    create: bool,
    max_bytes: int,
) -> Changed:
    """Replace the content of a file below the context's `working_dir`.

    `new_content` gets the file as it is, returns the new bytes, and may raise `RefusalError`. With
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
            current = Current(target, path, before, max_bytes)
            check_fresh(context, target.path, path, before, current.content)
            if before is None and not create:
                raise FileNotFoundError(errno.ENOENT, "", path)
            content = new_content(current)
            if context.abort_signal.aborted:
                raise RefusalError("nothing was written: the turn was aborted", "execution_failed")
            note(context, target.path, target.replace(content), digest_of(content))
    except FileNotFoundError as error:
        raise files.refusal(path, error) from None
    except OSError as error:
        raise _refusal(files, path, error) from None
    return Changed(target.path, content, before is None)


def _target(files: WorkingFiles, path: str, context: ToolContext, *, create: bool) -> Any:
    """Where the file is; no folder is created for one that was deleted together with it."""
    try:
        return files.target(path)
    except FileNotFoundError:
        check_fresh(context, files.real_path(path), path, None, bytes)
        if not create:
            raise
    return files.target(path, make_folders=True)


def _checked_status(target: Any, path: str) -> Status | None:
    status: Status | None = target.status()
    if status is None:
        return None
    mode = status[0]
    if stat.S_ISDIR(mode):
        raise _not_a_file(path, "a directory")
    if stat.S_ISLNK(mode):
        raise _not_a_file(path, "a symbolic link that leads to itself")
    if not stat.S_ISREG(mode):
        raise _not_a_file(path, "a pipe, socket or device")
    if not mode & 0o222 or not target.may_write():
        raise RefusalError(
            f"{shown(path)} is write-protected, so nothing was written; ask the user whether it "
            "may be changed",
            "execution_failed",
        )
    return status


def _not_a_file(path: str, kind: str) -> RefusalError:
    return RefusalError(f"{shown(path)} is {kind}, not a file; give the path of a file")


class Current:
    """The current content of the file, read on demand and once."""

    def __init__(self, target: Any, path: str, status: Status | None, max_bytes: int) -> None:
        self._target = target
        self._path = path
        self._status = status
        self._max_bytes = max_bytes
        self._content: bytes | None = None

    def content(self) -> bytes:
        """All bytes; `b""` if there is no file. `RefusalError` if there are too many."""
        if self._content is None:
            self._content = b"" if self._status is None else self._read()
        return self._content

    def _read(self) -> bytes:
        try:
            content: bytes = self._target.read(self._max_bytes)
        except OSError as error:
            if error.errno != errno.EFBIG:
                raise
            raise RefusalError(
                f"{shown(self._path)} has more than {self._max_bytes:,} bytes; "
                "change it with a command in the terminal"
            ) from None
        return content

    def readable(self) -> bytes:
        """The bytes, or none if the file cannot be read or is too large."""
        try:
            return self.content()
        except (OSError, RefusalError):
            return b""


def _refusal(files: WorkingFiles, path: str, error: OSError) -> RefusalError:
    if isinstance(error, NotADirectoryError | IsADirectoryError | FileExistsError):
        return RefusalError(
            f"{shown(path)} could not be written: a part of that path is a file or a link"
        )
    if isinstance(error, PermissionError) and error.errno is None:
        return files.refusal(path, error, "write")
    if isinstance(error, PermissionError):
        return RefusalError(f"no permission to write {shown(path)}", "execution_failed")
    reason = error.strerror or type(error).__name__
    return RefusalError(f"{shown(path)} could not be written: {reason}", "execution_failed")
