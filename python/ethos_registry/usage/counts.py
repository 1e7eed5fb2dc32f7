"""Calls counted in memory: the part of the ledger that runs beside every batch of calls."""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Final

from ethos_registry.contract.observer import FinishedCall
from ethos_registry.usage.buckets import NOT_REACHED, bucket_of
from ethos_registry.usage.names import stored_name
from ethos_registry.usage.outcomes import UNKNOWN, is_refusal, outcome_of
from ethos_registry.usage.record import (
    MICROSECONDS,
    NANO_USD,
    SECONDS_PER_DAY,
    CountedCalls,
    CountKey,
    Totals,
)

__all__ = ["MAX_CELLS", "OTHER_NAMES", "Counts"]

MAX_CELLS: Final = 100_000
"""Distinct combinations that are held while a store cannot be written; more are counted as lost."""
MAX_UNKNOWN_NAMES = 1_000
OTHER_NAMES = "(other unknown names)"
"""Models make names up without end; after the first thousand they are counted together."""

_MOST_NANO_USD = 10**15
"""One call is counted with at most a million dollars: sums must fit into 64 bits."""
_MOST_SECONDS = 10 * 365 * SECONDS_PER_DAY

_RawKey = tuple[int, str, str, str, str, int]


class Counts:
    """Sums by caller, owner, tool, outcome, day and duration. Not safe from threads."""

    __slots__ = ("_cells", "_max_cells", "_unknown_names", "call_count", "lost_calls")

    def __init__(self, max_cells: int = MAX_CELLS) -> None:
        self._cells: dict[_RawKey, list[int]] = {}
        self._max_cells = max_cells
        self._unknown_names: set[str] = set()
        self.call_count = 0
        """Calls since the last `take`."""
        self.lost_calls = 0
        """Calls that found no room, ever."""

    def add(
        self,
        agent: str,
        owner: str,
        tool: str,
        outcome: str,
        started_at_seconds: float,
        *,
        duration_seconds: float = 0.0,
        raw_chars: int = 0,
        reduced_chars: int = 0,
        sent_chars: int = 0,
        cost_usd: float | None = None,
    ) -> None:
        """Count one call."""
        bucket = NOT_REACHED if is_refusal(outcome) else bucket_of(duration_seconds)
        if outcome == UNKNOWN:
            tool = self._known_name(tool)
        key = (int(started_at_seconds // SECONDS_PER_DAY), agent, owner, tool, outcome, bucket)
        cell = self._cells.get(key)
        if cell is None:
            if len(self._cells) >= self._max_cells:
                self.lost_calls += 1
                return
            cell = self._cells[key] = [0, 0, 0, 0, 0, 0]
        self.call_count += 1
        cell[0] += 1
        cell[1] += raw_chars
        cell[2] += reduced_chars
        cell[3] += sent_chars
        if cost_usd:
            nano_usd = min(max(cost_usd * NANO_USD, -_MOST_NANO_USD), _MOST_NANO_USD)
            cell[4] += round(nano_usd)
        cell[5] += round(min(duration_seconds, _MOST_SECONDS) * MICROSECONDS)

    def add_batch(self, calls: Iterable[FinishedCall]) -> None:
        """Count the calls of a batch."""
        now = time.time()
        for call in calls:
            answer, started = call.result, call.started_at_seconds
            self.add(
                call.caller_id,
                call.owner or "",
                answer.name,
                outcome_of(answer.result, is_started=started is not None),
                now if started is None else started,
                duration_seconds=answer.duration_seconds,
                raw_chars=answer.raw_chars,
                reduced_chars=answer.reduced_chars,
                sent_chars=answer.sent_chars,
                cost_usd=answer.result.cost_usd,
            )

    def _known_name(self, tool: str) -> str:
        name = stored_name(tool)
        if name not in self._unknown_names:
            if len(self._unknown_names) >= MAX_UNKNOWN_NAMES:
                return OTHER_NAMES
            self._unknown_names.add(name)
        return name

    def take(self) -> CountedCalls:
        """What was counted since the last time, with names that a database accepts."""
        cells, self._cells = self._cells, {}
        self.call_count = 0
        return _stored(cells)

    def peek(self) -> CountedCalls:
        """The same, and it stays."""
        return _stored(self._cells)


def _stored(cells: dict[_RawKey, list[int]]) -> CountedCalls:
    counts: CountedCalls = {}
    for (day, agent, owner, tool, outcome, bucket), sums in cells.items():
        key = CountKey(
            day, stored_name(agent), stored_name(owner), stored_name(tool), outcome, bucket
        )
        totals, present = Totals(*sums), counts.get(key)
        counts[key] = totals if present is None else present.plus(totals)
    return counts
