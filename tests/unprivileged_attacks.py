"""The attacks of the file and command tests, tried by a user without privileges.

Run as root it becomes `nobody` first. Prints a JSON object: the user, and what each attack did.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

import test_command_sandbox as commands
from ethos_registry import _core
from ethos_registry.capabilities.files import SyncReachFiles
from ethos_registry.capabilities.sandbox import landlock
from ethos_registry.capabilities.sandbox.command_sandbox import CommandSandbox
from scoped_attacks import READS, SECRET, WRITES, make_tree
from test_scoped_files import snapshot

NOBODY = 65_534
PR_SET_DUMPABLE = 4


def become_nobody() -> None:
    """Give up root for good; `/proc/self` stays this process's own."""
    os.setgroups([])
    os.setresgid(NOBODY, NOBODY, NOBODY)
    os.setresuid(NOBODY, NOBODY, NOBODY)
    ctypes.CDLL(None).prctl(PR_SET_DUMPABLE, 1, 0, 0, 0)
    os.environ["HOME"] = "/nonexistent"


def readable_interpreter() -> str:
    """An interpreter that this user can start: the launcher of Landlock needs one."""
    found = [sys.executable, "/usr/bin/python3", "/usr/local/bin/python3"]
    return next((path for path in found if os.access(path, os.X_OK)), sys.executable)


def new_folder() -> Path:
    return Path(tempfile.mkdtemp(dir="/var/tmp")).resolve()


def file_reads() -> dict[str, list[bool]]:
    """For each attack whether it reads the secret: without the guard, with it."""
    found = {}
    for name, attack in READS.items():
        base = new_folder()
        tree = make_tree(base)
        path = attack(tree)
        try:
            unguarded = SECRET in (tree.inside / path).read_text()
        except OSError:
            unguarded = False
        files = SyncReachFiles(write=[str(tree.inside)], working_dir=str(tree.inside))
        try:
            guarded = SECRET in files.read(path)
        except OSError:
            guarded = False
        found[name] = [unguarded, guarded]
        shutil.rmtree(base)
    return found


def file_writes() -> dict[str, bool]:
    """For each attack whether it changed something outside."""
    found = {}
    for name, attack in WRITES.items():
        base = new_folder()
        tree = make_tree(base)
        path = attack(tree)
        before = snapshot(tree.outside), snapshot(tree.base / "inside2"), os.listdir(base)
        files = SyncReachFiles(write=[str(tree.inside)], working_dir=str(tree.inside))
        with contextlib.suppress(OSError):
            files.write(path, "mine now")
        after = snapshot(tree.outside), snapshot(tree.base / "inside2"), os.listdir(base)
        found[name] = before != after
        shutil.rmtree(base)
    return found


def command_attacks(level: str) -> dict[str, Any]:
    """What attacks from inside a confined command did, and whether an ordinary command works."""
    sandbox = CommandSandbox((level,))  # type: ignore[arg-type]
    support = sandbox.probe()
    if support.level != level:
        return {"missing": support.reason}
    needed = [landlock._LAUNCHER, str(_core.__file__)] if level == "landlock" else []
    for path in needed:
        if not os.access(path, os.R_OK):
            return {"missing": f"this user cannot read {path}"}
    base = new_folder()
    place = commands.Place(base)
    works = place.run(sandbox, "echo one > a && cat a")
    done: list[str] = []
    for name, script in {**commands.READS, **commands.WRITES, **commands.METADATA}.items():
        if level == "landlock" and name in commands.METADATA:
            continue
        if sys.executable in script and not os.access(sys.executable, os.X_OK):
            continue
        before = place.state()
        _, output = place.run(sandbox, commands.filled(script, place))
        if commands.SECRET in output or place.state() != before:
            done.append(name)
    shutil.rmtree(base, ignore_errors=True)
    return {"works": list(works), "succeeded": done}


def main() -> None:
    os.chdir("/")
    if os.geteuid() == 0:
        become_nobody()
    interpreter, sys.executable = sys.executable, readable_interpreter()
    report = {
        "user": os.geteuid(),
        "interpreter": [interpreter, sys.executable],
        "reads": file_reads(),
        "writes": file_writes(),
        "commands": {level: command_attacks(level) for level in commands.LEVELS},
    }
    print(json.dumps(report))


if __name__ == "__main__":
    main()
