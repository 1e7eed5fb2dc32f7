"""Files by their paths, for systems without descriptors of folders (Windows)."""

from __future__ import annotations

import contextlib
import errno
import functools
import hashlib
import os
import secrets
import stat
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Literal

from ethos_registry import _core
from ethos_registry.capabilities._files import DEFAULT_PROTECTION, Protection
from ethos_registry.capabilities._protected_paths import is_below
from ethos_registry.capabilities._resolver import narrowed_reach
from ethos_registry.tools._arguments import (
    RefusalError,
    argument_tool,
    check_expanded,
    near_names,
    outside,
    quoted,
    string,
    working_directory,
)
from ethos_registry.types._abort import AbortSignal
from ethos_registry.types._context import ReadMtime, ToolContext
from ethos_registry.types._policy import Personality, binds_itself

TEMPORARY_PREFIX = ".ethos-registry-"
"""The start of the name of a file beside one that is being replaced."""

Status = tuple[int, int, int, int, int]
"""Mode, device, inode, size in bytes, modification time in nanoseconds."""


def is_temporary(name: str) -> bool:
    """Whether a name is that of a file beside one that is being replaced."""
    return name.startswith(TEMPORARY_PREFIX) and name.endswith(".tmp")


def status_of(found: os.stat_result) -> Status:
    """The facts of a file that changes are recognised by."""
    return found.st_mode, found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns


class PathFiles:
    """The methods of `_core.ScopedFiles`; a link that is swapped meanwhile can lead elsewhere."""

    def __init__(
        self, read: Sequence[str], write: Sequence[str], folder: str, protection: Protection
    ) -> None:
        self._roots = {"read": read, "write": write}
        self._folder = folder
        closed = protection.closed_names
        self._closed = {"read": closed, "write": (*closed, *protection.read_only_names)}

    def resolved(self, path: str, access: str) -> str:
        """The real path; `PermissionError` beyond the reach and for closed names."""
        named = os.path.normcase(os.path.join(self._folder, path))
        real = os.path.realpath(named)
        places = [os.path.normcase(os.path.realpath(root)) for root in self._roots[access]]
        if not any(f"{os.path.normcase(real)}{os.sep}".startswith(f"{p}{os.sep}") for p in places):
            raise PermissionError(f"PATH_NOT_REACHABLE: {access} not permitted for {path}")
        for spelled in (os.path.normpath(named), os.path.normcase(real)):
            inside = f"/{spelled.replace(os.sep, '/')}/"
            if any(f"/{name}/" in inside for name in self._closed[access]):
                raise PermissionError(
                    f"PATH_NOT_REACHABLE: {access} of {path} is always denied: protected file"
                )
        return real

    def open(self, path: str) -> tuple[int, str]:
        real = self.resolved(path, "read")
        mode = os.stat(real).st_mode
        if stat.S_ISDIR(mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
        if not stat.S_ISREG(mode):
            raise PermissionError(f"PATH_NOT_REACHABLE: read of {path}: not a regular file")
        return os.open(real, os.O_RDONLY | getattr(os, "O_BINARY", 0)), real

    def read(self, path: str, limit_bytes: int) -> bytes:
        descriptor, _ = self.open(path)
        with os.fdopen(descriptor, "rb") as file:
            content = file.read(limit_bytes + 1)
        if len(content) > limit_bytes:
            raise OSError(errno.EFBIG, f"{path} is too large to read")
        return content

    def entries(self, path: str) -> tuple[str, list[tuple[str, str]]]:
        real = self.resolved(path, "read")
        if not os.path.isdir(real) and os.path.lexists(real):
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), path)
        with os.scandir(real) as entries:
            return real, sorted((entry.name, _kind(entry)) for entry in entries)

    def target(self, path: str, *, make_folders: bool = False) -> PathTarget:
        real = self.resolved(path, "write")
        if make_folders:
            os.makedirs(os.path.dirname(real), exist_ok=True)
        elif not os.path.isdir(os.path.dirname(real)):
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
        return PathTarget(real)


class PathTarget:
    """The methods of `_core.ScopedTarget`."""

    def __init__(self, path: str) -> None:
        self.path = path

    def status(self) -> Status | None:
        with contextlib.suppress(FileNotFoundError):
            return status_of(os.lstat(self.path))
        return None

    def may_write(self) -> bool:
        return os.access(self.path, os.W_OK)

    def read(self, limit_bytes: int) -> bytes:
        return PathFiles([self.path], [], os.sep, Protection()).read(self.path, limit_bytes)

    def lock(self) -> bool:
        raise OSError(errno.ENOTSUP, "folders cannot be locked")

    def unlock(self) -> None:
        """Nothing is locked."""

    def replace(self, data: bytes) -> Status:
        temporary = os.path.join(
            os.path.dirname(self.path), f"{TEMPORARY_PREFIX}{secrets.token_hex(8)}.tmp"
        )
        try:
            with open(temporary, "xb") as file:
                file.write(data)
            os.replace(temporary, self.path)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
            raise
        return status_of(os.lstat(self.path))


def _kind(entry: os.DirEntry[str]) -> str:
    if entry.is_symlink():
        return "symlink"
    if entry.is_dir(follow_symlinks=False):
        return "directory"
    return "file" if entry.is_file(follow_symlinks=False) else "other"


# One writer at a time in a folder, across threads and processes.

_WAIT_SECONDS = 10.0
_FIRST_PAUSE_SECONDS = 0.000_2
_LONGEST_PAUSE_SECONDS = 0.005

_thread_lock = threading.Lock()


@contextlib.contextmanager
def locked(target: _core.ScopedTarget | PathTarget, signal: AbortSignal) -> Iterator[None]:
    """Hold the lock of the folder of a `_core.ScopedTarget`.

    The lock is an advisory `flock` on the folder itself: it leaves no file behind, it ends with
    the process, and it is the same lock for processes that see different temp folders. One lock
    covers all paths in the folder; it is held for the moments of a check and a rename. Systems and
    file systems without such a lock (Windows, some network drives) get one lock for all threads of
    this process.

    Raises:
        RefusalError: The turn was aborted, or others have held the lock for 10 s.

    """
    try:
        _wait(target.lock, signal)
        release = target.unlock
    except OSError:
        _wait(lambda: _thread_lock.acquire(blocking=False), signal)
        release = _thread_lock.release
    try:
        yield
    finally:
        release()


def _wait(take: Callable[[], bool], signal: AbortSignal) -> None:
    """Poll: a wait in the kernel could not be ended by an abort."""
    deadline = time.monotonic() + _WAIT_SECONDS
    pause = _FIRST_PAUSE_SECONDS
    while not take():
        if signal.aborted:
            raise RefusalError("nothing was written: the turn was aborted", "execution_failed")
        if time.monotonic() > deadline:
            raise RefusalError(
                "nothing was written: another program has kept the folder locked for "
                f"{_WAIT_SECONDS:g} s; try again later",
                "execution_failed",
            )
        time.sleep(pause)
        pause = min(2 * pause, _LONGEST_PAUSE_SECONDS)


# Check that a file is unchanged since it was read (`read_mtimes`, `STALE_WRITE`).

MAX_DIGEST_BYTES = 10_000_000
"""For a larger file only inode, size and modification time are compared."""

_SAME_MTIME_MS = 0.001
"""Entries from elsewhere hold milliseconds as a float, rounded in the last places."""


def new_digest() -> hashlib.blake2b:
    """A digest to feed while a file is read."""
    return hashlib.blake2b(digest_size=16)


def digest_of(content: bytes) -> str:
    """The digest of a whole content, for `note`."""
    return hashlib.blake2b(content, digest_size=16).hexdigest()


def note(context: ToolContext, resolved: str, status: Status, digest: str) -> None:
    """Record the state of a file in the context's map, if it has one.

    `digest` is that of the whole content, `""` if there is none.
    """
    if context.read_mtimes is not None:
        context.read_mtimes[resolved] = ReadMtime(
            status[4] / 1_000_000, context.current_turn, _stamp(status) + digest
        )


def forget(context: ToolContext, resolved: str) -> None:
    """Remove the record of a file: the model has seen that it is gone."""
    if context.read_mtimes is not None:
        context.read_mtimes.pop(resolved, None)


def check_fresh(
    context: ToolContext,
    resolved: str,
    path: str,
    status: Status | None,
    content: Callable[[], bytes],
) -> None:
    """Refuse a change if the file differs from its record in the context's map.

    `status` is `None` if there is no file now. Without a map or an entry nothing is checked. The
    modification
    time decides, and for entries of this package's tools also inode, size and content: two writes
    in one tick of the clock leave the same time, and a freed inode is given out again at once.
    """
    entry = None if context.read_mtimes is None else context.read_mtimes.get(resolved)
    if entry is None:
        return
    if status is None:
        raise RefusalError(
            f"{quoted(path)} was deleted after it was read, so nothing was written; call read_file "
            "to make sure that it is gone, then write_file creates it again",
            "STALE_WRITE",
        )
    if not _is_same(entry, status, content):
        raise RefusalError(
            f"{quoted(path)} was changed by someone else after it was read, so nothing was "
            "written; read it again with read_file, then redo the change on its new text",
            "STALE_WRITE",
        )


def _is_same(entry: ReadMtime, status: Status, content: Callable[[], bytes]) -> bool:
    if entry.stamp is None:
        return abs(entry.mtime_ms - status[4] / 1_000_000) < _SAME_MTIME_MS
    stamp = _stamp(status)
    if not entry.stamp.startswith(stamp):
        return False
    digest = entry.stamp[len(stamp) :]
    return not digest or digest == digest_of(content())


def _stamp(status: Status) -> str:
    _, device, inode, size_bytes, modified_nanoseconds = status
    return f"{device}:{inode}:{size_bytes}:{modified_nanoseconds}:"


# The files that a ready tool may use: those of its call's working directory and personality.

file_tool = functools.partial(argument_tool, bind=binds_itself, toolset="file")
"""An `argument_tool` that keeps to the files that the personality permits."""
FILE_PATH = string("Path of the file, relative to the working directory.")
_NAMED_ROOTS = 4


class WorkingFiles:
    """Files below the working directory of a call, as far as its personality permits.

    The methods are those of `_core.ScopedFiles`. A path that starts with the working directory as
    the context spells it, links included, is one below its real path.
    """

    __slots__ = ("_native", "_reach", "_spelled", "root")

    root: str
    """The real path of the working directory."""

    def __init__(self, context: ToolContext) -> None:
        self.root = working_directory(context.working_dir)
        self._spelled = os.path.join(os.path.abspath(context.working_dir), "")
        personality: Personality | None = getattr(context, "personality", None)
        allowed = None if personality is None else personality.fs_reach
        declared = {"read": [self.root], "write": [self.root]}
        self._reach = narrowed_reach(declared, allowed, context.working_dir)
        protection: Protection = getattr(context, "protection", DEFAULT_PROTECTION)
        read, write = list(self._reach.read), list(self._reach.write)
        self._native: _core.ScopedFiles | PathFiles
        if hasattr(_core, "ScopedFiles"):
            self._native = protection.scoped_files(read, write, self.root)
        else:
            self._native = PathFiles(read, write, self.root, protection)

    def open(self, path: str) -> tuple[int, str]:
        """A descriptor of a regular file, and its real path."""
        return self._native.open(self._absolute(path))

    def read(self, path: str, limit_bytes: int) -> bytes:
        """The bytes of a regular file; `OSError` with `EFBIG` if it has more."""
        return self._native.read(self._absolute(path), limit_bytes)

    def names(self, path: str) -> tuple[str, list[tuple[str, str]]]:
        """The real path of a folder, and `(name, kind)` of each entry, by name."""
        return self._native.entries(self._absolute(path))

    def target(self, path: str, *, make_folders: bool = False) -> _core.ScopedTarget | PathTarget:
        """Where a file is or will be written."""
        return self._native.target(self._absolute(path), make_folders=make_folders)

    def real_path(self, path: str) -> str:
        """Where a path leads, for records and messages; nothing is permitted by it."""
        try:
            return os.path.realpath(self._absolute(path))
        except (OSError, ValueError, RefusalError):
            return ""

    def _absolute(self, path: str) -> str:
        check_expanded(path)
        path = path.removeprefix(self._spelled)
        try:
            os.fsencode(path)
        except UnicodeError:  # a lone surrogate
            raise outside(path) from None
        return os.path.join(self.root, path)

    def refusal(
        self, path: str, error: OSError, access: Literal["read", "write"] = "read"
    ) -> RefusalError:
        """The error for the model if a path is not opened."""
        text, shown = str(error), quoted(path)
        if "must have" in text and "\0" not in path:
            error = OSError(errno.ENAMETOOLONG, os.strerror(errno.ENAMETOOLONG))
        elif not is_below(self.real_path(path), (self.root,)):
            return outside(path)
        if isinstance(error, FileNotFoundError):
            near = near_names(path, self._names_beside(path))
            return RefusalError(f"no such file: {shown}{near}")
        if isinstance(error, NotADirectoryError | FileExistsError):
            return RefusalError(f"no such file: {shown}; a part of that path is a file")
        if error.errno == errno.ELOOP or "too many symbolic links" in text:
            return RefusalError(f"{shown} is a symbolic link that leads to itself")
        if "not a regular file" in text:
            return RefusalError(f"{shown} is a pipe, socket or device, not a file")
        if not isinstance(error, PermissionError):
            done = "read" if access == "read" else "written"
            reason = error.strerror or type(error).__name__
            return RefusalError(f"{shown} could not be {done}: {reason}", "execution_failed")
        if error.errno is not None:
            return RefusalError(f"no permission to {access} {shown}", "execution_failed")
        if "always denied" in text:
            why = f"of {shown} is always denied: it is a protected file"
        else:
            roots = self._reach.read if access == "read" else self._reach.write
            named = ", ".join(map(quoted, roots[:_NAMED_ROOTS]))
            way = f"permitted: {named}" if roots else "this personality may not touch such files"
            why = f"not permitted for {shown}; {way}"
        return RefusalError(f"PATH_NOT_REACHABLE: {access} {why}", "not_available")

    def _names_beside(self, path: str) -> list[str] | None:
        """The names in the folder of a path; `None` if the folder does not exist."""
        with contextlib.suppress(OSError):
            return [name for name, _ in self.names(os.path.dirname(path) or os.curdir)[1]]
        return None
