"""What a report is made of: sums, as a store reads them or as memory holds them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple, TypeVar

from ethos_registry.usage.buckets import NOT_REACHED
from ethos_registry.usage.record import CountedCalls, KnownTool, Totals

__all__ = ["Facts", "Pair", "UsageFilter"]

K = TypeVar("K")


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
class Facts:
    """Sums over the calls of a filter; `tools`, `ever_reached` and `ever_by_day` are over all."""

    tools: dict[str, KnownTool] = field(default_factory=dict)
    pairs: dict[Pair, Totals] = field(default_factory=dict)
    """The calls that reached the implementation."""
    refused: dict[Pair, int] = field(default_factory=dict)
    outcomes: dict[tuple[str, str], int] = field(default_factory=dict)
    """Calls by tool and outcome, refusals too."""
    durations: dict[str, dict[int, int]] = field(default_factory=dict)
    """Calls by tool and bucket."""
    days: dict[tuple[int, str], int] = field(default_factory=dict)
    """Calls by day and outcome."""
    ever_reached: dict[str, int] = field(default_factory=dict)
    """Calls by tool that reached the implementation, whatever the filter."""
    ever_by_day: dict[int, int] = field(default_factory=dict)
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
            self.refused[pair] = self.refused.get(pair, 0) + totals.calls
            return
        present = self.pairs.get(pair)
        self.pairs[pair] = totals if present is None else present.plus(totals)

    def add_duration(self, tool: str, bucket: int, calls: int) -> None:
        """Calls of a tool that took about so long."""
        buckets = self.durations.setdefault(tool, {})
        buckets[bucket] = buckets.get(bucket, 0) + calls

    def add_counts(self, counts: CountedCalls, wanted: UsageFilter) -> None:
        """Calls that no store has yet."""
        for key, totals in counts.items():
            reached = key.bucket != NOT_REACHED
            if reached:
                _add(self.ever_reached, key.tool, totals.calls)
            _add(self.ever_by_day, key.day, totals.calls)
            if not wanted.admits(key.day, key.agent, key.tool):
                continue
            self.add_pair(Pair(key.tool, key.owner, key.agent), totals, reached=reached)
            _add(self.outcomes, (key.tool, key.outcome), totals.calls)
            _add(self.days, (key.day, key.outcome), totals.calls)
            if reached:
                self.add_duration(key.tool, key.bucket, totals.calls)


def _add(sums: dict[K, int], key: K, calls: int) -> None:
    sums[key] = sums.get(key, 0) + calls
