"""Recordings: every call with its arguments and output, never with a credential."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
import logging
import os
import random
import signal
import sqlite3
import stat
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ethos_registry import (
    ConfigError,
    FrozenToolRegistry,
    Personality,
    Tool,
    ToolContext,
    ToolRegistry,
    default_reducers,
    err,
    ok,
)
from ethos_registry.capabilities import EnvironmentSecrets, standard_backends
from ethos_registry.recording import (
    RecordingError,
    SqliteRecording,
    TurnRecorder,
    read_recording,
    recorded_turns,
)
from ethos_registry.recording._rows import COLUMNS
from started import PATIENCE_SECONDS, ended_with_test, started, wait_until

pyarrow = pytest.importorskip("pyarrow")
from pyarrow import parquet  # noqa: E402

GITHUB = "ghp_0123456789abcdefghijABCDEFGHIJ012345"
ISSUED = "correct-horse-battery"
PLACES = ("turns.sqlite3", "turns.parquet", "folder/")


def echo(args: Any, context: Any) -> Any:
    return ok(str(args.get("text", "")), cost_usd=args.get("cost"))


def failing(args: Any, context: Any) -> Any:
    return err("exit 3", exit_code=3)


def raising(args: Any, context: Any) -> Any:
    raise ValueError(f"cannot use {args.get('text')}")


def tool(execute: Any, **settings: Any) -> Tool:
    return Tool(execute.__name__, "A tool.", {"type": "object"}, execute, **settings)


def call(name: str, number: int = 1, **args: Any) -> dict[str, Any]:
    return {"id": f"c{number}", "name": name, "args": args}


def recorded(tmp_path: Path, calls: list[Any], *tools: Tool, place: str = PLACES[0], **more: Any):
    context = more.pop("context", ToolContext(session_id="s1", agent_id="clerk", current_turn=3))
    options = more.pop("options", {})
    with TurnRecorder(os.path.join(tmp_path, place)) as recorder:
        registry = ToolRegistry(tools, observers=[recorder], **more)
        results = registry.execute_parallel_sync(calls, context, **options)
    return results, list(read_recording(tmp_path / place).calls())


def content_of(folder: Path) -> bytes:
    """All bytes of all files, and of the columns of Parquet files, which are compressed."""
    found = [path.read_bytes() for path in folder.rglob("*") if path.is_file()]
    tables = [parquet.read_table(path) for path in folder.rglob("*.parquet")]
    found += [repr(table.to_pylist()).encode() for table in tables]
    return b"\n".join(found)


# What is recorded


@pytest.mark.parametrize("place", PLACES)
def test_a_call_is_recorded_with_all_its_facts(tmp_path, place):
    before = time.time()
    results, calls = recorded(
        tmp_path,
        [call("echo", 1, text="hello", cost=0.25), call("failing", 2), call("ghost", 3, a=[1])],
        tool(echo),
        tool(failing),
        place=place,
    )
    first, second, third = calls
    assert [each.number for each in calls] == [1, 2, 3]
    assert {each.session_id for each in calls} == {"s1"}
    assert {each.caller_id for each in calls} == {"clerk"}
    assert {each.turn for each in calls} == {3}
    assert len({each.batch_id for each in calls}) == 1
    assert (first.tool_call_id, first.tool_name, first.ok) == ("c1", "echo", True)
    assert (first.raw, first.value, first.cost_usd) == ("hello", "hello", 0.25)
    assert json.loads(first.args) == {"text": "hello", "cost": 0.25}
    assert (first.raw_chars, first.reduced_chars, first.sent_chars) == (5, 5, 5)
    assert first.duration_seconds == pytest.approx(results[0].duration_seconds)
    assert before - 0.001 <= first.started_at_seconds <= time.time()
    assert (second.ok, second.code, second.reason) == (False, "execution_failed", None)
    assert (second.exit_code, second.raw) == (3, "exit 3")
    assert (third.code, third.reason) == ("not_available", "unknown")
    assert (third.raw, third.value, third.args) == (None, "Unknown tool: ghost", '{"a":[1]}')


def test_raw_is_the_output_before_and_value_after_reduction(tmp_path):
    output = "\n".join(f"line {number}" for number in range(5_000))

    async def terminal(args: Any, context: Any) -> Any:
        return ok(output, structured={"exit_code": 0})

    for number, options in enumerate(({}, {"budget_policy": "fill"}, {"untrusted": "wrap"})):
        folder = tmp_path / str(number)
        folder.mkdir()
        [result], [one] = recorded(
            folder,
            [call("terminal", command="seq 5000")],
            tool(terminal, output_is_untrusted=True),
            reducer_registry=default_reducers(),
            options=options,
        )
        assert one.raw == output
        assert one.value == result.text != output
        assert (one.raw_chars, one.sent_chars) == (len(output), result.sent_chars)
        assert one.exit_code == 0


def test_a_stream_and_a_frozen_registry_and_a_view_are_recorded(tmp_path):
    with TurnRecorder(tmp_path / "turns") as recorder:
        frozen = FrozenToolRegistry([tool(echo)], observers=[recorder])
        frozen.execute_parallel_sync([call("echo", text="frozen")])
        registry = ToolRegistry([tool(echo)], observers=[recorder])
        view = registry.view(Personality("reader", toolset=["echo"]))
        asyncio.run(view.execute([call("echo", text="view")]))
    found = list(read_recording(tmp_path / "turns").calls())
    assert [(each.value, each.caller_id) for each in found] == [("frozen", ""), ("view", "reader")]


def test_what_the_caller_and_the_tool_receive_is_not_changed_by_recording(tmp_path):
    seen = []

    def login(args: Any, context: Any) -> Any:
        seen.append(dict(args))
        return ok(f"as {args['password']}")

    sent = call("login", password="hunter2-and-more")
    [result], [one] = recorded(tmp_path, [sent], tool(login))
    assert seen == [{"password": "hunter2-and-more"}]
    assert sent["args"] == {"password": "hunter2-and-more"}
    assert result.text == "as hunter2-and-more"
    assert one.value == "as [redacted: secret]"


def test_arguments_are_those_that_were_sent_whatever_happens_to_them_later(tmp_path):
    def eats(args: Any, context: Any) -> Any:
        args["paths"].clear()
        return ok("")

    args = {"paths": ["a"]}
    with TurnRecorder(tmp_path / "turns", flush_seconds=60) as recorder:
        registry = ToolRegistry([tool(eats)], observers=[recorder])
        registry.execute_parallel_sync([{"id": "1", "name": "eats", "args": args}])
        args["paths"].append("later")
    [one] = read_recording(tmp_path / "turns").calls()
    assert one.args == '{"paths":["a"]}'


@given(output=st.text(), args=st.dictionaries(st.sampled_from("abc"), st.text()))
@settings(max_examples=max(settings().max_examples // 4, 20), deadline=None)
def test_any_output_and_arguments_come_back(tmp_path_factory, output, args):
    def say(given: Any, context: Any) -> Any:
        return ok(output)

    folder = tmp_path_factory.mktemp("any")
    for place in PLACES[:2]:
        [result], [one] = recorded(folder, [call("say", **args)], tool(say), place=place)
        assert one.raw == "".join("\ufffd" if "\ud800" <= c <= "\udfff" else c for c in output)
        assert one.value == result.text
        assert set(json.loads(one.args)) == set(args)


# Redaction


SECRETS_IN_ARGS = [
    {"password": "hunter2"},
    {"nested": [{"api_key": "zq81-kk20-pp"}]},
    {"credentials": {"user": "ada", "value": "open-sesame-1"}},
    {"pin": 483920},
    {"text": f"use {GITHUB}"},
    {GITHUB: 1},
]


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("redact", [True, False])
def test_no_secret_of_the_arguments_reaches_a_file(tmp_path, place, redact):
    def leaking(args: Any, context: Any) -> Any:
        return ok(f"got {json.dumps(args)} and {args}")

    def refusing(args: Any, context: Any) -> Any:
        raise ValueError(str(args))

    calls = [
        {"id": str(number), "name": name, "args": args}
        for name in ("leaking", "refusing", "ghost")
        for number, args in enumerate(
            [*SECRETS_IN_ARGS, *(json.dumps(args) for args in SECRETS_IN_ARGS)]
        )
    ]
    calls.append({"id": "x", "name": "leaking", "args": '{"password": "hunter2", '})
    _, found = recorded(tmp_path, calls, tool(leaking), tool(refusing), place=place, redact=redact)
    assert len(found) == len(calls)
    content = content_of(tmp_path)
    assert b"got {" in content
    for secret in ("hunter2", "zq81-kk20-pp", "open-sesame-1", "483920", GITHUB):
        assert secret.encode() not in content


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("settings", [{}, {"redact": False}, {"unredacted_tools": ["spread"]}])
def test_no_secret_that_was_issued_reaches_a_file_in_any_form(tmp_path, place, settings):
    async def spread(args: Any, context: Any) -> Any:
        secret = await context.secrets_resolver.get("exa/key")
        forms = [secret, base64.b64encode(secret.encode()).decode(), secret.encode().hex()]
        return ok(" ".join(forms), structured={"key": secret})

    backends = standard_backends(secrets=EnvironmentSecrets(environ={"EXA_KEY": ISSUED}))
    # `echo` repeats it before the tool that is given it has run.
    calls = [call("echo", 1, text=ISSUED), call("spread", 2), call("ghost", 3, x=ISSUED)]
    _, found = recorded(
        tmp_path,
        calls,
        tool(echo),
        tool(spread, capabilities={"secrets": ["exa/key"]}),
        place=place,
        capability_backends=backends,
        **settings,
    )
    assert len(found) == 3
    content = content_of(tmp_path)
    assert b"[redacted: secret]" in content
    encoded = ISSUED.encode()
    for form in (encoded, base64.b64encode(encoded), encoded.hex().encode()):
        assert form not in content


def test_a_secret_that_is_part_of_a_credential_does_not_hide_its_shape(tmp_path):
    _, [one] = recorded(tmp_path, [call("echo", text=f"a {GITHUB}", token="abcdefgh")], tool(echo))
    assert one.raw == "a [redacted: github token]"


def test_a_recorder_of_ones_own_receives_redacted_values_too():
    received = []

    class Own:
        def batch_recorded(self, calls: Any) -> None:
            received.extend(calls.calls())

    registry = ToolRegistry([tool(echo)], observers=[Own()], redact=False)
    registry.execute_parallel_sync([call("echo", text=GITHUB, secret="abracadabra")])
    assert GITHUB not in repr(received)
    assert "abracadabra" not in repr(received)


def test_arguments_of_the_hosts_own_classes_are_recorded_or_named(tmp_path):
    class Broken(dict):  # type: ignore[type-arg]
        def items(self) -> Any:
            raise RuntimeError("no")

        def __iter__(self) -> Any:
            raise RuntimeError("no")

    cyclic: dict[str, Any] = {}
    cyclic["self"] = cyclic
    calls = [
        {"id": "1", "name": "ghost", "args": {"inner": Broken(a=1)}},
        {"id": "2", "name": "ghost", "args": cyclic},
        {"id": "3", "name": "ghost", "args": {"x": float("nan"), "y": {1, 2}, "z": object}},
    ]
    _, found = recorded(tmp_path, calls)
    assert len(found) == 3
    assert all(json.loads(each.args) is not None for each in found)


# Files


def test_the_schema_of_parquet_is_the_documented_one(tmp_path):
    recorded(tmp_path, [call("echo", text="x")], tool(echo), place="turns.parquet")
    schema = parquet.read_schema(tmp_path / "turns.parquet")
    names = "dictionary<values=string, indices=int32, ordered=0>"
    assert {field.name: str(field.type) for field in schema} == {
        "ts": "timestamp[us, tz=UTC]",
        "session": "string",
        "turn": "int32",
        "batch": "string",
        "call_id": "string",
        "tool": names,
        "agent": names,
        "args": "string",
        "ok": "bool",
        "code": names,
        "reason": names,
        "raw": "string",
        "value": "large_string",
        "raw_chars": "int64",
        "reduced_chars": "int64",
        "sent_chars": "int64",
        "exit_code": "int32",
        "duration_s": "double",
        "schema_version": "int16",
        "cost_usd": "double",
    }
    group = parquet.ParquetFile(tmp_path / "turns.parquet").metadata.row_group(0)
    assert {group.column(index).compression for index in range(group.num_columns)} == {"ZSTD"}


def test_the_view_in_sqlite_has_the_same_columns(tmp_path):
    recorded(tmp_path, [call("echo", text="x")], tool(echo))
    with contextlib.closing(sqlite3.connect(tmp_path / PLACES[0])) as connection:
        cursor = connection.execute("SELECT * FROM calls")
        assert tuple(column[0] for column in cursor.description) == COLUMNS
        assert len(cursor.fetchall()) == 1


@pytest.mark.parametrize("place", PLACES)
def test_files_are_for_their_owner_alone(tmp_path, place):
    mask = os.umask(0)
    try:
        with TurnRecorder(os.path.join(tmp_path, place)) as recorder:
            registry = ToolRegistry([tool(echo)], observers=[recorder])
            registry.execute_parallel_sync([call("echo", text="x")])
            recorder.flush()
            files = [path for path in tmp_path.rglob("*") if path.is_file()]
            modes = {stat.S_IMODE(path.stat().st_mode) for path in files}
    finally:
        os.umask(mask)
    files += [path for path in tmp_path.rglob("*") if path.is_file()]
    assert files
    assert modes | {stat.S_IMODE(path.stat().st_mode) for path in files if path.exists()} == {0o600}


def test_large_recordings_have_row_groups_of_about_8_mb(tmp_path):
    text = "".join(random.Random(1).choices("abcdef ", k=1_000_000))

    def big(args: Any, context: Any) -> Any:
        return ok(text)

    recorded(tmp_path, [call("big", n) for n in range(20)], tool(big), place="turns.parquet")
    metadata = parquet.ParquetFile(tmp_path / "turns.parquet").metadata
    assert metadata.num_rows == 20
    assert metadata.num_row_groups >= 2


def test_duckdb_and_polars_read_it(tmp_path):
    duckdb = pytest.importorskip("duckdb")
    polars = pytest.importorskip("polars")
    calls = [call("echo", n, text="x" * n, cost=0.5) for n in range(10)] + [call("ghost")]
    for place in PLACES:
        recorded(tmp_path, calls, tool(echo), place=place)
    for files in ("turns.parquet", "folder/*.parquet"):
        path = str(tmp_path / files)
        found = duckdb.sql(
            f"SELECT tool, count(*), sum(raw_chars), sum(cost_usd) FROM '{path}' "
            "GROUP BY tool ORDER BY tool"
        ).fetchall()
        assert found == [("echo", 10, 45, 5.0), ("ghost", 1, 19, None)]
        frame = polars.scan_parquet(path).group_by("tool").agg(polars.col("raw_chars").sum())
        assert dict(frame.collect().rows()) == {"echo": 45, "ghost": 19}
    with contextlib.closing(sqlite3.connect(tmp_path / PLACES[0])) as connection:
        frame = polars.read_database("SELECT * FROM calls", connection)
    assert frame["raw_chars"].sum() == 64


@pytest.mark.parametrize(
    ("place", "problem"),
    [("no/turns", "does not exist"), ("sqlite://turns", "must be a path"), (":memory:", "a path")],
)
def test_a_place_that_cannot_be_one_is_a_clear_error(tmp_path, monkeypatch, place, problem):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigError, match=problem):
        TurnRecorder(place)


def test_a_parquet_file_that_exists_is_never_overwritten(tmp_path):
    path = tmp_path / "turns.parquet"
    path.write_text("mine")
    with pytest.raises(ConfigError, match="exists already"):
        TurnRecorder(path)
    assert path.read_text() == "mine"


def test_what_is_not_a_recording_is_a_clear_error(tmp_path):
    (tmp_path / "text").write_text("hello")
    with contextlib.closing(sqlite3.connect(tmp_path / "other")) as connection:
        connection.execute("CREATE TABLE t (x)")
        connection.commit()
    parquet.write_table(pyarrow.table({"x": [1]}), tmp_path / "other.parquet")
    (tmp_path / "cut.parquet").write_bytes(b"PAR1 and no more")
    for name, problem in [
        ("text", "neither SQLite nor Parquet"),
        ("other", "another program"),
        ("other.parquet", "no column"),
        ("cut.parquet", "cannot be read"),
        ("missing", "No such file"),
    ]:
        with pytest.raises(RecordingError, match=problem):
            list(read_recording(tmp_path / name).calls())


# Writing


def test_nothing_is_written_on_the_thread_of_the_calls(tmp_path, monkeypatch):
    from ethos_registry.recording import _sqlite

    threads = []
    real = _sqlite.row_of

    def row_of(one: Any) -> Any:
        threads.append(threading.current_thread().name)
        return real(one)

    monkeypatch.setattr(_sqlite, "row_of", row_of)
    recorder = TurnRecorder(tmp_path / "turns", flush_seconds=0.01)
    registry = ToolRegistry([tool(echo)], observers=[recorder])
    registry.execute_parallel_sync([call("echo", text="x")])
    wait_until(lambda: not recorder.unsaved_calls)
    recorder.close()
    assert threads == ["ethos-registry-recording"]


PROGRAM = """
import sys
from ethos_registry import Tool, ToolRegistry, ok
from ethos_registry.recording import TurnRecorder
path, name, count, flushes = sys.argv[1:]
recorder = TurnRecorder(path)
tool = Tool("say", "", {"type": "object"}, lambda args, context: ok(args["text"]))
registry = ToolRegistry([tool], observers=[recorder])
for number in range(int(count)):
    registry.execute_parallel_sync(
        [{"id": "1", "name": "say", "args": {"text": f"{name}-{number}"}}]
    )
    if flushes == "1":
        recorder.flush()
        print(number, flush=True)
"""


def program_line(*arguments: Any) -> list[str]:
    return [sys.executable, "-c", PROGRAM, *map(str, arguments)]


@pytest.mark.parametrize("place", PLACES)
def test_the_normal_end_of_a_process_writes_what_is_left(tmp_path, place):
    path = os.path.join(tmp_path, place)
    with started(program_line(path, "w", 5, 0)) as process:
        assert process.wait(PATIENCE_SECONDS) == 0
    assert [one.value for one in read_recording(path).calls()] == [f"w-{n}" for n in range(5)]


@pytest.mark.slow
def test_eight_processes_share_a_file_and_what_was_flushed_survives_a_kill(tmp_path):
    path = tmp_path / "turns.sqlite3"
    writers = [
        subprocess.Popen(program_line(path, f"w{n}", 100_000, 1), stdout=subprocess.PIPE)
        for n in range(8)
    ]
    with ended_with_test(*writers):
        for writer in writers:
            assert writer.stdout is not None
            writer.stdout.readline()
        time.sleep(0.2)  # some more calls of each
        for writer in writers:
            os.kill(writer.pid, signal.SIGKILL)
        outputs = [writer.communicate()[0] for writer in writers]
    found = [one.value for one in read_recording(path).calls()]
    assert len(found) == len(set(found))
    for number, output in enumerate(outputs):
        flushed = int(output.split()[-1]) if output.split() else 0
        mine = [value for value in found if value.startswith(f"w{number}-")]
        assert mine[: flushed + 1] == [f"w{number}-{n}" for n in range(flushed + 1)]
        assert len(mine) <= flushed + 2
    # The index has the same calls.
    hits = SqliteRecording(str(path)).search("w3", limit=1_000_000)
    assert len(hits) == len([value for value in found if value.startswith("w3-")])


def test_a_file_that_cannot_be_written_disturbs_no_call_and_memory_is_bounded(tmp_path, caplog):
    path = tmp_path / "turns"
    path.write_text("this is no database" * 100)
    recorder = TurnRecorder(path, flush_seconds=0.01, max_unsaved_chars=10_000)
    registry = ToolRegistry([tool(echo)], observers=[recorder])
    with caplog.at_level(logging.WARNING):
        for _ in range(30):
            [result] = registry.execute_parallel_sync([call("echo", text="x" * 1_000)])
            assert result.ok
            time.sleep(0.005)
        assert recorder.flush() is False
    assert recorder.problem is not None
    assert "move it away" in recorder.problem
    assert recorder.unsaved_calls + recorder.lost_calls == 30
    assert 0 < recorder.unsaved_calls < 10
    assert len(caplog.records) == 2  # the file, and the first call that is lost
    path.unlink()
    unsaved = recorder.unsaved_calls
    recorder.close()
    assert recorder.problem is None
    assert len(list(read_recording(path).calls())) == unsaved


def test_a_full_disk_is_reported_and_written_to_again_when_it_has_room(tmp_path):
    code = """
import resource, signal, sys
from ethos_registry import Tool, ToolRegistry, ok
from ethos_registry.recording import TurnRecorder, read_recording
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
recorder = TurnRecorder(sys.argv[1], flush_seconds=1000)
tool = Tool("say", "", {"type": "object"}, lambda args, context: ok("x y z " * 20_000))
registry = ToolRegistry([tool], observers=[recorder])
def say():
    registry.execute_parallel_sync([{"id": "1", "name": "say", "args": {}}])
    return recorder.flush()
first = say()
resource.setrlimit(resource.RLIMIT_FSIZE, (400_000, resource.RLIM_INFINITY))
during = [say() for _ in range(5)]
problem = recorder.problem
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
after = say()
recorder.close()
print(first, during[-1], after, recorder.lost_calls, len(list(read_recording(sys.argv[1]).calls())))
print(problem)
"""
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "turns")],
        capture_output=True,
        text=True,
        check=True,
    )
    figures, problem = done.stdout.splitlines()
    assert figures == "True False True 0 7"
    assert "free some space" in problem


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
@pytest.mark.parametrize("place", PLACES)
def test_a_forked_child_records_its_own_calls_and_not_those_of_its_parent(tmp_path, place):
    path = os.path.join(tmp_path, place)
    code = f"""
import os, sys, warnings
warnings.simplefilter("ignore", DeprecationWarning)
from ethos_registry import Tool, ToolRegistry, ok
from ethos_registry.recording import TurnRecorder
recorder = TurnRecorder({path!r}, flush_seconds=1000)
tool = Tool("say", "", {{"type": "object"}}, lambda args, context: ok(args["text"]))
registry = ToolRegistry([tool], observers=[recorder])
def say(text):
    registry.execute_parallel_sync([{{"id": "1", "name": "say", "args": {{"text": text}}}}])
say("before")
recorder.flush()
say("waiting")
pid = os.fork()
if pid == 0:
    say("child")
    recorder.close()
    os._exit(0)
assert os.waitpid(pid, 0)[1] == 0
say("after")
recorder.close()
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=PATIENCE_SECONDS)
    places = [path] if place != "turns.parquet" else sorted(tmp_path.glob("*.parquet"))
    found = [one.value for each in places for one in read_recording(each).calls()]
    assert sorted(found) == ["after", "before", "child", "waiting"]


def test_a_recorder_that_is_no_longer_used_is_written(tmp_path):
    recorder = TurnRecorder(tmp_path / "turns", flush_seconds=1000)
    registry = ToolRegistry([tool(echo)], observers=[recorder])
    registry.execute_parallel_sync([call("echo", text="x")])
    del registry, recorder
    import gc

    gc.collect()
    assert len(list(read_recording(tmp_path / "turns").calls())) == 1


def test_calls_of_a_cancelled_batch_are_recorded(tmp_path):
    begun: list[Any] = []

    async def hang(args: Any, context: Any) -> Any:
        begun.append(args)
        await asyncio.Event().wait()

    async def main() -> None:
        task = asyncio.ensure_future(registry.execute_parallel([call("hang")]))
        while not begun:  # noqa: ASYNC110
            await asyncio.sleep(0.005)
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task

    with TurnRecorder(tmp_path / "turns") as recorder:
        registry = ToolRegistry([tool(hang)], observers=[recorder])
        asyncio.run(main())
    [one] = read_recording(tmp_path / "turns").calls()
    assert (one.ok, one.reason, one.raw) == (False, "cancelled", None)


# Reading


def test_calls_are_read_by_session_turn_tool_and_number(tmp_path):
    for place in PLACES[:2]:
        with TurnRecorder(tmp_path / place) as recorder:
            registry = ToolRegistry([tool(echo), tool(failing)], observers=[recorder])
            for session in ("a", "b"):
                for turn in (1, 2):
                    context = ToolContext(session_id=session, current_turn=turn)
                    registry.execute_parallel_sync([call("echo"), call("failing")], context)
        recording = read_recording(tmp_path / place)
        assert [one.number for one in recording.calls(session_id="b")] == [5, 6, 7, 8]
        assert [one.number for one in recording.calls(turn=2, tool="echo")] == [3, 7]
        assert recording.call(4).tool_name == "failing"
        assert recording.call(9) is None
        turns = recorded_turns(recording.calls())
        assert [(t.session_id, t.turn, t.calls, t.failed_calls) for t in turns] == [
            ("a", 1, 2, 1),
            ("a", 2, 2, 1),
            ("b", 1, 2, 1),
            ("b", 2, 2, 1),
        ]
        assert (turns[2].first_number, turns[2].last_number) == (5, 6)


def test_a_search_takes_words_literally(tmp_path):
    recorded(tmp_path, [call("echo", text='the "NEAR" AND * (b) it\'s -x')], tool(echo))
    recording = SqliteRecording(str(tmp_path / PLACES[0]))
    assert len(recording.search('"NEAR" AND * (b')) == 1
    assert len(recording.search("it's")) == 1
    assert recording.search("NEAR absent") == []
    assert recording.search("  ") == []
    assert recording.search("NEAR", session_id="other") == []
