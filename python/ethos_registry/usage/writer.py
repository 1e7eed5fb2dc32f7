"""Writes what was counted, on one thread, until the process ends."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from uuid import uuid4

from ethos_registry.persistence.background_writer import BackgroundWriter
from ethos_registry.usage.counts import Counts
from ethos_registry.usage.errors import NothingStoredError, UsageStoreError
from ethos_registry.usage.facts import Facts, UsageFilter
from ethos_registry.usage.record import Batch, KnownTool
from ethos_registry.usage.store import UsageStore

__all__ = ["LedgerWriter"]

_logger = logging.getLogger("ethos_registry")


class LedgerWriter(BackgroundWriter):
    """Counts, and the batch that is being written.

    A batch that could not be written is stored unchanged and tried again under its uuid; what is
    counted meanwhile is added up in memory.
    """

    def __init__(self, store: UsageStore, flush_records: int, flush_seconds: float) -> None:
        self._store = store
        self._flush_records = flush_records
        super().__init__(flush_seconds, "ethos-registry-usage")

    def _reset(self) -> None:
        super()._reset()
        self.counts = Counts()
        self.problem: str | None = None
        """Why the last write failed; `None` when it did not."""
        self._tools: dict[str, KnownTool] = {}
        self._batch: Batch | None = None

    # From the threads that run calls

    def counted(self) -> None:
        """Something was counted: write it soon."""
        if not self._is_armed:
            self.arm()
        elif self.counts.call_count >= self._flush_records:
            self._hurry.set()

    def add_tools(self, tools: Iterable[KnownTool]) -> None:
        """Tools to be listed, called or not."""
        with self.lock:
            self._tools.update((tool.name, tool) for tool in tools)
        self.counted()

    # On the thread

    def flush(self) -> bool:
        """Write all that was counted until now; whether it is stored."""
        with self._writing:
            while (batch := self._next_batch()) is not None:
                try:
                    self._store.write(batch)
                except UsageStoreError as error:
                    self._failed(str(error))
                    return False
                except Exception as error:
                    _logger.debug("a batch of usage counts failed", exc_info=error)
                    self._failed(f"the ledger failed: {type(error).__name__}: {error}")
                    return False
                self._batch = None
                if self.problem is not None:
                    self.problem = None
                    _logger.info("usage counts are written again to %s", self._store.place)
            return True

    def _next_batch(self) -> Batch | None:
        """The batch that failed, else what was counted since; `None` when that is nothing."""
        if self._batch is None:
            with self.lock:
                self._is_armed = False
                tools, self._tools = self._tools, {}
                counts = self.counts.take()
            if counts or tools:
                self._batch = Batch(uuid4().hex, counts, tuple(tools.values()))
        return self._batch

    def _failed(self, problem: str) -> None:
        if self.problem is None:
            _logger.warning(
                "%s; calls go on, their counts are kept in memory and written later", problem
            )
        self.problem = problem

    # Reading, closing, forking

    def facts(self, wanted: UsageFilter) -> Facts:
        """What is stored and, where a write failed, what is still in memory."""
        self.flush()
        with self._writing:
            try:
                facts = self._store.read(wanted)
            except NothingStoredError:
                facts = Facts()
            except UsageStoreError as error:
                facts, self.problem = Facts(), str(error)
            batch = self._batch
            with self.lock:
                counts, tools = self.counts.peek(), list(self._tools.values())
        if batch is not None:
            facts.add_tools(batch.tools)
            facts.add_counts(batch.counts, wanted)
        facts.add_tools(tools)
        facts.add_counts(counts, wanted)
        return facts

    @property
    def unsaved_calls(self) -> int:
        """Calls that are counted in memory and not stored yet."""
        batch = self._batch
        with self.lock:
            return self.counts.call_count + (0 if batch is None else batch.call_count)

    def close_store(self) -> None:
        """Let go of files and connections."""
        self._store.close()

    def left_to_parent(self) -> object:
        """In a child after `fork`: what only the parent may use."""
        return self._store.left_to_parent()
