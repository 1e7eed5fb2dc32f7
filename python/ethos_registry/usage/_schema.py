"""The tables of a ledger, the same in SQLite and PostgreSQL."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

from ethos_registry.usage._record import Totals

# Spans of days: calls are also summed up by 4 and by 16 days, for reports over the last days.

WIDTHS = (1, 4, 16)
"""In days; each divides the next."""


class SpanRange(NamedTuple):
    """The spans of one width whose first day is in a range."""

    width: int
    start: int
    end: int | None
    """Not in the range; `None` for no end."""


def first_days(day: int) -> list[tuple[int, int]]:
    """The width and first day of each span that the day is in."""
    return [(width, day - day % width) for width in WIDTHS]


def spans_from(day: int) -> list[SpanRange]:
    """The spans that together are all days from this one on, each day once."""
    ranges = []
    for width, wider in pairwise(WIDTHS):
        end = -(-day // wider) * wider
        if day < end:
            ranges.append(SpanRange(width, day, end))
        day = end
    return [*ranges, SpanRange(WIDTHS[-1], day, None)]


SCHEMA_VERSION = 3
"""A ledger of another version is refused."""

ADDED = Totals._fields
"""The columns that a batch adds to."""


class CountTable(NamedTuple):
    """A table of calls that were counted: each batch adds to the row of its keys."""

    name: str
    keys: tuple[str, ...]
    added: tuple[str, ...] = ADDED


# `cells` is the truth; the other tables are sums over it, written in the same transaction, so that
# a report over years reads thousands of rows and not millions.
COUNT_TABLES = (
    CountTable(
        "ethos_usage_cells", ("agent_id", "tool_id", "day", "owner_id", "outcome_id", "bucket")
    ),
    CountTable("ethos_usage_totals", ("agent_id", "tool_id", "owner_id", "outcome_id", "reached")),
    CountTable("ethos_usage_durations", ("tool_id", "bucket"), ("calls",)),
    CountTable("ethos_usage_days", ("day", "agent_id", "outcome_id", "reached"), ("calls",)),
    CountTable(
        "ethos_usage_spans",
        ("width", "first_day", "tool_id", "agent_id", "owner_id", "outcome_id", "reached"),
    ),
    CountTable(
        "ethos_usage_span_durations", ("width", "first_day", "tool_id", "bucket"), ("calls",)
    ),
)

_TABLES = f"""
CREATE TABLE IF NOT EXISTS ethos_usage_version (version INTEGER NOT NULL PRIMARY KEY);
CREATE TABLE IF NOT EXISTS ethos_usage_names (
    id {{identity}},
    name TEXT NOT NULL UNIQUE
);
CREATE TABLE IF NOT EXISTS ethos_usage_tools (
    tool_id BIGINT NOT NULL PRIMARY KEY,
    owner_id BIGINT NOT NULL,
    description TEXT NOT NULL,
    parameter_count BIGINT NOT NULL,
    registered_at DOUBLE PRECISION NOT NULL
);
CREATE TABLE IF NOT EXISTS ethos_usage_writers (
    writer TEXT NOT NULL PRIMARY KEY,
    batch TEXT NOT NULL,
    written_at DOUBLE PRECISION NOT NULL
);
CREATE TABLE IF NOT EXISTS ethos_usage_limits (
    scope TEXT NOT NULL,
    key TEXT NOT NULL,
    day BIGINT NOT NULL,
    calls BIGINT NOT NULL,
    cost_nano_usd BIGINT NOT NULL,
    tokens BIGINT NOT NULL,
    counted_at DOUBLE PRECISION NOT NULL,
    PRIMARY KEY (scope, key, day)
){{clustered}};
INSERT INTO ethos_usage_version SELECT {SCHEMA_VERSION}
    WHERE NOT EXISTS (SELECT 1 FROM ethos_usage_version);
"""


def tables(*, identity: str, clustered: str) -> list[str]:
    """The statements that make the tables where they are missing."""
    text = _TABLES.format(identity=identity, clustered=clustered)
    others = [statement.strip() for statement in text.split(";") if statement.strip()]
    return [_count_table(table, clustered) for table in COUNT_TABLES] + others


def _count_table(table: CountTable, clustered: str) -> str:
    columns = "".join(f"{column} BIGINT NOT NULL, " for column in (*table.keys, *table.added))
    key = f"PRIMARY KEY ({', '.join(table.keys)})"
    return f"CREATE TABLE IF NOT EXISTS {table.name} ({columns}{key}){clustered}"


def additive_upsert(table: CountTable, mark: str) -> str:
    """The statement that adds a row's sums to what is stored under its keys.

    `mark` is the driver's placeholder.
    """
    name, keys, added = table
    columns = (*keys, *added)
    sums = ", ".join(f"{column} = {name}.{column} + excluded.{column}" for column in added)
    return (
        f"INSERT INTO {name} ({', '.join(columns)}) "
        f"VALUES ({', '.join([mark] * len(columns))}) "
        f"ON CONFLICT ({', '.join(keys)}) DO UPDATE SET {sums}"
    )
