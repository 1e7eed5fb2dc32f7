"""The calls that `demo` makes in a folder, and those that it skips there."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from typing import Any

from ethos_registry import ToolCall
from ethos_registry.cli.longest_file import longest_text_file
from ethos_registry.cli.report import Skipped

__all__ = ["Plan", "demo_plan"]

GIT_STATUS = "git status"
GIT_LOG = "git log --max-count=200"
LISTING = "dir" if sys.platform == "win32" else "ls -la"
PLANNED = [
    {"content": "look around", "status": "completed"},
    {"content": "read what matters", "status": "in_progress"},
    {"content": "change it, and run the tests", "status": "pending"},
]
_GIT_TIMEOUT_SECONDS = 10


@dataclass(frozen=True, slots=True)
class Plan:
    """The calls of the turn, and those that do not apply here."""

    calls: tuple[ToolCall, ...]
    skipped: tuple[Skipped, ...]


def demo_plan(folder: str) -> Plan:
    """The first calls of a curious agent: status, history, the longest file, a listing, a plan.

    Calls that cannot succeed here are skipped with the reason.
    """
    commands: list[str] = []
    skipped: list[Skipped] = []
    obstacle = _no_work_tree(folder)
    if obstacle:
        skipped += [{"call": GIT_STATUS, "why": obstacle}, {"call": GIT_LOG, "why": obstacle}]
    else:
        commands.append(GIT_STATUS)
        if _git(folder, "rev-parse", "--quiet", "--verify", "HEAD").returncode == 0:
            commands.append(GIT_LOG)
        else:
            skipped.append({"call": GIT_LOG, "why": "there is no commit yet"})
    requests: list[tuple[str, dict[str, Any]]] = [
        ("terminal", {"command": command}) for command in commands
    ]
    path = longest_text_file(folder)
    if path is None:
        skipped.append({"call": "read_file", "why": "there is no text file in this folder"})
    else:
        requests.append(("read_file", {"path": path}))
    requests.append(("terminal", {"command": LISTING}))
    requests.append(("todo_write", {"items": PLANNED}))
    calls = (ToolCall(f"demo_{number}", *each) for number, each in enumerate(requests, 1))
    return Plan(tuple(calls), tuple(skipped))


def _no_work_tree(folder: str) -> str:
    """Why git cannot be used in the folder; empty if it can."""
    if shutil.which("git") is None:
        return "git is not installed"
    try:
        answer = _git(folder, "rev-parse", "--is-inside-work-tree")
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"git failed: {type(error).__name__}"
    if answer.returncode == 0 and answer.stdout.strip() == "true":
        return ""
    if "dubious ownership" in answer.stderr:
        return "another user owns the repository, so git refuses to read it"
    return "this folder is not in a git work tree"


def _git(folder: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["git", "-C", folder, *arguments],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
        encoding="utf-8",
        errors="replace",
        env=os.environ | {"LC_ALL": "C"},
        timeout=_GIT_TIMEOUT_SECONDS,
    )
