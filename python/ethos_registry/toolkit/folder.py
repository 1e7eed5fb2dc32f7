"""Files by their paths, for systems without descriptors of folders (Windows)."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import stat
from collections.abc import Sequence

__all__ = ["TEMPORARY_PREFIX", "PathFiles", "PathTarget", "Status", "is_temporary", "status_of"]

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
        self,
        read: Sequence[str],
        write: Sequence[str],
        folder: str,
        *,
        closed_names: Sequence[str] = (),
        closed_names_to_writing: Sequence[str] = (),
    ) -> None:
        self._roots = {"read": read, "write": write}
        self._folder = folder
        self._closed = {
            "read": closed_names,
            "write": (*closed_names, *closed_names_to_writing),
        }

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
        """A descriptor of a regular file, and its real path."""
        real = self.resolved(path, "read")
        mode = os.stat(real).st_mode
        if stat.S_ISDIR(mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
        if not stat.S_ISREG(mode):
            raise PermissionError(f"PATH_NOT_REACHABLE: read of {path}: not a regular file")
        return os.open(real, os.O_RDONLY | getattr(os, "O_BINARY", 0)), real

    def read(self, path: str, limit_bytes: int) -> bytes:
        """The bytes of a regular file; an `OSError` if it has more."""
        descriptor, _ = self.open(path)
        with os.fdopen(descriptor, "rb") as file:
            content = file.read(limit_bytes + 1)
        if len(content) > limit_bytes:
            raise OSError(errno.EFBIG, f"{path} is too large to read")
        return content

    def entries(self, path: str) -> tuple[str, list[tuple[str, str]]]:
        """The real path of a folder, and the names and kinds of its entries."""
        real = self.resolved(path, "read")
        if not os.path.isdir(real) and os.path.lexists(real):
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), path)
        with os.scandir(real) as entries:
            return real, sorted((entry.name, _kind(entry)) for entry in entries)

    def target(self, path: str, *, make_folders: bool = False) -> PathTarget:
        """Where a file is or will be written."""
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
        """The status of what is there."""
        with contextlib.suppress(FileNotFoundError):
            return status_of(os.lstat(self.path))
        return None

    def may_write(self) -> bool:
        """Whether this process may write to the file itself."""
        return os.access(self.path, os.W_OK)

    def read(self, limit_bytes: int) -> bytes:
        """The content; an `OSError` if it is longer."""
        return PathFiles([self.path], [], os.sep).read(self.path, limit_bytes)

    def lock(self) -> bool:
        """There is no lock of a folder here."""
        raise OSError(errno.ENOTSUP, "folders cannot be locked")

    def unlock(self) -> None:
        """Nothing is locked."""

    def replace(self, data: bytes) -> Status:
        """Create the file or replace its content in one step."""
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
