"""What the ledger knows: counts of equal calls, and tools that were registered."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple, TypeAlias

__all__ = ["Batch", "CountKey", "CountedCalls", "KnownTool", "Totals"]

SECONDS_PER_DAY = 86_400
NANO_USD = 1_000_000_000
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

    def plus(self, other: Totals) -> Totals:
        """Both together."""
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


class Batch(NamedTuple):
    """What is written in one transaction, or not at all."""

    uuid: str
    counts: CountedCalls
    tools: tuple[KnownTool, ...]

    @property
    def call_count(self) -> int:
        """How many calls the batch counts."""
        return sum(totals.calls for totals in self.counts.values())


def merged(parts: Iterable[CountedCalls]) -> CountedCalls:
    """The counts of several parts together."""
    together: CountedCalls = {}
    for part in parts:
        for key, totals in part.items():
            present = together.get(key)
            together[key] = totals if present is None else present.plus(totals)
    return together
