"""What the ledger knows: counts of equal calls, and tools that were registered."""

from __future__ import annotations

import math
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final, NamedTuple, TypeAlias, TypeVar

from ethos_registry import _core
from ethos_registry.types._errors import EthosRegistryError
from ethos_registry.types._observer import FinishedCall, FinishedCalls
from ethos_registry.types._result import ToolResult

# Durations as counts in buckets, each 12 % wider than the one before.

BUCKET_GROWTH = 1.12
"""Bucket 0 ends at one microsecond, the last one, 255, holds everything above 35 days."""
NOT_REACHED = -1
"""The bucket of calls that did not reach the implementation: they have no duration."""

_FIRST_SECONDS = 1e-6


bucket_of: Final = _core.usage_bucket
"""The bucket of a duration in seconds.

>>> bucket_of(0.0), bucket_of(1e-6), bucket_of(0.1), bucket_of(1e12)
(0, 0, 102, 255)
"""


def bucket_seconds(bucket: int) -> float:
    """The representative duration of a bucket: its geometric middle, at most 6 % off.

    >>> 0.094 < bucket_seconds(bucket_of(0.1)) < 0.106
    True
    """
    return _FIRST_SECONDS * math.pow(BUCKET_GROWTH, bucket - 0.5)


def quantile(counts: Iterable[tuple[int, int]], fraction: float) -> float | None:
    """The duration in seconds below which a `fraction` of all calls stay; `None` without any.

    `counts` are pairs of bucket and number of calls.

    >>> median = quantile([(bucket_of(0.010), 3), (bucket_of(5.0), 1)], 0.5)
    >>> f"{median:.3f}"
    '0.010'
    """
    ordered = sorted(counts)
    total = sum(number for _, number in ordered)
    rank = max(math.ceil(total * fraction), 1)
    for bucket, number in ordered:
        rank -= number
        if rank <= 0:
            return bucket_seconds(bucket)
    return None


# Names as the ledger stores them.

MAX_NAME_CHARS = 200
"""A model may call anything; this much of a name is stored."""


def stored_name(name: str) -> str:
    r"""The name without what a database refuses: NUL, lone surrogates, endless length.

    >>> stored_name("a\0b\ud800") == "a\ufffdb\ufffd"
    True
    """
    if len(name) > MAX_NAME_CHARS:
        name = f"{name[:MAX_NAME_CHARS]}..."
    return _core.replace_surrogates(name).replace("\0", "\ufffd")


# How a call ended, in one word.

OK: Final = "ok"
FAILED: Final = "failed"
"""The tool itself returned an error."""
ANSWERED: Final = "answered"
"""A filter of the host succeeded in place of the tool."""
DRY_RUN: Final = "dry_run"
"""Only what would be called was reported."""
REFUSED: Final = "refused"
"""A filter of the host returned an error in place of the tool."""

_RUN_REASONS = frozenset({"raised", "timeout", "cancelled", "bad_result", "worker_lost"})


def is_refusal(outcome: str) -> bool:
    """Whether a call that ended like this never reached the implementation.

    >>> is_refusal("denied"), is_refusal("timeout"), is_refusal("timeout_before_start")
    (True, False, True)
    """
    return outcome != OK and outcome != FAILED and outcome not in _RUN_REASONS


def outcome_of(result: ToolResult, *, is_started: bool, is_dry_run: bool = False) -> str:
    """`ok`, `failed`, or the reason for which the registry refused or ended the call.

    A call that was stopped before its tool started ends in `..._before_start`; a success without a
    start is a `dry_run` or the answer of a filter.

    >>> from ethos_registry import ToolError, err, ok
    >>> outcome_of(ok(""), is_started=True), outcome_of(err("no such file"), is_started=True)
    ('ok', 'failed')
    >>> outcome_of(ToolError("", "not_available", "timeout"), is_started=False)
    'timeout_before_start'
    """
    if result.ok:
        if is_started:
            return OK
        return DRY_RUN if is_dry_run else ANSWERED
    reason = result.reason
    if reason is None:
        return FAILED if is_started else REFUSED
    if reason in _RUN_REASONS and not is_started:
        return f"{reason}_before_start"
    return reason


K = TypeVar("K")
SECONDS_PER_DAY = 86_400
MICROSECONDS = 1_000_000


class CountKey(NamedTuple):
    """Calls that are counted together."""

    day: int
    """Days since 1970-01-01, UTC."""
    agent: str
    """The caller; `""` if none was named."""
    owner: str
    """Who had registered the tool; `""` for none."""
    tool: str
    outcome: str
    bucket: int
    """Of the duration; `NOT_REACHED` where the implementation was not reached."""


class Totals(NamedTuple):
    """Sums over some calls, all of them integers, so that their order makes no difference."""

    calls: int
    raw_chars: int
    reduced_chars: int
    sent_chars: int
    cost_nano_usd: int
    microseconds: int
    repaired: int = 0
    """Calls whose arguments were repaired."""

    def plus(self, other: Totals) -> Totals:
        return Totals(*(mine + its for mine, its in zip(self, other, strict=True)))


CountedCalls: TypeAlias = dict[CountKey, Totals]


class KnownTool(NamedTuple):
    """A tool that was registered, called or not."""

    name: str
    owner: str
    description: str
    parameter_count: int
    """Top-level properties of its schema."""
    registered_at_seconds: float
    """Unix time."""


class UsageBatch(NamedTuple):
    """What is written in one transaction, or not at all."""

    uuid: str
    counts: CountedCalls
    tools: tuple[KnownTool, ...]

    @property
    def call_count(self) -> int:
        return sum(totals.calls for totals in self.counts.values())


def sums_by_key(rows: Iterable[tuple[K, Totals]]) -> dict[K, Totals]:
    """The rows of each key together."""
    sums: dict[K, Totals] = {}
    for key, totals in rows:
        present = sums.get(key)
        sums[key] = totals if present is None else present.plus(totals)
    return sums


# What goes wrong where usage is stored.


class UsageStoreError(EthosRegistryError):
    """The store of a ledger cannot be read or written; the message states which one and why."""

    __module__ = "ethos_registry.usage"

    code: ClassVar[str] = "E_USAGE_STORE"


class NothingStoredError(UsageStoreError):
    """There is no ledger at this place: nothing was recorded there yet."""

    code: ClassVar[str] = "E_USAGE_NOTHING_STORED"


# Calls counted in memory, natively: the part of the ledger that runs beside every batch.

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
        is_repaired: bool = False,
    ) -> None:
        """Count one call; `chars` are those as returned, after the reducer, and as sent."""
        duration = None if is_refusal(outcome) else duration_seconds
        cost = cost_usd or 0.0
        self._native.add(
            agent, owner, tool, outcome, started_at_seconds, duration, chars, cost, is_repaired
        )

    def add_batch(self, calls: Sequence[FinishedCall]) -> None:
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
                is_repaired=bool(answer.repairs),
            )

    def take(self) -> CountedCalls:
        """What was counted since the last time, under names that a database accepts."""
        return _by_key(self._native.take())

    def peek(self) -> CountedCalls:
        """The same, and it stays."""
        return _by_key(self._native.peek())


def _by_key(rows: Iterable[tuple[Any, ...]]) -> CountedCalls:
    # Two names may be stored as one.
    return sums_by_key((CountKey(*key), Totals(*sums)) for *key, sums in rows)


# What a report is made of: sums, as a store reads them or as memory holds them.


class UsageFilter(NamedTuple):
    """Which calls a report is about; `None` filters nothing."""

    first_day: int | None = None
    """Days since 1970-01-01, UTC."""
    agent: str | None = None
    tool: str | None = None

    def admits(self, day: int, agent: str, tool: str) -> bool:
        """Whether the calls of this day, agent and tool belong to the report."""
        return (
            (self.first_day is None or day >= self.first_day)
            and (self.agent is None or agent == self.agent)
            and (self.tool is None or tool == self.tool)
        )


class Pair(NamedTuple):
    """A tool, who owned it, and who called it."""

    tool: str
    owner: str
    agent: str


@dataclass(slots=True)
class UsageRow:
    """Sums over the calls of a filter; `tools`, `ever_reached` and `ever_by_day` are over all."""

    tools: dict[str, KnownTool] = field(default_factory=dict)
    pairs: dict[Pair, Totals] = field(default_factory=dict)
    """The calls that reached the implementation."""
    refused: Counter[Pair] = field(default_factory=Counter)
    outcomes: Counter[tuple[str, str]] = field(default_factory=Counter)
    """Calls by tool and outcome, refusals too."""
    durations: defaultdict[str, Counter[int]] = field(default_factory=lambda: defaultdict(Counter))
    """Calls by tool and bucket."""
    days: Counter[tuple[int, str]] = field(default_factory=Counter)
    """Calls by day and outcome."""
    ever_reached: Counter[str] = field(default_factory=Counter)
    """Calls by tool that reached the implementation, whatever the filter."""
    ever_by_day: Counter[int] = field(default_factory=Counter)
    """Calls by day, whatever the filter."""

    def add_tools(self, tools: Iterable[KnownTool]) -> None:
        """Tools that were registered; the first registration gives its age."""
        for tool in tools:
            present = self.tools.get(tool.name)
            if present is not None and present.registered_at_seconds < tool.registered_at_seconds:
                tool = tool._replace(registered_at_seconds=present.registered_at_seconds)
            self.tools[tool.name] = tool

    def add_pair(self, pair: Pair, totals: Totals, *, reached: bool) -> None:
        """Calls of one agent to one tool."""
        if not reached:
            self.refused[pair] += totals.calls
            return
        present = self.pairs.get(pair)
        self.pairs[pair] = totals if present is None else present.plus(totals)

    def add_counts(self, counts: CountedCalls, wanted: UsageFilter) -> None:
        """Calls that were not summed up yet."""
        for key, totals in counts.items():
            reached = key.bucket != NOT_REACHED
            if reached:
                self.ever_reached[key.tool] += totals.calls
            self.ever_by_day[key.day] += totals.calls
            if not wanted.admits(key.day, key.agent, key.tool):
                continue
            self.add_pair(Pair(key.tool, key.owner, key.agent), totals, reached=reached)
            self.outcomes[key.tool, key.outcome] += totals.calls
            self.days[key.day, key.outcome] += totals.calls
            if reached:
                self.durations[key.tool][key.bucket] += totals.calls
