"""`ethos-registry demo`: a real turn on the current folder."""

from __future__ import annotations

import contextlib
import itertools
import os
import shutil
import subprocess
import sys
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Annotated, Any

import typer
from rich.console import Console, ConsoleOptions, RenderResult
from rich.live import Live
from rich.spinner import Spinner
from rich.table import Table
from rich.text import Text

from ethos_registry import CallResult, ToolCall, ToolContext, ToolRegistry, default_reducers
from ethos_registry._cli.call_report import (
    RenderedReport,
    Skipped,
    TurnReport,
    call_title,
    milliseconds,
    turn_report,
)
from ethos_registry._cli.console import json_text, visible, write_json, write_output, write_rendered
from ethos_registry._cli.options import AsJson, positive_number
from ethos_registry.capabilities import standard_backends
from ethos_registry.tools import ready_tools, todo_tools
from ethos_registry.types import DEFAULT_BUDGET_CHARS, ToolProgressEvent

__all__ = ["LiveCalls", "Plan", "demo", "demo_plan", "live_calls", "longest_text_file", "run_demo"]


# The calls of a running batch, drawn on standard error.


class LiveCalls:
    """The calls of a batch and their state; safe from threads.

    Progress events name a tool and no call, so the newest one is shown below all calls.
    """

    def __init__(self, calls: Sequence[ToolCall]) -> None:
        self._calls = calls
        self._results: dict[str, CallResult] = {}
        self._message = ""
        self._spinner: Spinner | None = None

    def on_result(self, result: CallResult) -> None:
        """Note that a call has ended."""
        self._results[result.tool_call_id] = result

    def on_event(self, event: ToolProgressEvent) -> None:
        """Note a tool's message to the user."""
        if event.visible_to("user"):
            last_line = event.message.rstrip().rpartition("\n")[2]
            self._message = visible(f"{event.tool_name}: {last_line}", 200)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """One line a call: whether it runs or how it ended, its title, its time."""
        if self._spinner is None:
            self._spinner = Spinner("line" if options.ascii_only else "dots")
        grid = Table.grid(padding=(0, 1))
        grid.add_column(width=6, no_wrap=True)
        grid.add_column(no_wrap=True, overflow="crop")
        grid.add_column(justify="right", no_wrap=True)
        for call in self._calls:
            title = call_title(call.name, call.args)
            result = self._results.get(call.tool_call_id)
            if result is None:
                grid.add_row(self._spinner, title, "")
                continue
            mark = Text("ok", style="green") if result.ok else Text("failed", style="red")
            grid.add_row(mark, title, milliseconds(result.duration_seconds))
        yield grid
        yield Text(self._message, style="dim", no_wrap=True, overflow="crop")


@contextlib.contextmanager
def live_calls(calls: Sequence[ToolCall]) -> Iterator[LiveCalls]:
    """Draw the calls while the block runs, and remove the drawing at its end.

    Draws nothing if standard error is not a terminal that can move its cursor.
    """
    shown = LiveCalls(calls)
    console = Console(stderr=True, markup=False, highlight=False, emoji=False)
    if sys.stderr is None or not sys.stderr.isatty() or console.is_dumb_terminal:
        yield shown
        return
    with Live(shown, console=console, transient=True, redirect_stdout=False, redirect_stderr=False):
        yield shown


# The longest text file near by: the one that `demo` reads.

MAX_BYTES = 1_000_000
MAX_ENTRIES = 5_000
"""Entries examined in all, so that a home folder takes no longer than a project."""
MAX_DEPTH = 6
MAX_CANDIDATES = 20
"""Files opened to check that they are text, the longest first."""
_SKIPPED_FOLDERS = frozenset({"__pycache__", "build", "dist", "node_modules", "target", "venv"})


def longest_text_file(root: str) -> str | None:
    """The path below `root`, with `/`, of the longest UTF-8 file of at most a megabyte.

    Nearer folders are examined first; hidden names, links, caches and builds never. The same
    tree gives the same file: equal lengths are ordered by path. `None` if there is none.
    """
    sizes = sorted((-size, path) for path, size in _files(root))
    for _, path in sizes[:MAX_CANDIDATES]:
        if _is_text(os.path.join(root, path)):
            return path.replace(os.sep, "/")
    return None


def _files(root: str) -> Iterator[tuple[str, int]]:
    """Paths below the root, and sizes, of files that may be text."""
    folders: deque[tuple[str, int]] = deque([("", 0)])
    left = MAX_ENTRIES
    while folders and left > 0:
        folder, depth = folders.popleft()
        entries = _entries(os.path.join(root, folder), left)
        left -= len(entries)
        for entry in entries:
            path = os.path.join(folder, entry.name)
            try:
                if entry.is_dir(follow_symlinks=False):
                    if depth < MAX_DEPTH and entry.name not in _SKIPPED_FOLDERS:
                        folders.append((path, depth + 1))
                elif entry.is_file(follow_symlinks=False):
                    size = entry.stat(follow_symlinks=False).st_size
                    if 0 < size <= MAX_BYTES:
                        yield path, size
            except OSError:
                continue


def _entries(folder: str, limit: int) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            found = list(itertools.islice(entries, limit))
    except OSError:
        return []
    shown = (entry for entry in found if not entry.name.startswith("."))
    return sorted(shown, key=lambda entry: entry.name)


def _is_text(path: str) -> bool:
    try:
        path.encode()
        with open(path, "rb") as file:
            data = file.read(MAX_BYTES)
        data.decode()
    except (OSError, ValueError):
        return False
    return b"\0" not in data


# The calls that `demo` makes in a folder, and those that it skips there.

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


def run_demo(budget_chars: int) -> TurnReport:
    """Run the demo's calls in parallel with the ready tools, and report on them.

    No file is written, not even git's index; the todo list is kept in memory.
    """
    folder = os.getcwd()
    os.environ["GIT_OPTIONAL_LOCKS"] = "0"
    plan = demo_plan(folder)
    registry = ToolRegistry(
        [*ready_tools(), *todo_tools()],
        capability_backends=standard_backends(key_values=":memory:"),
        reducer_registry=default_reducers(),
    )
    with live_calls(plan.calls) as live:
        context = ToolContext(
            working_dir=folder, result_budget_chars=budget_chars, emit=live.on_event
        )
        started = perf_counter()
        results = registry.execute_parallel_sync(plan.calls, context, on_result=live.on_result)
        elapsed = perf_counter() - started
    return turn_report(
        plan.calls,
        results,
        budget_chars=budget_chars,
        elapsed_seconds=elapsed,
        skipped=plan.skipped,
    )


# `ethos-registry demo`: a real turn on this folder.

_SOME_CALL_FAILED = 1


def demo(
    budget: Annotated[
        int,
        typer.Option(
            parser=positive_number,
            metavar="N",
            help="Longest sum of all results, in characters.",
        ),
    ] = DEFAULT_BUDGET_CHARS,
    json: AsJson = False,
    save: Annotated[
        str | None, typer.Option(metavar="FILE", help="Write the JSON of this run to a file too.")
    ] = None,
) -> None:
    """Run a real turn on this folder: git status, git log, a long file, a folder, a todo list."""
    report = run_demo(budget)
    if save is not None:
        write_output(save, json_text(report))
    if json:
        write_json(report)
    else:
        write_rendered(RenderedReport(report))
    if any(call["outcome"] != "ok" for call in report["calls"]):
        raise typer.Exit(_SOME_CALL_FAILED)
