"""The one SQLite file: whose a file is, who creates it, and how long it is waited for."""

from __future__ import annotations

import contextlib
import shutil
import sqlite3
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from ethos_registry import EthosRegistryError, Tool, ToolContext, ToolRegistry, ok
from ethos_registry._persistence.sqlite_file import SqliteFile
from ethos_registry.capabilities import KeyValueDatabase
from ethos_registry.recording import TurnRecorder, read_recording
from ethos_registry.tools import kanban_tools, memory_tools, session_search_tool
from ethos_registry.usage import UsageLedger, read_usage
from started import ended_with_test

ID = 5
SCHEMA = ("CREATE TABLE notes (text)",)


def called(tool: Tool, **args: object) -> str:
    [result] = ToolRegistry([tool]).execute_parallel_sync(
        [{"id": "1", "name": tool.name, "args": args}], ToolContext(memory_scope="global")
    )
    assert not result.ok
    return result.text


def raised(act: Callable[[], object]) -> str:
    with pytest.raises((EthosRegistryError, sqlite3.Error)) as caught:
        act()
    return str(caught.value)


def board(path: Path) -> str:
    return called(
        next(tool for tool in kanban_tools(path) if tool.name == "kanban_create"), title="a"
    )


def notes(path: Path) -> str:
    tool = next(tool for tool in memory_tools(path) if tool.name == "memory_write")
    return called(tool, name="a", content="b")


def key_values(path: Path) -> str:
    with contextlib.closing(KeyValueDatabase(path)) as database:
        return raised(lambda: database.scope("s").sync.set("k", 1))


def recording(path: Path) -> str:
    recorder = TurnRecorder(path)
    tool = Tool("now", "The time.", {"type": "object"}, lambda args, context: ok("12:00"))
    ToolRegistry([tool], observers=[recorder]).execute_parallel_sync([{"id": "1", "name": "now"}])
    assert not recorder.flush()
    problem = recorder.problem or ""
    recorder.close()
    return problem


def usage(path: Path) -> str:
    with UsageLedger(path, flush_seconds=600) as ledger:
        ledger.record("search", "clerk", "ok")
        assert not ledger.flush()
        report = ledger.report()
        assert report.calls == 1
        return report.problem or ""


def limits(path: Path) -> str:
    with UsageLedger(path) as ledger:
        return raised(lambda: ledger.count_limits([], lambda used: used[0]))


def reads_usage(path: Path) -> str:
    return raised(lambda: read_usage(path))


def reads_recording(path: Path) -> str:
    return raised(lambda: list(read_recording(path).calls()))


def searches_recording(path: Path) -> str:
    return called(session_search_tool(path), query="x")


STORES = [
    board,
    notes,
    key_values,
    recording,
    usage,
    limits,
    reads_usage,
    reads_recording,
    searches_recording,
]


def foreign(folder: Path, kind: str) -> Path:
    """The database of another program, perhaps left behind when that program was killed."""
    made = folder / "made"
    with contextlib.closing(sqlite3.connect(made)) as connection:
        if kind == "write-ahead log":
            connection.execute("PRAGMA journal_mode = WAL")
        if kind == "with an id":
            connection.execute("PRAGMA application_id = 77")
        connection.execute("CREATE TABLE theirs (text)")
        connection.execute("INSERT INTO theirs VALUES ('kept')")
        connection.commit()
        for end in ("", "-wal"):
            if (folder / f"made{end}").exists():
                shutil.copyfile(folder / f"made{end}", folder / f"theirs{end}")
    made.unlink()
    return folder / "theirs"


@pytest.mark.parametrize("kind", ["rollback journal", "write-ahead log", "with an id"])
@pytest.mark.parametrize("store", STORES)
def test_the_file_of_another_program_stays_as_it_is(
    tmp_path: Path, store: Callable[[Path], str], kind: str
) -> None:
    path = foreign(tmp_path, kind)
    before = {each.name: each.read_bytes() for each in tmp_path.iterdir()}
    problem = store(path)
    assert "another program" in problem
    assert "\n" not in problem
    assert {each.name: each.read_bytes() for each in tmp_path.iterdir()} == before


@pytest.mark.parametrize("store", STORES)
def test_a_file_that_is_not_a_database_stays_as_it_is(
    tmp_path: Path, store: Callable[[Path], str]
) -> None:
    path = tmp_path / "text"
    path.write_text("mine\n" * 1_000)
    problem = store(path)
    assert "not a database" in problem or "not a recording" in problem
    assert "\n" not in problem
    assert [each.name for each in tmp_path.iterdir()] == ["text"]
    assert path.read_text() == "mine\n" * 1_000


WRITER = """
import sys
from ethos_registry._persistence.sqlite_file import SqliteFile
for number in range(40):
    print(number, flush=True)
    sys.stdin.readline()
    file = SqliteFile(f"{sys.argv[1]}/{number}", ["CREATE TABLE notes (text)"], application_id=5)
    with file.transaction() as connection:
        connection.execute("INSERT INTO notes VALUES ('mine')")
    file.close()
"""


def test_two_processes_create_one_file_at_once(tmp_path: Path) -> None:
    command = [sys.executable, "-c", WRITER, str(tmp_path)]
    pipe = subprocess.PIPE
    writers = [subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) for _ in range(2)]
    with contextlib.ExitStack() as stack:
        for writer in writers:
            stack.enter_context(ended_with_test(writer))
        for number in range(40):
            for writer in writers:
                assert writer.stdout is not None
                assert writer.stdout.readline() == f"{number}\n"
            for writer in writers:
                assert writer.stdin is not None
                writer.stdin.write("\n")
                writer.stdin.flush()
        for writer in writers:
            assert writer.wait(60) == 0
    for number in range(40):
        file = SqliteFile(tmp_path / str(number), SCHEMA, application_id=ID)
        assert file.read(count) == 2
        file.close()


def count(connection: sqlite3.Connection) -> int:
    found: int = connection.execute("SELECT COUNT(*) FROM notes").fetchone()[0]
    return found


def test_tables_that_a_killed_process_had_not_committed_are_created(tmp_path: Path) -> None:
    path = tmp_path / "file"
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute(SCHEMA[0])
        connection.execute(f"PRAGMA application_id = {ID}")
        connection.commit()
    # Of a transaction that began with an empty file: no records, no pages, sectors, page size.
    journal = bytes.fromhex("d9d505f920a163d7") + struct.pack(">5I", 0, 1, 0, 512, 4096)
    (tmp_path / "file-journal").write_bytes(journal.ljust(512, b"\0"))
    file = SqliteFile(path, SCHEMA, application_id=ID)
    with file.transaction() as connection:
        connection.execute("INSERT INTO notes VALUES ('mine')")
    assert file.read(count) == 1
    assert not (tmp_path / "file-journal").exists()
    file.close()


@pytest.mark.parametrize("exists", [False, True])
def test_a_file_that_others_hold_is_waited_for_once(tmp_path: Path, exists: bool) -> None:
    path = tmp_path / "file"
    file = SqliteFile(path, SCHEMA, application_id=ID, busy_seconds=0.5)
    if exists:
        file.read(count)
        file.close()
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("PRAGMA locking_mode = EXCLUSIVE")
    other.execute("BEGIN EXCLUSIVE")
    began = time.monotonic()
    with (
        pytest.raises(sqlite3.OperationalError, match=r"others have been writing for 0\.5 s"),
        file.transaction(),
    ):
        pass
    assert time.monotonic() - began < 2
    other.close()
    assert file.read(count) == 0


def test_threads_wait_for_each_other_a_bounded_time(tmp_path: Path) -> None:
    file = SqliteFile(tmp_path / "file", SCHEMA, application_id=ID, busy_seconds=0.2)
    problems = []

    def read() -> None:
        try:
            file.read(count)
        except sqlite3.OperationalError as error:
            problems.append(str(error))

    with file.transaction():
        threads = [threading.Thread(target=read) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(10)
    assert len(problems) == 3
    assert file.read(count) == 0


def test_reading_a_file_that_is_empty_or_missing_creates_nothing(tmp_path: Path) -> None:
    path = tmp_path / "file"
    for size in (None, 0):
        if size is not None:
            path.touch()
        with (
            pytest.raises(FileNotFoundError),
            SqliteFile(path, SCHEMA, application_id=ID).snapshot(),
        ):
            pass
    assert path.read_bytes() == b""
