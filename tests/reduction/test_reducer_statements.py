"""What reducers state of an output is true: marks, repeats, terminals, long lines, long lists."""

from __future__ import annotations

import json
import re

import pytest

from ethos_registry import reduce_text
from ethos_registry.reduction import ReductionPolicy
from lie_oracle import lies


def padded(text: str) -> str:
    """`text` behind lines that make it long enough to be cleaned and reduced."""
    return "".join(f"this is line {n} of the preamble\n" for n in range(60)) + text + "\n"


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("value abc\b\bX", "value aXc"),
        ("N\bNA\bAM\bME\bE of it", "NAME of it"),
        ("hello world\rHELLO", "HELLO world"),
        ("load: 10%\rload: 100%\rdone", "done: 100%"),
        ("load: 100%\r\x1b[Kdone with all", "done with all"),
        ("ends with a return\r", "ends with a return"),
        ("漢字 wide\rab", "ab字 wide"),
        ("left\x1b[2Drig", "lerig"),
    ],
)
def test_controls_within_a_line_are_applied_as_a_terminal_does(raw: str, shown: str) -> None:
    assert shown in reduce_text(padded(raw), exit_code=0).split("\n")


def test_lines_that_differ_in_a_value_are_not_counted_as_repeats() -> None:
    rows = "".join(f"register r{n % 16} = {n * 7919}\n" for n in range(2_000))
    reduced = reduce_text(rows, exit_code=0)
    assert len(reduced) <= 16_000
    assert "×" not in reduced


def test_a_gap_is_marked_where_it_is_and_the_marks_add_up() -> None:
    lines = [f"{word} grows in the wood {n}" for n, word in enumerate(["oak", "elm"] * 400)]
    lines[300] = "ERROR: the root of the ash is dry"
    text, policy = "\n".join(lines), ReductionPolicy(4_000)
    reduced = reduce_text(text, command="./grow", exit_code=1, policy=policy).split("\n")
    marks = [int(n) for row in reduced for n in re.findall(r"^\[(\d+) lines? left out\]$", row)]
    account = re.fullmatch(r"\[(\d+) of 800 lines left out\]", reduced[-1])
    assert account
    assert sum(marks) == int(account[1]) > 0
    place = -1
    left_out = 0
    for row in reduced[:-1]:
        if found := re.fullmatch(r"\[(\d+) lines? left out\]", row):
            left_out = int(found[1])
        else:
            here = lines.index(row)
            assert here == place + 1 + left_out
            place, left_out = here, 0


def test_the_gaps_around_a_finding_that_comes_again_are_where_they_are() -> None:
    finding = 'src/oak_{0}.py:9: error: Name "oak_{0}" is not defined  [name-defined]'
    notes = [f"src/oak.py:{n}: note: leaf {n} of the tree" for n in range(7)]
    rows = [row for n in range(40) for row in (finding.format(n), *notes)]
    rows[8:8] = [finding.format(0), *notes]
    text = "\n".join(rows)
    policy = ReductionPolicy(4_000)
    reduced = reduce_text(text, command="mypy src", exit_code=1, policy=policy)
    assert finding.format(0) in reduced
    assert lies(text, reduced) == []


def test_an_unusual_record_of_json_that_was_cut_is_shown_whole() -> None:
    records = [{"id": n, "state": "ok", "note": None} for n in range(300)]
    records[77] = {"id": 77, "state": "failed", "note": "no rain"}
    text = json.dumps(records, indent=2)[:15_000]
    reduced = reduce_text(text, command="curl example.org/jobs", exit_code=0)
    whole = '    "id": 77,\n    "state": "failed",\n    "note": "no rain"\n'
    assert whole in reduced


@pytest.mark.parametrize("command", [None, "cat oak.txt", "python oak.py"])
@pytest.mark.parametrize("length", [1_100, 5_000, 8_000])
def test_one_line_of_a_few_thousand_characters_is_not_cut(command: str | None, length: int) -> None:
    text = ("the oak stands by the sea " * 400)[:length]
    assert reduce_text(text, command=command, exit_code=0) == text


def test_a_cut_line_says_how_to_see_the_rest() -> None:
    text = "\n".join(f"{n} {'leaf ' * 400}" for n in range(90))
    reduced = reduce_text(text, exit_code=0)
    assert "chars]..." in reduced
    assert 'pipe the command into "fold"' in reduced


def test_no_number_of_a_line_is_shown_without_its_text() -> None:
    hits = "".join(
        f"src/part_{n % 7}.py:{n}:    total += price_of(item_{n % 90})\n" for n in range(1, 900)
    )
    reduced = reduce_text(hits, command="grep -rn price_of src", exit_code=0)
    numbered = [row for row in reduced.split("\n") if re.match(r"(src/\S+:)?\d+", row)]
    assert numbered
    assert all("price_of" in row for row in numbered)


def test_a_hundred_thousand_line_feeds_are_reduced() -> None:
    assert reduce_text("\n" * 100_000) == "[100000 of 100000 lines left out]"


def test_a_status_of_a_hundred_thousand_files_is_cut_when_no_budget_is_given() -> None:
    status = "".join(f" M src/part_{n % 97}/file_{n}.py\n" for n in range(100_000))
    reduced = reduce_text(status, command="git status --short", exit_code=0)
    assert len(reduced) <= 80_000
    assert reduced.startswith(" M src/part_0/file_0.py\n")
    assert re.search(r"\n\[(\d+) of 100000 lines left out\]$", reduced)
