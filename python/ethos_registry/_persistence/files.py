"""Files of ours: private, written as a whole, and waited for while another process holds them."""

from __future__ import annotations

import contextlib
import os
import random
import sqlite3
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

__all__ = [
    "POLL_SECONDS",
    "make_private_file",
    "make_private_folder",
    "retried_while_locked",
    "write_whole_file",
]


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


# Writing a file of settings as a whole or not at all.


def write_whole_file(path: Path, text: str, *, mode: int = 0o600) -> None:
    """Replace a file by `text` as UTF-8, or leave it as it is. Raises `OSError`."""
    descriptor, name = tempfile.mkstemp(prefix=f".{path.name}-", dir=path.parent)
    try:
        with open(descriptor, "w", encoding="utf-8", newline="") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(name, mode)
        os.replace(name, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(name)
        raise


R = TypeVar("R")

POLL_SECONDS = 0.002


def retried_while_locked(work: Callable[[], R], seconds: float) -> R:
    """What `work` returns as soon as no other process holds the file.

    SQLite itself waits longer from try to try, up to 100 ms, so that one of many writers may never
    find the moment between two others; and it does not wait at all for the write-ahead log. Raises
    `sqlite3.OperationalError` if the file is held for `seconds`.
    """
    deadline = 0.0
    while True:
        try:
            return work()
        except sqlite3.OperationalError as error:
            now = time.monotonic()
            deadline = deadline or now + seconds
            if "locked" not in str(error) or now > deadline:
                raise
            time.sleep(POLL_SECONDS * random.random())
