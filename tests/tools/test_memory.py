"""Memory, todo list and session search: notes, plans and earlier output, by their scopes."""

from __future__ import annotations

import contextlib
import sqlite3
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from ethos_registry import ConfigError, Personality, Tool, ToolContext, ToolRegistry, ok
from ethos_registry.capabilities import KeyValueDatabase, standard_backends
from ethos_registry.recording import TurnRecorder
from ethos_registry.tools import memory_tools, session_search_tool, todo_tools
from started import ended_with_test

GLOBAL = ToolContext(memory_scope="global")
GITHUB = "ghp_0123456789abcdefghijABCDEFGHIJ012345"


class Desk:
    """A registry, and one call at a time."""

    def __init__(self, tools: list[Tool], context: ToolContext = GLOBAL, **more: Any) -> None:
        self.registry = ToolRegistry(tools, **more)
        self.context = context

    def call(self, name: str, context: ToolContext | None = None, /, **args: Any) -> Any:
        call = {"id": "1", "name": name, "args": args}
        return self.registry.execute_parallel_sync([call], context or self.context)[0]

    def text(self, name: str, context: ToolContext | None = None, /, **args: Any) -> str:
        result = self.call(name, context, **args)
        assert result.ok, result.text
        return result.text

    def refusal(self, name: str, context: ToolContext | None = None, /, **args: Any) -> str:
        result = self.call(name, context, **args)
        assert not result.ok
        return result.text


# Memory


@pytest.fixture
def memory(tmp_path):
    return Desk(memory_tools(tmp_path / "notes.sqlite3", max_notes=3, max_chars=200))


def test_a_note_is_written_read_appended_found_and_deleted(memory):
    assert memory.text("memory_read") == "Memory has no notes; memory_write adds one."
    assert "5 characters" in memory.text("memory_write", name="city", content="Oslo!")
    assert memory.text("memory_read", name="city") == "Oslo!"
    memory.text("memory_write", name="city", content="In Norway.", mode="append")
    assert memory.text("memory_read", name="city") == "Oslo!\nIn Norway."
    memory.text("memory_write", name="user/food", content="Likes fish")
    assert [line.split(" ")[0] for line in memory.text("memory_read").splitlines()] == [
        "city",
        "user/food",
    ]
    assert memory.text("memory_search", query="norway") == "city: Oslo! In Norway."
    assert memory.text("memory_search", query="food fish").startswith("user/food: ")
    memory.text("memory_write", name="city", content="Bergen")
    assert "No note holds" in memory.text("memory_search", query="norway")
    memory.text("memory_write", name="city", mode="delete")
    assert "No note holds" in memory.text("memory_search", query="bergen")


@pytest.mark.parametrize(
    ("args", "problem"),
    [
        ({"name": "ctiy"}, "there is no note `ctiy`; did you mean `city`?"),
        ({"name": "zzz"}, "memory_read without a name lists all"),
        ({"name": "x" * 101}, "at most 100 characters"),
        ({"name": "a\nb"}, "must be one line"),
        ({"nam": "x"}, "it takes name"),
    ],
)
def test_refusals_of_reading_name_the_way_out(memory, args, problem):
    memory.text("memory_write", name="city", content="Oslo")
    assert problem in memory.refusal("memory_read", **args)


def test_refusals_of_writing_name_the_way_out(memory):
    for name in "abc":
        memory.text("memory_write", name=name, content="x" * 10)
    assert "delete or merge some first" in memory.refusal("memory_write", name="d", content="x")
    assert "its limit is 200" in memory.refusal("memory_write", name="a", content="x" * 200)
    assert "`content` is missing" in memory.refusal("memory_write", name="a")
    assert "replace, append, delete" in memory.refusal("memory_write", name="a", mode="no")
    assert "there is no note" in memory.refusal("memory_write", name="z", mode="delete")
    assert memory.text("memory_read", name="a") == "x" * 10


SCOPES = {
    "id": ToolContext(memory_scope_id="m1", memory_scope="global", team_id="t"),
    "other id": ToolContext(memory_scope_id="m2", memory_scope="global", team_id="t"),
    "looks global": ToolContext(memory_scope_id="global"),
    "global": ToolContext(memory_scope="global", team_id="t"),
    "personality": ToolContext(memory_scope="per-personality", personality_id="p", team_id="t"),
    "other personality": ToolContext(memory_scope="per-personality", personality_id="q"),
    "team": ToolContext(team_id="t"),
    "other team": ToolContext(team_id="p"),
}


def test_every_scope_sees_its_own_notes_only(memory):
    for name, context in SCOPES.items():
        memory.text("memory_write", context, name="who", content=name)
    for name, context in SCOPES.items():
        assert memory.text("memory_read", context, name="who") == name
        for other in ("personality", "team"):
            found = memory.text("memory_search", context, query=other)
            assert found.startswith("who: ") == (other in name.split())


def test_the_scope_is_the_id_then_the_memory_scope_then_the_team(memory):
    memory.text("memory_write", SCOPES["id"], name="n", content="of the id")
    same = ToolContext(memory_scope_id="m1", memory_scope="per-personality")
    assert memory.text("memory_read", same, name="n") == "of the id"
    memory.text("memory_write", SCOPES["global"], name="n", content="of all")
    assert memory.text("memory_read", ToolContext(memory_scope="global"), name="n") == "of all"


def test_a_turn_without_a_scope_is_refused_and_nothing_falls_back_to_global(memory):
    assert "this turn has no memory" in memory.refusal("memory_read", ToolContext())
    alone = ToolContext(memory_scope="per-personality", team_id="t")
    assert "per personality" in memory.refusal("memory_write", alone, name="n", content="x")


async def test_the_personality_of_a_view_is_the_scope(memory):
    views = [memory.registry.view(Personality(name, toolset=["toolset:memory"])) for name in "ab"]
    context = ToolContext(memory_scope="per-personality")
    write = {"id": "1", "name": "memory_write", "args": {"name": "n", "content": "of a"}}
    read = {"id": "1", "name": "memory_read", "args": {"name": "n"}}
    assert (await views[0].execute([write], context))[0].ok
    assert (await views[0].execute([read], context))[0].text == "of a"
    assert "no note" in (await views[1].execute([read], context))[0].text


def test_a_credential_is_not_stored(memory, tmp_path):
    answer = memory.text("memory_write", name="key", content=f"use {GITHUB}")
    assert answer.endswith("A credential in it was not stored.")
    files = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert GITHUB.encode() not in files


def test_search_words_are_literal(memory):
    memory.text("memory_write", name="n", content='a "NEAR" (b) AND* c')
    assert memory.text("memory_search", query='"NEAR" (b) AND*').startswith("n: ")
    assert "No note" in memory.text("memory_search", query="name:n")


def test_memory_is_for_its_owner_alone_and_notes_are_untrusted(memory, tmp_path):
    memory.text("memory_write", name="n", content="x")
    for path in tmp_path.glob("notes.sqlite3*"):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert memory.call("memory_read", name="n").untrusted
    assert memory.call("memory_search", query="x").untrusted


def test_a_file_that_cannot_be_used_is_a_clear_error(tmp_path):
    (tmp_path / "damaged").write_bytes(b"no database" * 1000)
    damaged = Desk(memory_tools(tmp_path / "damaged"))
    assert "move it away" in damaged.refusal("memory_read")
    missing = Desk(memory_tools(tmp_path / "no" / "notes"))
    assert "No such file" in missing.refusal("memory_write", name="n", content="x")


WRITER = """
import sys
from ethos_registry import ToolContext
from ethos_registry.tools import memory_tools
tool = memory_tools(sys.argv[1])[2]
context = ToolContext(memory_scope="global")
for number in range(20):
    answer = tool.execute({"name": "log", "content": sys.argv[2], "mode": "append"}, context)
    assert answer.ok, answer.text
"""


def test_eight_processes_append_to_one_note(tmp_path):
    path = str(tmp_path / "notes")
    writers = [subprocess.Popen([sys.executable, "-c", WRITER, path, f"w{n}"]) for n in range(8)]
    with ended_with_test(*writers):
        assert [writer.wait(300) for writer in writers] == [0] * 8
    lines = Desk(memory_tools(path)).text("memory_read", name="log").split("\n")
    assert sorted(lines) == sorted(f"w{n}" for n in range(8) for _ in range(20))


class NotesAgainstADictionary(RuleBasedStateMachine):
    """Random writes give what a dictionary gives, in the index too."""

    folder: Path

    def __init__(self) -> None:
        super().__init__()
        self.desk = Desk(memory_tools(":memory:"))
        self.model: dict[str, str] = {}

    names = st.sampled_from(["a", "b", "c"])
    words = st.sampled_from(["red", "green", "blue"])

    @rule(name=names, word=words, mode=st.sampled_from(["replace", "append"]))
    def write(self, name, word, mode):
        self.desk.text("memory_write", name=name, content=word, mode=mode)
        old = self.model.get(name)
        self.model[name] = f"{old}\n{word}" if mode == "append" and old else word

    @rule(name=names)
    def delete(self, name):
        call = self.desk.call("memory_write", name=name, mode="delete")
        assert call.ok == (self.model.pop(name, None) is not None)

    @invariant()
    def is_equal(self):
        for name, content in self.model.items():
            assert self.desk.text("memory_read", name=name) == content
        for word in ("red", "green"):
            found = self.desk.text("memory_search", query=word)
            names = {line.partition(":")[0] for line in found.splitlines() if ": " in line}
            assert names == {name for name, text in self.model.items() if word in text.split()}


TestNotesAgainstADictionary = NotesAgainstADictionary.TestCase
TestNotesAgainstADictionary.settings = settings(
    max_examples=15, stateful_step_count=15, deadline=None
)


# Todo


@pytest.fixture
def todo(tmp_path):
    database = KeyValueDatabase(tmp_path / "values.sqlite3")
    yield Desk(
        todo_tools(),
        ToolContext(session_id="s1"),
        capability_backends=standard_backends(key_values=database),
    )
    database.close()


def test_a_list_is_written_and_read_by_its_session_only(todo, tmp_path):
    assert todo.text("todo_read") == "The todo list is empty; todo_write fills it."
    items = [
        {"content": "Look  at\nit", "status": "completed"},
        {"content": "Fix it", "status": "in_progress"},
        {"content": "Test it"},
    ]
    written = todo.call("todo_write", items=items)
    assert written.text == (
        "1 pending, 1 in_progress, 1 completed\n1. [x] Look at it\n2. [>] Fix it\n3. [ ] Test it"
    )
    assert todo.text("todo_read") == written.text
    assert written.result.structured["items"][2] == {"content": "Test it", "status": "pending"}
    assert "empty" in todo.text("todo_read", ToolContext(session_id="s2"))
    with contextlib.closing(KeyValueDatabase(tmp_path / "values.sqlite3")) as other:
        again = Desk(
            todo_tools(),
            ToolContext(session_id="s1"),
            capability_backends=standard_backends(key_values=other),
        )
        assert again.text("todo_read") == written.text
    assert todo.text("todo_write", items=[]) == "The todo list is empty."


@pytest.mark.parametrize(
    ("items", "problem"),
    [
        ("x", "must be a list of items such as"),
        ([1], "items[0] must be an object such as"),
        ([{"content": " "}], "items[0].content must be a line of text"),
        ([{"content": "a", "status": "done"}], "pending, in_progress, completed, got `done`"),
        ([{"content": "a", "x": 1}], "items[0] has no `x`; it has content and status"),
        ([{"content": "a"}] * 101, "at most 100"),
        ([{"content": "a" * 501}], "at most 500"),
    ],
)
def test_items_that_cannot_be_stored_change_nothing(todo, items, problem):
    todo.text("todo_write", items=[{"content": "kept"}])
    assert problem in todo.refusal("todo_write", items=items)
    assert "kept" in todo.text("todo_read")


def test_without_a_store_the_refusal_names_what_is_missing():
    assert "no capability backends" in Desk(todo_tools()).refusal("todo_read")
    without = Desk(todo_tools(), capability_backends=standard_backends())
    assert "storage" in without.refusal("todo_read")


# Session search


def say(args: Any, context: Any) -> Any:
    return ok(args.get("text", ""))


@pytest.fixture
def sessions(tmp_path):
    """Two sessions of one agent and one of another, recorded; and the recorder."""
    with TurnRecorder(tmp_path / "turns.sqlite3", flush_seconds=1000) as recorder:
        tool = Tool("say", "", {"type": "object"}, say)
        desk = Desk([tool], observers=[recorder])
        for session, agent in (("s1", "clerk"), ("s2", "clerk"), ("s3", "boss")):
            context = ToolContext(session_id=session, agent_id=agent)
            desk.text("say", context, text=f"the budget of {session} is 42", note="pear")
        yield recorder


def searched(recording: Any, context: ToolContext, searches: Any = "session", **args: Any) -> Any:
    tool = session_search_tool(recording, searches=searches)
    return Desk([tool], context).call("session_search", **args)


def test_a_search_finds_calls_that_are_not_written_yet_in_its_session_only(sessions):
    context = ToolContext(session_id="s2", agent_id="clerk")
    found = searched(sessions, context, query="budget")
    assert found.ok
    assert found.untrusted
    assert "the budget of s2 is 42" in found.text
    assert "s1" not in found.text
    assert found.result.structured == {"calls": 1}
    assert found.text.startswith("2. turn 1, say ")
    assert searched(sessions, context, number=2).text == "the budget of s2 is 42"
    assert searched(sessions, context, query="pear").result.structured == {"calls": 1}


@pytest.mark.parametrize(("searches", "count"), [("session", 1), ("agent", 2), ("all", 3)])
def test_the_host_decides_how_far_a_search_and_a_number_reach(sessions, searches, count):
    context = ToolContext(session_id="s1", agent_id="clerk")
    found = searched(sessions, context, searches, query="budget")
    assert found.result.structured == {"calls": count}
    readable = [searched(sessions, context, searches, number=n).ok for n in (1, 2, 3)]
    assert readable == [n < count for n in range(3)]


def test_refusals_and_empty_searches_name_the_way_out(sessions, tmp_path):
    context = ToolContext(session_id="s1")
    assert "fewer or other words" in searched(sessions, context, query="absent").text
    assert "`query` is missing" in searched(sessions, context).text
    assert "returns numbers" in searched(sessions, context, number=99).text
    assert "it takes query, number, limit" in searched(sessions, context, q="x").text
    assert searched(tmp_path / "none", context, query="x").text == "No calls are recorded yet."
    with contextlib.closing(sqlite3.connect(tmp_path / "other")) as connection:
        connection.execute("CREATE TABLE t (x)")
        connection.commit()
    assert "another program" in searched(tmp_path / "other", context, query="x").text


def test_a_recording_without_an_index_is_a_clear_error_at_once(tmp_path):
    with pytest.raises(ConfigError, match="needs a recording in SQLite"):
        session_search_tool(tmp_path / "turns.parquet")
    with pytest.raises(ConfigError, match="`searches` must be"):
        session_search_tool(tmp_path / "turns", searches="user")  # type: ignore[arg-type]
