"""What the observers of a registry receive of one batch."""

from __future__ import annotations

from ethos_registry.contract.call import CallResult
from ethos_registry.contract.observer import FinishedCalls, FinishedRow
from ethos_registry.execution.batch import Batch
from ethos_registry.execution.observers import Observers
from ethos_registry.table.entry import Entry

__all__ = ["BatchReport"]


class BatchReport:
    """Collects the calls of a batch; created only if the registry has observers.

    A call costs one tuple. Objects for observers are created when an observer reads them.
    """

    __slots__ = ("_batch", "_calls", "_observers", "_rows")

    def __init__(self, batch: Batch, observers: Observers) -> None:
        self._batch = batch
        self._observers = observers
        context = batch.context
        personality_id = context.personality_id
        self._rows: list[FinishedRow] = []
        self._calls = FinishedCalls(
            self._rows,
            context,
            batch.personality_id if personality_id is None else personality_id,
            batch.started_at_seconds - batch.started_at_monotonic,
        )

    def refused(self, index: int, answer: CallResult, entry: Entry | None) -> None:
        """A call was answered without starting its tool; no entry for a name without a tool."""
        self.finished(index, answer, entry, None)

    def finished(
        self, index: int, answer: CallResult, entry: Entry | None, started: float | None
    ) -> None:
        """A call has its result; `started` is a moment of the monotonic clock."""
        self._rows.append((index, answer, entry, started))
        if self._observers.call_finished or (started is None and self._observers.call_refused):
            self._notify(self._rows[-1])

    def _notify(self, row: FinishedRow) -> None:
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
