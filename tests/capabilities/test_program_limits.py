"""Limits on what a program may use, each with what it does without the limit."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from zlib import crc32

import pytest

from ethos_registry import ConfigError
from ethos_registry._processes import supervisor
from ethos_registry.capabilities import (
    CommandPolicy,
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


# All processes of a program together. The trees are bounded: none of them multiplies on.

BRANCHES = """
import os, signal, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
for _ in range(int(sys.argv[1])):
    os.fork()
print("forked", flush=True)
time.sleep(60)
"""
"""2 ** N processes that ignore SIGTERM."""
SLEEPS = "for i in $(seq 300); do sleep {seconds} & done; echo started; wait"
FILL = """
import time
blocks = []
for _ in range(40):
    blocks.append(bytearray(b"x" * 10_000_000))
    time.sleep(0.02)
print("filled", flush=True)
"""
LEVELS = [None, "namespaces", "landlock"]


def is_running(text: str) -> bool:
    """Whether a process has this in its command line; other tests run at the same time."""
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            if text in Path(f"/proc/{pid}/cmdline").read_text():
                return True
        except OSError:
            pass
    return False


@pytest.mark.parametrize("level", LEVELS)
def test_more_processes_than_the_limit_end_all_of_them(tmp_path, level):
    start = time.monotonic()
    seconds = f"61.{crc32(bytes(tmp_path))}"  # of this test alone
    line = SLEEPS.format(seconds=seconds)
    ended = runner(tmp_path, level).run_sync("sh", ["-c", line], limits={"processes": 100})
    assert (ended.exceeded, ended.exit_code) == ("processes", None)
    assert time.monotonic() - start < 20
    assert not is_running(seconds)


@pytest.mark.parametrize("level", LEVELS)
def test_processes_that_ignore_signals_and_branch_end(tmp_path, level):
    run = runner(tmp_path, level).run_sync
    ended = run(PYTHON, ["-I", "-c", BRANCHES, "8", str(tmp_path)], limits={"processes": 60})
    assert ended.exceeded == "processes"
    assert not is_running(str(tmp_path))
    few = run(PYTHON, ["-I", "-c", BRANCHES, "2"], limits={"processes": 60}, timeout_seconds=2)
    assert (few.exceeded, few.timed_out, few.stdout.count("forked")) == ("", True, 4)


@pytest.mark.parametrize("level", LEVELS)
def test_more_memory_than_the_limit_ends_the_program(tmp_path, level):
    run = runner(tmp_path, level).run_sync
    ended = run(PYTHON, ["-I", "-c", FILL], limits={"total_memory_bytes": 150_000_000})
    assert (ended.exceeded, ended.stdout) == ("total_memory_bytes", "")
    assert run(PYTHON, ["-I", "-c", FILL]).stdout == "filled\n"


def test_memory_that_processes_share_counts_once(tmp_path):
    shared = f"import os, time\nblock = bytearray(b'x' * 60_000_000)\n{BRANCHES}"
    run = runner(tmp_path).run_sync
    limits = {"total_memory_bytes": 200_000_000}
    ended = run(PYTHON, ["-I", "-c", shared, "3"], limits=limits, timeout_seconds=2)
    assert (ended.exceeded, ended.timed_out) == ("", True)


def test_a_program_ends_at_the_output_that_the_policy_permits(tmp_path):
    policy = CommandPolicy(output_bytes=100_000)
    runner = ProgramRunner(["sh"], working_dir=str(tmp_path), commands=policy)
    ended = runner.run_sync("sh", ["-c", "yes; echo after > after"])
    assert (ended.exceeded, ended.exit_code) == ("output_bytes", None)
    assert not (tmp_path / "after").exists()
    assert runner.run_sync("sh", ["-c", "yes | head -c 50000"]).ok
