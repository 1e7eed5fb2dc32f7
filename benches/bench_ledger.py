"""The ledger: its cost per call, a report over years, an agent's view of a large catalogue."""

from __future__ import annotations

import asyncio
import os
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from beside import beside
from ethos_registry import Tool, ToolCall, ToolRegistry, ok
from ethos_registry.agents import AgentCatalog
from ethos_registry.usage import UsageLedger, read_usage
from usage_history import AGENTS, CALLS, DAYS, TOOLS, make_history

BATCH = 512


async def at_once(args: Any, context: Any) -> Any:
    return ok("done")


def tool_named(name: str) -> Tool:
    return Tool(name, "A tool.", {"type": "object"}, at_once)


@pytest.mark.parametrize("place", ["memory", "file"])
def test_ledger(benchmark: Any, place: str, tmp_path: Path) -> None:
    """A batch of calls that end at once, with a ledger beside none."""
    loop = asyncio.new_event_loop()
    ledger = UsageLedger(":memory:" if place == "memory" else tmp_path / "usage.sqlite3")
    calls = [ToolCall(str(number), "now", {}) for number in range(BATCH)]

    def running(**settings: Any) -> Callable[[], Callable[[], object]]:
        registry = ToolRegistry([tool_named("now")], **settings)
        return lambda: lambda: loop.run_until_complete(registry.execute_parallel(calls))

    beside(
        benchmark,
        running(observers=[ledger]),
        {"no observer": running()},
        group=f"a call of a batch of {BATCH}, with a ledger",
        rounds=100,
        per_round=BATCH,
    )
    assert ledger.report().calls % BATCH == 0
    ledger.close()
    loop.close()


SECOND = 350
"""Calls of a second in the busiest hour of a day with a million turns."""


def test_writing(benchmark: Any, tmp_path: Path) -> None:
    """A second of calls of 20 tools, counted and written, beside a row in a transaction."""
    ledger = UsageLedger(tmp_path / "usage.sqlite3", flush_seconds=3_600)
    connection = sqlite3.connect(tmp_path / "bare.sqlite3", isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("CREATE TABLE calls (at)")

    def count_and_write() -> None:
        for number in range(SECOND):
            ledger.record(f"tool_{number % 20}", "clerk", "ok", duration_seconds=2.0, raw_chars=900)
        assert ledger.flush()

    beside(
        benchmark,
        lambda: count_and_write,
        {"a row in SQLite": lambda: lambda: connection.execute("INSERT INTO calls VALUES (1)")},
        group=f"{SECOND} calls counted and written",
        rounds=100,
        per_round=SECOND,
    )
    assert ledger.report().calls % SECOND == 0
    ledger.close()
    connection.close()


@pytest.fixture(scope="module")
def history(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A history that takes a minute to write; `ETHOS_REGISTRY_BENCH_CALLS` makes it shorter."""
    path = tmp_path_factory.mktemp("history") / "usage.sqlite3"
    make_history(path, int(os.environ.get("ETHOS_REGISTRY_BENCH_CALLS", CALLS)))
    yield path
    path.unlink()


@pytest.mark.parametrize(
    "options", [{}, {"agent": "agent_3"}, {"tool": "tool_7"}, {"days": 7}, {"days": 30}]
)
def test_report(benchmark: Any, history: Path, options: dict[str, Any]) -> None:
    """A report over the history; the baseline sums up its calls in one query."""
    report = read_usage(history, **options)
    assert report.calls > 0
    assert options or (len(report.tools), len(report.agents), len(report.by_day)) == (
        TOOLS,
        AGENTS,
        DAYS,
    )

    def scan() -> object:
        connection = sqlite3.connect(history)
        found = connection.execute("SELECT SUM(calls) FROM ethos_usage_cells").fetchone()
        connection.close()
        return found

    beside(
        benchmark,
        lambda: lambda: read_usage(history, **options),
        {"summing up all cells": lambda: scan},
        group="a report over 10 million calls",
        rounds=5,
        unit="report",
    )


@pytest.mark.parametrize("count", [100, 10_000], ids="of {} tools".format)
def test_view(benchmark: Any, count: int) -> None:
    """A new view of an agent with 20 tools, out of many tools of others."""

    class Owner:
        def __init__(self, agent_id: str, tools: list[Tool]) -> None:
            self.id = agent_id
            self.tools = tools

        def register_tools(self, catalog: AgentCatalog) -> None:
            for tool in self.tools:
                catalog.register(tool)

    tools = [tool_named(f"tool_{number}") for number in range(count)]
    own = tools[::5][:20]
    catalog = AgentCatalog([Owner("small", own), Owner("others", [])])
    for tool in tools:
        if tool not in own:
            catalog.register(tool, owner="others")
    catalog.start()
    assert len(catalog.view("small").definitions()) == 20

    def fresh() -> Callable[[], object]:
        catalog.grant("small", "agent:others")  # what was selected before is forgotten
        return lambda: catalog.view("small").definitions()

    def walking() -> object:
        owned = [found for found in registrations if found.owner == "small"]
        return [found.tool.definition for found in owned]

    registrations = catalog.registrations()
    beside(
        benchmark,
        fresh,
        {"walking all registrations": lambda: walking},
        group="a view of 20 tools",
        rounds=50,
        unit="view",
    )
