"""`ethos-registry run` and `recall`: output reduced, exit code kept, all of it kept aside."""

import json
import os
import signal
import stat
import subprocess
import time
from pathlib import Path

import pytest

from cli_program import assert_one_error_line, environment, program, run
from ethos_registry.cli.heard import Heard

LOUD = "import sys\nfor n in range(2000): print('compiled unit', n)\n"


def run_kept(folder: Path, *arguments: object, stdin: str = ""):
    return run(*arguments, cwd=folder, stdin=stdin, ETHOS_REGISTRY_OUTPUTS=str(folder / "outputs"))


def run_script(folder: Path, script: str) -> subprocess.CompletedProcess[str]:
    """The command line in a process that `script` has changed before it called `main`."""
    (folder / "changed.py").write_text(script)
    return subprocess.run(
        [*program()[:1], "changed.py"],
        cwd=folder,
        env=environment(ETHOS_REGISTRY_OUTPUTS=str(folder / "outputs")),
        capture_output=True,
        text=True,
        timeout=50,
        check=False,
    )


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
    for before in ((), ("--",)):
        done = run_kept(tmp_path, "run", *before, "printf", "%s\n", "--help")
        assert done.stdout == "--help\n"


def test_a_script_without_its_interpreter_is_not_told_as_missing(tmp_path: Path) -> None:
    script = tmp_path / "script"
    script.write_text("#!/no/such/interpreter\n")
    script.chmod(0o755)
    done = run_kept(tmp_path, "run", "--", "./script")
    assert done.returncode == 126
    assert "cannot run './script': the program that its first line names" in done.stderr


def test_programs_in_the_background_are_not_waited_for(tmp_path: Path) -> None:
    started = time.monotonic()
    done = run_kept(tmp_path, "run", "--", "sh", "-c", "sleep 60 & echo started; exit 3")
    assert time.monotonic() - started < 30
    assert (done.returncode, done.stdout) == (3, "started\n")


@pytest.mark.parametrize("told", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT])
def test_a_run_that_is_told_to_end_shows_and_keeps_what_there_is(
    tmp_path: Path, told: signal.Signals
) -> None:
    line = "echo one leaf; touch begun; exec sleep 60"
    running = subprocess.Popen(
        program("run", "--", "sh", "-c", line),
        cwd=tmp_path,
        env=environment(ETHOS_REGISTRY_OUTPUTS=str(tmp_path / "outputs")),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    while not (tmp_path / "begun").exists():
        time.sleep(0.02)
    running.send_signal(told)
    out, errors = running.communicate(timeout=50)
    assert (running.returncode, out) == (128 + told, "one leaf\n")
    [account] = errors.splitlines()
    assert account.startswith(f"exit {128 + told}, ")
    assert run_kept(tmp_path, "recall", kept_id(account)).stdout == "one leaf\n"


def test_a_success_that_was_told_to_end_is_none(tmp_path: Path) -> None:
    line = "trap 'echo left; exit 0' TERM; touch begun; while :; do sleep 0.05; done"
    running = subprocess.Popen(
        program("run", "--", "sh", "-c", line),
        cwd=tmp_path,
        env=environment(ETHOS_REGISTRY_OUTPUTS=str(tmp_path / "outputs")),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    while not (tmp_path / "begun").exists():
        time.sleep(0.02)
    running.terminate()
    assert running.communicate(timeout=50)[0] == "left\n"
    assert running.returncode == 143


def test_a_signal_that_comes_while_the_program_is_started_is_not_lost(tmp_path: Path) -> None:
    done = run_script(
        tmp_path,
        "import os, signal, subprocess, sys\n"
        "from ethos_registry.cli import main\n"
        "class Early(subprocess.Popen):\n"
        "    def __init__(self, *arguments, **keywords):\n"
        "        super().__init__(*arguments, **keywords)\n"
        "        os.kill(os.getpid(), signal.SIGTERM)\n"
        "subprocess.Popen = Early\n"
        "sys.argv = ['ethos-registry', 'run', '--', 'sleep', '60']\n"
        "sys.exit(main())\n",
    )
    assert done.returncode == 143
    assert done.stderr.startswith("exit 143, ")


@pytest.mark.skipif(os.name != "posix", reason="there are no such descriptors here")
def test_files_that_a_shell_opened_for_the_command_are_open_there(tmp_path: Path) -> None:
    (tmp_path / "leaves").write_text("one leaf\n")
    with open(tmp_path / "leaves", "rb") as leaves:
        descriptor = leaves.fileno()
        done = subprocess.run(
            program("run", "--", "sh", "-c", f"cat /dev/fd/{descriptor}"),
            cwd=tmp_path,
            env=environment(ETHOS_REGISTRY_OUTPUTS=str(tmp_path / "outputs")),
            pass_fds=[descriptor],
            capture_output=True,
            text=True,
            check=False,
        )
    assert (done.returncode, done.stdout) == (0, "one leaf\n")


def test_an_exit_code_of_130_is_no_interrupt(tmp_path: Path) -> None:
    done = run_kept(tmp_path, "run", "--", "sh", "-c", "exit 130")
    assert done.returncode == 130
    assert done.stderr.startswith("exit 130, ")
    assert done.stderr.count("\n") == 1


def test_variables_before_a_command_are_told_how_they_are_set(tmp_path: Path) -> None:
    done = run_kept(tmp_path, "run", "--", "LEAF=two words", "make", "all")
    assert done.returncode == 127
    assert done.stderr == (
        "error: command not found: 'LEAF=two words'; "
        "variables are set by: run -- env 'LEAF=two words' make all\n"
    )


def test_what_is_too_much_to_hold_is_not_told_as_kept(tmp_path: Path) -> None:
    done = run_script(
        tmp_path,
        "import sys\n"
        "from ethos_registry.cli import heard, main\n"
        "heard.Heard.__init__.__defaults__ = (1_000,)\n"
        "sys.argv = ['ethos-registry', 'run', '--', 'seq', '20000']\n"
        "sys.exit(main())\n",
    )
    recalled = run_kept(tmp_path, "recall", kept_id(done.stderr)).stdout
    mark = next(line for line in recalled.splitlines() if line.startswith("[... "))
    omitted = int(mark.split()[1])
    assert omitted > 0
    assert f", all but {omitted:,} bytes of it: ethos-registry recall " in done.stderr


def test_an_output_without_end_is_held_by_its_ends() -> None:
    heard = Heard(kept_bytes=10)
    for piece in (b"0123", b"456789ab", b"cd" * 50, b"yz"):
        heard.add(piece)
    output = heard.output()
    assert output.startswith(b"0123456789\n[... ")
    assert output.endswith(b" bytes omitted ...]\n" + b"cd" * 50 + b"yz")
    assert heard.total_bytes == 114
    assert b"[... 2 bytes omitted ...]" in output
    whole = Heard(kept_bytes=100)
    whole.add(b"all of it")
    assert whole.output() == b"all of it"


def test_files_that_others_wrote_into_the_folder_do_no_harm(tmp_path: Path) -> None:
    folder = tmp_path / "outputs"
    folder.mkdir()
    beside = tmp_path / "deed.out"
    beside.write_text("not ours")
    facts = {"id": "../deed", "command": "c", "exit_code": 0, "started": 1.0, "size_bytes": 8}
    sound = facts | {"id": "0123abcd"}
    wrong = ({"command": 4}, {"exit_code": "0"}, {"started": "y"}, {"started": 1e300})
    files = [facts, [], {}, *(sound | change for change in wrong)]
    for number, content in enumerate(files):
        (folder / f"{number}.json").write_text(json.dumps(content))
    (folder / "0123abcd.json").write_text(json.dumps(sound | {"size_bytes": None}))
    done = run_kept(tmp_path, "run", "--", "sh", "-c", "echo leaf; exit 5")
    assert (done.returncode, done.stdout) == (5, "leaf\n")
    assert "sh -c" in run_kept(tmp_path, "recall").stdout
    assert beside.read_text() == "not ours"


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no full disk here")
def test_where_the_text_cannot_be_written_the_way_to_the_output_is_told(tmp_path: Path) -> None:
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            program("run", "--", "echo", "leaf"),
            cwd=tmp_path,
            env=environment(ETHOS_REGISTRY_OUTPUTS=str(tmp_path / "outputs")),
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    account, error = done.stderr.splitlines()
    assert error == "error: No space left on device"
    assert run_kept(tmp_path, "recall", kept_id(account)).stdout == "leaf\n"


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


def test_an_id_that_is_gone_is_told_with_the_folder_where_it_would_be(tmp_path: Path) -> None:
    gone = run_kept(tmp_path, "recall", "0123abcd")
    assert_one_error_line(gone, f"no output 0123abcd in {str(tmp_path / 'outputs')!r}")
    assert_one_error_line(
        run_kept(tmp_path, "recall", "../x"), "not an id", "`ethos-registry recall`"
    )


def test_a_folder_that_cannot_be_read_is_not_told_as_empty(tmp_path: Path) -> None:
    (tmp_path / "outputs").write_text("a file")
    assert_one_error_line(run_kept(tmp_path, "recall"), "Not a directory", "outputs")


def kept_by(folder: Path, number: int, started: float, size_bytes: int = 1) -> Path:
    facts = {"id": f"{number:08x}", "command": "c", "exit_code": 0, "started": started}
    (folder / f"{number:08x}.json").write_text(json.dumps(facts | {"size_bytes": size_bytes}))
    text = folder / f"{number:08x}.out"
    text.write_text("x")
    return text


def test_old_outputs_make_room_by_number_age_and_size(tmp_path: Path) -> None:
    folder = tmp_path / "outputs"
    folder.mkdir()
    now = time.time()
    young = [kept_by(folder, number, now - number) for number in range(198)]
    big = [kept_by(folder, 300 + n, now - 1_000 - n, 600 * 1024 * 1024) for n in range(2)]
    old = kept_by(folder, 400, now - 8 * 24 * 3600)
    part, fresh_part = folder / "0000aaaa.out", folder / "0000bbbb.out"
    part.write_text("cut")
    os.utime(part, (1, 1))
    fresh_part.write_text("being written")
    cut_facts = folder / "0000cccc.json"
    for path in (cut_facts, folder / "0000cccc.out"):
        path.write_text("{")
        os.utime(path, (1, 1))
    assert run_kept(tmp_path, "run", "--", "echo", "leaf").returncode == 0
    there = {path.name for path in folder.glob("*.out")}
    assert {path.name for path in young} < there
    assert [path.name in there for path in (*big, old, part, fresh_part)] == [
        *(True, False),
        *(False, False, True),
    ]
    assert len(there) == 198 + 1 + 1 + 1
    assert not cut_facts.exists()
    assert run_kept(tmp_path, "run", "--", "echo", "twig").returncode == 0
    assert run_kept(tmp_path, "run", "--", "echo", "root").returncode == 0
    assert len(list(folder.glob("*.json"))) == 200


def test_a_folder_that_cannot_be_written_loses_no_output(tmp_path: Path) -> None:
    (tmp_path / "outputs").write_text("a file")
    done = run_kept(tmp_path, "run", "--", "echo", "still here")
    assert (done.returncode, done.stdout) == (0, "still here\n")
    assert "warning: the whole output is not kept: File exists: " in done.stderr
    assert done.stderr.splitlines()[0].endswith("; ETHOS_REGISTRY_OUTPUTS may name another folder")


def test_a_part_of_an_output_is_not_left_behind(tmp_path: Path) -> None:
    done = run_script(
        tmp_path,
        "import resource, signal, sys\n"
        "from ethos_registry.cli import main\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))\n"
        "sys.argv = ['ethos-registry', 'run', '--', 'seq', '20000']\n"
        "sys.exit(main())\n",
    )
    assert done.returncode == 0
    assert done.stdout.endswith("of 20000 lines left out]\n")
    assert "warning: the whole output is not kept: File too large" in done.stderr
    assert os.listdir(tmp_path / "outputs") == []
