"""Recording: its cost per call on the registry's thread, and in all."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from beside import beside
from ethos_registry import Tool, ToolCall, ToolRegistry, ok
from ethos_registry.recording import TurnRecorder

BATCH = 512
OUTPUT = "The build finished and 12 tests passed; nothing else changed in the project. " * 3


async def at_once(args: Any, context: Any) -> Any:
    return ok(OUTPUT)


@pytest.mark.parametrize("place", ["turns.sqlite3", "turns.parquet"])
@pytest.mark.parametrize("waits", [False, True], ids=["calls", "calls and writing"])
def test_recording(benchmark: Any, place: str, waits: bool, tmp_path: Path) -> None:
    """A batch of calls that end at once, recorded beside not; with and without the writing."""
    loop = asyncio.new_event_loop()
    # Nothing is written while calls are timed: what is measured is what the registry's thread does.
    recorder = TurnRecorder(tmp_path / place, flush_records=10**9, flush_seconds=10**6)
    calls = [
        ToolCall(str(number), "build", {"target": "all", "jobs": number}) for number in range(BATCH)
    ]

    def running(is_recorded: bool) -> Callable[[], Callable[[], object]]:
        tool = Tool("build", "A tool.", {"type": "object"}, at_once)
        registry = ToolRegistry([tool], observers=[recorder] if is_recorded else ())

        def run() -> None:
            loop.run_until_complete(registry.execute_parallel(calls))
            if is_recorded and waits:
                recorder.flush()

        def prepare() -> Callable[[], object]:
            recorder.flush()
            return run

        return prepare

    beside(
        benchmark,
        running(True),
        {"no recorder": running(False)},
        group=f"a call of a batch of {BATCH}, recorded",
        rounds=40,
        per_round=BATCH,
    )
    recorder.close()
    assert recorder.lost_calls == 0
    loop.close()
