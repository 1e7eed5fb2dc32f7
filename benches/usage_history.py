"""A ledger with ten million calls: 1,000 tools, 20 agents, 90 days."""

from __future__ import annotations

import random
import time
from pathlib import Path
from uuid import uuid4

from ethos_registry.usage.buckets import NOT_REACHED
from ethos_registry.usage.record import (
    SECONDS_PER_DAY,
    Batch,
    CountedCalls,
    CountKey,
    KnownTool,
    Totals,
)
from ethos_registry.usage.store import store_at

__all__ = ["AGENTS", "CALLS", "DAYS", "TOOLS", "make_history"]

CALLS, TOOLS, AGENTS, DAYS = 10_000_000, 1_000, 20, 90
OUTCOMES = ("ok",) * 17 + ("failed", "timeout", "denied")


def make_history(path: Path, calls: int = CALLS) -> None:
    """Write the history: every agent calls every tool, so no two calls are stored as one by luck.

    Real applications have far fewer pairs of agent and tool, and so far fewer rows.
    """
    random_source = random.Random(23)
    store = store_at(path)
    today = int(time.time() // SECONDS_PER_DAY)
    agents = [f"agent_{number}" for number in range(AGENTS)]
    tools = [f"tool_{number}" for number in range(TOOLS)]
    known = tuple(
        KnownTool(name, agents[number % AGENTS], f"The tool {name}.", 3, 0.0)
        for number, name in enumerate(tools)
    )
    pick, gauss = random_source.randrange, random_source.gauss
    for day in range(today - DAYS + 1, today + 1):
        counts: CountedCalls = {}
        for _ in range(calls // DAYS):
            tool, outcome = pick(TOOLS), OUTCOMES[pick(20)]
            bucket = NOT_REACHED if outcome == "denied" else int(gauss(90 + tool % 20, 8))
            key = CountKey(
                day, agents[pick(AGENTS)], agents[tool % AGENTS], tools[tool], outcome, bucket
            )
            present = counts.get(key)
            one = Totals(1, 2_000, 900, 900, 0, 30_000)
            counts[key] = one if present is None else present.plus(one)
        store.write(Batch(uuid4().hex, counts, known))
    store.close()
