"""`ethos-registry run` and `recall`: output reduced, exit code kept, all of it kept aside."""

import stat
from pathlib import Path

from cli_program import assert_one_error_line, run

LOUD = "import sys\nfor n in range(2000): print('compiled unit', n)\n"


def run_kept(folder: Path, *arguments: object, stdin: str = ""):
    return run(*arguments, cwd=folder, stdin=stdin, ETHOS_REGISTRY_OUTPUTS=str(folder / "outputs"))


def kept_id(stderr: str) -> str:
    return stderr.strip().rsplit(" ", 1)[1]


def test_the_output_is_reduced_and_the_whole_of_it_is_recalled(tmp_path: Path) -> None:
    done = run_kept(tmp_path, "run", "--", "python3", "-c", LOUD)
    assert done.returncode == 0
    assert 0 < len(done.stdout) < 4_000
    assert "recall" in done.stderr
    recalled = run_kept(tmp_path, "recall", kept_id(done.stderr))
    assert recalled.stdout == "".join(f"compiled unit {n}\n" for n in range(2000))


def test_the_exit_code_of_the_command_is_kept(tmp_path: Path) -> None:
    done = run_kept(tmp_path, "run", "--", "sh", "-c", "echo out; echo err >&2; exit 7")
    assert (done.returncode, done.stdout) == (7, "out\nerr\n")
    assert done.stderr.startswith("exit 7, 8 -> 8 characters, all of it: ")


def test_a_death_by_signal_is_told_as_a_shell_tells_it(tmp_path: Path) -> None:
    done = run_kept(tmp_path, "run", "--", "sh", "-c", "kill -9 $$")
    assert done.returncode == 137


def test_a_command_that_is_not_there_is_127(tmp_path: Path) -> None:
    done = run_kept(tmp_path, "run", "--", "no-such-program")
    assert (done.returncode, done.stderr) == (127, "error: command not found: 'no-such-program'\n")
    assert not (tmp_path / "outputs").exists()


def test_a_line_for_a_shell_is_told_how_it_runs(tmp_path: Path) -> None:
    done = run_kept(tmp_path, "run", "--", "echo a | wc -l")
    assert done.returncode == 127
    assert done.stderr == (
        "error: command not found: 'echo a | wc -l'; "
        "a line of a shell runs as: run -- sh -c 'echo a | wc -l'\n"
    )


def test_options_of_the_command_are_its_own(tmp_path: Path) -> None:
    done = run_kept(tmp_path, "run", "--", "printf", "%s\n", "--help")
    assert done.stdout == "--help\n"


def test_kept_outputs_are_for_their_owner_only(tmp_path: Path) -> None:
    run_kept(tmp_path, "run", "--", "echo", "secret")
    files = sorted((tmp_path / "outputs").iterdir())
    assert [path.suffix for path in files] == [".json", ".out"]
    assert [stat.S_IMODE(path.stat().st_mode) for path in files] == [0o600, 0o600]


def test_bytes_come_back_as_they_were(tmp_path: Path) -> None:
    done = run_kept(tmp_path, "run", "--", "printf", r"\377\001\n")
    whole = (tmp_path / "outputs" / f"{kept_id(done.stderr)}.out").read_bytes()
    assert whole == b"\xff\x01\n"


def test_without_an_id_what_is_kept_is_listed(tmp_path: Path) -> None:
    assert "Nothing is kept" in run_kept(tmp_path, "recall").stdout
    for word in ("first", "second"):
        run_kept(tmp_path, "run", "--", "echo", word)
    table = run_kept(tmp_path, "recall").stdout
    assert table.index("echo second") < table.index("echo first")


def test_an_id_that_is_gone_is_told(tmp_path: Path) -> None:
    assert_one_error_line(run_kept(tmp_path, "recall", "0123abcd"), "no output 0123abcd")
    assert_one_error_line(run_kept(tmp_path, "recall", "../x"), "not an id")


def test_a_folder_that_cannot_be_written_loses_no_output(tmp_path: Path) -> None:
    (tmp_path / "outputs").write_text("a file")
    done = run_kept(tmp_path, "run", "--", "echo", "still here")
    assert (done.returncode, done.stdout) == (0, "still here\n")
    assert "warning: the whole output is not kept" in done.stderr
