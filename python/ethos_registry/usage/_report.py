"""What a ledger shows: tools, agents and days, dead and hot tools, calls by others."""

from __future__ import annotations

import base64
import hashlib
import json
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from importlib.resources import files
from statistics import median
from string import Template
from typing import Any

from pydantic_core import to_jsonable_python

from ethos_registry.types import _checks
from ethos_registry.types._usage_limits import NANO_USD
from ethos_registry.usage._record import (
    MICROSECONDS,
    OK,
    SECONDS_PER_DAY,
    KnownTool,
    Pair,
    Totals,
    UsageFilter,
    UsageRow,
    is_refusal,
    quantile,
    stored_name,
)

# A report as one HTML page that needs nothing else.

_ESCAPES = str.maketrans(
    {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}
)
"""Inside a script element these could end it, or start a comment in it."""


def usage_page(usage: Mapping[str, Any], *, is_live: bool = False) -> str:
    """The page of a report's JSON; one that is live asks its server for `usage.json`.

    Names and descriptions are data of the page, never markup. The page's own policy permits its
    script and style alone, by their hashes, and no requests.
    """
    style, script = _asset("page.css"), _asset("page.js")
    server = "'self'" if is_live else "'none'"
    policy = (
        f"default-src 'none'; img-src data:; style-src '{_hash(style)}'; "
        f"script-src '{_hash(script)}'; connect-src {server}; "
        "base-uri 'none'; form-action 'none'"
    )
    return Template(_asset("page.html")).substitute(
        policy=policy,
        style=style,
        script=script,
        live="yes" if is_live else "no",
        data=_json(usage),
    )


def _json(value: Any) -> str:
    finite = to_jsonable_python(value, inf_nan_mode="null")
    text = json.dumps(finite, allow_nan=False, separators=(",", ":"))
    return text.translate(_ESCAPES)


def _asset(name: str) -> str:
    return files("ethos_registry.usage").joinpath("assets", name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"


_EPOCH_ORDINAL = date(1970, 1, 1).toordinal()

HOT_FACTOR = 5
"""A hot tool has this many times the calls of the median tool that is called, ..."""
HOT_PART = 0.2
"""... and this part of all calls; or it is one of the ..."""
HOT_BY_TIME = 3
"""... tools that took the most time together."""

_NONE = Totals(0, 0, 0, 0, 0, 0)


@dataclass(frozen=True, slots=True)
class ToolUsage:
    """One tool: who owns it, who called it, how it went."""

    name: str
    owner: str | None
    description: str
    parameter_count: int | None
    """Top-level properties of its schema; `None` for a name that was never registered."""
    registered_at: str | None
    """ISO 8601, UTC; `None` for a name that was called and never registered."""
    calls: int
    """Every attempt."""
    invocations: int
    """Calls that reached the implementation, whatever came of them."""
    refusals: int
    """Calls that did not."""
    failures: int
    """Invocations that did not end in `ok`."""
    outcomes: Mapping[str, int]
    median_seconds: float | None
    p95_seconds: float | None
    total_seconds: float
    raw_chars: int
    reduced_chars: int
    sent_chars: int
    cost_usd: float
    repaired: int
    """Invocations whose arguments were repaired first: which schema models get wrong."""
    callers: Mapping[str, int]
    """Calls by agent; `""` where no agent was named."""
    called_by_others: Mapping[str, int]
    """Calls by agents that did not own the tool when they called it."""
    is_dead: bool
    is_hot: bool

    @property
    def saved_chars(self) -> int:
        """Characters that the model did not have to read."""
        return self.raw_chars - self.sent_chars

    @property
    def repair_rate(self) -> float:
        """The part of its invocations whose arguments were repaired first."""
        return self.repaired / self.invocations if self.invocations else 0.0

    def to_wire(self) -> dict[str, Any]:
        """A JSON object."""
        return _wire(self, self.__slots__) | {
            "saved_chars": self.saved_chars,
            "repair_rate": self.repair_rate,
        }


@dataclass(frozen=True, slots=True)
class AgentUsage:
    """One agent: what it called."""

    agent: str
    calls: int
    invocations: int
    refusals: int
    tools: Mapping[str, int]
    """Calls by tool."""

    def to_wire(self) -> dict[str, Any]:
        """A JSON object."""
        return _wire(self, self.__slots__)


@dataclass(frozen=True, slots=True)
class DayUsage:
    """One day, UTC."""

    date: str
    calls: int
    ok: int
    failures: int
    refusals: int

    def to_wire(self) -> dict[str, Any]:
        """A JSON object."""
        return _wire(self, self.__slots__)


@dataclass(frozen=True, slots=True)
class UsageReport:
    """The usage of all tools over some time; `to_wire` is its JSON, `to_html` its page.

    Invocations count what reached an implementation; refusals are counted apart. Median and 95th
    percentile are at most 6 % off.
    """

    place: str
    made_at: str
    days: int | None
    agent: str | None
    tool: str | None
    tools: tuple[ToolUsage, ...]
    """Sorted by name; registered tools without a call too."""
    agents: tuple[AgentUsage, ...]
    by_day: tuple[DayUsage, ...]
    """Days with calls, the oldest first."""
    unsaved_calls: int
    """Calls in this report that are in memory only."""
    lost_calls: int
    """Calls that were not counted: the store could not be written, and memory was full."""
    problem: str | None
    """Why the store could not be read or written."""

    @property
    def calls(self) -> int:
        """Every attempt."""
        return sum(tool.calls for tool in self.tools)

    @property
    def invocations(self) -> int:
        """Calls that reached an implementation."""
        return sum(tool.invocations for tool in self.tools)

    @property
    def dead_tools(self) -> tuple[ToolUsage, ...]:
        """Registered long ago, and never called since."""
        return tuple(tool for tool in self.tools if tool.is_dead)

    @property
    def hot_tools(self) -> tuple[ToolUsage, ...]:
        """Called far more than others, or with the most time in sum."""
        return tuple(tool for tool in self.tools if tool.is_hot)

    def to_wire(self) -> dict[str, Any]:
        """A JSON object: what `ethos-registry usage --json` prints."""
        return {
            **_wire(self, ("place", "made_at", "days", "agent", "tool")),
            "totals": {
                name: sum(getattr(tool, name) for tool in self.tools)
                for name in (
                    "calls",
                    "invocations",
                    "refusals",
                    "failures",
                    "total_seconds",
                    "raw_chars",
                    "sent_chars",
                    "saved_chars",
                    "cost_usd",
                    "repaired",
                )
            },
            "tools": [tool.to_wire() for tool in self.tools],
            "agents": [agent.to_wire() for agent in self.agents],
            "by_day": [day.to_wire() for day in self.by_day],
            "dead_tools": [tool.name for tool in self.dead_tools],
            "hot_tools": [tool.name for tool in self.hot_tools],
            **_wire(self, ("unsaved_calls", "lost_calls", "problem")),
        }

    def to_html(self, *, is_live: bool = False) -> str:
        """One self-contained page: no network, no script from elsewhere.

        A page that is live asks the server that it came from for `usage.json` every two seconds.
        """
        return usage_page(self.to_wire(), is_live=is_live)


def usage_filter(*, days: int | None, agent: str | None, tool: str | None) -> UsageFilter:
    """The filter of a report; `ConfigError` for a value of the wrong kind."""
    first_day = None
    if days is not None:
        _checks.whole_count(days, "days")
        first_day = int(time.time() // SECONDS_PER_DAY) - days + 1
    names = (_checks.optional_text(agent, "agent"), _checks.optional_text(tool, "tool"))
    return UsageFilter(first_day, *(None if name is None else stored_name(name) for name in names))


def make_report(
    facts: UsageRow,
    wanted: UsageFilter,
    *,
    place: str,
    dead_after_days: float = 30,
    dead_after_calls: int = 1_000,
    unsaved_calls: int = 0,
    lost_calls: int = 0,
    problem: str | None = None,
) -> UsageReport:
    """The report over these sums, as of now."""
    _checks.finite_number(dead_after_days, "dead_after_days")
    _checks.finite_number(dead_after_calls, "dead_after_calls", whole=True)
    now = time.time()
    hot = _hot_names(facts.pairs)
    dead = _dead_names(facts, now - dead_after_days * SECONDS_PER_DAY, dead_after_calls)
    by_tool = _ByTool(facts)
    names = set(by_tool.called)
    if wanted.agent is None:
        names |= facts.tools.keys() if wanted.tool is None else facts.tools.keys() & {wanted.tool}
    today = int(now // SECONDS_PER_DAY)
    return UsageReport(
        place=place,
        made_at=_iso(now),
        days=None if wanted.first_day is None else today - wanted.first_day + 1,
        agent=wanted.agent,
        tool=wanted.tool,
        tools=tuple(
            by_tool.usage(name, is_dead=name in dead, is_hot=name in hot) for name in sorted(names)
        ),
        agents=_agents(facts),
        by_day=_days(facts),
        unsaved_calls=unsaved_calls,
        lost_calls=lost_calls,
        problem=problem,
    )


class _ByTool:
    """The facts, by tool."""

    def __init__(self, facts: UsageRow) -> None:
        self._facts = facts
        self._pairs: defaultdict[str, list[Pair]] = defaultdict(list)
        for pair in facts.pairs | facts.refused:
            self._pairs[pair.tool].append(pair)
        self.called: defaultdict[str, dict[str, int]] = defaultdict(dict)
        for (tool, outcome), calls in sorted(facts.outcomes.items()):
            self.called[tool][outcome] = calls

    def usage(self, name: str, *, is_dead: bool, is_hot: bool) -> ToolUsage:
        pairs, outcomes = self._pairs[name], self.called.get(name, {})
        known = self._facts.tools.get(name)
        callers: Counter[str] = Counter()
        others: Counter[str] = Counter()
        sums, refusals = _NONE, 0
        for pair in pairs:
            reached, refused = self._facts.pairs.get(pair, _NONE), self._facts.refused[pair]
            sums, refusals = sums.plus(reached), refusals + refused
            callers[pair.agent] += reached.calls + refused
            owner = pair.owner or (known.owner if known is not None else "")
            if owner and pair.agent != owner:
                others[pair.agent] += reached.calls + refused
        buckets = self._facts.durations.get(name, {}).items()
        return ToolUsage(
            name=name,
            owner=_owner(known, pairs),
            description="" if known is None else known.description,
            parameter_count=None if known is None else known.parameter_count,
            registered_at=None if known is None else _iso(known.registered_at_seconds),
            calls=sums.calls + refusals,
            invocations=sums.calls,
            refusals=refusals,
            failures=sums.calls - outcomes.get(OK, 0),
            outcomes=outcomes,
            median_seconds=quantile(buckets, 0.5),
            p95_seconds=quantile(buckets, 0.95),
            total_seconds=sums.microseconds / MICROSECONDS,
            raw_chars=sums.raw_chars,
            reduced_chars=sums.reduced_chars,
            sent_chars=sums.sent_chars,
            cost_usd=sums.cost_nano_usd / NANO_USD,
            repaired=sums.repaired,
            callers=_most_first(callers),
            called_by_others=_most_first(others),
            is_dead=is_dead,
            is_hot=is_hot,
        )


def _owner(known: KnownTool | None, pairs: Iterable[Pair]) -> str | None:
    if known is not None:
        return known.owner or None
    return next((pair.owner for pair in pairs if pair.owner), None)


def _most_first(calls: Mapping[str, int]) -> dict[str, int]:
    return dict(sorted(calls.items(), key=lambda item: (-item[1], item[0])))


def _hot_names(pairs: Mapping[Pair, Totals]) -> set[str]:
    """Tools with far more calls than others, and those with the most time."""
    calls: Counter[str] = Counter()
    micros: Counter[str] = Counter()
    for pair, totals in pairs.items():
        calls[pair.tool] += totals.calls
        micros[pair.tool] += totals.microseconds
    if not calls:
        return set()
    enough = max(HOT_FACTOR * median(calls.values()), HOT_PART * calls.total())
    longest = {name for name, spent in micros.most_common(HOT_BY_TIME) if spent}
    return {name for name in calls if calls[name] >= enough} | longest


def _dead_names(facts: UsageRow, registered_before: float, least_calls: int) -> set[str]:
    """Tools that were registered long ago, and that no call has reached since, of very many."""
    dead = set()
    days = sorted(facts.ever_by_day.items(), reverse=True)
    for tool in facts.tools.values():
        if tool.registered_at_seconds > registered_before or facts.ever_reached.get(tool.name):
            continue
        registered = tool.registered_at_seconds // SECONDS_PER_DAY
        if sum(calls for day, calls in days if day >= registered) >= least_calls:
            dead.add(tool.name)
    return dead


def _agents(facts: UsageRow) -> tuple[AgentUsage, ...]:
    reached: Counter[str] = Counter()
    refused: Counter[str] = Counter()
    tools: defaultdict[str, Counter[str]] = defaultdict(Counter)
    attempts = [(pair, totals.calls, reached) for pair, totals in facts.pairs.items()]
    attempts += [(pair, calls, refused) for pair, calls in facts.refused.items()]
    for pair, calls, sums in attempts:
        sums[pair.agent] += calls
        tools[pair.agent][pair.tool] += calls
    return tuple(
        AgentUsage(
            agent=agent,
            calls=reached[agent] + refused[agent],
            invocations=reached[agent],
            refusals=refused[agent],
            tools=_most_first(tools[agent]),
        )
        for agent in sorted(tools)
    )


def _days(facts: UsageRow) -> tuple[DayUsage, ...]:
    days: defaultdict[int, list[int]] = defaultdict(lambda: [0, 0, 0])
    for (day, outcome), calls in facts.days.items():
        days[day][0 if outcome == OK else 2 if is_refusal(outcome) else 1] += calls
    return tuple(DayUsage(_date(day), sum(sums), *sums) for day, sums in sorted(days.items()))


def _date(day: int) -> str:
    """The date of a day since 1970; days that no calendar has are shown as its first or last."""
    ordinal = min(max(day + _EPOCH_ORDINAL, date.min.toordinal()), date.max.toordinal())
    return date.fromordinal(ordinal).isoformat()


def _iso(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")


def _wire(value: Any, names: Iterable[str]) -> dict[str, Any]:
    return {
        name: dict(item) if isinstance(item := getattr(value, name), Mapping) else item
        for name in names
    }
