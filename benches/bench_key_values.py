"""The key-value store beside bare sqlite3 with the same table and the same durability."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from beside import beside
from ethos_registry.capabilities import KeyValueDatabase

KEYS = 1_000
GETS = 1_000
SETS = 100
VALUE = "x" * 200


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Any]:
    database = KeyValueDatabase(tmp_path / "values.sqlite3")
    values = database.scope("tool:bench").sync
    for number in range(KEYS):
        values.set(f"key-{number}", VALUE)
    yield values
    database.close()


@pytest.fixture
def bare(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    connection = sqlite3.connect(tmp_path / "bare.sqlite3", isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("CREATE TABLE entries (key TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID")
    connection.executemany(
        "INSERT INTO entries VALUES (?, ?)", [(f"key-{number}", VALUE) for number in range(KEYS)]
    )
    yield connection
    connection.close()


def test_get(benchmark: Any, store: Any, bare: sqlite3.Connection) -> None:
    """Read values of 200 characters from a scope of 1,000 keys."""
    keys = [f"key-{number * 7 % KEYS}" for number in range(GETS)]

    def ours() -> None:
        for key in keys:
            store.get(key)

    def theirs() -> None:
        for key in keys:
            bare.execute("SELECT value FROM entries WHERE key = ?", (key,)).fetchone()

    _compare(benchmark, ours, theirs, GETS, "get")


def test_set(benchmark: Any, store: Any, bare: sqlite3.Connection) -> None:
    """Replace values of 200 characters, each durable before the next: quota, expiry and value."""
    keys = [f"key-{number * 7 % KEYS}" for number in range(SETS)]

    def ours() -> None:
        for key in keys:
            store.set(key, VALUE)

    def theirs() -> None:
        for key in keys:
            bare.execute("REPLACE INTO entries VALUES (?, ?)", (key, VALUE))

    _compare(benchmark, ours, theirs, SETS, "set")


def _compare(
    benchmark: Any,
    ours: Callable[[], object],
    theirs: Callable[[], object],
    count: int,
    unit: str,
) -> None:
    beside(
        benchmark,
        lambda: ours,
        {"bare sqlite3": lambda: theirs},
        group="a value of the key-value store",
        rounds=30,
        per_round=count,
        unit=unit,
    )
