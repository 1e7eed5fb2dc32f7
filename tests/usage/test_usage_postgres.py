"""The ledger in a real PostgreSQL server: the same counts, from several processes."""

from __future__ import annotations

import logging
import time

import pytest

from ethos_registry import ConfigError
from ethos_registry.types._usage_limits import LimitKey, UsageAmounts
from ethos_registry.usage import UsageLedger, UsageStoreError, read_usage
from ethos_registry.usage._record import SECONDS_PER_DAY
from execution.test_usage_limits import calls_that_ran
from usage.test_usage_ledger import RECORD, flushed_by_a_killed_writer, wait_until
from usage_tools import finish, postgres_server, start_python


@pytest.fixture(scope="module")
def server():
    with postgres_server() as running:
        yield running


@pytest.fixture
def url(server):
    """The server with an empty database."""
    import psycopg

    name = f"ledger_{time.monotonic_ns()}"
    with psycopg.connect(server.url, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    return server.url.replace("/postgres?", f"/{name}?")


def test_reading_makes_nothing(url):
    with pytest.raises(UsageStoreError, match="there is no ledger at postgresql://postgres@"):
        read_usage(url)


def test_a_server_reports_what_memory_reports(url):
    now = time.time()
    with UsageLedger(url) as stored, UsageLedger() as memory:
        for number in range(300):
            for ledger in (stored, memory):
                ledger.record(
                    f"tool_{number % 5}",
                    f"agent_{number % 3}",
                    ("ok", "failed", "denied")[number % 7 % 3],
                    owner="agent_0",
                    duration_seconds=number / 100,
                    raw_chars=number,
                    cost_usd=0.01,
                    started_at_seconds=now - number % 4 * SECONDS_PER_DAY,
                )
        for options in (
            {},
            {"days": 2},
            {"agent": "agent_1"},
            {"tool": "tool_2"},
            {"days": 3, "agent": "agent_2", "tool": "tool_4"},
            {"agent": "nobody"},
        ):
            reports = [ledger.report(**options).to_wire() for ledger in (stored, memory)]
            for report in reports:
                del report["place"], report["made_at"]
            assert reports[0] == reports[1]
            assert (reports[0]["totals"]["calls"] > 0) == (options.get("agent") != "nobody")
    read = read_usage(url).to_wire()
    assert read["totals"]["calls"] == 300


def test_eight_processes_on_one_server_sum_exactly(url):
    for process in [start_python(RECORD, url, number) for number in range(8)]:
        finish(process)
    report = read_usage(url)
    assert report.calls == 16_000
    assert sum(tool.raw_chars for tool in report.tools) == 8 * sum(range(2_000))
    assert {agent.agent: agent.calls for agent in report.agents} == {
        f"agent_{number}": 3_200 for number in range(5)
    }


def test_a_killed_writer_counts_nothing_twice(url, tmp_path):
    before = 0
    for _ in range(5):
        flushed = flushed_by_a_killed_writer(url, tmp_path, 0.02)
        report = read_usage(url)
        assert flushed <= report.calls - before <= flushed + 20
        assert sum(tool.raw_chars for tool in report.tools) == report.calls
        before = report.calls


def test_a_lost_server_is_one_warning_and_counts_are_written_when_it_is_back(server, url, caplog):
    with UsageLedger(url, flush_seconds=0.05) as ledger:
        ledger.record("search", "clerk", "ok")
        assert ledger.flush()
        server.stop()
        for _ in range(5):
            ledger.record("search", "clerk", "ok")
            time.sleep(0.05)
        wait_until(lambda: ledger.problem is not None)
        report = ledger.report()
        assert (report.calls, report.unsaved_calls) == (5, 5)
        assert report.problem.startswith("the ledger at postgresql://postgres@")
        warnings = [each for each in caplog.records if each.levelno >= logging.WARNING]
        assert len(warnings) == 1
        server.start()
        wait_until(lambda: ledger.unsaved_calls == 0)
        assert ledger.report().calls == 6
    assert read_usage(url).calls == 6


def test_passwords_are_shown_nowhere(caplog):
    pytest.importorskip("psycopg")
    url = "postgresql://me:secret@127.0.0.1:1/usage?sslmode=disable"
    ledger = UsageLedger(url, flush_seconds=600)
    assert ledger.place == "postgresql://me@127.0.0.1:1/usage"
    ledger.record("search", "clerk", "ok")
    assert not ledger.flush()
    shown = f"{ledger!r} {ledger.problem} {caplog.text} {ledger.report().to_wire()}"
    assert "secret" not in shown
    with pytest.raises(ConfigError) as caught:
        UsageLedger("postgresql://me:secret@[::bad/usage")
    assert "secret" not in str(caught.value)


def test_four_processes_share_one_limit_exactly(url):
    ran = calls_that_ran(url)
    assert sum(ran) == 100, ran


def test_a_day_and_a_tenant_are_counted_in_the_server(url):
    with UsageLedger(url) as ledger:
        keys = [LimitKey("day", "", 20_000), LimitKey("tenant", "acme", -1)]
        ledger.count_limits(keys, lambda used: UsageAmounts(3, 2_500_000_000, 2**40))
        seen = []
        ledger.count_limits(keys[1:], lambda used: seen.extend(used) or UsageAmounts(-1))
        ledger.count_limits(keys, lambda used: seen.extend(used) or UsageAmounts())
    assert [each.calls for each in seen] == [3, 3, 2]
    assert seen[0] == (3, 2_500_000_000, 2**40)
