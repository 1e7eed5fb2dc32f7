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

from attack_place import Place, attack_place, victim_of
from capabilities import test_protected_paths as git
from capabilities.test_scoped_files import snapshot
from command_attacks import ATTACKS, missing_for
from ethos_registry.capabilities import CommandSandbox
from ethos_registry.capabilities._files import SyncReachFiles
from scoped_attacks import READS, SECRET, WRITES, make_tree

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
        files = SyncReachFiles([str(tree.inside)], working_dir=str(tree.inside))
        try:
            guarded = SECRET in files.read(path)
        except OSError:
            guarded = False
        found[name] = [unguarded, guarded]
        shutil.rmtree(base)
    return found


def file_writes() -> dict[str, list[bool]]:
    """For each attack whether it changed something outside: without the guard, with it."""
    found: dict[str, list[bool]] = {}
    for name, attack in WRITES.items():
        for is_guarded in (False, True):
            base = new_folder()
            tree = make_tree(base)
            path = attack(tree)
            before = snapshot(tree.outside), snapshot(tree.base / "inside2"), os.listdir(base)
            files = SyncReachFiles(write=[str(tree.inside)], working_dir=str(tree.inside))
            with contextlib.suppress(OSError):
                if is_guarded:
                    files.write(path, "mine now")
                else:
                    (tree.inside / path).write_text("mine now")
            after = snapshot(tree.outside), snapshot(tree.base / "inside2"), os.listdir(base)
            found.setdefault(name, []).append(before != after)
            shutil.rmtree(base)
    return found


def command_attacks(level: str | None) -> dict[str, Any]:
    """What attacks from inside a command did, and whether an ordinary command works.

    Without a level the commands are not confined.
    """
    sandbox = CommandSandbox((level,) if level else ())  # type: ignore[arg-type]
    support = sandbox.probe()
    if level is not None and support.level != level:
        return {"missing": support.reason}
    done: list[str] = []
    not_tried: dict[str, str] = {}
    works = None
    for name, attack in ATTACKS.items():
        if level == "landlock" and attack.metadata:
            continue
        if problem := missing_for(attack):
            not_tried[name] = problem
            continue
        with attack_place() as place:

            def run(script: str, place: Place = place) -> tuple[int, str]:
                return place.run(sandbox, script) if level else place.run_unconfined(script)

            if works is None:
                works = list(run("echo one > a && cat a"))
            with victim_of(place):
                if place.succeeds(attack, run, 0.05 if level else 10):
                    done.append(name)
    tried = [name for name in ATTACKS if name not in not_tried]
    return {"works": works, "succeeded": done, "tried": tried, "not tried": not_tried}


def git_attacks(level: str) -> dict[str, Any]:
    """Which attacks on a Git folder run code afterwards."""
    support = CommandSandbox((level,)).probe()  # type: ignore[arg-type]
    if support.level != level:
        return {"missing": support.reason}
    done = []
    for name in git.ATTACKS:
        with attack_place() as place:
            place.run_unconfined(git.NEW_REPOSITORY)
            git.run(place, level, git.attack(place, name))
            place.run_unconfined(git.USER)
            if (place.outside / "ran").exists() or (place.outside / "attributes").exists():
                done.append(name)
    with attack_place() as place:
        place.run_unconfined(git.NEW_REPOSITORY)
        works = git.run(place, level, git.EVERYDAY)
    return {"works": works, "succeeded": done}


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
        "commands": {level: command_attacks(level) for level in ("namespaces", "landlock")},
        "unconfined": command_attacks(None),
        "git": {level: git_attacks(level) for level in ("namespaces", "landlock")},
    }
    print(json.dumps(report))


if __name__ == "__main__":
    main()
