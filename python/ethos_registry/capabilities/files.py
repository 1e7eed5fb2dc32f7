"""Files below permitted directories, for tools: `context.scoped_fs`."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from ethos_registry.capabilities.protected import DEFAULT_PROTECTION, Protection
from ethos_registry.contract.errors import ConfigError

__all__ = ["FileEntry", "ReachFiles", "SyncReachFiles", "folder_storage"]

READ_LIMIT_BYTES = 64 * 1024 * 1024
"""The largest file that is read unless the caller sets another limit."""


@dataclass(frozen=True, slots=True)
class FileEntry:
    """One entry of a directory."""

    name: str
    kind: Literal["file", "directory", "symlink", "other"]
    size_bytes: int
    modified_seconds: float
    """Since the epoch."""


class SyncReachFiles:
    """Files below permitted directories, for plain functions; see `ReachFiles`.

    >>> import tempfile
    >>> folder = os.path.realpath(tempfile.mkdtemp())
    >>> files = SyncReachFiles([folder], [folder], working_dir=folder)
    >>> files.write("notes.txt", "hello")
    >>> files.read("notes.txt"), files.list("."), files.exists("other.txt")
    ('hello', ['notes.txt'], False)
    >>> try:
    ...     files.read("/etc/hostname")
    ... except PermissionError as error:
    ...     print(error)
    PATH_NOT_REACHABLE: read not permitted for /etc/hostname
    """

    __slots__ = ("_native",)

    def __init__(
        self,
        read: Sequence[str] = (),
        write: Sequence[str] = (),
        *,
        working_dir: str | None = None,
        protection: Protection = DEFAULT_PROTECTION,
    ) -> None:
        folder = os.path.abspath(working_dir or os.getcwd())
        self._native = protection.scoped_files(
            [_absolute(path, folder) for path in read],
            [_absolute(path, folder) for path in write],
            folder,
        )

    def read_bytes(self, path: str, *, limit_bytes: int = READ_LIMIT_BYTES) -> bytes:
        """The content of a regular file; `OSError` if it is larger than the limit."""
        content: bytes = self._native.read(path, limit_bytes)
        return content

    def read(self, path: str, *, limit_bytes: int = READ_LIMIT_BYTES) -> str:
        """The content as UTF-8; bytes that are not UTF-8 become U+FFFD."""
        return self.read_bytes(path, limit_bytes=limit_bytes).decode("utf-8", "replace")

    def write(self, path: str, content: str | bytes) -> None:
        """Create a file or replace its content in one step; its permissions are preserved."""
        data = content.encode() if isinstance(content, str) else content
        self._native.write(path, data)

    def exists(self, path: str) -> bool:
        """Whether a file or directory exists; `PermissionError` outside the reach."""
        return self._native.look(path) is not None

    def mtime(self, path: str) -> float | None:
        """When it was modified, in seconds since the epoch; `None` if it does not exist."""
        found = self._native.look(path)
        return None if found is None else found[2]

    def list(self, path: str = ".") -> list[str]:
        """The names in a directory, sorted; empty if it does not exist."""
        return [entry[0] for entry in self._native.list(path)]

    def list_entries(self, path: str = ".") -> Sequence[FileEntry]:
        """The entries of a directory, by name; symbolic links are not followed."""
        return [FileEntry(*entry) for entry in self._native.list(path)]

    def mkdir(self, path: str) -> None:
        """Create a directory and its parents; one that exists is not changed."""
        self._native.make_folder(path)


class ReachFiles:
    """Files below permitted directories, for `async` tools.

    `read` and `write` are directories or single files: reading needs one of the first, writing one
    of the second. Relative paths start at `working_dir`. No `..`, symbolic link or race leads out
    of the reach, and what `protection` names remains closed inside it. Refusals are
    `PermissionError`s that start with `PATH_NOT_REACHABLE`. `sync` has the same methods for plain
    functions.
    """

    __slots__ = ("sync",)

    sync: SyncReachFiles
    """The same files for code that may block."""

    def __init__(
        self,
        read: Sequence[str] = (),
        write: Sequence[str] = (),
        *,
        working_dir: str | None = None,
        protection: Protection = DEFAULT_PROTECTION,
    ) -> None:
        self.sync = SyncReachFiles(read, write, working_dir=working_dir, protection=protection)

    async def read_bytes(self, path: str, *, limit_bytes: int = READ_LIMIT_BYTES) -> bytes:
        """The content of a regular file; `OSError` if it is larger than the limit."""
        return await asyncio.to_thread(self.sync.read_bytes, path, limit_bytes=limit_bytes)

    async def read(self, path: str, *, limit_bytes: int = READ_LIMIT_BYTES) -> str:
        """The content as UTF-8; bytes that are not UTF-8 become U+FFFD."""
        return await asyncio.to_thread(self.sync.read, path, limit_bytes=limit_bytes)

    async def write(self, path: str, content: str | bytes) -> None:
        """Create a file or replace its content in one step; its permissions are preserved."""
        await asyncio.to_thread(self.sync.write, path, content)

    async def exists(self, path: str) -> bool:
        """Whether a file or directory exists; `PermissionError` outside the reach."""
        return await asyncio.to_thread(self.sync.exists, path)

    async def mtime(self, path: str) -> float | None:
        """When it was modified, in seconds since the epoch; `None` if it does not exist."""
        return await asyncio.to_thread(self.sync.mtime, path)

    async def list(self, path: str = ".") -> list[str]:
        """The names in a directory, sorted; empty if it does not exist."""
        return await asyncio.to_thread(self.sync.list, path)

    async def list_entries(self, path: str = ".") -> Sequence[FileEntry]:
        """The entries of a directory, by name; symbolic links are not followed."""
        return await asyncio.to_thread(self.sync.list_entries, path)

    async def mkdir(self, path: str) -> None:
        """Create a directory and its parents; one that exists is not changed."""
        await asyncio.to_thread(self.sync.mkdir, path)


def folder_storage(
    folder: str | os.PathLike[str], *, protection: Protection = DEFAULT_PROTECTION
) -> ReachFiles:
    """A `Storage` of one directory, which must exist: `ToolContext(storage=folder_storage(...))`.

    Relative paths start there, and nothing outside it is reached.

    >>> import tempfile
    >>> storage = folder_storage(tempfile.mkdtemp())
    >>> storage.sync.write("today.txt", "tea")
    >>> storage.sync.read("today.txt")
    'tea'
    """
    path = os.path.realpath(os.fspath(folder))
    if not os.path.isdir(path):
        raise ConfigError(f"the storage directory {path!r} does not exist; create it first")
    return ReachFiles([path], [path], working_dir=path, protection=protection)


def _absolute(path: Any, folder: str) -> str:
    return os.path.normpath(os.path.join(folder, os.path.expanduser(os.fspath(path))))
