"""`ethos-registry recordings`: list, show, replay."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from cli_program import run, run_json
from ethos_registry import Tool, ToolContext, ToolRegistry, default_reducers, err, ok
from ethos_registry.recording import TurnRecorder

pytest.importorskip("pyarrow")

OUTPUT = "\n".join(f"build/part_{number}.o" for number in range(3_000))
PLACES = ("turns.sqlite3", "turns.parquet")


def terminal(args: Any, context: Any) -> Any:
    if args["command"] == "false":
        return err("it \x1b[31mfailed", exit_code=7)
    return ok(OUTPUT, structured={"exit_code": 0}, cost_usd=0.5)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("recordings")
    for place in PLACES:
        with TurnRecorder(path / place) as recorder:
            registry = ToolRegistry(
                [Tool("terminal", "", {"type": "object"}, terminal)],
                observers=[recorder],
                reducer_registry=default_reducers(),
            )
            for turn in (1, 2):
                calls = [
                    {"id": f"c{turn}", "name": "terminal", "args": {"command": "find build"}},
                    {"id": "f", "name": "terminal", "args": {"command": "false"}},
                    {"id": "g", "name": "ghost", "args": {"password": "hunter2"}},
                ]
                context = ToolContext(session_id="s1", current_turn=turn, agent_id="clerk")
                registry.execute_parallel_sync(calls, context)
    return path


@pytest.mark.slow
@pytest.mark.parametrize("place", PLACES)
def test_list_shows_turns_and_then_calls(folder, place):
    turns = run_json("recordings", "list", place, "--json", cwd=folder)
    assert [(turn["session_id"], turn["turn"], turn["calls"]) for turn in turns] == [
        ("s1", 1, 3),
        ("s1", 2, 3),
    ]
    table = run("recordings", "list", place, cwd=folder).stdout.splitlines()
    assert table[0].split()[:2] == ["session", "turn"]
    assert table[2].split()[-1] == "4-6"
    calls = run_json("recordings", "list", place, "--turn", "2", "--json", cwd=folder)
    assert [call["number"] for call in calls] == [4, 5, 6]
    shown = run("recordings", "list", place, "--session", "s1", cwd=folder).stdout
    assert "[redacted]" in shown
    assert "hunter2" not in shown
    assert run("recordings", "list", place, "--tool", "x", cwd=folder).stdout == (
        "No such calls are recorded.\n"
    )


@pytest.mark.slow
@pytest.mark.parametrize("place", PLACES)
def test_show_prints_one_call(folder, place):
    shown = run("recordings", "show", place, "1", cwd=folder).stdout
    assert "terminal" in shown
    assert "$0.500000" in shown
    assert f"{len(OUTPUT):,} characters" in shown
    assert run("recordings", "show", place, "1", "--raw", cwd=folder).stdout == OUTPUT + "\n"
    assert (
        "execution_failed, exit code 7" in run("recordings", "show", place, "2", cwd=folder).stdout
    )
    document = run_json("recordings", "show", place, "3", "--json", cwd=folder)
    assert (document["reason"], document["raw"]) == ("unknown", None)


@pytest.mark.slow
@pytest.mark.parametrize("place", PLACES)
def test_replay_reduces_with_the_present_reducers(folder, place):
    recorded = run_json("recordings", "show", place, "1", "--json", cwd=folder)
    done = run("recordings", "replay", place, "1", cwd=folder)
    assert done.stdout == recorded["value"] + "\n"
    assert done.stderr.endswith("now: the same text\n")
    small = run_json("recordings", "replay", place, "1", "--budget", "20", "--json", cwd=folder)
    assert small["same"] is False
    assert small["replayed_chars"] < recorded["sent_chars"]
    failed = run_json("recordings", "replay", place, "2", "--json", cwd=folder)
    assert failed["same"] is True


@pytest.mark.slow
def test_what_is_not_there_is_one_line(folder):
    for arguments, code, problem in [
        (("show", PLACES[0], "99"), 3, "has no call 99"),
        (("replay", PLACES[0], "3"), 3, "has no output: not_available (unknown)"),
        (("show", PLACES[0], "x"), 2, "x"),
        (("list", "missing"), 2, "No such file"),
    ]:
        done = run("recordings", *arguments, cwd=folder)
        assert (done.returncode, done.stdout) == (code, "")
        assert done.stderr.count("\n") == 1
        assert problem in done.stderr
    assert json.loads(run("recordings", "show", PLACES[0], "2", "--json", cwd=folder).stdout)
