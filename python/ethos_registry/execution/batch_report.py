"""What the observers of a registry receive of one batch."""

from __future__ import annotations

from collections.abc import Callable

from ethos_registry.contract.observer import FinishedCalls, FinishedRow
from ethos_registry.execution.batch import Batch
from ethos_registry.execution.observers import Observers
from ethos_registry.execution.recorded_calls import RawOutputs, RecordedBatch

__all__ = ["BatchReport"]


class BatchReport:
    """Collects the calls of a batch; created only if the registry has observers.

    A call costs one tuple. Objects for observers are created when an observer reads them.
    """

    __slots__ = ("_batch", "_calls", "_observers", "add", "recorded")

    add: Callable[[FinishedRow], object]
    """Take the row of a call that has its result, from its tool or without starting it."""
    recorded: RawOutputs | None
    """Arguments and output for recorders; `None` if there are none."""

    def __init__(self, batch: Batch, observers: Observers) -> None:
        self._batch = batch
        self._observers = observers
        context = batch.context
        personality_id = context.personality_id
        self._calls = FinishedCalls(
            [],
            context,
            batch.personality_id if personality_id is None else personality_id,
            batch.started_at_seconds - batch.started_at_monotonic,
            batch.exception_types,
            batch.attempts,
            batch.started_at_seconds,
        )
        self.recorded = {} if observers.batch_recorded else None
        has_call_observers = observers.call_finished or observers.call_refused
        # Bound once: without observers of single calls nothing runs between call and list.
        self.add = self._add_and_notify if has_call_observers else self._calls.rows.append

    def _add_and_notify(self, row: FinishedRow) -> None:
        self._calls.rows.append(row)
        observers = self._observers
        name, callbacks = (
            ("call_refused", observers.call_refused)
            if row[3] is None
            else ("call_finished", observers.call_finished)
        )
        for callback in callbacks:
            self._batch.runtime.guard(
                f"the `{name}` of an observer", callback, self._calls.call(row)
            )

    def batch_finished(self) -> None:
        """All calls have their results."""
        for callback in self._observers.batch_finished:
            self._batch.runtime.guard("the `batch_finished` of an observer", callback, self._calls)
        if self.recorded is not None:
            self._batch.runtime.guard("recording", self._record, self.recorded)

    def _record(self, recorded: RawOutputs) -> None:
        runtime = self._batch.runtime
        batch = RecordedBatch(self._calls, recorded, runtime.redact_recorded)
        for callback in self._observers.batch_recorded:
            runtime.guard("the `batch_recorded` of an observer", callback, batch)
