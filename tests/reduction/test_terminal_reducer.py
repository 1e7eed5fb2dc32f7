"""What holds of every output of a terminal, whichever family reduces it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ethos_registry import _core, reduce_text
from texts import Lines, hard_texts, texts_of_lines

TERMINAL = _core.NativeReducer("terminal")
CORPUS = Path(__file__).parents[1] / "corpus"
COMMANDS = sorted(
    {
        str(case["command"])
        for part in ("given", "own", "fresh")
        for case in json.loads((CORPUS / part / "manifest.json").read_text(encoding="utf-8"))
    }
)
commands = st.none() | st.sampled_from(COMMANDS) | hard_texts
exit_codes = st.none() | st.integers(-15, 255)


@given(texts_of_lines(60), commands, exit_codes)
def test_no_text_grows_and_twice_is_once(
    lines: Lines, command: str | None, exit_code: int | None
) -> None:
    text = lines.text
    once = reduce_text(text, command=command, exit_code=exit_code)
    assert len(once) <= len(text)
    assert reduce_text(once, command=command, exit_code=exit_code) == once


def test_output_of_which_no_gap_is_worth_a_mark_stays_without_a_policy() -> None:
    files = "".join(f"\tboth modified:   src/module_{number:02}.py\n" for number in range(40))
    hint = '  (use "git add <file>..." to mark resolution)\n'
    text = f"--\nTests: 15, Errors: 3, Failures: 6.\nUnmerged paths:\n{hint}{files}\n"
    command = "phpunit tests; git merge main; git status"
    assert reduce_text(text, command=command, exit_code=0, policy=None) == text


@given(texts_of_lines(60), st.sampled_from(["1", "-9", "127"]), commands)
def test_the_line_that_says_how_a_command_ended_stays_first(
    lines: Lines, code: str, command: str | None
) -> None:
    first = f"Command exited with code {code}.\n"
    reduced = TERMINAL.reduce(first + lines.text, {"command": command}, False)
    assert reduced.startswith(first)


@pytest.mark.parametrize("end", ["exited with code -15", "was killed by signal 9"])
def test_a_failed_command_is_reduced_too(end: str) -> None:
    text = f"Command {end}.\n" + "a line of output\n" * 2_000
    reduced = TERMINAL.reduce(text, {"command": "make"}, False)
    assert reduced.startswith(f"Command {end}.\na line of output")
    assert "[reduced from 2000 lines / 34000 chars to head+tail]" in reduced


def test_of_a_binary_file_the_lines_are_counted_and_what_follows_stays() -> None:
    library = Path(_core.__file__).read_bytes()[:100_000].decode(errors="replace")
    reduced = reduce_text(f"{library}\nand what follows it is told too\n", command="./both")
    assert " of no text]..." in reduced
    assert "and what follows it is told too" in reduced
    assert reduced.count("\0") < library.count("\0") / 100


@pytest.mark.parametrize("exit_code", [1, None])
def test_a_run_that_is_not_known_to_be_good_is_never_reported_as_all_green(
    exit_code: int | None,
) -> None:
    text = "".join(f"tests/test_a.py::test_{n} PASSED\n" for n in range(200))
    text = f"===== test session starts =====\n{text}INTERNAL: the runner went away\n"
    text += "===== 200 passed in 1.00s =====\n" + "worker 3 did not come back\n"
    reduced = reduce_text(text, command="pytest -v", exit_code=exit_code)
    assert "the runner went away" in reduced
    assert "worker 3 did not come back" in reduced


@pytest.mark.parametrize(
    "command",
    [
        'echo "git status"',
        "cat git status",
        'grep -rn "npm test" docs',
        "cat yarn.lock",
        "yarn build",
    ],
)
def test_words_within_a_command_route_nothing(command: str) -> None:
    words = ["amber", "basalt", "cedar", "delta", "ember", "fjord", "grove", "harbor", "islet"]
    lines = [f"{one} and {other} meet here" for one in words for other in words if one != other]
    reduced = reduce_text("\n".join(lines), command=command, exit_code=0)
    assert all(f"{one} and {words[-1]} meet" in reduced for one in words[:4])


@pytest.mark.parametrize("value", [True, "1", 1.5, {}])
def test_an_exit_code_that_is_none_says_nothing(value: Any) -> None:
    text = "done\n" * 2_000
    assert TERMINAL.reduce(text, None, True, value) == TERMINAL.reduce(text, None, True)


@given(texts_of_lines(60), st.integers(0, 3_000))
def test_a_reduced_text_fits_its_budget(lines: Lines, budget_chars: int) -> None:
    text = lines.text
    reduced = reduce_text(text, command="make", budget_chars=budget_chars)
    assert reduced == text or len(reduced) <= max(budget_chars, 60) or "\n" not in reduced
