from __future__ import annotations

import contextlib
import json
import os
import re
import sqlite3
import stat
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from ethos_registry import ConfigError, ToolContext, ToolError, ToolOk
from ethos_registry.tools import kanban_tools
from memory_folder import memory_folder
from started import ended_with_test

WORKER = Path(__file__).parents[1] / "board_worker.py"


@pytest.fixture
def database(tmp_path: Path) -> Path:
    return tmp_path / "folder" / "board.sqlite"


def call(database: Path, tool_name: str, **args: Any) -> Any:
    tool = next(tool for tool in kanban_tools(database) if tool.name == f"kanban_{tool_name}")
    return tool.execute(args, ToolContext())


def answered(database: Path, tool_name: str, **args: Any) -> Any:
    result = call(database, tool_name, **args)
    assert isinstance(result, ToolOk), result
    return json.loads(result.value)


def refused(database: Path, tool_name: str, **args: Any) -> str:
    result = call(database, tool_name, **args)
    assert isinstance(result, ToolError), result
    return result.error


def test_the_tools_are_plain_and_in_the_toolset_kanban(database: Path) -> None:
    tools = kanban_tools(str(database))
    assert [tool.name for tool in tools] == ["kanban_create", "kanban_list", "kanban_move"]
    assert {(tool.toolset, tool.is_coroutine) for tool in tools} == {("kanban", False)}
    assert [tool.idempotent for tool in tools] == [False, True, False]
    assert not database.parent.exists(), "made at the first call"


class TestTickets:
    def test_a_ticket_has_the_fields_that_the_reducer_reads(self, database: Path) -> None:
        result = call(database, "create", title="  Fix\nthe  👩‍💻 login ", priority="High")
        ticket = json.loads(result.value)
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", ticket.pop("updatedAt"))
        assert ticket == {
            "id": "T-1",
            "title": "Fix the 👩‍💻 login",
            "status": "todo",
            "priority": "high",
        }
        assert result.structured == json.loads(result.value)

    def test_the_list_is_compact_json_in_the_order_of_creation(self, database: Path) -> None:
        assert call(database, "list").value == "[]"
        for title in ("b", "a", "ü"):
            answered(database, "create", title=title)
        result = call(database, "list")
        tickets = json.loads(result.value)
        assert [ticket["title"] for ticket in tickets] == ["b", "a", "ü"]
        assert list(tickets[0]) == ["id", "title", "status", "priority", "updatedAt"]
        assert result.value == json.dumps(tickets, ensure_ascii=False, separators=(",", ":"))
        assert result.structured == {"tickets": 3}

    def test_a_moved_ticket_is_newer_and_keeps_the_rest(self, database: Path) -> None:
        before = answered(database, "create", title="a", status="review")
        time.sleep(0.005)
        after = answered(database, "move", id="T-1", status="done")
        assert after.pop("updatedAt") > before.pop("updatedAt")
        assert after == before | {"status": "done"}
        assert answered(database, "list", status="DONE")[0]["id"] == "T-1"
        assert answered(database, "list", status="review") == []

    @pytest.mark.parametrize("spelling", ["T-2", " t-2 ", "2", 2])
    def test_an_id_is_found_in_every_spelling(self, database: Path, spelling: Any) -> None:
        answered(database, "create", title="a")
        answered(database, "create", title="b")
        assert answered(database, "move", id=spelling, status="done")["title"] == "b"

    def test_columns_may_be_chosen(self, database: Path) -> None:
        create, _, move = kanban_tools(database, statuses=["Open", "Closed"])
        assert create.schema["properties"]["status"]["enum"] == ["Open", "Closed"]
        created = create.execute({"title": "a"}, ToolContext())
        assert isinstance(created, ToolOk)
        assert created.structured is not None
        assert created.structured["status"] == "Open"
        assert move.execute({"id": "T-1", "status": "done"}, ToolContext()).ok is False  # type: ignore[union-attr]


class TestRefusals:
    @pytest.mark.parametrize(
        ("tool_name", "args", "text"),
        [
            ("create", {}, "`title` is missing; give one, such as `Fix the login page`"),
            ("create", {"title": "x" * 301}, "at most 300 characters, got 301; shorten it"),
            ("create", {"title": "a\0"}, "holds a control character or a lone surrogate"),
            ("create", {"title": "a\ud800"}, "holds a control character or a lone surrogate"),
            ("create", {"title": "a", "priority": "9"}, "one of urgent, high, medium, low, got"),
            ("list", {"status": "open"}, "`status` must be one of todo, doing, blocked, review,"),
            ("move", {"id": "T-9", "status": "done"}, "no ticket `T-9`; kanban_list shows all"),
            ("move", {"id": "x", "status": "done"}, "there is no ticket `x`; ids look like `T-1`"),
            ("move", {"id": "9" * 99, "status": "done"}, "; ids look like `T-1`"),
            ("move", {"status": "done"}, "`id` must be the id of a ticket"),
            ("move", {"id": True, "status": "done"}, "`id` must be the id of a ticket"),
            ("move", {"id": "T-1"}, "`status` is missing; give one of todo, doing"),
            ("move", {"id": "T-1", "to": "done"}, "kanban_move has no argument `to`"),
        ],
    )
    def test_tell_what_to_send_instead(
        self, database: Path, tool_name: str, args: dict[str, Any], text: str
    ) -> None:
        assert text in refused(database, tool_name, **args)

    def test_settings_of_the_wrong_kind_are_errors(self, database: Path) -> None:
        for nowhere in (5, None, b"board.db", "", "board\0.db"):
            with pytest.raises(ConfigError, match="`database` must be a path: "):
                kanban_tools(nowhere)  # type: ignore[arg-type]
        for wrong in ([], ["a", "a"], [" "], "todo"):
            with pytest.raises(ConfigError, match="statuses"):
                kanban_tools(database, statuses=wrong)


class TestFile:
    def test_a_database_of_another_program_is_left_alone(self, tmp_path: Path) -> None:
        other = tmp_path / "other.sqlite"
        connection = sqlite3.connect(other)
        connection.execute("CREATE TABLE ticket (x)")
        connection.close()
        before = other.read_bytes()
        assert "is a database of another program" in refused(other, "create", title="a")
        assert other.read_bytes() == before

    def test_a_newer_version_is_refused(self, database: Path) -> None:
        answered(database, "create", title="a")
        connection = sqlite3.connect(database)
        connection.execute("PRAGMA user_version = 2")
        connection.close()
        assert "has version 2, this program knows 1; update it" in refused(database, "list")

    def test_what_is_no_database_is_refused(self, tmp_path: Path) -> None:
        (tmp_path / "text").write_text("no database at all" * 100)
        assert "file is not a database" in refused(tmp_path / "text", "list")
        assert "the folder of the board cannot be created" in refused(
            tmp_path / "text" / "board", "list"
        )
        assert "could not be used: Is a directory" in refused(tmp_path, "list")

    def test_readers_do_not_wait_for_a_writer(self, database: Path) -> None:
        answered(database, "create", title="a")
        connection = sqlite3.connect(database, isolation_level=None)
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("UPDATE ticket SET title = 'b'")
        assert answered(database, "list")[0]["title"] == "a"
        connection.execute("COMMIT")
        connection.close()
        assert answered(database, "list")[0]["title"] == "b"

    def test_a_writer_waits_for_another(self, database: Path) -> None:
        answered(database, "create", title="a")
        connection = sqlite3.connect(database, isolation_level=None, check_same_thread=False)
        connection.execute("BEGIN IMMEDIATE")
        timer = threading.Timer(0.2, connection.execute, ["COMMIT"])
        timer.start()
        assert answered(database, "move", id="T-1", status="done")["status"] == "done"
        timer.join()
        connection.close()

    def test_no_descriptor_stays_open(self, database: Path) -> None:
        def opened() -> list[str]:
            found = []
            for name in os.listdir("/proc/self/fd"):
                with contextlib.suppress(FileNotFoundError):  # of another thread
                    found.append(os.readlink(f"/proc/self/fd/{name}"))
            return [path for path in found if path.startswith(str(database.parent))]

        answered(database, "create", title="a")
        for _ in range(3):
            answered(database, "list")
            refused(database, "move", id="T-9", status="done")
        assert opened() == []
        with open(database, "rb"):
            assert opened() == [str(database)]


def test_processes_that_share_a_new_board_lose_nothing() -> None:
    names, tickets = "abcd", 60
    with memory_folder() as folder:
        command = [sys.executable, str(WORKER), str(folder / "board.sqlite")]
        workers = [subprocess.Popen([*command, name, str(tickets)]) for name in names]
        with ended_with_test(*workers):
            assert [worker.wait(300) for worker in workers] == [0] * len(names)
        board = answered(folder / "board.sqlite", "list")
    assert [ticket["id"] for ticket in board] == [f"T-{number}" for number in range(1, 241)]
    statuses = {ticket["title"]: ticket["status"] for ticket in board}
    assert statuses == {
        f"{name}-{number}": ("doing", "review", "done")[number % 3]
        for name in names
        for number in range(tickets)
    }


def test_the_files_of_a_new_board_are_for_their_owner_only(database: Path) -> None:
    answered(database, "create", title="Buy leaves")
    connection = sqlite3.connect(database)
    connection.execute("SELECT * FROM ticket").fetchall()
    modes = {
        path.name: stat.S_IMODE(path.stat().st_mode)
        for path in database.parent.iterdir()
        if path.name.startswith(database.name)
    }
    connection.close()
    assert len(modes) > 1, "the journal is there too"
    assert set(modes.values()) == {0o600}
