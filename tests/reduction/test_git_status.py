"""git status: every path with its state survives, and nothing is said that git did not say."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ethos_registry import _core
from git_repository import STATES, Repository, start

DATA = Path(__file__).parents[1] / "data" / "git_status"
RECORDED = json.loads((DATA / "manifest.json").read_text(encoding="utf-8"))
TERMINAL = _core.NativeReducer("terminal")
LABEL_WIDTHS = {
    "Changes to be committed:": 12,
    "Changes not staged for commit:": 12,
    "Unmerged paths:": 17,
    "Untracked files:": 0,
    "Ignored files:": 0,
}
LABELS = {
    12: ["modified:", "new file:", "deleted:", "renamed:", "copied:", "typechange:"],
    17: [
        "both modified:",
        "both added:",
        "both deleted:",
        "added by us:",
        "added by them:",
        "deleted by us:",
        "deleted by them:",
    ],
}
MARK = re.compile(r"\[\d+ (lines? left out|of \d+ lines left out)\]")
HINTED_ENDS = ("no changes added to commit", "nothing added to commit but untracked files present")


def reduce(text: str, command: str = "git status", ok: bool = True) -> str:
    return TERMINAL.reduce(text, {"command": command}, ok)


def facts(text: str) -> tuple[set[tuple[str, str, str]], list[str]]:
    """What a status says: `(section, label, path)` of each entry, and every other line."""
    entries: set[tuple[str, str, str]] = set()
    prose: list[str] = []
    section = ""
    for line in text.splitlines():
        if section and line.startswith("\t"):
            width = LABEL_WIDTHS[section]
            entries.add((section, line[1 : width + 1].strip(), line[width + 1 :]))
        elif line.strip() and not line.startswith('  (use "git ') and not MARK.fullmatch(line):
            section = line if line in LABEL_WIDTHS else ""
            prose.append(next((end for end in HINTED_ENDS if line.startswith(end)), line))
    return entries, prose


@pytest.fixture(scope="module")
def repositories(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Repository]:
    made = {}
    for name, build in STATES.items():
        made[name] = start(tmp_path_factory.mktemp(name) / "outer")
        build(made[name])
    return made


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("options", [[], ["--ignored"], ["-uall"], ["--no-renames"]])
def test_every_path_and_state_of_a_real_repository_survives(
    state: str, options: list[str], repositories: dict[str, Repository]
) -> None:
    text = repositories[state].git("status", *options)
    reduced = reduce(text, "git status " + " ".join(options))
    if len(text) < 1_024:
        assert reduced is text
        return
    assert len(reduced) < len(text)
    assert facts(reduced) == facts(text)
    assert reduce(reduced) == reduced
    assert ("clean" in reduced) == ("clean" in text)
    operations = [line for line in text.splitlines() if "--abort" in line or "--continue" in line]
    assert all(line in reduced.splitlines() for line in operations)


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("options", [["-s"], ["-sb"], ["--porcelain"], ["--porcelain=v2"], ["-z"]])
def test_the_short_formats_of_a_real_repository_stay(
    state: str, options: list[str], repositories: dict[str, Repository]
) -> None:
    text = repositories[state].git("status", *options)
    assert reduce(text, "git status " + " ".join(options)) is text
    trimmed = text.strip()
    assert reduce(trimmed, "git status " + " ".join(options)) is trimmed


def test_a_diff_after_the_status_stays(repositories: dict[str, Repository]) -> None:
    text = repositories["dirty"].git("status", "-v")
    reduced = reduce(text, "git status -v")
    assert len(reduced) < len(text)
    assert text[text.index("diff --git") :].rstrip("\n") in reduced


def test_a_failed_command_keeps_its_first_line(repositories: dict[str, Repository]) -> None:
    status = repositories["dirty"].git("status")
    line = "Command exited with code 3.\n"
    assert reduce(line + status, "git status", ok=False) == line + reduce(status)
    fatal = "Command exited with code 128.\nfatal: not a git repository\n"
    assert reduce(fatal, "git status", ok=False) is fatal


@pytest.mark.parametrize(
    "command",
    [
        "cd x && git status",
        "A=b sudo timeout 5 /usr/bin/git -C d --no-pager status; true",
        "(git status) 2>&1",
        "git status | cat",
    ],
)
def test_git_status_is_found_where_it_runs(
    command: str, repositories: dict[str, Repository]
) -> None:
    text = repositories["dirty"].git("status")
    assert reduce(text, command) == reduce(text) != text


def test_a_text_of_another_shape_gets_no_state() -> None:
    said = ["Auf Branch main", "Änderungen, die nicht zum Commit vorgemerkt sind"]
    reduced = reduce("\n".join([said[0], *said[1:] * 400]))
    assert all(line in reduced for line in said)
    assert "clean" not in reduced


@pytest.mark.parametrize(
    "case", json.loads((DATA / "manifest.json").read_text()), ids=lambda c: c["file"]
)
def test_every_fact_of_the_recorded_outputs_survives(case: dict[str, object]) -> None:
    with (DATA / str(case["file"])).open(encoding="utf-8", newline="") as file:
        text = file.read()
    reduced = reduce(text, str(case["command"]))
    assert [fact for fact in case["must_keep"] if fact not in reduced] == []
    assert len(reduced) <= len(text)


paths = st.text(
    st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp"]), min_size=1, max_size=30
).filter(lambda path: path.strip() and path.splitlines() == [path])
states = st.tuples(st.sampled_from(" MADRCTU?!"), st.sampled_from(" MADRCTU?!m")).map("".join)


@given(st.lists(st.tuples(states.filter(str.strip), paths), min_size=1), st.booleans())
def test_every_porcelain_entry_survives(entries: list[tuple[str, str]], trimmed: bool) -> None:
    text = "".join(f"{state} {path}\n" for state, path in entries)
    text *= 20_000 // len(text) + 1
    text = text.lstrip() if trimmed else text
    assert reduce(text, "git status --porcelain") is text


@st.composite
def long_entries(draw: st.DrawFn) -> tuple[str, str, str]:
    section = draw(st.sampled_from(sorted(LABEL_WIDTHS)))
    label = draw(st.sampled_from(LABELS.get(LABEL_WIDTHS[section], [""])))
    return (
        section,
        label,
        draw(paths | st.sampled_from([" x", "modified:   y", "deleted:", "(use"])),
    )


@given(st.lists(long_entries(), min_size=1, max_size=30))
def test_every_long_entry_survives(entries: list[tuple[str, str, str]]) -> None:
    text = "On branch main\n"
    for section in LABEL_WIDTHS:
        here = [entry for entry in entries if entry[0] == section]
        if here:
            text += f'\n{section}\n  (use "git add <file>..." to do something)\n'
        for _, label, path in here:
            text += f"\t{label:<{LABEL_WIDTHS[section]}}{path}\n"
    text += "\n" * 1_024
    reduced = reduce(text)
    assert facts(reduced) == facts(text)
    assert reduce(reduced) == reduced


lines = st.sampled_from(
    ["On branch x", "Changes to be committed:", "Untracked files:", "modified:", "\tmodified:   a",
     "\ta", "  (use \"git add <file>...\" to x)", "", " M a", "## b", "diff --git a b", "prose",
     "HEAD detached at 1", "no changes added to commit (use \"git add\")", "\r", "1 .M N... a"]
)  # fmt: skip


@given(st.lists(lines, min_size=1, max_size=40), st.booleans())
def test_nothing_is_said_that_git_did_not_say(parts: list[str], closed: bool) -> None:
    text = "\n".join(["On branch x", *parts, "x" * 1_024]) + "\n" * closed
    reduced = reduce(text)
    reported = {line for line in reduced.split("\n") if not MARK.fullmatch(line)}
    assert reported <= {*text.split("\n"), ""}
    assert len(reduced) <= len(text)
    assert reduce(reduced) == reduced


def test_a_lost_state_would_be_seen(repositories: dict[str, Repository]) -> None:
    text = repositories["dirty"].git("status")
    broken = reduce(text).replace("\tdeleted: ", "\tmodified:", 1)
    assert facts(broken) != facts(text)
