"""Writes what was counted, on one thread, until the process ends."""

from __future__ import annotations

import logging
import sys
import threading
from collections.abc import Callable, Iterable
from typing import Any
from uuid import uuid4

from ethos_registry.usage.counts import Counts
from ethos_registry.usage.errors import NothingStoredError, UsageStoreError
from ethos_registry.usage.facts import Facts, UsageFilter
from ethos_registry.usage.record import Batch, KnownTool
from ethos_registry.usage.store import UsageStore

__all__ = ["LedgerWriter"]

_logger = logging.getLogger("ethos_registry")

CLOSE_SECONDS = 10.0
"""How long closing waits for a write that does not end."""
LEAST_RETRY_SECONDS = 0.05
MAX_RETRY_SECONDS = 60.0


class LedgerWriter:
    """Counts, the batch that is being written, and the thread that writes.

    A batch that could not be written is stored unchanged and tried again under its uuid; what is
    counted meanwhile is added up in memory. No reference leads back to the ledger, so that one that
    is no longer used is collected, flushed.
    """

    def __init__(self, store: UsageStore, flush_records: int, flush_seconds: float) -> None:
        self._store = store
        self._flush_records = flush_records
        self._flush_seconds = flush_seconds
        self._reset()

    def _reset(self) -> None:
        self.counts = Counts()
        self.lock = threading.Lock()
        """Guards `_tools`, `_is_armed` and `_thread`; held for a moment only."""
        self.problem: str | None = None
        """Why the last write failed; `None` when it did not."""
        self._tools: dict[str, KnownTool] = {}
        self._batch: Batch | None = None
        self._writing = threading.Lock()
        self._wake = threading.Event()
        """Something was counted."""
        self._hurry = threading.Event()
        """So much was counted that it is written at once."""
        self._stopped = threading.Event()
        self._is_armed = False
        self._thread: threading.Thread | None = None

    # From the threads that run calls

    def counted(self) -> None:
        """Something was counted: write it soon."""
        if self._is_armed:
            if self.counts.call_count >= self._flush_records:
                self._hurry.set()
            return
        with self.lock:
            if self._is_armed:
                return
            self._is_armed = True
            if self._thread is None and not self._stopped.is_set():
                self._start()
        self._wake.set()

    def add_tools(self, tools: Iterable[KnownTool]) -> None:
        """Tools to be listed, called or not."""
        with self.lock:
            self._tools.update((tool.name, tool) for tool in tools)
        self.counted()

    def _start(self) -> None:
        thread = threading.Thread(target=self._run, name="ethos-registry-usage", daemon=True)
        try:
            thread.start()
        except RuntimeError:  # the interpreter is ending: what was counted is written at its end
            return
        self._thread = thread
        _flush_at_end_of_worker(self.stop)

    # On the thread

    def _run(self) -> None:
        while True:
            self._wake.wait()
            self._hurry.wait(self._flush_seconds)
            self._wake.clear()
            self._hurry.clear()
            if self._stopped.is_set():
                return  # `stop` writes what is left
            delay = self._flush_seconds
            while not self.flush():
                if self._stopped.wait(delay):
                    return
                delay = min(max(delay * 2, LEAST_RETRY_SECONDS), MAX_RETRY_SECONDS)

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

    def stop(self) -> None:
        """Write what is left, and end the thread; calls counted later wait for a `flush`."""
        with self.lock:
            self._stopped.set()
            thread, self._thread = self._thread, None
        self._wake.set()
        self._hurry.set()
        if thread is not None and thread is not threading.current_thread():
            thread.join(CLOSE_SECONDS)
            if thread.is_alive():
                return  # a write hangs: the process must still be able to end
        self.flush()
        self._store.close()

    def forget_parent(self) -> object:
        """In a child after `fork`: start from nothing; what is returned must be left alone."""
        self._reset()
        return self._store.left_to_parent()


def _flush_at_end_of_worker(stop: Callable[[], Any]) -> None:
    """Call `stop` at the end of a process of `multiprocessing`, which skips `atexit`."""
    process = sys.modules.get("multiprocessing.process")
    util = sys.modules.get("multiprocessing.util")
    if process is not None and util is not None and process.parent_process() is not None:
        util.Finalize(None, stop, exitpriority=0)
