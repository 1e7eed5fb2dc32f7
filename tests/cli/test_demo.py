"""`ethos-registry demo` in folders of every kind: what it prints is what the results say."""

import json
import os
import re
import shutil
import stat
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from cli_program import environment, git, program, run
from started import on_terminal

DEMO_PICTURE = Path(__file__).parents[2] / "docs" / "demo.svg"
POSIX_ONLY = pytest.mark.skipif(sys.platform == "win32", reason="POSIX programs and modes")


def make_dirty_repository(folder: Path) -> None:
    git(folder, "init", "--quiet")
    for number in range(30):
        (folder / f"file_{number:02}.txt").write_text(f"{number}\n")
        git(folder, "add", "--all")
        git(folder, "commit", "--quiet", f"--message=Change {number}: {'x' * 200}")
    (folder / "long.log").write_text("".join(f"line {number}\n" for number in range(5_000)))
    for number in range(30):
        (folder / f"file_{number:02}.txt").write_text("changed\n")
        (folder / f"untracked_{number:02}.txt").write_text("new\n")


def make_outside_git(folder: Path) -> None:
    (folder / "notes.txt").write_text("short\n" * 1_000)
    (folder / "sub").mkdir()
    (folder / "sub" / "longer.txt").write_text("longer line\n" * 1_000)


def make_empty(folder: Path) -> None:
    assert not any(folder.iterdir())


def make_read_only(folder: Path) -> None:
    make_outside_git(folder)
    (folder / "sub").chmod(0o555)
    folder.chmod(0o555)


FOLDERS = {
    "empty": (make_empty, ["ls -la"], ["git status", "git log --max-count=200", "read_file"]),
    "outside_git": (
        make_outside_git,
        ["sub/longer.txt", "ls -la"],
        ["git status", "git log --max-count=200"],
    ),
    "read_only": (
        make_read_only,
        ["sub/longer.txt", "ls -la"],
        ["git status", "git log --max-count=200"],
    ),
    "dirty": (
        make_dirty_repository,
        ["git status", "git log --max-count=200", "long.log", "ls -la"],
        [],
    ),
}


def state(folder: Path) -> dict[str, tuple[int, int]]:
    """Every name below the folder with its length and time of change."""
    found = {}
    for path in sorted(folder.rglob("*")):
        status = path.stat()
        found[str(path)] = (status.st_size, status.st_mtime_ns)
    return found


@pytest.fixture
def folder(tmp_path):
    made = tmp_path / "folder"
    made.mkdir()
    yield made
    for path in [made, *made.rglob("*")]:
        if path.is_dir() and not path.is_symlink():
            path.chmod(stat.S_IRWXU)


def cells_of_table(text: str) -> list[list[str]]:
    """The rows of the table, without its rule: cells are at least two spaces apart."""
    lines = text.split("\n\nBudget:")[0].splitlines()
    return [re.split(r"\s{2,}", line.strip()) for line in lines if line.strip("─ -+")]


def shown_time(seconds: float) -> str:
    return f"{seconds * 1000:.0f} ms" if seconds < 1 else f"{seconds:.2f} s"


def saved_and_cut(call: dict) -> tuple[int, int]:
    """What was reduced with the facts kept; the rest of a long file was cut."""
    if call["name"] == "read_file":
        return 0, call["raw_chars"] - call["sent_chars"]
    return call["raw_chars"] - call["reduced_chars"], call["reduced_chars"] - call["sent_chars"]


def shown(report: dict) -> list[list[str]]:
    """What the table must say, worked out from the figures alone."""

    def row(figures: dict, raw: int, sent: int, saved: int, cut: int) -> list[str]:
        parts = ["-" if raw == 0 else f"{100 * part / raw:.0f} %" for part in (saved, cut)]
        time = shown_time(figures["duration_seconds"])
        return [f"{raw:,}", f"{figures['reduced_chars']:,}", f"{sent:,}", *parts, time]

    rows = [["Call", "Outcome", "Raw", "Reduced", "Sent", "Saved", "Cut", "Time"]]
    sums = [0, 0]
    for call in report["calls"]:
        [argument] = call["args"].values()
        if isinstance(argument, list):
            argument = f"{len(argument)} items"
        outcome = call["outcome"] + (", cut" if call["truncated_from"] is not None else "")
        rows.append(
            [
                f"{call['name']} {argument}",
                outcome,
                *row(call, call["raw_chars"], call["sent_chars"], *saved_and_cut(call)),
            ]
        )
        sums = [sum(pair) for pair in zip(sums, saved_and_cut(call), strict=True)]
    totals = report["totals"]
    rows.append(["Total", *row(totals, totals["raw_chars"], totals["sent_chars"], *sums)])
    return rows


@POSIX_ONLY
@pytest.mark.parametrize("kind", FOLDERS)
def test_demo_works_writes_nothing_and_prints_the_figures_of_its_results(kind, folder, tmp_path):
    make, calls, skipped = FOLDERS[kind]
    make(folder)
    before = state(folder)
    done = run("demo", "--save", tmp_path / "report.json", cwd=folder)
    assert (done.returncode, done.stderr) == (0, "")
    assert state(folder) == before
    report = json.loads((tmp_path / "report.json").read_text())
    *first, last = [next(iter(call["args"].values())) for call in report["calls"]]
    assert first == calls
    assert [item["status"] for item in last] == ["completed", "in_progress", "pending"]
    assert [item["call"] for item in report["skipped"]] == skipped
    assert cells_of_table(done.stdout) == shown(report)
    for item in report["skipped"]:
        assert f"Not called: {item['call']}: {item['why']}\n" in done.stdout


@POSIX_ONLY
def test_every_figure_of_the_json_agrees_with_the_results_beside_it(folder):
    make_dirty_repository(folder)
    done = run("demo", "--json", "--budget", "4000", cwd=folder)
    assert (done.returncode, done.stderr) == (0, "")
    report = json.loads(done.stdout)
    assert report["budget_chars"] == 4_000
    for call in report["calls"]:
        assert call["outcome"] == "ok"
        assert call["result"]["ok"] is True
        assert call["sent_chars"] == len(call["result"]["value"])
        assert call["raw_chars"] >= call["reduced_chars"]
        cut = call["truncated_from"]
        assert cut is None or cut == call["reduced_chars"] > call["sent_chars"]
        assert 0 < call["duration_seconds"] <= report["elapsed_seconds"]
    by_name = {call["name"]: call for call in report["calls"]}
    assert by_name["read_file"]["raw_chars"] == (folder / "long.log").stat().st_size
    assert by_name["read_file"]["truncated_from"] is not None
    for figure, total in report["totals"].items():
        assert total == pytest.approx(sum(call[figure] for call in report["calls"]))
    git_status, git_log = report["calls"][:2]
    assert git_status["reduced_chars"] < git_status["raw_chars"]
    assert git_log["reduced_chars"] < git_log["raw_chars"]


@POSIX_ONLY
def test_the_sums_below_the_table_are_those_of_the_results(folder, tmp_path):
    make_outside_git(folder)
    done = run("demo", "--budget", "2000", "--save", tmp_path / "report.json", cwd=folder)
    report = json.loads((tmp_path / "report.json").read_text())
    raw, sent = report["totals"]["raw_chars"], report["totals"]["sent_chars"]
    assert f"Budget: 2,000 characters, used {sent:,} ({100 * sent / 2000:.0f} %)" in done.stdout
    saved, cut = (sum(saved_and_cut(call)[at] for call in report["calls"]) for at in (0, 1))
    assert saved + cut == raw - sent
    assert f"Saved:  {saved:,} of {raw:,} characters" in done.stdout
    assert f"Cut:    {cut:,} of {raw:,} characters" in done.stdout
    assert f"{shown_time(report['elapsed_seconds'])} side by side" in done.stdout


@pytest.mark.parametrize("width", [40, 75, 76, 200])
def test_every_width_shows_every_figure_whole(width, folder, tmp_path):
    make_outside_git(folder)
    (folder / f"{'w' * 90}.txt").write_text("x" * 123_456)
    done = run("demo", "--save", tmp_path / "report.json", cwd=folder, COLUMNS=str(width))
    assert done.returncode == 0
    assert max(map(len, done.stdout.splitlines())) <= width
    assert "…" not in done.stdout
    report = json.loads((tmp_path / "report.json").read_text())
    words = re.findall(r"\d+(?:,\d{3})*", done.stdout)
    for call in report["calls"]:
        for figure in ("raw_chars", "reduced_chars", "sent_chars"):
            assert f"{call[figure]:,}" in words


def test_a_terminal_without_unicode_gets_escapes(folder):
    (folder / "größe.txt").write_text("ä\n" * 100)
    done = run("demo", cwd=folder, PYTHONIOENCODING="ascii", PYTHONUTF8="0")
    assert (done.returncode, done.stderr) == (0, "")
    assert "gr\\xf6\\xdfe.txt" in done.stdout
    assert done.stdout.isascii()
    told = run("demo", "--json", cwd=folder, PYTHONIOENCODING="ascii", PYTHONUTF8="0")
    assert "größe.txt" in str(json.loads(told.stdout))


@POSIX_ONLY
def test_names_of_files_are_neither_markup_nor_terminal_commands(folder):
    (folder / "[bold red]x \x1b[31m.txt").write_text("a\n" * 100)
    done = run("demo", cwd=folder)
    assert "[bold red]x \\x1b[31m.txt" in done.stdout
    assert "\x1b" not in done.stdout


def test_the_longest_text_file_is_chosen_and_nothing_else(folder):
    (folder / "binary.bin").write_bytes(b"\0" * 50_000)
    (folder / "latin.txt").write_bytes(b"\xff" * 50_000)
    (folder / ".hidden").write_text("x" * 50_000)
    (folder / "over_a_megabyte.txt").write_text("x" * 1_000_001)
    (folder / "node_modules").mkdir()
    (folder / "node_modules" / "large.js").write_text("x" * 50_000)
    for name in ("b.txt", "a.txt"):
        (folder / name).write_text("x" * 5_000)
    if sys.platform != "win32":
        (folder / "link.txt").symlink_to(folder / ".hidden")
        os.mkfifo(folder / "pipe.txt")
    [call] = [
        call
        for call in json.loads(run("demo", "--json", cwd=folder).stdout)["calls"]
        if call["name"] == "read_file"
    ]
    assert call["args"] == {"path": "a.txt"}


def test_a_repository_without_a_commit_has_a_state_and_no_history(folder):
    git(folder, "init", "--quiet")
    done = run("demo", cwd=folder)
    assert (done.returncode, done.stderr) == (0, "")
    assert "terminal git status" in done.stdout
    assert "Not called: git log --max-count=200: there is no commit yet" in done.stdout


@POSIX_ONLY
def test_demo_says_that_git_is_missing_and_exits_1_when_a_call_fails(folder, tmp_path):
    programs = tmp_path / "programs"
    programs.mkdir()
    (programs / "bash").symlink_to(shutil.which("bash") or "/bin/sh")
    done = run("demo", cwd=folder, PATH=str(programs))
    assert (done.returncode, done.stderr) == (1, "")
    assert "Not called: git status: git is not installed" in done.stdout
    assert re.search(r"terminal ls -la +execution_failed +\d", done.stdout)


def test_a_folder_that_is_gone_is_one_error_line(folder):
    if sys.platform == "win32":
        pytest.skip("a folder in use cannot be removed")
    code = (
        "import os, sys; from ethos_registry._cli import main; sys.argv[1:] = ['demo']; "
        "os.rmdir(os.getcwd()); sys.exit(main())"
    )
    done = subprocess.run(
        # -P: the program of a user does not look for modules in the current folder either.
        [sys.executable, "-P", "-c", code],
        cwd=folder,
        capture_output=True,
        text=True,
        env=environment(),
    )
    assert done.returncode == 2
    assert done.stderr == "error: the current folder is gone; change to another\n"


def seen_on_terminal(folder: Path, **variables: str) -> str:
    """What a person at a terminal sees of `demo`, escape codes and all."""
    pieces = []
    variables = environment(TERM="xterm-256color", **variables)
    with on_terminal(program("demo"), folder, variables) as running:
        while piece := running.read():
            pieces.append(piece)
        assert running.wait() == 0
    return b"".join(pieces).decode()


@POSIX_ONLY
def test_a_terminal_shows_live_progress_that_gives_way_to_the_table(folder):
    make_outside_git(folder)
    seen = seen_on_terminal(folder)
    live, _, table = seen.partition("\x1b[?25h")
    assert live.startswith("\x1b[?25l")
    assert "ls -la" in live
    assert "sub/longer.txt" in live
    assert "Total" not in live
    assert "Total" in table
    assert "\x1b[32mok" in table


@POSIX_ONLY
def test_no_color_is_honoured_on_a_terminal(folder):
    make_outside_git(folder)
    assert not re.search(r"\x1b\[(?:[\d;]*;)?[349]\dm", seen_on_terminal(folder, NO_COLOR="1"))


def test_the_picture_is_small_well_formed_and_loads_nothing():
    text = DEMO_PICTURE.read_text()
    assert len(text.encode()) < 60_000
    assert ET.fromstring(text).tag.endswith("svg")
    assert "@font-face" not in text
    assert "url(http" not in text
    assert "git&#160;status" in text
    assert "Budget" in text


def test_the_first_lines_of_a_long_file_are_not_counted_as_saved(folder):
    (folder / "long.txt").write_text("".join(f"line {number}\n" for number in range(5_000)))
    done = run("demo", cwd=folder, COLUMNS="150")
    [row] = [cells for cells in cells_of_table(done.stdout) if cells[0].startswith("read_file")]
    saved, cut = row[5:7]
    assert saved == "0 %"
    assert int(cut.removesuffix(" %")) > 50
