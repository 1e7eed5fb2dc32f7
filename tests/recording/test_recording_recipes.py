"""The recipes of the page on recordings, over a recording that a registry wrote."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyarrow", reason="recordings in Parquet need the extra parquet")

from pyarrow import parquet

from ethos_registry import Tool, ToolContext, ToolRegistry, err, ok, reduce_text
from ethos_registry.recording import TurnRecorder
from test_examples import BLOCK
from usage_tools import is_installed, missing

PAGE = Path(__file__).parents[2] / "docs" / "concepts" / "recordings.md"
LISTING = "\n".join(f"build/part_{number}.o" for number in range(1_400))
LOG = "".join(f"compiled unit {number}\n" for number in range(1_200)) + "error: unit 7 failed\n"
CALLS: list[dict[str, Any]] = [
    {"id": "listing", "name": "terminal", "args": {"command": "find build"}},
    {"id": "log", "name": "terminal", "args": {"command": "make all"}},
    {"id": "no command", "name": "terminal", "args": {}},
    {"id": "other tool", "name": "lookup", "args": {"command": "find build"}},
    {"id": "refused", "name": "missing", "args": {}},
    {"id": "short", "name": "terminal", "args": {"command": "true"}},
]


def terminal(args: Any, context: ToolContext) -> Any:
    command = args.get("command", "")
    if command == "make all":
        return err(LOG, exit_code=2)
    return ok("done" if command == "true" else LISTING, structured={"exit_code": 0})


def recipe(heading: str) -> str:
    """The block below a heading of the page."""
    [section] = PAGE.read_text(encoding="utf-8").split(f"### {heading}\n")[1:]
    found = BLOCK.search(section)
    assert found is not None
    return found["code"]


def expected() -> dict[str, str]:
    again = {
        "listing": reduce_text(LISTING, tool_name="terminal", command="find build", exit_code=0),
        "log": reduce_text(LOG, tool_name="terminal", command="make all", exit_code=2),
        "no command": reduce_text(LISTING, tool_name="terminal", exit_code=0),
        "short": "done",
    }
    assert len(again["listing"]) < len(LISTING)
    assert len(again["log"]) < len(LOG)
    return again


@pytest.fixture
def recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with `recordings/` of two files, made the current one."""
    monkeypatch.chdir(tmp_path)
    schema = {"type": "object"}
    tools = [Tool(name, "", schema, terminal) for name in ("terminal", "lookup")]
    for calls in (CALLS[:3], CALLS[3:]):
        with TurnRecorder(f"recordings{os.sep}") as recorder:
            ToolRegistry(tools, observers=[recorder]).execute_parallel_sync(calls)
    assert len(list((tmp_path / "recordings").iterdir())) == 2
    return tmp_path


def again_in(path: Path) -> dict[str, str]:
    rows = parquet.read_table(path).to_pylist()
    assert {row["raw_chars"] for row in rows} == {len(LISTING), len(LOG), len("done")}
    return {row["call_id"]: row["again"] for row in rows}


@pytest.mark.parametrize(("heading", "needs"), [("DuckDB", "duckdb"), ("Polars", "polars")])
def test_a_recipe_reduces_each_row_as_the_registry_does(
    heading: str, needs: str, recorded: Path
) -> None:
    pytest.importorskip(needs)
    exec(compile(recipe(heading), str(PAGE), "exec"), {"__name__": "__main__"})
    assert again_in(recorded / f"again-{needs}.parquet") == expected()


@pytest.mark.filterwarnings("ignore")  # Ray warns of its own settings
def test_ray_data_reduces_each_row_as_the_registry_does(
    recorded: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not is_installed("ray"):
        missing("ray", "the recipe needs ray")
    if not is_installed("pandas"):
        missing("ray", "the recipe needs ray[data], which is pandas and pyarrow beside ray")
    import ray

    monkeypatch.setenv("RAY_AUTH_MODE", "disabled")
    monkeypatch.setenv("HOME", str(recorded / "home"))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, sys.path)))
    ray.init(
        num_cpus=2,
        include_dashboard=False,
        object_store_memory=200 << 20,
        log_to_driver=False,
        configure_logging=False,
    )
    try:
        exec(compile(recipe("Ray Data"), str(PAGE), "exec"), {"__name__": "__main__"})
    finally:
        ray.shutdown()
    assert again_in(recorded / "again-ray") == expected()
