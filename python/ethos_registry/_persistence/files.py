"""Waiting for other processes that hold a file of SQLite."""

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

__all__ = ["POLL_SECONDS", "retried_while_locked", "write_whole_file"]


# Writing a file of settings as a whole or not at all.


def write_whole_file(path: Path, text: str, *, mode: int = 0o600) -> None:
    """Replace a file by `text` as UTF-8, or leave it as it is. Raises `OSError`."""
    descriptor, name = tempfile.mkstemp(prefix=f".{path.name}-", dir=path.parent)
    try:
        with open(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
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
