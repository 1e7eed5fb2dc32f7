"""The queries of a report.

Without a filter the sums of `totals`, `durations` and `days` answer it, and for the last days
those of spans of days. For one agent or tool, the rows of `cells` are found by the pairs of agent
and tool that ever met: `cells` is ordered by agent, tool and day, so a week out of years costs a
week.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

from ethos_registry.usage._record import (
    NOT_REACHED,
    CountedCalls,
    KnownTool,
    Pair,
    Totals,
    UsageFilter,
    UsageRow,
    sums_by_key,
)
from ethos_registry.usage._schema import ADDED, COUNT_TABLES, SpanRange, first_days, spans_from

Rows: TypeAlias = list[tuple[Any, ...]]


class Statements(NamedTuple):
    """Runs statements written with `?` for values."""

    connection: Any
    mark: str
    """The driver's placeholder."""

    def rows(self, statement: str, values: Sequence[Any] = ()) -> Rows:
        text = statement if self.mark == "?" else statement.replace("?", self.mark)
        found: Rows = self.connection.execute(text, tuple(values)).fetchall()
        return found


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
        named = {"agent_id": wanted.agent, "tool_id": wanted.tool}
        values = {column: ids[name] for column, name in named.items() if name is not None}
        self._where = " AND ".join(f"{column} = ?" for column in values) or "1 = 1"
        self._values = list(values.values())
        self._from_day = [-(2**62) if wanted.first_day is None else wanted.first_day]

    def _cells(self, columns: str, sums: str, *, reached_only: bool = False) -> Rows:
        """Sums over the cells of the filter."""
        reached = "AND c.bucket >= 0 " if reached_only else ""
        return self._run.rows(
            f"SELECT {columns}, {sums} FROM "
            "(SELECT DISTINCT agent_id, tool_id FROM ethos_usage_totals "
            f"WHERE {self._where}) AS p "
            "CROSS JOIN ethos_usage_cells AS c "
            f"WHERE c.agent_id = p.agent_id AND c.tool_id = p.tool_id AND c.day >= ? {reached}"
            f"GROUP BY {columns}",
            self._values + self._from_day,
        )

    def _spans(self, table: str, columns: str, sums: str, added: str) -> Rows:
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
        if self._wanted.first_day is None:
            rows = self._run.rows(
                f"SELECT tool_id, owner_id, agent_id, reached, {_SUMS} "
                "FROM ethos_usage_totals "
                f"WHERE {self._where} GROUP BY tool_id, owner_id, agent_id, reached",
                self._values,
            )
            outcomes = self._run.rows(
                "SELECT tool_id, outcome_id, SUM(calls) FROM ethos_usage_totals "
                f"WHERE {self._where} GROUP BY tool_id, outcome_id",
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
            found = self._cells(columns, _SUMS)
        for tool, owner, agent, reached, outcome, *sums in found:
            self._add_pairs(facts, [(tool, owner, agent, reached, *sums)])
            facts.outcomes[self._names[tool], self._names[outcome]] += int(sums[0])

    def _add_pairs(self, facts: UsageRow, rows: Iterable[tuple[Any, ...]]) -> None:
        names = self._names
        for tool, owner, agent, reached, *sums in rows:
            pair = Pair(names[tool], names[owner], names[agent])
            facts.add_pair(pair, Totals(*map(int, sums)), reached=bool(reached))

    def read_durations(self, facts: UsageRow) -> None:
        if self._wanted.first_day is None and self._wanted.agent is None:
            rows = self._run.rows(
                f"SELECT tool_id, bucket, calls FROM ethos_usage_durations WHERE {self._where}",
                self._values,
            )
        elif self._ranges:
            rows = self._spans(
                "ethos_usage_span_durations", "tool_id, bucket", "SUM(calls)", "calls"
            )
        else:
            rows = self._cells("c.tool_id, c.bucket", "SUM(c.calls)", reached_only=True)
        for tool, bucket, calls in rows:
            facts.durations[self._names[tool]][bucket] += int(calls)

    def read_days(self, facts: UsageRow) -> None:
        if self._wanted.tool is None:
            rows = self._run.rows(
                "SELECT day, outcome_id, SUM(calls) FROM ethos_usage_days "
                f"WHERE {self._where} AND day >= ? GROUP BY day, outcome_id",
                self._values + self._from_day,
            )
        else:
            rows = self._cells("c.day, c.outcome_id", "SUM(c.calls)")
        for day, outcome, calls in rows:
            facts.days[day, self._names[outcome]] = int(calls)


# A batch of counts as the rows of each table.


def count_rows(counts: CountedCalls, ids: Mapping[str, int]) -> list[Rows]:
    """What a batch adds to each of the `COUNT_TABLES`: their keys, then what is added."""
    cells = [
        ((ids[agent], ids[tool], day, ids[owner], ids[outcome], bucket), totals)
        for (day, agent, owner, tool, outcome, bucket), totals in counts.items()
    ]
    # Summed up twice, as few cells differ in what their tables leave out.
    calls = sums_by_key(
        ((agent, tool, day, owner, outcome, int(bucket != NOT_REACHED)), totals)
        for (agent, tool, day, owner, outcome, bucket), totals in cells
    ).items()
    durations = sums_by_key(
        ((day, tool, bucket), totals)
        for (_, tool, day, _, _, bucket), totals in cells
        if bucket != NOT_REACHED
    ).items()
    sums: tuple[Iterable[tuple[tuple[int, ...], Totals]], ...] = (
        cells,
        (
            ((agent, tool, owner, outcome, reached), totals)
            for (agent, tool, _, owner, outcome, reached), totals in calls
        ),
        (((tool, bucket), totals) for (_, tool, bucket), totals in durations),
        (
            ((day, agent, outcome, reached), totals)
            for (agent, _, day, _, outcome, reached), totals in calls
        ),
        (
            ((width, first_day, tool, agent, owner, outcome, reached), totals)
            for (agent, tool, day, owner, outcome, reached), totals in calls
            for width, first_day in first_days(day)
        ),
        (
            ((width, first_day, tool, bucket), totals)
            for (day, tool, bucket), totals in durations
            for width, first_day in first_days(day)
        ),
    )
    return [
        [(*key, *totals[: len(table.added)]) for key, totals in sums_by_key(added).items()]
        for table, added in zip(COUNT_TABLES, sums, strict=True)
    ]
