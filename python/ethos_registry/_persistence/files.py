"""Files of ours: private, and written as a whole."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO, TypeVar
from weakref import WeakSet

# Folders and files of ours: for their owner only, whatever the umask is.


def make_private_folder(path: str | os.PathLike[str]) -> None:
    """Create a folder, with those above it; one that exists stays as it is. Raises `OSError`."""
    if os.path.isdir(path):
        return
    if parent := os.path.dirname(os.path.abspath(path)):
        make_private_folder(parent)
    try:
        os.mkdir(path, 0o700)
    except FileExistsError:
        if os.path.isdir(path):
            return
        raise
    os.chmod(path, 0o700)


def make_private_file(path: str | os.PathLike[str], *, is_new: bool = False) -> None:
    """Create an empty file. Raises `OSError`, with `is_new` also if it exists."""
    try:
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    except FileExistsError:
        if is_new:
            raise
        os.close(os.open(path, os.O_RDWR))
    else:
        os.chmod(path, 0o600)


# Writing a file as a whole or not at all.


@contextlib.contextmanager
def new_file(
    directory: str | os.PathLike[str], prefix: str, suffix: str = ""
) -> Iterator[tuple[str, BinaryIO]]:
    """The path of a new file of mode 0600, and the file; it is removed if the block raises."""
    descriptor, path = tempfile.mkstemp(suffix, prefix, directory)
    try:
        with open(descriptor, "wb") as file:
            yield path, file
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(path)
        raise


def write_whole_file(path: Path, text: str, *, mode: int = 0o600) -> None:
    """Replace a file by `text` as UTF-8, or leave it as it is. Raises `OSError`."""
    with new_file(path.parent, f".{path.name}-") as (name, file):
        file.write(text.encode())
        file.flush()
        os.fsync(file.fileno())
        file.close()  # Windows replaces no open file
        os.chmod(name, mode)
        os.replace(name, path)


# After a fork, what the parent has open stays the parent's.

T = TypeVar("T")
_left_to_parents: list[object] = []
"""Connections of a parent process: closing one in a child could close it there."""


def leave_to_parent(living: WeakSet[T], forget: Callable[[T], object]) -> None:
    """In each child after `fork`, call `forget` for each object and keep what it returns."""

    def forget_parents() -> None:
        _left_to_parents.extend([forget(each) for each in list(living)])

    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=forget_parents)
