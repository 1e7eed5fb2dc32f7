"""The queries of a report.

Without a filter the sums of `totals`, `durations` and `days` answer it, and for the last days
those of spans of days. For one agent or tool, the rows of `cells` are found by the pairs of agent
and tool that ever met: `cells` is ordered by agent, tool and day, so a week out of years costs a
week.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol, TypeAlias

from ethos_registry.usage._record import (
    NOT_REACHED,
    CountedCalls,
    KnownTool,
    Pair,
    Totals,
    UsageFilter,
    UsageRow,
)
from ethos_registry.usage._schema import (
    ADDED,
    SpanRange,
    first_days,
    spans_from,
)


class Statements(Protocol):
    """Runs statements written with `?` for values."""

    def rows(self, statement: str, values: Sequence[Any] = ()) -> Iterable[tuple[Any, ...]]:
        """All rows of a query."""


def read_facts(run: Statements, wanted: UsageFilter) -> UsageRow:
    """The sums that a report over the wanted calls needs."""
    names: dict[int, str] = dict(run.rows("SELECT id, name FROM ethos_usage_names"))
    ids = {name: number for number, name in names.items()}
    facts = UsageRow()
    facts.add_tools(
        KnownTool(names[tool], names[owner], description, count, registered_at)
        for tool, owner, description, count, registered_at in run.rows(
            "SELECT tool_id, owner_id, description, parameter_count, registered_at "
            "FROM ethos_usage_tools"
        )
    )
    for tool, calls in run.rows(
        "SELECT tool_id, SUM(calls) FROM ethos_usage_totals WHERE reached = 1 GROUP BY tool_id"
    ):
        facts.ever_reached[names[tool]] = int(calls)
    for day, calls in run.rows("SELECT day, SUM(calls) FROM ethos_usage_days GROUP BY day"):
        facts.ever_by_day[day] = int(calls)
    for name in (wanted.agent, wanted.tool):
        if name is not None and name not in ids:
            return facts  # no such agent called, and no such tool was called
    if wanted.first_day is not None and wanted.first_day <= min(facts.ever_by_day, default=0):
        wanted = wanted._replace(first_day=None)  # every call there is
    query = _Query(run, names, ids, wanted)
    query.read_sums(facts)
    query.read_durations(facts)
    query.read_days(facts)
    return facts


_SUMS = ", ".join(f"SUM({column})" for column in ADDED)


class _Query:
    """One filter over one database."""

    def __init__(
        self,
        run: Statements,
        names: dict[int, str],
        ids: dict[str, int],
        wanted: UsageFilter,
    ) -> None:
        self._run = run
        self._names = names
        self._wanted = wanted
        self._ranges: list[SpanRange] = []
        if wanted.agent is None and wanted.tool is None and wanted.first_day is not None:
            self._ranges = spans_from(wanted.first_day)
        self._conditions: list[tuple[str, int]] = []
        for column, name in (("agent_id", wanted.agent), ("tool_id", wanted.tool)):
            if name is not None:
                self._conditions.append((column, ids[name]))

    def _where(self, prefix: str = "") -> str:
        return " AND ".join(f"{prefix}{column} = ?" for column, _ in self._conditions) or "1 = 1"

    @property
    def _values(self) -> list[int]:
        return [value for _, value in self._conditions]

    def _cells(self, columns: str, group: str, *, reached_only: bool = False) -> Any:
        """Sums over the cells of the filter."""
        day = "" if self._wanted.first_day is None else "AND c.day >= ? "
        days = [] if self._wanted.first_day is None else [self._wanted.first_day]
        reached = "AND c.bucket >= 0 " if reached_only else ""
        return self._run.rows(
            f"SELECT {columns} FROM "
            "(SELECT DISTINCT agent_id, tool_id FROM ethos_usage_totals "
            f"WHERE {self._where()}) AS p "
            "CROSS JOIN ethos_usage_cells AS c "
            f"WHERE c.agent_id = p.agent_id AND c.tool_id = p.tool_id {day}{reached}"
            f"GROUP BY {group}",
            [*self._values, *days],
        )

    def _spans(self, table: str, columns: str, sums: str, added: str) -> Any:
        """Sums over the spans of the days of the filter."""
        parts, values = [], []
        for width, start, end in self._ranges:
            until = "" if end is None else " AND first_day < ?"
            parts.append(
                f"SELECT {columns}, {added} FROM {table} WHERE width = ? AND first_day >= ?{until}"
            )
            values += [width, start] if end is None else [width, start, end]
        return self._run.rows(
            f"SELECT {columns}, {sums} FROM ({' UNION ALL '.join(parts)}) AS s GROUP BY {columns}",
            values,
        )

    def read_sums(self, facts: UsageRow) -> None:
        """Sums by tool, owner, agent and outcome."""
        if self._wanted.first_day is None:
            rows = self._run.rows(
                f"SELECT tool_id, owner_id, agent_id, reached, {_SUMS} "
                "FROM ethos_usage_totals "
                f"WHERE {self._where()} GROUP BY tool_id, owner_id, agent_id, reached",
                self._values,
            )
            outcomes = self._run.rows(
                "SELECT tool_id, outcome_id, SUM(calls) FROM ethos_usage_totals "
                f"WHERE {self._where()} GROUP BY tool_id, outcome_id",
                self._values,
            )
            self._add_pairs(facts, rows)
            for tool, outcome, calls in outcomes:
                facts.outcomes[self._names[tool], self._names[outcome]] = int(calls)
            return
        if self._ranges:
            columns = "tool_id, owner_id, agent_id, reached, outcome_id"
            found = self._spans("ethos_usage_spans", columns, _SUMS, ", ".join(ADDED))
        else:
            columns = (
                "c.tool_id, c.owner_id, c.agent_id, CASE WHEN c.bucket >= 0 THEN 1 ELSE 0 END, "
                "c.outcome_id"
            )
            found = self._cells(f"{columns}, {_SUMS}", columns)
        for tool, owner, agent, reached, outcome, *sums in found:
            self._add_pairs(facts, [(tool, owner, agent, reached, *sums)])
            key = (self._names[tool], self._names[outcome])
            facts.outcomes[key] = facts.outcomes.get(key, 0) + int(sums[0])

    def _add_pairs(self, facts: UsageRow, rows: Iterable[tuple[Any, ...]]) -> None:
        names = self._names
        for tool, owner, agent, reached, *sums in rows:
            pair = Pair(names[tool], names[owner], names[agent])
            facts.add_pair(pair, Totals(*map(int, sums)), reached=bool(reached))

    def read_durations(self, facts: UsageRow) -> None:
        """Calls by tool and bucket."""
        if self._wanted.first_day is None and self._wanted.agent is None:
            rows = self._run.rows(
                f"SELECT tool_id, bucket, calls FROM ethos_usage_durations WHERE {self._where()}",
                self._values,
            )
        elif self._ranges:
            rows = self._spans(
                "ethos_usage_span_durations", "tool_id, bucket", "SUM(calls)", "calls"
            )
        else:
            columns = "c.tool_id, c.bucket"
            rows = self._cells(f"{columns}, SUM(c.calls)", columns, reached_only=True)
        for tool, bucket, calls in rows:
            facts.add_duration(self._names[tool], bucket, int(calls))

    def read_days(self, facts: UsageRow) -> None:
        """Calls by day and outcome."""
        if self._wanted.tool is None:
            first = self._wanted.first_day
            rows = self._run.rows(
                "SELECT day, outcome_id, SUM(calls) FROM ethos_usage_days "
                f"WHERE {self._where()} AND day >= ? GROUP BY day, outcome_id",
                [*self._values, -(2**62) if first is None else first],
            )
        else:
            columns = "c.day, c.outcome_id"
            rows = self._cells(f"{columns}, SUM(c.calls)", columns)
        for day, outcome, calls in rows:
            facts.days[day, self._names[outcome]] = int(calls)


# A batch of counts as the rows of each table.

Rows: TypeAlias = list[tuple[Any, ...]]
Sums: TypeAlias = dict[tuple[int, ...], Totals]


def cells(counts: CountedCalls, ids: Mapping[str, int]) -> Rows:
    """Calls of one agent, tool, day, outcome and duration."""
    return [
        (
            ids[key.agent],
            ids[key.tool],
            key.day,
            ids[key.owner],
            ids[key.outcome],
            key.bucket,
            *totals,
        )
        for key, totals in counts.items()
    ]


def totals(counts: CountedCalls, ids: Mapping[str, int]) -> Rows:
    """Calls of all days, whatever their duration."""
    sums: dict[tuple[int, ...], Any] = {}
    for key, totals in counts.items():
        reached = int(key.bucket != NOT_REACHED)
        _add(
            sums, (ids[key.agent], ids[key.tool], ids[key.owner], ids[key.outcome], reached), totals
        )
    return [(*row, *totals) for row, totals in sums.items()]


def durations(counts: CountedCalls, ids: Mapping[str, int]) -> Rows:
    """Calls by tool and duration."""
    sums: dict[tuple[int, ...], int] = {}
    for key, totals in counts.items():
        if key.bucket != NOT_REACHED:
            row = (ids[key.tool], key.bucket)
            sums[row] = sums.get(row, 0) + totals.calls
    return [(*row, calls) for row, calls in sums.items()]


def days(counts: CountedCalls, ids: Mapping[str, int]) -> Rows:
    """Calls by day, agent and outcome."""
    sums: dict[tuple[int, ...], int] = {}
    for key, totals in counts.items():
        reached = int(key.bucket != NOT_REACHED)
        row = (key.day, ids[key.agent], ids[key.outcome], reached)
        sums[row] = sums.get(row, 0) + totals.calls
    return [(*row, calls) for row, calls in sums.items()]


def spans(counts: CountedCalls, ids: Mapping[str, int]) -> Rows:
    """Calls by agent, tool and outcome, for each span of days that the day is in."""
    by_day: Sums = {}
    for key, sums in counts.items():
        reached = int(key.bucket != NOT_REACHED)
        called = (ids[key.tool], ids[key.agent], ids[key.owner], ids[key.outcome], reached)
        _add(by_day, (key.day, *called), sums)
    by_span: Sums = {}
    for row, sums in by_day.items():
        for width, first_day in first_days(row[0]):
            _add(by_span, (width, first_day, *row[1:]), sums)
    return [(*row, *sums) for row, sums in by_span.items()]


def span_durations(counts: CountedCalls, ids: Mapping[str, int]) -> Rows:
    """Calls by tool and duration, for each span of days that the day is in."""
    sums: dict[tuple[int, ...], int] = {}
    for key, totals in counts.items():
        if key.bucket != NOT_REACHED:
            for width, first_day in first_days(key.day):
                row = (width, first_day, ids[key.tool], key.bucket)
                sums[row] = sums.get(row, 0) + totals.calls
    return [(*row, calls) for row, calls in sums.items()]


def _add(sums: Sums, row: tuple[int, ...], totals: Totals) -> None:
    present = sums.get(row)
    sums[row] = totals if present is None else present.plus(totals)


def tools(tools: Iterable[KnownTool], ids: Mapping[str, int]) -> Rows:
    """Tools that were registered."""
    return [
        (
            ids[tool.name],
            ids[tool.owner],
            tool.description,
            tool.parameter_count,
            tool.registered_at_seconds,
        )
        for tool in tools
    ]
