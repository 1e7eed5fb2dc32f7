"""Waiting for other processes that hold a file of SQLite."""

from __future__ import annotations

import random
import sqlite3
import time
from collections.abc import Callable
from typing import TypeVar

__all__ = ["POLL_SECONDS", "retried_while_locked"]

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
