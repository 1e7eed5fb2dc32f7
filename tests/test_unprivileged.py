"""The attacks on files and from inside commands, tried by a user without privileges.

The other tests run them as the present user; as root these run them as `nobody` too.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from usage_tools import missing

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs Linux")

PROGRAM = Path(__file__).with_name("unprivileged_attacks.py")


@pytest.fixture(scope="module")
def report() -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, PROGRAM], capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_the_attacks_ran_without_privileges(report):
    assert report["user"] != 0


def test_no_read_leaves_the_reach(report):
    assert len(report["reads"]) > 30
    assert [name for name, (_, guarded) in report["reads"].items() if guarded] == []


def test_the_reads_succeed_without_the_guard(report):
    assert [name for name, (unguarded, _) in report["reads"].items() if not unguarded] == []


def test_no_write_leaves_the_reach(report):
    assert len(report["writes"]) > 10
    assert [name for name, (_, guarded) in report["writes"].items() if guarded] == []


def test_the_writes_succeed_without_the_guard(report):
    unguarded = [name for name, (succeeded, _) in report["writes"].items() if not succeeded]
    assert [name for name in unguarded if name != "a file in the root directory"] == []


def test_the_attacks_from_commands_succeed_without_a_sandbox(report, capsys):
    found = report["unconfined"]
    assert len(found["tried"]) > 50
    assert sorted(found["succeeded"]) == sorted(found["tried"])
    with capsys.disabled():
        for name, problem in found["not tried"].items():
            print(f"\nnot run as user {report['user']}: the attack `{name}`: {problem}", end="")


@pytest.mark.parametrize("level", ["namespaces", "landlock"])
def test_no_command_gets_out(report, level):
    found = report["commands"][level]
    if "missing" in found:
        missing(level, f"no {level} as user {report['user']}: {found['missing']}")
    assert found["works"] == [0, "one\n"]
    assert len(found["tried"]) > 50
    assert found["succeeded"] == []


@pytest.mark.parametrize("level", ["namespaces", "landlock"])
def test_no_attack_on_git_runs_code_afterwards(report, level):
    found = report["git"][level]
    if "missing" in found:
        pytest.skip(found["missing"])
    status, _, restored = found["works"]
    assert (status, restored) == (0, [])
    assert found["succeeded"] == []
