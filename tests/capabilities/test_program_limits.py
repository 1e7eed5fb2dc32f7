"""Limits on what a program may use, each with what it does without the limit."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from ethos_registry import ConfigError
from ethos_registry._processes import supervisor
from ethos_registry.capabilities import (
    CommandSandbox,
    ProgramRunner,
    SandboxPolicy,
    start_supervised,
)

pytestmark = [
    pytest.mark.privileges,
    pytest.mark.skipif(sys.platform != "linux", reason="resource limits need Linux"),
]

PYTHON = os.path.realpath(sys.executable)


def runner(folder: Path, level: str | None = None) -> ProgramRunner:
    sandbox = policy = None
    if level is not None:
        sandbox = CommandSandbox((level,))  # type: ignore[arg-type]
        if sandbox.probe().level != level:
            pytest.skip(f"no {level} here: {sandbox.probe().reason}")
        policy = SandboxPolicy(write=[str(folder)])
    return ProgramRunner(["sh", PYTHON], working_dir=str(folder), sandbox=sandbox, policy=policy)


ALLOCATE = "block = bytearray(900_000_000); print(len(block))"
OPEN = "files = [open('/dev/null') for _ in range(200)]; print(len(files))"
WRITE = "head -c 2000000 /dev/zero > file; wc -c < file"


@pytest.mark.parametrize("level", [None, "namespaces", "landlock"])
def test_a_program_gets_no_more_than_its_limits(tmp_path, level):
    run = runner(tmp_path, level).run_sync
    limited = run(PYTHON, ["-I", "-c", ALLOCATE], limits={"memory_bytes": 600_000_000})
    assert "MemoryError" in limited.stderr
    assert run(PYTHON, ["-I", "-c", ALLOCATE]).stdout == "900000000\n"

    limited = run(PYTHON, ["-I", "-c", OPEN], limits={"open_files": 64})
    assert "Too many open files" in limited.stderr
    assert run(PYTHON, ["-I", "-c", OPEN]).stdout == "200\n"

    limited = run("sh", ["-c", WRITE], limits={"file_size_bytes": 100_000})
    assert (tmp_path / "file").stat().st_size == 100_000
    assert not limited.stdout.startswith("2000000")
    assert run("sh", ["-c", WRITE]).stdout.strip() == "2000000"


def test_the_processor_time_of_a_program_ends(tmp_path):
    ended = runner(tmp_path).run_sync(
        "sh", ["-c", "while :; do :; done"], limits={"cpu_seconds": 1}, timeout_seconds=50
    )
    assert (ended.signal, ended.exit_code, ended.timed_out) == ("SIGXCPU", None, False)


async def test_a_spawned_program_is_limited_too(tmp_path):
    process = runner(tmp_path).spawn("sh", ["-c", "ulimit -n; ulimit -c"], limits={"open_files": 9})
    assert process.stdout is not None
    with process.stdout as pipe:
        assert pipe.read() == b"9\n0\n"
    process.wait_ended(20)
    for unread in (process.stdin, process.stderr):
        assert unread is not None
        unread.close()
    ended = await runner(tmp_path).run("sh", ["-c", "ulimit -n"], limits={"open_files": 9})
    assert ended.stdout == "9\n"


@pytest.mark.parametrize("limits", [{"cpu": 1}, {"cpu_seconds": 0}, {"open_files": "9"}])
def test_a_limit_that_makes_no_sense_is_refused(limits):
    with pytest.raises(ConfigError, match="limits"):
        start_supervised(["true"], limits=limits)


def test_limits_that_cannot_be_set_are_refused_not_ignored(monkeypatch):
    monkeypatch.setattr(supervisor, "_is_unavailable", True)
    with pytest.raises(OSError, match="need the supervisor"):
        start_supervised(["true"], limits={"open_files": 9})
