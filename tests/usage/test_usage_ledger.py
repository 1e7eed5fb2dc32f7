"""The ledger: every attempt is counted, once, and stays counted."""

from __future__ import annotations

import contextlib
import json
import logging
import math
import os
import random
import sqlite3
import subprocess
import sys
import textwrap
import threading
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ethos_registry import ConfigError, Tool, ToolRegistry, ok
from ethos_registry._persistence import sqlite_file
from ethos_registry.usage import UsageLedger, UsageStoreError, read_usage
from ethos_registry.usage._record import OTHER_NAMES, SECONDS_PER_DAY, Counts, bucket_of, quantile
from session_tools import in_own_process
from started import ended_with_test, wait_until
from usage_tools import finish, start_python


def sums(report):
    return {
        tool.name: (tool.calls, tool.invocations, dict(tool.outcomes), dict(tool.callers))
        for tool in report.tools
    }


# What is counted


def test_outcomes_refusals_and_failures_are_counted_apart(tmp_path):
    with UsageLedger(tmp_path / "usage.sqlite3") as ledger:
        for outcome in ("ok", "ok", "failed", "raised", "timeout", "denied", "invalid_args"):
            ledger.record("search", "clerk", outcome)
        [tool] = ledger.report().tools
    assert (tool.calls, tool.invocations, tool.refusals, tool.failures) == (7, 5, 2, 3)
    assert tool.outcomes == {
        "denied": 1, "failed": 1, "invalid_args": 1, "ok": 2, "raised": 1, "timeout": 1,
    }  # fmt: skip


def test_characters_and_costs_add_up_exactly(tmp_path):
    with UsageLedger(tmp_path / "usage.sqlite3") as ledger:
        for _ in range(1_000):
            ledger.record(
                "a", "x", "ok", raw_chars=10, reduced_chars=7, sent_chars=5, cost_usd=0.001
            )
        [tool] = ledger.report().tools
    assert (tool.raw_chars, tool.reduced_chars, tool.sent_chars) == (10_000, 7_000, 5_000)
    assert (tool.saved_chars, tool.cost_usd) == (5_000, 1.0)


@given(st.lists(st.floats(2e-6, 1e6), min_size=1, max_size=50), st.sampled_from([0.5, 0.95]))
def test_percentiles_are_within_a_bucket_of_the_exact_ones(durations, fraction):
    exact = sorted(durations)[max(math.ceil(len(durations) * fraction), 1) - 1]
    estimate = quantile([(bucket_of(each), 1) for each in durations], fraction)
    assert exact / 1.07 <= estimate <= exact * 1.07


@given(st.floats(allow_nan=True), st.floats(allow_nan=True))
def test_every_float_has_a_bucket_and_longer_ones_no_smaller_bucket(left, right):
    buckets = [bucket_of(left), bucket_of(right)]
    assert all(0 <= bucket <= 255 for bucket in buckets)
    if left <= right:
        assert buckets[0] <= buckets[1]


CALLS = st.lists(
    st.tuples(
        st.sampled_from(["read", "write", "drop"]),
        st.sampled_from(["clerk", "boss", ""]),
        st.sampled_from(["ok", "failed", "denied", "timeout"]),
        st.integers(0, 3),
        st.floats(0, 100),
        st.integers(0, 1000),
    ),
    max_size=60,
)


@given(
    CALLS,
    st.none() | st.integers(1, 4),
    st.none() | st.sampled_from(["clerk", "boss", "nobody"]),
    st.none() | st.sampled_from(["read", "drop", "nothing"]),
)
def test_a_file_and_memory_report_the_same_under_every_filter(
    tmp_path_factory, calls, days, agent, tool
):
    path = tmp_path_factory.mktemp("ledger") / "usage.sqlite3"
    now = time.time()
    with UsageLedger(path) as stored, UsageLedger() as memory:
        for name, caller, outcome, age, duration, chars in calls:
            for ledger in (stored, memory):
                ledger.record(
                    name,
                    caller,
                    outcome,
                    owner="boss",
                    duration_seconds=duration,
                    raw_chars=chars,
                    started_at_seconds=now - age * SECONDS_PER_DAY,
                )
        reports = [
            ledger.report(days=days, agent=agent, tool=tool).to_wire()
            for ledger in (stored, memory)
        ]
    for report in reports:
        del report["place"], report["made_at"]
    assert reports[0] == reports[1]
    expected = [
        call
        for call in calls
        if (days is None or call[3] < days) and agent in (None, call[1]) and tool in (None, call[0])
    ]
    assert reports[0]["totals"]["calls"] == len(expected)
    assert sum(day["calls"] for day in reports[0]["by_day"]) == len(expected)
    assert sum(each["calls"] for each in reports[0]["agents"]) == len(expected)


def test_names_that_no_database_takes_are_stored_mended(tmp_path):
    with UsageLedger(tmp_path / "usage.sqlite3") as ledger:
        ledger.record("a\0b\ud800", "\ud800agent", "unknown")
        ledger.record("x" * 100_000, "agent", "unknown")
        assert ledger.flush()
        names = [tool.name for tool in ledger.report().tools]
    assert names[0] == "a\ufffdb\ufffd"
    assert len(names[1]) == 203


def test_names_that_models_make_up_do_not_grow_without_end():
    ledger = UsageLedger()
    ledger._writer.counts = Counts(max_unknown_names=10)
    for number in range(50):
        ledger.record(f"made_up_{number}", "agent", "unknown")
    tools = {tool.name: tool.calls for tool in ledger.report().tools}
    assert len(tools) == 11
    assert tools[OTHER_NAMES] == 40


@pytest.mark.parametrize("cost", [1e300, -1e300, 1e-30, 2**70])
@pytest.mark.parametrize("seconds", [1e300, 0.0])
def test_absurd_figures_do_not_break_the_sums(tmp_path, cost, seconds):
    with UsageLedger(tmp_path / "usage.sqlite3") as ledger:
        ledger.record("a", "x", "ok", cost_usd=cost, duration_seconds=seconds)
        ledger.record("a", "x", "ok")
        assert ledger.flush()
        assert ledger.report().calls == 2


@pytest.mark.parametrize("days", [None, 90])
@pytest.mark.parametrize(
    ("seconds", "date"),
    [(1.7e12, "9999-12-31"), (1e300, "9999-12-31"), (-1e12, "0001-01-01"), (0.0, "1970-01-01")],
)
def test_a_wrong_clock_does_not_break_reports(tmp_path, seconds, date, days):
    with UsageLedger(tmp_path / "usage.sqlite3") as ledger:
        ledger.record("a", "x", "ok", started_at_seconds=seconds)
        ledger.record("a", "x", "ok")
        assert ledger.flush()
        dates = [day.date for day in ledger.report().by_day]
        assert date in dates
        assert len(dates) == 2
        report = ledger.report(days=days)
        assert json.loads(json.dumps(report.to_wire()))["totals"]["calls"] == report.calls
        assert report.to_html()


# Where it is kept


def test_counts_are_there_after_a_restart_and_add_up(tmp_path):
    path = tmp_path / "usage.sqlite3"
    for session in range(3):
        with UsageLedger(path) as ledger:
            ledger.record("search", "clerk", "ok")
        assert read_usage(path).calls == session + 1


def test_the_writer_writes_after_so_many_records_without_being_asked(tmp_path):
    path = tmp_path / "usage.sqlite3"
    with UsageLedger(path, flush_records=100, flush_seconds=600) as ledger:
        for _ in range(100):
            ledger.record("search", "clerk", "ok")
        wait_until(lambda: ledger.unsaved_calls == 0)
        wait_until(lambda: path.exists() and read_usage(path).calls == 100)


def test_the_writer_writes_after_some_time_without_being_asked(tmp_path):
    path = tmp_path / "usage.sqlite3"
    with UsageLedger(path, flush_seconds=0.05) as ledger:
        ledger.record("search", "clerk", "ok")
        wait_until(lambda: path.exists() and ledger.unsaved_calls == 0)
        ledger.record("search", "clerk", "ok")
        wait_until(lambda: ledger.unsaved_calls == 0)
        wait_until(lambda: read_usage(path).calls == 2)


def test_no_thread_runs_before_the_first_record_and_none_after_close(tmp_path):
    before = set(threading.enumerate())  # with those of earlier tests, which may end

    def writers():
        now = set(threading.enumerate()) - before
        return [thread for thread in now if thread.name.endswith("-usage")]

    ledger = UsageLedger(tmp_path / "usage.sqlite3")
    assert writers() == []
    ledger.record("search", "clerk", "ok")
    assert len(writers()) == 1
    ledger.close()
    ledger.close()
    assert writers() == []
    ledger.record("search", "clerk", "ok")  # late, and not lost
    assert writers() == []
    assert ledger.report().calls == 2


def test_a_ledger_that_nobody_closes_is_written_at_the_normal_end(tmp_path):
    path = tmp_path / "usage.sqlite3"
    in_own_process(f"""
        from ethos_registry.usage import UsageLedger
        ledger = UsageLedger({str(path)!r}, flush_seconds=600)
        for _ in range(10):
            ledger.record("search", "clerk", "ok")
    """)
    assert read_usage(path).calls == 10


def test_a_ledger_that_is_forgotten_is_written_and_ends_its_thread(tmp_path):
    path = tmp_path / "usage.sqlite3"
    ledger = UsageLedger(path, flush_seconds=600)
    ledger.record("search", "clerk", "ok")
    del ledger
    assert read_usage(path).calls == 1


def test_the_default_ledger_is_one_object_at_the_place_that_is_named(tmp_path):
    path = tmp_path / "new" / "usage.sqlite3"
    done = in_own_process(f"""
        import os
        os.environ["ETHOS_REGISTRY_USAGE"] = {str(path)!r}
        from ethos_registry.usage import UsageLedger
        assert UsageLedger.default() is UsageLedger.default()
        UsageLedger.default().record("search", "clerk", "ok")
        print(UsageLedger.default().place)
    """)
    assert done.stdout.strip() == str(path)
    assert read_usage(path).calls == 1


def test_no_file_is_made_unless_somebody_asks_for_it(tmp_path):
    in_own_process(f"""
        import os
        os.environ["HOME"] = os.environ["XDG_DATA_HOME"] = {str(tmp_path)!r}
        from ethos_registry.usage import UsageLedger
        UsageLedger().record("search", "clerk", "ok")
    """)
    assert list(tmp_path.iterdir()) == []


def test_importing_the_package_does_not_load_the_databases():
    in_own_process("""
        import sys
        import ethos_registry
        assert not {"psycopg", "http.server", "platformdirs"} & sys.modules.keys()
    """)


def test_a_place_that_cannot_be_is_refused_at_once(tmp_path):
    for place in ("mysql://somewhere/usage", tmp_path / "no" / "usage.sqlite3", "", "a\0b", 5):
        with pytest.raises(ConfigError, match="place"):
            UsageLedger(place)
    for options in ({"flush_records": 0}, {"flush_seconds": -1}, {"flush_records": True}):
        with pytest.raises(ConfigError, match="flush_"):
            UsageLedger(**options)


def test_reading_makes_nothing(tmp_path):
    with pytest.raises(UsageStoreError, match="there is no ledger at"):
        read_usage(tmp_path / "usage.sqlite3")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_without_write_permission_can_be_read(tmp_path):
    folder = tmp_path / "shared"
    folder.mkdir()
    path = folder / "usage.sqlite3"
    with UsageLedger(path) as ledger:
        ledger.record("search", "clerk", "ok")
    path.chmod(0o444)
    folder.chmod(0o555)
    try:
        assert read_usage(path).calls == 1
    finally:
        folder.chmod(0o755)


# Threads and processes


def test_threads_count_exactly(tmp_path):
    with UsageLedger(tmp_path / "usage.sqlite3", flush_records=100) as ledger:

        def work(number):
            for _ in range(2_000):
                ledger.record(f"tool_{number % 3}", f"agent_{number}", "ok")

        threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert ledger.report().calls == 16_000


RECORD = """
    import sys
    from ethos_registry.usage import UsageLedger
    place, number = sys.argv[1], int(sys.argv[2])
    ledger = UsageLedger(place, flush_records=50, flush_seconds=0.01)
    for call in range(2_000):
        ledger.record(f"tool_{call % 7}", f"agent_{(call + number) % 5}", "ok",
                      owner="agent_0", raw_chars=call, sent_chars=1, cost_usd=0.001)
"""


def test_eight_processes_on_one_file_sum_exactly(tmp_path):
    path = tmp_path / "usage.sqlite3"
    processes = [start_python(RECORD, path, number) for number in range(8)]
    with ended_with_test(*processes):
        for process in processes:
            finish(process)
    report = read_usage(path)
    assert report.calls == 16_000
    assert sum(tool.raw_chars for tool in report.tools) == 8 * sum(range(2_000))
    assert sum(tool.cost_usd for tool in report.tools) == pytest.approx(16.0, abs=1e-9)
    assert {agent.agent: agent.calls for agent in report.agents} == {
        f"agent_{number}": 3_200 for number in range(5)
    }


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_child_counts_from_zero_and_leaves_the_parents_counts_alone(tmp_path):
    path = tmp_path / "usage.sqlite3"
    done = in_own_process(f"""
        import os, sys, warnings
        warnings.simplefilter("ignore", DeprecationWarning)
        from ethos_registry.usage import UsageLedger
        ledger = UsageLedger({str(path)!r}, flush_seconds=600)
        for _ in range(5):
            ledger.record("search", "parent", "ok")
        ledger.flush()
        for _ in range(5):
            ledger.record("search", "parent", "ok")
        child = os.fork()
        if child == 0:
            assert ledger.unsaved_calls == 0
            ledger.record("search", "child", "ok")
            sys.exit(0)
        assert os.waitpid(child, 0)[1] == 0
        ledger.record("search", "parent", "ok")
        ledger.close()
        print(ledger.report().calls)
    """)
    assert done.stdout.strip() == "12"
    assert sums(read_usage(path))["search"][3] == {"parent": 11, "child": 1}


def test_calls_after_close_are_written_by_the_next_close_in_this_process_and_in_a_child(tmp_path):
    path = tmp_path / "usage.sqlite3"
    in_own_process(
        f"""
        import os
        from ethos_registry.usage import UsageLedger
        ledger = UsageLedger({str(path)!r})
        for _ in range(2):
            ledger.record("a", "x", "ok")
            ledger.close()
        ledger.close()
        child = os.fork()
        if child == 0:
            ledger.record("a", "child", "ok")
            ledger.close()
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
        """
    )
    assert read_usage(path).calls == 3


def test_the_first_write_waits_for_a_process_that_holds_the_new_file(tmp_path):
    path = tmp_path / "usage.sqlite3"
    with contextlib.closing(sqlite3.connect(path, check_same_thread=False)) as other:
        other.execute("BEGIN IMMEDIATE")
        other.execute("CREATE TABLE held (number)")
        release = threading.Timer(0.3, other.rollback)
        release.start()
        with UsageLedger(path, flush_seconds=600) as ledger:
            ledger.record("search", "main", "ok")
            assert ledger.flush(), ledger.problem
        release.join()
    assert sums(read_usage(path))["search"][3] == {"main": 1}


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_workers_of_multiprocessing_write_at_their_end(tmp_path, method):
    path = tmp_path / "usage.sqlite3"
    script = tmp_path / "program.py"
    script.write_text(
        textwrap.dedent(f"""
        import multiprocessing, warnings
        warnings.simplefilter("ignore", DeprecationWarning)
        from ethos_registry.usage import UsageLedger
        ledger = UsageLedger({str(path)!r}, flush_seconds=600)
        def work(number):
            ledger.record("search", f"worker_{{number}}", "ok")
        if __name__ == "__main__":
            ledger.record("search", "parent", "ok")
            context = multiprocessing.get_context({method!r})
            workers = [context.Process(target=work, args=(number,)) for number in range(3)]
            for worker in workers:
                worker.start()
            for worker in workers:
                worker.join()
        """)
    )
    subprocess.run([sys.executable, str(script)], check=True, timeout=300)
    callers = sums(read_usage(path))["search"][3]
    assert callers == {"parent": 1, "worker_0": 1, "worker_1": 1, "worker_2": 1}


COUNTED_AND_SAID = """
    import sys
    from ethos_registry.usage import UsageLedger
    ledger = UsageLedger(sys.argv[1], flush_records=20, flush_seconds=0.02)
    number = 0
    while True:
        ledger.record("search", "agent", "ok", raw_chars=1)
        number += 1
        if number % 10 == 0:
            ledger.flush()
            with open(sys.argv[2], "a") as file:
                file.write(f"{number}\\n")
"""


def flushed_by_a_killed_writer(place, folder, seconds):
    """How many calls a writer surely flushed before it was killed."""
    said = folder / "said"
    said.unlink(missing_ok=True)
    process = start_python(COUNTED_AND_SAID, place, said)
    with ended_with_test(process):
        wait_until(lambda: said.exists() and said.read_text().endswith("\n"))
        time.sleep(seconds)
        process.kill()
        process.communicate(timeout=300)
    return int(said.read_text().split("\n")[-2])


def test_a_writer_killed_at_any_moment_loses_one_interval_and_counts_nothing_twice(tmp_path):
    path = tmp_path / "usage.sqlite3"
    moments = random.Random(23)
    stored_before = 0
    for _ in range(20):
        flushed = flushed_by_a_killed_writer(path, tmp_path, moments.uniform(0.0, 0.05))
        report = read_usage(path)
        stored = report.calls - stored_before
        # What was flushed is there; beyond it at most the records of the next two flushes.
        assert flushed <= stored <= flushed + 20
        assert sum(tool.raw_chars for tool in report.tools) == report.calls
        assert sum(day.calls for day in report.by_day) == report.calls
        stored_before = report.calls


def test_a_batch_whose_commit_was_not_confirmed_counts_once(tmp_path):
    """The connection breaks after the commit and before its answer."""
    ledger = UsageLedger(tmp_path / "usage.sqlite3", flush_seconds=600)
    store = ledger._writer._store
    write = store.write
    lost = []

    def write_and_lose_the_answer(batch):
        write(batch)
        if len(lost) < 3:
            lost.append(batch.uuid)
            raise UsageStoreError("the answer was lost")

    store.write = write_and_lose_the_answer
    for _ in range(7):
        ledger.record("search", "clerk", "ok")
    for _ in range(3):
        assert not ledger.flush()
        ledger.record("search", "clerk", "ok")
    assert len(set(lost)) == 1
    assert ledger.report().calls == 10
    ledger.close()


# Stores that cannot be written


def warnings_of(caplog):
    return [record for record in caplog.records if record.levelno >= logging.WARNING]


def test_a_locked_file_delays_counts_and_loses_none(tmp_path, caplog, monkeypatch):
    monkeypatch.setattr("ethos_registry.usage._databases.BUSY_SECONDS", 0.05)
    path = tmp_path / "usage.sqlite3"
    with UsageLedger(path) as ledger:
        ledger.record("search", "clerk", "ok")
        ledger.flush()
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with UsageLedger(path, flush_seconds=0.02) as ledger:
        for _ in range(5):
            ledger.record("search", "clerk", "ok")
            time.sleep(0.05)
        wait_until(lambda: ledger.problem is not None)
        report = ledger.report()
        assert (report.calls, report.unsaved_calls) == (6, 5)
        assert "locked" in report.problem
        assert len(warnings_of(caplog)) == 1
        other.execute("ROLLBACK")
        wait_until(lambda: ledger.unsaved_calls == 0)
        assert ledger.report().problem is None
    other.close()
    assert read_usage(path).calls == 6


@pytest.mark.parametrize(
    "content", [b"no database at all" * 100, b"SQLite format 3\0" + b"x" * 4096]
)
def test_a_corrupt_file_is_one_warning_and_calls_go_on(tmp_path, caplog, content):
    path = tmp_path / "usage.sqlite3"
    path.write_bytes(content)
    with UsageLedger(path, flush_seconds=0.02) as ledger:
        for _ in range(3):
            ledger.record("search", "clerk", "ok")
            assert not ledger.flush()
        assert len(warnings_of(caplog)) == 1
        assert str(path) in caplog.text
        report = ledger.report()
        assert (report.calls, report.unsaved_calls) == (3, 3)
        assert report.problem is not None
        assert path.read_bytes() == content
        path.unlink()
        assert ledger.flush()
    assert read_usage(path).calls == 3


def test_a_file_that_is_removed_while_it_is_open_is_made_anew(tmp_path):
    path = tmp_path / "usage.sqlite3"
    with UsageLedger(path) as ledger:
        ledger.record("search", "clerk", "ok")
        ledger.flush()
        for each in tmp_path.iterdir():
            each.unlink()
        ledger.record("search", "clerk", "ok")
        ledger.flush()
        assert read_usage(path).calls == 1


def test_a_database_of_something_else_is_left_as_it_was(tmp_path):
    path = tmp_path / "usage.sqlite3"
    other = sqlite3.connect(path)
    other.execute("CREATE TABLE mine (x)")
    other.close()
    with pytest.raises(UsageStoreError, match="another program"):
        read_usage(path)


@pytest.mark.parametrize(
    ("version", "message"), [(99, "a newer version"), (2, "an unreleased version")]
)
def test_a_ledger_of_another_version_is_not_touched(tmp_path, version, message):
    path = tmp_path / "usage.sqlite3"
    with UsageLedger(path) as ledger:
        ledger.record("search", "clerk", "ok")
    other = sqlite3.connect(path)
    other.execute("UPDATE ethos_usage_version SET version = ?", (version,))
    other.commit()
    other.close()
    with pytest.raises(UsageStoreError, match=message):
        read_usage(path)
    with UsageLedger(path) as ledger:
        ledger.record("search", "clerk", "ok")
        assert not ledger.flush()


def test_a_full_disk_is_one_warning_and_calls_go_on(tmp_path):
    """The file may not grow, as on a full disk; then there is room again."""
    path = tmp_path / "usage.sqlite3"
    done = in_own_process(f"""
        import json, logging, resource, signal
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        from ethos_registry.usage import UsageLedger
        records = []
        class Keep(logging.Handler):
            def emit(self, record):
                records.append(record.levelname)
        logging.getLogger("ethos_registry").addHandler(Keep())
        ledger = UsageLedger({str(path)!r}, flush_seconds=600)
        ledger.record("first", "clerk", "ok")
        assert ledger.flush()
        before = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, before[1]))
        for number in range(2_000):
            ledger.record(f"tool_{{number}}", "clerk", "ok")
        saved = [ledger.flush(), ledger.flush()]
        full = ledger.report()
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        saved.append(ledger.flush())
        print(json.dumps([saved, full.calls, full.unsaved_calls, bool(full.problem), records]))
    """)
    saved, calls, unsaved, has_problem, records = json.loads(done.stdout)
    assert saved == [False, False, True]
    assert (calls, unsaved, has_problem) == (2_001, 2_000, True)
    assert records.count("WARNING") == 1
    assert read_usage(path).calls == 2_001


def test_memory_is_bounded_while_nothing_can_be_written_and_what_is_lost_is_said(tmp_path):
    path = tmp_path / "usage.sqlite3"
    path.write_bytes(b"no database at all" * 100)
    ledger = UsageLedger(path, flush_seconds=600)
    ledger._writer.counts = Counts(max_cells=50)
    for number in range(80):
        ledger.record(f"tool_{number}", "clerk", "ok")
    for _ in range(10):
        ledger.record("tool_0", "clerk", "ok")
    report = ledger.report()
    assert (report.calls, report.lost_calls) == (60, 30)
    path.unlink()
    ledger.close()


def test_a_failing_ledger_never_disturbs_a_batch(tmp_path, caplog):
    path = tmp_path / "usage.sqlite3"
    path.write_bytes(b"no database at all" * 100)
    with UsageLedger(path, flush_records=1, flush_seconds=0) as ledger:
        tool = Tool("now", "The time.", {"type": "object"}, lambda args, context: ok("12:00"))
        registry = ToolRegistry([tool])
        for _ in range(20):
            [result] = registry.execute_parallel_sync([{"id": "1", "name": "now"}])
            ledger.record("now", "clerk", "ok")
            assert result.ok
        wait_until(lambda: ledger.problem is not None)
        path.unlink()
    assert read_usage(path).calls == 20


# Names as the ledger stores them


@pytest.mark.parametrize("name", ["x" * 300, "a\0b", "lone \ud800", "short"])
def test_a_report_of_a_tool_or_agent_finds_it_under_the_name_that_was_called(tmp_path, name):
    for place in (":memory:", tmp_path / "usage.sqlite3"):
        with UsageLedger(place) as ledger:
            registry = ToolRegistry(observers=[ledger])
            registry.execute_parallel_sync([{"id": "1", "name": name, "args": {}}])
            ledger.record("search", name, "ok")
            ledger.record(name, name, "ok")
            assert ledger.report(tool=name).calls == 2
            assert ledger.report(agent=name).calls == 2
            assert ledger.report(tool="other").calls == 0


def test_parameters_are_unknown_for_a_name_that_was_never_registered():
    registry = ToolRegistry([])

    @registry.tool
    def search(query: str) -> str:
        """Search."""
        return query

    ledger = UsageLedger()
    ledger.record("search", "clerk", "ok")
    assert ledger.report().tools[0].parameter_count is None
    assert "null" in json.dumps(ledger.report().to_wire()["tools"][0]["parameter_count"])
    ledger.add_tools([registry.registration("search")])
    assert ledger.report().tools[0].parameter_count == 1


# One wait for a locked file


@pytest.mark.parametrize("lock", ["BEGIN IMMEDIATE", "BEGIN EXCLUSIVE"])
@pytest.mark.parametrize("exists", [False, True])
def test_a_locked_file_is_waited_for_once(tmp_path, monkeypatch, lock, exists):
    """In waits, not in seconds: a busy machine takes longer for the same wait."""
    busy_seconds = 0.2
    monkeypatch.setattr("ethos_registry.usage._databases.BUSY_SECONDS", busy_seconds)
    waits = []
    too_long, connected = sqlite_file._Wait.too_long, sqlite_file._connected

    def counted_end(wait):
        waits.append(wait)
        return too_long(wait)

    def counted_connection(place, wait_seconds):
        if wait_seconds >= busy_seconds:  # SQLite itself waits
            waits.append(place)
        return connected(place, wait_seconds)

    monkeypatch.setattr(sqlite_file._Wait, "too_long", counted_end)
    monkeypatch.setattr(sqlite_file, "_connected", counted_connection)
    path = tmp_path / "usage.sqlite3"
    if exists:
        with UsageLedger(path) as ledger:
            ledger.record("search", "clerk", "ok")
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("PRAGMA locking_mode = EXCLUSIVE")
    other.execute(lock)
    other.execute("CREATE TABLE other (id)")
    ledgers = []  # one that is collected is closed, and waits too
    for act in (UsageLedger.flush, UsageLedger.report, UsageLedger.close):
        ledger = UsageLedger(path, flush_seconds=60)
        ledgers.append(ledger)
        ledger.record("search", "clerk", "ok")
        waits.clear()
        act(ledger)
        assert len(waits) == 1, act
        assert ledger.problem is not None
    other.close()
    for ledger in ledgers:
        ledger.close()
