"""The tables of a ledger, the same in SQLite and PostgreSQL."""

from __future__ import annotations

__all__ = ["ADDED", "SCHEMA_VERSION", "additive_upsert", "tables"]

SCHEMA_VERSION = 1

ADDED = ("calls", "raw_chars", "reduced_chars", "sent_chars", "cost_nano_usd", "microseconds")
"""The columns that a batch adds to."""

_SUMS = ",\n    ".join(f"{column} BIGINT NOT NULL" for column in ADDED)

# `cells` is the truth; `totals`, `durations` and `days` are sums over it, written in the same
# transaction, so that a report over years reads thousands of rows and not millions.
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
CREATE TABLE IF NOT EXISTS ethos_usage_cells (
    agent_id BIGINT NOT NULL,
    tool_id BIGINT NOT NULL,
    day BIGINT NOT NULL,
    owner_id BIGINT NOT NULL,
    outcome_id BIGINT NOT NULL,
    bucket BIGINT NOT NULL,
    {_SUMS},
    PRIMARY KEY (agent_id, tool_id, day, owner_id, outcome_id, bucket)
){{clustered}};
CREATE TABLE IF NOT EXISTS ethos_usage_totals (
    agent_id BIGINT NOT NULL,
    tool_id BIGINT NOT NULL,
    owner_id BIGINT NOT NULL,
    outcome_id BIGINT NOT NULL,
    reached BIGINT NOT NULL,
    {_SUMS},
    PRIMARY KEY (agent_id, tool_id, owner_id, outcome_id, reached)
){{clustered}};
CREATE TABLE IF NOT EXISTS ethos_usage_durations (
    tool_id BIGINT NOT NULL,
    bucket BIGINT NOT NULL,
    calls BIGINT NOT NULL,
    PRIMARY KEY (tool_id, bucket)
){{clustered}};
CREATE TABLE IF NOT EXISTS ethos_usage_days (
    day BIGINT NOT NULL,
    agent_id BIGINT NOT NULL,
    outcome_id BIGINT NOT NULL,
    reached BIGINT NOT NULL,
    calls BIGINT NOT NULL,
    PRIMARY KEY (day, agent_id, outcome_id, reached)
){{clustered}};
CREATE TABLE IF NOT EXISTS ethos_usage_writers (
    writer TEXT NOT NULL PRIMARY KEY,
    batch TEXT NOT NULL,
    written_at DOUBLE PRECISION NOT NULL
);
"""


def tables(*, identity: str, clustered: str) -> list[str]:
    """The statements that make the tables where they are missing."""
    text = _TABLES.format(identity=identity, clustered=clustered)
    return [statement.strip() for statement in text.split(";") if statement.strip()]


def additive_upsert(table: str, keys: tuple[str, ...], added: tuple[str, ...], mark: str) -> str:
    """The statement that adds a row's sums to what is stored under its keys.

    `mark` is the driver's placeholder.
    """
    columns = (*keys, *added)
    sums = ", ".join(f"{column} = {table}.{column} + excluded.{column}" for column in added)
    return (
        f"INSERT INTO {table} ({', '.join(columns)}) "
        f"VALUES ({', '.join([mark] * len(columns))}) "
        f"ON CONFLICT ({', '.join(keys)}) DO UPDATE SET {sums}"
    )
