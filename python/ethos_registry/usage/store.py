"""Where a ledger keeps its counts."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import Protocol
from uuid import uuid4

from ethos_registry.contract import checks
from ethos_registry.contract.errors import ConfigError
from ethos_registry.usage.facts import Facts, UsageFilter
from ethos_registry.usage.record import Batch, CountedCalls, KnownTool, merged

__all__ = ["MEMORY", "MemoryStore", "UsageStore", "store_at"]

MEMORY = ":memory:"
_POSTGRES = ("postgresql://", "postgres://")


class UsageStore(Protocol):
    """Keeps batches; every failure is a `UsageStoreError`."""

    @property
    def place(self) -> str:
        """What messages call it."""

    def write(self, batch: Batch) -> None:
        """Store a batch, once, however often it is tried."""

    def read(self, wanted: UsageFilter) -> Facts:
        """What is stored, filtered and summed up."""

    def close(self) -> None:
        """Let go of files and connections."""

    def left_to_parent(self) -> object:
        """In a child after `fork`: what only the parent may use; hold it and do not touch it."""


class MemoryStore:
    """Keeps everything in this process, as long as it runs."""

    place = MEMORY

    def __init__(self) -> None:
        self._counts: CountedCalls = {}
        self._tools: dict[str, KnownTool] = {}
        self._lock = threading.Lock()

    def write(self, batch: Batch) -> None:
        """Add a batch."""
        with self._lock:
            self._counts = merged([self._counts, batch.counts])
            self._tools.update((tool.name, tool) for tool in batch.tools)

    def read(self, wanted: UsageFilter) -> Facts:
        """What was added, filtered and summed up."""
        with self._lock:
            counts, tools = self._counts, list(self._tools.values())
        facts = Facts()
        facts.add_tools(tools)
        facts.add_counts(counts, wanted)
        return facts

    def close(self) -> None:
        """Nothing: the counts can still be read."""

    def left_to_parent(self) -> object:
        """Nothing; the child counts from zero."""
        self.__init__()  # type: ignore[misc]
        return None


def store_at(place: str | os.PathLike[str], *, is_read_only: bool = False) -> UsageStore:
    """The store that a path, a PostgreSQL URL or `:memory:` names; nothing is opened yet.

    `ConfigError` for a folder, for a path whose folder does not exist (unless `is_read_only`:
    reading reports that there is no ledger), and for a URL of another kind.
    """
    text = checks.path(place, "place")
    if text == MEMORY:
        return MemoryStore()
    from ethos_registry.usage.sql_store import SqlStore

    writer = uuid4().hex
    if text.startswith(_POSTGRES):
        from ethos_registry.usage.postgres import PostgresDriver

        return SqlStore(PostgresDriver(text), writer=writer)
    if "://" in text:
        raise ConfigError(
            "`place` must be a path, ':memory:' or a URL that begins with postgresql://: "
            f"{checks.brief(text.split('://')[0])}"
        )
    if os.path.isdir(text):
        raise ConfigError(f"`place` is a folder: {checks.brief(text)}; name a file in it")
    folder = Path(text).absolute().parent
    if not is_read_only and not folder.is_dir():
        raise ConfigError(
            f"`place` is in a folder that does not exist: {checks.brief(str(folder))}; "
            "make it first"
        )
    from ethos_registry.usage.sqlite import SqliteDriver

    return SqlStore(SqliteDriver(text), writer=writer)
