"""What the observers of a registry receive of one batch."""

from __future__ import annotations

from ethos_registry.contract.call import CallResult
from ethos_registry.contract.observer import FinishedCall
from ethos_registry.execution.batch import Batch
from ethos_registry.execution.observers import Observers
from ethos_registry.table.entry import Entry

__all__ = ["BatchReport"]


class BatchReport:
    """Collects the calls of a batch; created only if the registry has observers."""

    __slots__ = ("_batch", "_calls", "_observers")

    def __init__(self, batch: Batch, observers: Observers) -> None:
        self._batch = batch
        self._observers = observers
        self._calls: dict[int, FinishedCall] = {}

    def refused(self, index: int, answer: CallResult, entry: Entry | None) -> None:
        """A call was answered without starting its tool; no entry for a name without a tool."""
        self._record(index, answer, entry, None)

    def finished(self, index: int, answer: CallResult, entry: Entry, started: float | None) -> None:
        """A call has its result; `started` is a moment of the monotonic clock."""
        self._record(index, answer, entry, started)

    def _record(
        self, index: int, answer: CallResult, entry: Entry | None, started: float | None
    ) -> None:
        batch, observers = self._batch, self._observers
        context = batch.context
        personality_id = context.personality_id
        call = FinishedCall(
            answer,
            context,
            context.agent_id,
            batch.personality_id if personality_id is None else personality_id,
            None if entry is None else entry.owner,
            None if entry is None else entry.plugin_id,
            None if entry is None else entry.mcp_server,
            None if started is None else batch.wall_clock(started),
        )
        self._calls[index] = call
        if started is None:
            for callback in observers.call_refused:
                batch.runtime.guard("the `call_refused` of an observer", callback, call)
        else:
            for callback in observers.call_finished:
                batch.runtime.guard("the `call_finished` of an observer", callback, call)

    def batch_finished(self) -> None:
        """All calls have their results."""
        calls = [self._calls[index] for index in sorted(self._calls)]
        for callback in self._observers.batch_finished:
            self._batch.runtime.guard("the `batch_finished` of an observer", callback, calls)
