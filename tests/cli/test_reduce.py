"""`ethos-registry reduce`: a filter from what a command printed to what an agent needs."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from cli_program import assert_one_error_line, environment, program, run
from ethos_registry import reduce_text
from started import PATIENCE_SECONDS, started

LOG = "".join(f"compiled unit {n}\n" for n in range(2_000)) + "error: unit 7 has no door\n"


def test_standard_input_is_reduced_to_standard_output(tmp_path: Path) -> None:
    done = run("reduce", "--command", "make", "--exit-code", 2, cwd=tmp_path, stdin=LOG)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == reduce_text(LOG, command="make", exit_code=2)
    assert "error: unit 7 has no door" in done.stdout
    assert len(done.stdout) <= 16_000 < len(LOG)


def test_a_dash_is_standard_input(tmp_path: Path) -> None:
    assert run("reduce", "-", cwd=tmp_path, stdin="typed\n").stdout == "typed\n"


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such terminals here")
def test_at_a_terminal_the_last_line_ends(tmp_path: Path) -> None:
    ours, theirs = os.openpty()
    with started(
        program("reduce"), cwd=tmp_path, stdin=subprocess.PIPE, stdout=theirs, env=environment()
    ) as running:
        os.close(theirs)
        running.communicate(b"no end", timeout=PATIENCE_SECONDS)
    assert os.read(ours, 100) == b"no end\r\n"
    os.close(ours)


def test_a_short_text_passes_through(tmp_path: Path) -> None:
    assert run("reduce", cwd=tmp_path, stdin="a\n\x1b[1mb").stdout == "a\n\x1b[1mb"


def test_bytes_that_are_no_text_are_replaced(tmp_path: Path) -> None:
    assert run("reduce", cwd=tmp_path, stdin=b"a\xffb").stdout == "a\ufffdb"


def test_more_than_is_held_is_reduced_to_its_ends(tmp_path: Path) -> None:
    (tmp_path / "small.py").write_text(
        "import sys\n"
        "from ethos_registry._cli import console, main\n"
        "console.CapturedOutput.__init__.__defaults__ = (4_000,)\n"
        "sys.argv = ['ethos-registry', 'reduce', '--command', 'make', '--exit-code', '2']\n"
        "sys.exit(main())\n"
    )
    done = subprocess.run(
        [*program()[:1], "small.py"],
        cwd=tmp_path,
        input=LOG * 50,
        capture_output=True,
        env=environment(),
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "bytes omitted ...]" in done.stdout
    assert "error: unit 7 has no door" in done.stdout


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such terminals here")
def test_one_end_of_input_typed_at_a_terminal_is_enough(tmp_path: Path) -> None:
    ours, theirs = os.openpty()
    with started(
        program("reduce"), cwd=tmp_path, stdin=theirs, stdout=subprocess.PIPE, env=environment()
    ) as running:
        os.close(theirs)
        os.write(ours, b"typed\n\x04")
        out, _ = running.communicate(timeout=PATIENCE_SECONDS)
    os.close(ours)
    assert (running.returncode, out) == (0, b"typed\n")


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (("out put.log",), ("standard input: ethos-registry reduce < 'out put.log'",)),
        (("a.log", "b.log"), ("standard input: cat a.log b.log | ethos-registry reduce",)),
        (("--exit-code", "abc"), ("'--exit-code': 'abc' is not a whole number",)),
        (("--exit-code", 2**63), (f"'--exit-code': {2**63} is not from -",)),
        (("--budget", 0), ("'--budget': 0 is not from 1",)),
        (("--no-such",), ("--no-such",)),
    ],
)
def test_wrong_words_are_reported_with_their_value(
    tmp_path: Path, arguments: tuple[object, ...], parts: tuple[str, ...]
) -> None:
    assert_one_error_line(run("reduce", *arguments, cwd=tmp_path, stdin="x"), *parts)


def test_the_help_names_every_strategy_and_cuts_no_summary(tmp_path: Path) -> None:
    words = " ".join(run("reduce", "--help", cwd=tmp_path, COLUMNS="80").stdout.split())
    for tool in ("terminal", "read_file", "kanban_list", "head_tail", "generic"):
        assert tool in words
    assert "..." not in run("--help", cwd=tmp_path, COLUMNS="80").stdout.partition("Commands:")[2]


def test_a_budget_is_kept(tmp_path: Path) -> None:
    text = "".join(f"{'abcdefgh'[n % 8] * (n % 50 + 9)} {n}\n" for n in range(3_000))
    done = run("reduce", "--budget", 500, cwd=tmp_path, stdin=text)
    assert len(done.stdout) <= 500


@pytest.mark.parametrize("tool", ["head_tail", "generic", "read_file"])
def test_another_strategy_may_be_named(tmp_path: Path, tool: str) -> None:
    done = run("reduce", "--tool", tool, cwd=tmp_path, stdin=LOG)
    assert done.stdout == reduce_text(LOG, tool_name=tool)


def test_a_tool_without_a_reducer_is_reported(tmp_path: Path) -> None:
    done = run("reduce", "--tool", "weather", cwd=tmp_path, stdin="x")
    assert_one_error_line(done, "'weather'", "terminal")
