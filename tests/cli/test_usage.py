"""`ethos-registry usage`, as users run it."""

from __future__ import annotations

import contextlib
import csv
import http.client
import io
import re
import signal
import subprocess
import time

import pytest

from cli_program import assert_one_error_line, environment, program, run, run_json
from ethos_registry import Tool, ok
from ethos_registry.registry import Registration
from ethos_registry.usage import UsageLedger
from started import PATIENCE_SECONDS, started

DAY = 86_400.0


def made_tool(name, properties=0):
    schema = {
        "type": "object",
        "properties": {f"p{number}": {"type": "string"} for number in range(properties)},
    }
    return Tool(name, f"The tool {name}.", schema, lambda args, context: ok(""))


@pytest.fixture
def path(tmp_path):
    """A ledger in which everything is told apart: dead, new, hot, called by others."""
    path, now = tmp_path / "usage.sqlite3", time.time()
    with UsageLedger(path) as ledger:
        ledger.add_tools(
            [
                Registration(made_tool(name, 2), owner="hawken", registered_at_seconds=registered)
                for name, registered in (
                    ("busy", now - 60 * DAY),
                    ("calm", now - 60 * DAY),
                    ("dead", now - 60 * DAY),
                    ("refused", now - 60 * DAY),
                    ("new", now - 10 * DAY),
                )
            ]
        )
        for number in range(1_200):
            ledger.record("busy", "hawken", "ok", owner="hawken", duration_seconds=0.1,
                          started_at_seconds=now - number % 40 * DAY)  # fmt: skip
        for number in range(20):
            ledger.record(f"quiet_{number % 10}", "lagan", "ok", owner="lagan")
        ledger.record("calm", "lagan", "raised", owner="hawken", raw_chars=100, sent_chars=40)
        ledger.record("refused", "lagan", "denied", owner="hawken")
        ledger.record("=1+1", "\x1b[31mred", "unknown")
    return path


def test_the_table_shows_what_the_seed_asks_for(path, tmp_path):
    done = run("usage", path, cwd=tmp_path, COLUMNS="160")
    assert (done.returncode, done.stderr) == (0, "")
    lines = {line.split()[0]: line.split() for line in done.stdout.splitlines() if line.strip()}
    assert lines["busy"][1:3] == ["(hot)", "hawken"]
    assert lines["busy"][6:10] == ["2", "1,200", "0", "0"]
    assert lines["Calls:"][1:4] == ["1,223:", "1,221", "invocations"]
    assert lines["Dead:"][1:] == ["dead,", "refused", "(1", "refused)"]
    assert "`calm` of hawken was called by lagan (1)" in done.stdout
    assert "\x1b" not in done.stdout


def test_a_narrow_terminal_gets_lines(path, tmp_path):
    done = run("usage", path, cwd=tmp_path, COLUMNS="60")
    assert "  1,200 invocations, 0 refused, 0 failed" in done.stdout.splitlines()


def test_json_holds_the_whole_report(path, tmp_path):
    report = run_json("usage", path, "--json", cwd=tmp_path)
    tools = {tool["name"]: tool for tool in report["tools"]}
    assert report["totals"]["calls"] == 1_223
    assert report["dead_tools"] == ["dead", "refused"]
    assert report["hot_tools"] == ["busy"]
    assert tools["new"]["calls"] == 0
    assert tools["calm"]["called_by_others"] == {"lagan": 1}
    assert (tools["calm"]["failures"], tools["calm"]["saved_chars"]) == (1, 60)
    assert tools["refused"]["outcomes"] == {"denied": 1}
    assert tools["busy"]["median_seconds"] == pytest.approx(0.1, rel=0.07)


@pytest.mark.slow
def test_filters(path, tmp_path):
    days = run_json("usage", path, "--json", "--days", 10, cwd=tmp_path)
    assert len(days["by_day"]) == 10
    assert days["totals"]["calls"] == 300 + 23
    agent = run_json("usage", path, "--json", "--agent", "lagan", cwd=tmp_path)
    assert agent["totals"]["calls"] == 22
    assert {tool["name"] for tool in agent["tools"]} == {
        "calm", "refused", *(f"quiet_{number}" for number in range(10))
    }  # fmt: skip
    tool = run_json("usage", path, "--json", "--tool", "busy", cwd=tmp_path)
    assert [each["name"] for each in tool["tools"]] == ["busy"]
    late = run_json("usage", path, "--json", "--dead-after", 90, cwd=tmp_path)
    assert late["dead_tools"] == []
    early = run_json("usage", path, "--json", "--dead-after", 5, cwd=tmp_path)
    assert early["dead_tools"] == ["dead", "refused"]  # "new" saw fewer than 1,000 calls since


def test_csv_has_a_line_for_each_tool_and_no_formulas(path, tmp_path):
    done = run("usage", path, "--csv", cwd=tmp_path)
    rows = {row["name"]: row for row in csv.DictReader(io.StringIO(done.stdout))}
    assert rows["busy"]["invocations"] == "1200"
    assert rows["dead"]["is_dead"] == "yes"
    assert "'=1+1" in rows
    assert not [name for name in rows if name.startswith("=")]


def test_html_is_written_to_a_file(path, tmp_path):
    page = tmp_path / "usage.html"
    done = run("usage", path, "--html", page, cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    text = page.read_text(encoding="utf-8")
    assert text.startswith("<!doctype html>")
    assert not re.search(r"(?:src|href)=\"(?!data:)", text)


def test_the_default_is_the_ledger_that_the_environment_names(path, tmp_path):
    done = run("usage", "--json", cwd=tmp_path, ETHOS_REGISTRY_USAGE=str(path))
    assert '"calls": 1223' in done.stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nothing.sqlite3"], "there is no ledger at nothing.sqlite3"),
        (["no/usage.sqlite3"], "there is no ledger at no/usage.sqlite3"),
        (["."], "`place` is a folder: '.'; name a file in it"),
        (["mysql://usage"], "postgresql://"),
        (["--json", "--csv"], "choose one of"),
        (["--days", "0"], "0"),
        (["--dead-after", "soon"], "'soon' is not a number"),
        (["--serve", "--port", "70000"], "70000 is not a port"),
    ],
)
def test_bad_usage_is_one_line(tmp_path, arguments, words):
    assert_one_error_line(run("usage", *arguments, cwd=tmp_path), words)


def test_without_a_ledger_of_the_user_the_answer_is_that_nothing_was_recorded(tmp_path):
    done = run("usage", cwd=tmp_path, HOME=str(tmp_path), XDG_DATA_HOME=str(tmp_path / "data"))
    assert_one_error_line(done, "usage.sqlite3: nothing was recorded there")
    assert not (tmp_path / "data").exists()


def test_a_corrupt_ledger_is_one_line(tmp_path):
    (tmp_path / "usage.sqlite3").write_bytes(b"not a database" * 100)
    done = run("usage", "usage.sqlite3", cwd=tmp_path)
    assert_one_error_line(done, "not a database; the file is damaged")


def test_serve_tells_its_address_and_ends_on_an_interrupt(path, tmp_path):
    with started(
        program("usage", path, "--serve"),
        cwd=tmp_path,
        env=environment(),
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        line = process.stderr.readline()
        port = int(re.search(r"http://127\.0\.0\.1:(\d+)/", line)[1])
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE_SECONDS)
        with contextlib.closing(connection):
            connection.request("GET", "/")
            assert connection.getresponse().status == 200
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=PATIENCE_SECONDS) == 130
