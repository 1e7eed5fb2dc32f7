"""The ledger: counts every attempt to call a tool, and stores the counts."""

from __future__ import annotations

import logging
import os
import time
import weakref
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Final
from uuid import uuid4

from ethos_registry._persistence.background_writer import BackgroundWriter
from ethos_registry._persistence.files import make_private_folder
from ethos_registry.types import _checks
from ethos_registry.types._closing import Closing
from ethos_registry.types._errors import ConfigError
from ethos_registry.types._json_values import sha256_hex
from ethos_registry.types._observer import FinishedCall, Observer
from ethos_registry.types._tool import Registration
from ethos_registry.types._usage_limits import LimitKey, UsageAmounts
from ethos_registry.usage._record import (
    Counts,
    KnownTool,
    NothingStoredError,
    UsageBatch,
    UsageFilter,
    UsageRow,
    UsageStoreError,
    stored_name,
)
from ethos_registry.usage._report import UsageReport, make_report, usage_filter
from ethos_registry.usage._store import MEMORY, UsageStore, store_at


def _stored_key(key: LimitKey) -> LimitKey:
    """The key with a digest in place of an id that a database refuses or that is long."""
    if stored_name(key.key) == key.key:
        return key
    return key._replace(key=sha256_hex(key.key))


# Writes what was counted, on one thread, until the process ends.

_logger = logging.getLogger("ethos_registry")


class LedgerWriter(BackgroundWriter):
    """Counts, and the batch that is being written.

    A batch that could not be written is stored unchanged and tried again under its uuid; what is
    counted meanwhile is added up in memory.
    """

    _store: UsageStore

    def __init__(self, store: UsageStore, flush_records: int, flush_seconds: float) -> None:
        self._flush_records = flush_records
        super().__init__(store, flush_seconds, "ethos-registry-usage")

    def _reset(self) -> None:
        super()._reset()
        self.counts = Counts()
        self.problem: str | None = None
        """Why the last write failed; `None` when it did not."""
        self._tools: dict[str, KnownTool] = {}
        self._batch: UsageBatch | None = None

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

    def _next_batch(self) -> UsageBatch | None:
        """The batch that failed, else what was counted since; `None` when that is nothing."""
        if self._batch is None:
            with self.lock:
                self._is_armed = False
                tools, self._tools = self._tools, {}
                counts = self.counts.take()
            if counts or tools:
                self._batch = UsageBatch(uuid4().hex, counts, tuple(tools.values()))
        return self._batch

    def _failed(self, problem: str) -> None:
        if self.problem is None:
            _logger.warning(
                "%s; calls go on, their counts are kept in memory and written later", problem
            )
        self.problem = problem

    # Reading

    def facts(self, wanted: UsageFilter) -> UsageRow:
        """What is stored and, where a write failed, what is still in memory."""
        is_stored = self.flush()
        with self._writing:
            try:
                facts = self._store.read(wanted, is_locked=not is_stored)
            except NothingStoredError:
                facts = UsageRow()
            except UsageStoreError as error:
                facts, self.problem = UsageRow(), str(error)
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


PLACE_VARIABLE: Final = "ETHOS_REGISTRY_USAGE"
"""Names the ledger's file or PostgreSQL URL for `UsageLedger.default()` and the command line."""


@_checks.checked_class
class UsageLedger(Closing, Observer):
    """Counts every attempt to call a tool: who called, what, how it ended, how long it took.

    `place` is a path of a SQLite file, a URL `postgresql://...` (extra `postgres`), or `:memory:`.
    Give the ledger to registries as an observer: `ToolRegistry(observers=[ledger])`. Counting is
    done in memory; one thread writes what was counted after `flush_records` calls or
    `flush_seconds`, at `close` and at the normal end of the process. A process that is killed loses
    at most what was counted since. Several processes may share one file or one server.

    A store that cannot be written never disturbs calls: one warning is logged, counting goes on in
    memory up to a bound, and writing is tried again. Safe from threads; a child made by `fork`
    counts from zero.

    >>> ledger = UsageLedger()
    >>> ledger.record("search", "clerk", "ok")
    >>> report = ledger.report()
    >>> [(tool.name, tool.invocations) for tool in report.tools]
    [('search', 1)]

    Raises:
        ConfigError: a path whose folder does not exist, or a URL of another kind.

    """

    def __init__(
        self,
        place: str | os.PathLike[str] = MEMORY,
        *,
        flush_records: int = 1_000,
        flush_seconds: float = 1.0,
    ) -> None:
        _checks.whole_count(flush_records, "flush_records")
        _checks.finite_number(flush_seconds, "flush_seconds")
        self._store = store_at(place)
        self._writer = LedgerWriter(self._store, flush_records, flush_seconds)
        self._finalizer = weakref.finalize(self, self._writer.stop)

    @classmethod
    def default(cls) -> UsageLedger:
        """The ledger in the user's data folder, made when first asked for; always the same object.

        The environment variable `ETHOS_REGISTRY_USAGE` may name another file or a PostgreSQL URL.
        """
        global _default
        if _default is None:
            place = default_place()
            if "://" not in place and place != MEMORY:
                make_private_folder(Path(place).parent)
            _default = cls(place)
        return _default

    @property
    def place(self) -> str:
        """The path, or the URL without its password."""
        return self._store.place

    def __repr__(self) -> str:
        return f"<UsageLedger at {self.place}>"

    # Recording

    def record(
        self,
        tool_name: str,
        agent_id: str | None,
        outcome: str,
        *,
        owner: str | None = None,
        duration_seconds: float = 0.0,
        raw_chars: int = 0,
        reduced_chars: int = 0,
        sent_chars: int = 0,
        cost_usd: float | None = None,
        started_at_seconds: float | None = None,
    ) -> None:
        """Count one attempt by hand; registries do it through `batch_finished`.

        `outcome` is `"ok"`, `"failed"` (the tool returned an error) or the `reason` of a
        `ToolError`; `started_at_seconds` is Unix time, by default now.
        """
        started = time.time() if started_at_seconds is None else started_at_seconds
        self._writer.counts.add(
            agent_id or "",
            owner or "",
            tool_name,
            outcome,
            started,
            duration_seconds=duration_seconds,
            chars=(raw_chars, reduced_chars, sent_chars),
            cost_usd=cost_usd,
        )
        self._writer.counted()

    def batch_finished(self, calls: Sequence[FinishedCall]) -> None:
        """Count the calls of a batch; registries call this."""
        self._writer.counts.add_batch(calls)
        self._writer.counted()

    def count_limits(
        self,
        keys: Sequence[LimitKey],
        decide: Callable[[Sequence[UsageAmounts]], UsageAmounts],
    ) -> None:
        """Count for the `limits` of views; registries call this.

        Written at once, in one transaction for reading and adding: processes that share the ledger
        share the limits exactly. Blocks while another process writes.

        Raises:
            UsageStoreError: the store cannot be read or written.

        """
        self._store.count([_stored_key(key) for key in keys], decide)

    def add_tools(self, registrations: Iterable[Registration]) -> None:
        """List tools from now on, called or not: a tool that is never called must be listed.

        >>> from ethos_registry import Tool, ToolRegistry, ok
        >>> now = Tool("now", "The time.", {"type": "object"}, lambda args, context: ok("12:00"))
        >>> registry = ToolRegistry([now])
        >>> ledger = UsageLedger()
        >>> ledger.add_tools([registry.registration("now")])
        >>> [(tool.name, tool.calls) for tool in ledger.report().tools]
        [('now', 0)]
        """
        self._writer.add_tools([_known(item) for item in registrations])

    # Reading

    def report(
        self,
        *,
        days: int | None = None,
        agent: str | None = None,
        tool: str | None = None,
        dead_after_days: float = 30,
        dead_after_calls: int = 1_000,
    ) -> UsageReport:
        """Who called what: over the last `days` (UTC, today included), of one agent, of one tool.

        What was counted until now is written first; counts that could not be written are in the
        report all the same. A tool is dead when it was registered `dead_after_days` ago and the
        catalogue has had `dead_after_calls` calls since, without one to it. This reads
        from disk or over the network: where an event loop runs, call it from a thread.
        """
        wanted = usage_filter(days=days, agent=agent, tool=tool)
        facts = self._writer.facts(wanted)
        return make_report(
            facts,
            wanted,
            place=self.place,
            dead_after_days=dead_after_days,
            dead_after_calls=dead_after_calls,
            unsaved_calls=self.unsaved_calls,
            lost_calls=self.lost_calls,
            problem=self._writer.problem,
        )

    @property
    def unsaved_calls(self) -> int:
        """Calls that are counted in memory and not stored yet."""
        return self._writer.unsaved_calls

    @property
    def lost_calls(self) -> int:
        """Calls that were not counted: the store could not be written, and memory was full."""
        return self._writer.counts.lost_calls

    @property
    def problem(self) -> str | None:
        """Why the last write failed; `None` when it did not."""
        return self._writer.problem

    def flush(self) -> bool:
        """Write what was counted until now, on this thread; whether all of it is stored."""
        return self._writer.flush()

    def close(self) -> None:
        """Write what was counted, and let go of file, connection and thread.

        Closing again writes what was counted after the first time, if anything.
        """
        self._finalizer.detach()
        self._writer.stop()


def default_place() -> str:
    """Where `UsageLedger.default()` is; nothing is made."""
    named = os.environ.get(PLACE_VARIABLE)
    if named:
        return named
    try:
        from platformdirs import user_data_path
    except ModuleNotFoundError:
        raise ConfigError(
            "the default ledger needs platformdirs (extra `cli`); "
            f"install it, name a file in {PLACE_VARIABLE}, or give `UsageLedger(path)`"
        ) from None
    try:
        return str(user_data_path("ethos-registry") / "usage.sqlite3")
    except RuntimeError:
        raise ConfigError(f"there is no home directory; name a file in {PLACE_VARIABLE}") from None


def _known(item: Registration) -> KnownTool:
    tool = item.tool
    properties = tool.schema.get("properties")
    return KnownTool(
        tool.name,
        stored_name(item.owner or ""),
        tool.description.replace("\0", "\ufffd"),
        len(properties) if isinstance(properties, dict) else 0,
        item.registered_at_seconds,
    )


_default: UsageLedger | None = None


# Reading a ledger that another process writes.


@_checks.checked_signature
def read_usage(
    place: str | os.PathLike[str] | None = None,
    *,
    days: int | None = None,
    agent: str | None = None,
    tool: str | None = None,
    dead_after_days: float = 30,
    dead_after_calls: int = 1_000,
) -> UsageReport:
    """The report of a ledger that other processes write; nothing is made or changed.

    `place` is a path or a PostgreSQL URL, by default that of `UsageLedger.default()`; the other
    parameters are those of `UsageLedger.report`.

    Raises:
        UsageStoreError: there is no ledger, or it cannot be read.

    """
    wanted = usage_filter(days=days, agent=agent, tool=tool)
    store = store_at(default_place() if place is None else place, is_read_only=True)
    return make_report(
        store.read(wanted),
        wanted,
        place=store.place,
        dead_after_days=dead_after_days,
        dead_after_calls=dead_after_calls,
    )
