"""A ledger with ten million calls: 1,000 tools, 20 agents, 90 days."""

from __future__ import annotations

import sqlite3
import time
from pathlib import Path
from uuid import uuid4

from ethos_registry.usage._record import SECONDS_PER_DAY, KnownTool, UsageBatch
from ethos_registry.usage._schema import ADDED, WIDTHS
from ethos_registry.usage._store import store_at

__all__ = ["AGENTS", "CALLS", "DAYS", "TOOLS", "make_history"]

CALLS, TOOLS, AGENTS, DAYS = 10_000_000, 1_000, 20, 90
OUTCOMES = ("ok", "failed", "timeout", "denied")

AGENT_IDS, OUTCOME_IDS, TOOL_IDS = 1, AGENTS + 1, AGENTS + len(OUTCOMES) + 1
"""Where the ids of the names begin."""

_CELLS = f"""
WITH RECURSIVE
    calls (number) AS (SELECT 1 UNION ALL SELECT number + 1 FROM calls WHERE number < :calls),
    drawn AS (
        SELECT (
            ABS(RANDOM() % {AGENTS * TOOLS * DAYS}) * 4 + MAX(0, ABS(RANDOM() % 20) - 16)
        ) * 64 + ABS(RANDOM() % 14) + ABS(RANDOM() % 14) + ABS(RANDOM() % 14) AS packed
        FROM calls
    ),
    cells AS (
        SELECT
            packed / {256 * TOOLS * DAYS} AS agent,
            packed / {256 * DAYS} % {TOOLS} AS tool,
            packed / 256 % {DAYS} AS days_ago,
            packed / 64 % 4 AS outcome,
            packed % 64 AS spread,
            COUNT(*) AS calls
        FROM drawn GROUP BY packed
    )
INSERT INTO ethos_usage_cells
SELECT
    {AGENT_IDS} + agent, {TOOL_IDS} + tool, :today - days_ago, {AGENT_IDS} + tool % {AGENTS},
    {OUTCOME_IDS} + outcome, 70 + tool % 20 + spread,
    calls, calls * 2000, calls * 900, calls * 900, 0, calls * 30000, 0
FROM cells WHERE outcome < 3
UNION ALL SELECT
    {AGENT_IDS} + agent, {TOOL_IDS} + tool, :today - days_ago, {AGENT_IDS} + tool % {AGENTS},
    {OUTCOME_IDS} + outcome, -1,
    SUM(calls), SUM(calls) * 90, SUM(calls) * 90, SUM(calls) * 90, 0, 0, 0
FROM cells WHERE outcome = 3 GROUP BY agent, tool, days_ago
"""
_SUMS = ", ".join(f"SUM({column})" for column in ADDED)
_REACHED = "CASE WHEN bucket >= 0 THEN 1 ELSE 0 END"
_SUMMED_UP = (
    (
        "INSERT INTO ethos_usage_totals "
        f"SELECT agent_id, tool_id, owner_id, outcome_id, {_REACHED}, {_SUMS} "
        f"FROM ethos_usage_cells GROUP BY agent_id, tool_id, owner_id, outcome_id, {_REACHED}"
    ),
    (
        "INSERT INTO ethos_usage_durations SELECT tool_id, bucket, SUM(calls) "
        "FROM ethos_usage_cells WHERE bucket >= 0 GROUP BY tool_id, bucket"
    ),
    (
        f"INSERT INTO ethos_usage_days SELECT day, agent_id, outcome_id, {_REACHED}, SUM(calls) "
        f"FROM ethos_usage_cells GROUP BY day, agent_id, outcome_id, {_REACHED}"
    ),
    *(
        f"INSERT INTO ethos_usage_spans SELECT {width}, day - day % {width}, tool_id, agent_id, "
        f"owner_id, outcome_id, {_REACHED}, {_SUMS} FROM ethos_usage_cells "
        f"GROUP BY day / {width}, tool_id, agent_id, owner_id, outcome_id, {_REACHED}"
        for width in WIDTHS
    ),
    *(
        f"INSERT INTO ethos_usage_span_durations SELECT {width}, day - day % {width}, tool_id, "
        "bucket, SUM(calls) FROM ethos_usage_cells "
        f"WHERE bucket >= 0 GROUP BY day / {width}, tool_id, bucket"
        for width in WIDTHS
    ),
)


def make_history(path: Path, calls: int = CALLS) -> None:
    """Write the history: every agent calls every tool, so few calls are stored as one.

    Real applications have far fewer pairs of agent and tool, and so far fewer rows. The calls are
    drawn by the database: through a ledger, these would take many minutes to write.
    """
    agents = [f"agent_{number}" for number in range(AGENTS)]
    tools = [f"tool_{number}" for number in range(TOOLS)]
    known = tuple(
        KnownTool(name, agents[number % AGENTS], "A tool.", 3, 0.0)
        for number, name in enumerate(tools)
    )
    store = store_at(path)
    store.write(UsageBatch(uuid4().hex, {}, ()))  # makes the tables
    connection = sqlite3.connect(path, isolation_level=None)
    for pragma in ("synchronous = OFF", "cache_size = -1000000", "temp_store = MEMORY"):
        connection.execute(f"PRAGMA {pragma}")
    connection.execute("BEGIN")
    names = enumerate([*agents, *OUTCOMES, *tools], AGENT_IDS)
    connection.executemany("INSERT INTO ethos_usage_names (id, name) VALUES (?, ?)", names)
    today = int(time.time() // SECONDS_PER_DAY)
    connection.execute(_CELLS, {"calls": calls, "today": today})
    for statement in _SUMMED_UP:
        connection.execute(statement)
    connection.execute("COMMIT")
    connection.close()
    store.write(UsageBatch(uuid4().hex, {}, known))
    store.close()
