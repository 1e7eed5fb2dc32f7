"""What capabilities cost: resolving them, scoped reads, confined programs, redaction."""

from __future__ import annotations

import asyncio
import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from beside import beside
from ethos_registry import Personality, Tool, ToolContext, ToolRegistry, ok
from ethos_registry.capabilities import (
    CommandSandbox,
    FsReach,
    ReachFiles,
    SandboxPolicy,
    ToolCapabilities,
    standard_backends,
    start_supervised,
)
from ethos_registry.reduction import redact_text
from inputs import fresh

SIZES = {"4 kB": 4_096, "1 MB": 1_000_000}
READS_PER_ROUND = {"4 kB": 100, "1 MB": 10}
LINE = "2026-11-24 10:00:00 INFO worker 7 handled request 1234567 in 12 ms from 10.0.0.7\n"


@pytest.fixture(scope="module")
def loop() -> Iterator[asyncio.AbstractEventLoop]:
    loop = asyncio.new_event_loop()
    yield loop
    loop.close()


def test_resolving_capabilities_for_one_call(
    benchmark: Any, loop: asyncio.AbstractEventLoop, tmp_path: Path
) -> None:
    async def touch(args: Any, context: ToolContext) -> Any:
        return ok("touched")

    declared = ToolCapabilities(
        fs_reach={"read": [str(tmp_path)]}, process={"allowedBinaries": ["true"]}
    )
    personality = Personality("p", fs_reach=FsReach(read=[str(tmp_path)]))
    backends = standard_backends()

    def calls_of(capabilities: ToolCapabilities | None) -> Callable[[], object]:
        tool = Tool("touch", "Touches.", {"type": "object"}, touch, capabilities=capabilities)
        view = ToolRegistry([tool], capability_backends=backends).view(personality)
        context = ToolContext(working_dir=str(tmp_path))
        calls = [{"id": "1", "name": "touch", "args": {}}]

        async def run() -> None:
            for _ in range(20):
                [result] = await view.execute(calls, context)
                assert result.ok

        return lambda: loop.run_until_complete(run())

    beside(
        benchmark,
        lambda: calls_of(declared),
        {"no capabilities": lambda: calls_of(None)},
        group="resolving capabilities",
        rounds=30,
        per_round=20,
    )


@pytest.mark.parametrize("size", SIZES)
def test_scoped_read(benchmark: Any, tmp_path: Path, size: str) -> None:
    path = Path(os.path.realpath(tmp_path)) / "sub" / "file.txt"
    path.parent.mkdir()
    path.write_bytes(b"x" * SIZES[size])
    files = ReachFiles(read=[str(path.parent.parent)]).sync
    count = READS_PER_ROUND[size]
    name = str(path)

    def scoped() -> None:
        for _ in range(count):
            files.read_bytes(name)

    def plain() -> None:
        for _ in range(count):
            with open(name, "rb") as file:
                file.read()

    assert len(files.read_bytes(name)) == SIZES[size]
    beside(
        benchmark,
        lambda: scoped,
        {"open": lambda: plain},
        group="scoped read",
        rounds=50,
        per_round=count,
        unit="file",
    )


@pytest.mark.parametrize("level", ["namespaces", "landlock"])
def test_confined_program(benchmark: Any, tmp_path: Path, level: Any) -> None:
    sandbox = CommandSandbox((level,))
    if sandbox.probe().level != level:
        pytest.skip(sandbox.probe().reason)
    folder = os.path.realpath(tmp_path)
    policy = SandboxPolicy(write=[folder])

    def confined() -> None:
        prepared = sandbox.wrap(["true"], policy, directory=folder)
        process = prepared.start(directory=folder)
        assert process.wait() == 0
        process.wait_ended()
        prepared.clean_up()

    def supervised() -> None:
        process = start_supervised(["true"], directory=folder)
        assert process.wait() == 0
        process.wait_ended()

    beside(
        benchmark,
        lambda: confined,
        {
            "unconfined": lambda: lambda: subprocess.run(["true"], cwd=folder, check=True),
            "unconfined, supervised": lambda: supervised,
        },
        group="confined program",
        rounds=30,
        unit="program",
    )


@pytest.mark.parametrize("size", ["10 kB", "1 MB"])
def test_redacting_clean_text(benchmark: Any, size: str) -> None:
    length = {"10 kB": 10_000, "1 MB": 1_000_000}[size]
    text = (LINE * (length // len(LINE) + 1))[:length]
    count = 2_000_000 // length
    assert redact_text(text) is text

    def ours() -> Callable[[], object]:
        made = fresh(text)

        def run() -> None:
            for _ in range(count):
                redact_text(made)

        return run

    def counting() -> Callable[[], object]:
        made = fresh(text).encode()

        def run() -> None:
            for _ in range(count):
                made.count(b"\n")

        return run

    beside(
        benchmark,
        ours,
        {"bytes.count": counting},
        group="redacting clean text",
        rounds=50,
        per_round=count,
        unit="text",
    )
