"""Open folders: a path that is swapped meanwhile cannot lead a tool elsewhere."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from types import TracebackType
from typing import Literal, Self, TypeAlias

__all__ = [
    "TEMPORARY_NAME",
    "TEMPORARY_PREFIX",
    "Folder",
    "Kind",
    "folder_below",
    "is_temporary",
    "open_below",
]

Kind: TypeAlias = Literal["file", "folder", "link", "other"]
"""The type of an entry of a folder; a link is a link, whatever its target."""

TEMPORARY_PREFIX = ".ethos-registry-"
TEMPORARY_NAME = f"{TEMPORARY_PREFIX}write.tmp"
"""The file beside a file that is being replaced; one that stays was left by a killed process."""

_HAS_DESCRIPTORS = os.open in os.supports_dir_fd
_READ_FLAGS = getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0)
_WALK_FLAGS = _READ_FLAGS | getattr(os, "O_PATH", os.O_RDONLY)
_FILE_FLAGS = 0
for _flag in ("O_NOFOLLOW", "O_NONBLOCK", "O_NOCTTY", "O_BINARY"):
    _FILE_FLAGS |= getattr(os, _flag, 0)


class Folder:
    """An open folder; names are looked up in it, even if its path leads elsewhere by now.

    On Windows, which has no descriptors of folders, its path is used instead.
    """

    __slots__ = ("_descriptor", "path")

    def __init__(self, path: str, parent: Folder | None = None) -> None:
        self.path = path
        self._descriptor: int | None = None
        if parent is not None and parent._descriptor is not None:
            name = os.path.basename(path)
            self._descriptor = os.open(name, _WALK_FLAGS, dir_fd=parent._descriptor)
        elif _HAS_DESCRIPTORS:
            self._descriptor = os.open(path, _WALK_FLAGS)
        elif os.path.islink(path) or not os.path.isdir(path):
            raise NotADirectoryError(path)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)

    def child(self, name: str) -> Folder:
        """A folder in this one; `OSError` if the name is that of a link or of a file."""
        return Folder(os.path.join(self.path, name), self)

    def create_child(self, name: str) -> Folder:
        """A folder in this one, created if it is missing."""
        try:
            return self.child(name)
        except FileNotFoundError:
            with contextlib.suppress(FileExistsError):
                os.mkdir(self._at(name), dir_fd=self._descriptor)
            return self.child(name)

    def open(self, name: str, flags: int = os.O_RDONLY, mode: int = 0o666) -> int:
        """Open a file in the folder; never the target of a link, and never blocks."""
        return os.open(self._at(name), flags | _FILE_FLAGS, mode, dir_fd=self._descriptor)

    def status(self, name: str) -> os.stat_result | None:
        """The status of an entry, links not followed; `None` if it does not exist."""
        try:
            return os.stat(self._at(name), dir_fd=self._descriptor, follow_symlinks=False)
        except FileNotFoundError:
            return None

    def may_write(self, name: str) -> bool:
        """Whether this process may write to the file itself, not just replace it."""
        return os.access(self._at(name), os.W_OK, dir_fd=self._descriptor)

    def replace(self, source: str, target: str) -> None:
        """Rename a file over `target`, in one step."""
        descriptor = self._descriptor
        os.replace(self._at(source), self._at(target), src_dir_fd=descriptor, dst_dir_fd=descriptor)

    def remove(self, name: str) -> None:
        """Remove a file."""
        os.unlink(self._at(name), dir_fd=self._descriptor)

    def entries(self) -> list[tuple[str, Kind]]:
        """Names and types of all entries, by name in code point order."""
        with (
            self.readable() as descriptor,
            os.scandir(self.path if descriptor is None else descriptor) as entries,
        ):
            return sorted((entry.name, _kind(entry)) for entry in entries)

    @contextlib.contextmanager
    def readable(self) -> Iterator[int | None]:
        """A descriptor for `os.scandir` and `flock`; `None` on systems without."""
        if self._descriptor is None:
            yield None
            return
        descriptor = os.open(os.curdir, _READ_FLAGS, dir_fd=self._descriptor)
        try:
            yield descriptor
        finally:
            os.close(descriptor)

    def _at(self, name: str) -> str:
        return name if self._descriptor is not None else os.path.join(self.path, name)


def is_temporary(name: str) -> bool:
    """Whether a name is that of a temporary file of `change_file`."""
    return name.startswith(TEMPORARY_PREFIX) and name.endswith(".tmp")


def _kind(entry: os.DirEntry[str]) -> Kind:
    if entry.is_symlink():
        return "link"
    if entry.is_dir(follow_symlinks=False):
        return "folder"
    return "file" if entry.is_file(follow_symlinks=False) else "other"


def folder_below(root: str, resolved: str, *, create: bool = False) -> Folder:
    """Open the folder at a path from `resolve_below`; with `create`, missing ones are created.

    Each folder is opened from its parent without following links, so that a folder swapped for a
    link after the check cannot lead outside.

    Raises:
        OSError: A folder is missing, or is a link or a file by now.

    """
    relative = os.path.relpath(resolved, root)
    folder = Folder(root)
    for name in () if relative == os.curdir else relative.split(os.sep):
        with folder as parent:
            folder = parent.create_child(name) if create else parent.child(name)
    return folder


def open_below(root: str, resolved: str) -> int:
    """Open the file at a path from `resolve_below` for reading; never blocks."""
    parent, name = (root, os.curdir) if resolved == root else os.path.split(resolved)
    with folder_below(root, parent) as folder:
        return folder.open(name)
