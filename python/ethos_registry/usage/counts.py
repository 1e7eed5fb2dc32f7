"""Calls counted in memory, natively: the part of the ledger that runs beside every batch."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from typing import Any

from ethos_registry import _core
from ethos_registry.contract.observer import FinishedCall, FinishedCalls
from ethos_registry.usage.outcomes import ANSWERED, DRY_RUN, is_refusal, outcome_of
from ethos_registry.usage.record import CountedCalls, CountKey, Totals

__all__ = ["Counts"]

OTHER_NAMES = "(other unknown names)"
"""What names that models made up are counted under once there are a thousand of them."""


class Counts:
    """Sums by caller, owner, tool, outcome, day and duration, in bounded memory.

    Safe from threads.
    """

    __slots__ = ("_native",)

    def __init__(self, **limits: int) -> None:
        self._native = _core.UsageCounts(**limits)

    @property
    def call_count(self) -> int:
        """Calls since the last `take`."""
        return self._native.call_count

    @property
    def lost_calls(self) -> int:
        """Calls that found no room, ever."""
        return self._native.lost_calls

    def add(
        self,
        agent: str,
        owner: str,
        tool: str,
        outcome: str,
        started_at_seconds: float,
        *,
        duration_seconds: float = 0.0,
        chars: tuple[int, int, int] = (0, 0, 0),
        cost_usd: float | None = None,
    ) -> None:
        """Count one call; `chars` are those as returned, after the reducer, and as sent."""
        duration = None if is_refusal(outcome) else duration_seconds
        cost = cost_usd or 0.0
        self._native.add(agent, owner, tool, outcome, started_at_seconds, duration, chars, cost)

    def add_batch(self, calls: Sequence[FinishedCall]) -> None:
        """Count the calls of a batch."""
        now = time.time()
        if type(calls) is FinishedCalls:
            answered = DRY_RUN if calls.context.dry_run else ANSWERED
            for rows in (calls.rows, calls.attempts):
                if rows:
                    self._native.add_batch(
                        calls.caller_id, rows, calls.clock_offset_seconds, now, answered
                    )
            return
        for call in calls:
            answer, started = call.result, call.started_at_seconds
            self.add(
                call.caller_id,
                call.owner or "",
                answer.name,
                outcome_of(
                    answer.result, is_started=started is not None, is_dry_run=call.context.dry_run
                ),
                now if started is None else started,
                duration_seconds=answer.duration_seconds,
                chars=(answer.raw_chars, answer.reduced_chars, answer.sent_chars),
                cost_usd=answer.result.cost_usd,
            )

    def take(self) -> CountedCalls:
        """What was counted since the last time, under names that a database accepts."""
        return _by_key(self._native.take())

    def peek(self) -> CountedCalls:
        """The same, and it stays."""
        return _by_key(self._native.peek())


def _by_key(rows: Iterable[tuple[Any, ...]]) -> CountedCalls:
    counts: CountedCalls = {}
    for *key, sums in rows:
        counted, totals = CountKey(*key), Totals(*sums)
        present = counts.get(counted)  # two names may be stored as one
        counts[counted] = totals if present is None else present.plus(totals)
    return counts
