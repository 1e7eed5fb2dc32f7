"""`ethos-registry run` and `recall`: output reduced, exit code kept, the whole output saved."""

import contextlib
import json
import os
import shlex
import shutil
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from cli_program import assert_one_error_line, environment, program, run
from ethos_registry._cli.console import CapturedOutput
from ethos_registry._cli.run import LiveOutput, redacted_command
from started import PATIENCE_SECONDS, on_terminal, started, wait_for_file, wait_until

linux = pytest.mark.skipif(sys.platform != "linux", reason="a supervisor needs Linux")
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
        timeout=PATIENCE_SECONDS,
        check=False,
    )


@contextlib.contextmanager
def started_run(folder: Path, *argv: str, **options: Any) -> Iterator[subprocess.Popen[str]]:
    """`run` with a command that has made the file `begun`."""
    with started(
        program("run", "--", *argv),
        cwd=folder,
        env=environment(ETHOS_REGISTRY_OUTPUTS=str(folder / "outputs")),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **options,
    ) as running:
        wait_for_file(folder / "begun", running)
        yield running


def kept_id(stderr: str) -> str:
    return stderr.strip().rsplit(" ", 1)[1]


def newest(folder: Path) -> bytes:
    """The content of the output that was saved last."""
    paths = sorted((folder / "outputs").glob("*.out"), key=lambda path: path.stat().st_mtime_ns)
    return paths[-1].read_bytes()


def test_the_output_is_reduced_and_the_whole_of_it_is_recalled(tmp_path: Path) -> None:
    done = run_kept(tmp_path, "run", "--", "python3", "-c", LOUD)
    assert done.returncode == 0
    assert 0 < len(done.stdout) <= 16_001
    assert "recall" in done.stderr
    recalled = run_kept(tmp_path, "recall", kept_id(done.stderr))
    assert recalled.stdout == "".join(f"compiled unit {n}\n" for n in range(2000))


def test_the_exit_code_of_the_command_is_kept(tmp_path: Path) -> None:
    done = run_kept(tmp_path, "run", "--", "sh", "-c", "echo out; echo err >&2; exit 7")
    assert (done.returncode, done.stdout) == (7, "out\nerr\n")
    assert done.stderr == "exit 7, 8 -> 8 characters\n"


def test_a_death_by_signal_is_reported_as_by_a_shell(tmp_path: Path) -> None:
    done = run_kept(tmp_path, "run", "--", "sh", "-c", "kill -9 $$")
    assert done.returncode == 137


def test_a_command_that_is_not_there_is_127(tmp_path: Path) -> None:
    done = run_kept(tmp_path, "run", "--", "no-such-program")
    assert (done.returncode, done.stderr) == (127, "error: command not found: 'no-such-program'\n")
    assert not (tmp_path / "outputs").exists()


def test_a_line_for_a_shell_gets_a_hint(tmp_path: Path) -> None:
    done = run_kept(tmp_path, "run", "--", "echo a | wc -l")
    assert done.returncode == 127
    assert done.stderr == (
        "error: command not found: 'echo a | wc -l'; "
        "run a shell line with: run --shell 'echo a | wc -l'\n"
    )


def test_options_of_the_command_are_its_own(tmp_path: Path) -> None:
    for before in ((), ("--",)):
        done = run_kept(tmp_path, "run", *before, "printf", "%s\n", "--help")
        assert done.stdout == "--help\n"


def test_a_script_without_its_interpreter_is_not_reported_as_missing(tmp_path: Path) -> None:
    script = tmp_path / "script"
    script.write_text("#!/no/such/interpreter\n")
    script.chmod(0o755)
    done = run_kept(tmp_path, "run", "--", "./script")
    assert done.returncode == 126
    assert "cannot run './script': the interpreter in its first line" in done.stderr


def test_programs_in_the_background_are_not_waited_for(tmp_path: Path) -> None:
    begun = time.monotonic()
    done = run_kept(tmp_path, "run", "--", "sh", "-c", "sleep 600 & echo started; exit 3")
    assert time.monotonic() - begun < 200
    assert (done.returncode, done.stdout) == (3, "started\n")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT])
def test_a_run_that_is_asked_to_end_shows_and_saves_what_there_is(
    tmp_path: Path, number: signal.Signals
) -> None:
    line = "echo one leaf; : > begun; exec sleep 999"
    with started_run(tmp_path, "sh", "-c", line, start_new_session=True) as running:
        running.send_signal(number)
        out, errors = running.communicate(timeout=PATIENCE_SECONDS)
    assert (running.returncode, out) == (128 + number, "one leaf\n")
    [account] = errors.splitlines()
    assert account.startswith(f"exit {128 + number}, ")
    assert newest(tmp_path) == b"one leaf\n"


def test_a_success_that_was_asked_to_end_is_no_success(tmp_path: Path) -> None:
    line = "trap 'echo left; exit 0' TERM; : > begun; while :; do sleep 0.05; done"
    with started_run(tmp_path, "sh", "-c", line) as running:
        running.terminate()
        assert running.communicate(timeout=PATIENCE_SECONDS)[0] == "left\n"
    assert running.returncode == 143


def test_a_signal_that_comes_while_the_program_is_started_is_not_lost(tmp_path: Path) -> None:
    done = run_script(
        tmp_path,
        "import os, signal, subprocess, sys\n"
        "from ethos_registry._cli import main\n"
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


def test_variables_before_a_command_get_a_hint(tmp_path: Path) -> None:
    done = run_kept(tmp_path, "run", "--", "LEAF=two words", "make", "all")
    assert done.returncode == 127
    assert done.stderr == (
        "error: command not found: 'LEAF=two words'; "
        "set variables with: run -- env 'LEAF=two words' make all\n"
    )


def test_what_is_too_much_to_hold_is_not_reported_as_saved(tmp_path: Path) -> None:
    done = run_script(
        tmp_path,
        "import sys\n"
        "from ethos_registry._cli import console, main\n"
        "console.CapturedOutput.__init__.__defaults__ = (1_000,)\n"
        "sys.argv = ['ethos-registry', 'run', '--', 'seq', '20000']\n"
        "sys.exit(main())\n",
    )
    recalled = run_kept(tmp_path, "recall", kept_id(done.stderr)).stdout
    mark = next(line for line in recalled.splitlines() if line.startswith("[... "))
    omitted = int(mark.split()[1])
    assert omitted > 0
    assert f", all but {omitted:,} bytes of it: ethos-registry recall " in done.stderr


def test_an_output_without_end_is_held_by_its_ends() -> None:
    captured = CapturedOutput(max_part_bytes=10)
    for piece in (b"0123", b"456789ab", b"cd" * 50, b"yz"):
        captured.add(piece)
    output = captured.output()
    assert output.startswith(b"0123456789\n[... ")
    assert output.endswith(b" bytes omitted ...]\n" + b"cd" * 50 + b"yz")
    assert captured.total_bytes == 114
    assert b"[... 2 bytes omitted ...]" in output
    whole = CapturedOutput(max_part_bytes=100)
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
def test_where_the_text_cannot_be_written_the_output_is_saved(tmp_path: Path) -> None:
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
    _, error = done.stderr.splitlines()
    assert error == "error: No space left on device"
    assert newest(tmp_path) == b"leaf\n"


def test_saved_outputs_are_for_their_owner_only(tmp_path: Path) -> None:
    run_kept(tmp_path, "run", "--", "echo", "secret")
    files = sorted((tmp_path / "outputs").iterdir())
    assert [path.suffix for path in files] == [".json", ".out"]
    assert [stat.S_IMODE(path.stat().st_mode) for path in files] == [0o600, 0o600]


def test_bytes_come_back_as_they_were(tmp_path: Path) -> None:
    run_kept(tmp_path, "run", "--", "printf", r"\377\001\n")
    assert newest(tmp_path) == b"\xff\x01\n"


@pytest.mark.slow
def test_without_an_id_the_saved_outputs_are_listed(tmp_path: Path) -> None:
    assert "No outputs are saved" in run_kept(tmp_path, "recall").stdout
    for word in ("first", "second"):
        run_kept(tmp_path, "run", "--", "echo", word)
    table = run_kept(tmp_path, "recall").stdout
    assert table.index("echo second") < table.index("echo first")


def test_a_missing_id_has_its_own_exit_code_and_names_the_folder(tmp_path: Path) -> None:
    gone = run_kept(tmp_path, "recall", "0123abcd")
    assert gone.returncode == 3, "not the code for bad usage"
    assert gone.stdout == ""
    assert gone.stderr.startswith(f"error: no output 0123abcd in {str(tmp_path / 'outputs')!r}")
    assert_one_error_line(
        run_kept(tmp_path, "recall", "../x"), "not an id", "`ethos-registry recall`"
    )


def test_a_folder_that_cannot_be_read_is_not_reported_as_empty(tmp_path: Path) -> None:
    (tmp_path / "outputs").write_text("a file")
    assert_one_error_line(run_kept(tmp_path, "recall"), "Not a directory", "outputs")


def kept_by(folder: Path, number: int, started: float, size_bytes: int = 1) -> Path:
    facts = {"id": f"{number:08x}", "command": "c", "exit_code": 0, "started": started}
    (folder / f"{number:08x}.json").write_text(json.dumps(facts | {"size_bytes": size_bytes}))
    text = folder / f"{number:08x}.out"
    text.write_text("x")
    return text


@pytest.mark.slow
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
    assert "warning: the whole output is not saved: File exists: " in done.stderr
    assert done.stderr.splitlines()[0].endswith("; ETHOS_REGISTRY_OUTPUTS may name another folder")


def test_a_part_of_an_output_is_not_left_behind(tmp_path: Path) -> None:
    done = run_script(
        tmp_path,
        "import resource, signal, sys\n"
        "from ethos_registry._cli import main\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))\n"
        "sys.argv = ['ethos-registry', 'run', '--', 'seq', '20000']\n"
        "sys.exit(main())\n",
    )
    assert done.returncode == 0
    assert done.stdout.endswith("of 20000 lines left out]\n")
    assert "warning: the whole output is not saved: File too large" in done.stderr
    assert os.listdir(tmp_path / "outputs") == []


GRANDCHILD = "(trap '' TERM HUP INT QUIT; exec ./sleeper 999) & : > begun; wait"
"""A line whose background process ignores all signals that ask it to end."""


def sleepers(folder: Path) -> list[psutil.Process]:
    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error, OSError):
            # Not `process.exe()`: psutil keeps the answer, also for what it was before an `exec`.
            if os.readlink(f"/proc/{process.pid}/exe").startswith(str(folder)):
                found.append(process)
    return found


@pytest.fixture
def sleeper_folder(tmp_path: Path) -> Iterator[Path]:
    """A folder with the program `sleeper`, which does not outlive the test."""
    shutil.copy(shutil.which("sleep") or "/bin/sleep", tmp_path / "sleeper")
    yield tmp_path
    for process in sleepers(tmp_path):
        with contextlib.suppress(psutil.Error):
            process.kill()


@linux
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGKILL])
def test_no_grandchild_survives_a_signal_to_the_pid_of_run(
    sleeper_folder: Path, number: signal.Signals
) -> None:
    with started_run(sleeper_folder, "bash", "-c", GRANDCHILD) as running:
        # The shell makes the file before its background process has become the sleeper.
        wait_until(lambda: sleepers(sleeper_folder))
        running.send_signal(number)
        running.communicate(timeout=PATIENCE_SECONDS)
    assert running.returncode == (-9 if number == signal.SIGKILL else 128 + number)
    wait_until(lambda: sleepers(sleeper_folder) == [])


@linux
def test_sigint_to_the_pid_alone_ends_a_command_that_ignores_it(sleeper_folder: Path) -> None:
    line = "trap '' INT; : > begun; ./sleeper 999; echo no"
    with started_run(sleeper_folder, "sh", "-c", line) as running:
        running.send_signal(signal.SIGINT)
        out, _ = running.communicate(timeout=PATIENCE_SECONDS)
    assert (out, sleepers(sleeper_folder)) == ("", [])
    assert running.returncode in (128 + signal.SIGINT, 128 + signal.SIGKILL)


@linux
def test_ctrl_c_at_a_terminal_reaches_the_command_once_and_leaves_it_time(tmp_path: Path) -> None:
    line = (
        "import signal, time, sys\n"
        "seen = []\n"
        "signal.signal(signal.SIGINT, lambda *_: seen.append(1))\n"
        "open('begun', 'w').close()\n"
        "end = time.monotonic() + 300\n"
        "while not seen and time.monotonic() < end: time.sleep(0.05)\n"
        "time.sleep(6)\n"
        "print('interrupts:', len(seen))\n"
    )
    argv = program("run", "--no-save", "--", sys.executable, "-c", line)
    drawn = bytearray()
    with on_terminal(argv, tmp_path, environment()) as running:
        wait_until(lambda: (tmp_path / "begun").exists() or running.poll() is not None)
        os.write(running.terminal, b"\x03")
        while piece := running.read():
            drawn += piece
        status = running.wait()
    assert b"interrupts: 1" in drawn
    assert status == 130


@linux
def test_the_last_lines_are_shown_dimmed_while_the_command_runs(tmp_path: Path) -> None:
    line = "seq 30; until [ -e seen ]; do sleep 0.05; done; echo done"
    argv = program("run", "--no-save", "--", "sh", "-c", line)
    variables = environment(TERM="xterm-256color", LINES="40")
    drawn = bytearray()
    with on_terminal(argv, tmp_path, variables) as running:
        while piece := running.read():
            drawn += piece
            if b"\x1b[2m30" in drawn:
                (tmp_path / "seen").touch()
        running.wait()
    assert b"\x1b[2m30" in drawn
    assert b"running, 81 bytes" in drawn
    assert drawn.rstrip().endswith(b"characters")


def test_live_lines_hold_no_terminal_commands_and_the_newest_state_of_a_bar() -> None:
    live = LiveOutput(clock=lambda: 0.0)
    live.add(b"\x1b]0;title\x07\x1b[31mred\x1b[0m\n10 %\r50 %\r90 %\r\n\n")
    live.add(b"x" * 10_000 + b"\xff")
    lines = live.lines()
    assert lines[0].endswith("red")
    assert lines[1] == "90 %"
    assert len(lines[2]) <= 2_000
    assert all(line.isprintable() for line in lines)


SECRETS = {
    "an option": ["deploy", "--token", "s3cr3t"],
    "an option with =": ["deploy", "--api-key=s3cr3t"],
    "a camel case option": ["java", "-DdbPassword=s3cr3t"],
    "a variable": ["env", "AWS_SECRET_ACCESS_KEY=s3cr3t", "ls"],
    "a header": ["curl", "-H", "X-Api-Key: s3cr3t"],
    "a bearer": ["curl", "-H", "Authorization: Bearer s3cr3t"],
    "a login": ["curl", "-u", "ada:s3cr3t", "https://example.org"],
    "a URL": ["git", "clone", "https://ada:s3cr3t@example.org/x.git"],
    "a password of mysql": ["mysql", "-ps3cr3t"],
    "a shell line": ["sh", "-c", "DB_PASSWORD='s3cr3t' ./run --token s3cr3t | cat"],
    "a quoted shell line": ["sh", "-c", "curl -H 'Authorization: token s3cr3t' x"],
    "a token by its shape": ["echo", "ghp_" + "s3cr3t" * 6],
    "a cloud key": ["echo", "x", "AKIAS3CR3TS3CR3TS3CR"],
    "a web token": ["echo", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhIn0.s3cr3ts3cr3ts3cr3ts3cr3t"],
}


@pytest.mark.parametrize("kind", SECRETS)
def test_secrets_on_command_lines_are_redacted(kind: str) -> None:
    text = redacted_command(SECRETS[kind])
    assert "s3cr3t" not in text.lower(), text
    assert "[redacted" in text
    assert text.startswith(SECRETS[kind][0])


@pytest.mark.parametrize(
    "argv",
    [
        ["git", "commit", "--author", "Ada", "-m", "Fix the token parser"],
        ["pytest", "-k", "password", "tests/test_token.py"],
        ["grep", "-rn", "api_key", "src"],
        ["tool", "--token-file", "here", "--max-tokens", "5", "--keypath=x"],
        ["ssh", "-p", "22", "ada@example.org"],
    ],
)
def test_command_lines_without_secrets_stay_as_they_are(argv: list[str]) -> None:
    assert redacted_command(argv) == shlex.join(argv)


def test_the_saved_json_holds_no_secret(tmp_path: Path) -> None:
    run_kept(tmp_path, "run", "--", "echo", "--password", "s3cr3t")
    [facts] = (tmp_path / "outputs").glob("*.json")
    assert "s3cr3t" not in facts.read_text()
    assert json.loads(facts.read_text())["command"] == "echo --password '[redacted]'"


def test_the_saved_output_holds_no_credential_and_keeps_every_other_byte(tmp_path: Path) -> None:
    line = "printf '\\377\\000 https://ada:s3cr3t-word@example.org ghp_%s end'"
    run_kept(tmp_path, "run", "--", "sh", "-c", f"{line} {'a1B2' * 9}")
    [saved] = (tmp_path / "outputs").glob("*.out")
    assert saved.read_bytes() == (
        b"\xff\0 https://ada:[redacted: password]@example.org [redacted: github token] end"
    )


@pytest.mark.slow
def test_recall_follows_no_link_out_of_the_store(tmp_path: Path) -> None:
    run_kept(tmp_path, "run", "--", "echo", "leaf")
    [content] = (tmp_path / "outputs").glob("*.out")
    secret = tmp_path / "secret"
    secret.write_text("not ours")
    content.unlink()
    content.symlink_to(secret)
    done = run_kept(tmp_path, "recall", content.stem)
    assert (done.returncode, done.stdout) == (3, "")
    facts = content.with_suffix(".json")
    away = tmp_path / "facts"
    away.write_bytes(facts.read_bytes())
    facts.unlink()
    facts.symlink_to(away)
    assert "echo leaf" not in run_kept(tmp_path, "recall").stdout


def test_recall_shows_no_output_that_expired_and_removes_it(tmp_path: Path) -> None:
    folder = tmp_path / "outputs"
    folder.mkdir(mode=0o700)
    old = kept_by(folder, 7, time.time() - 8 * 24 * 3600)
    done = run_kept(tmp_path, "recall", "00000007")
    assert (done.returncode, done.stdout) == (3, "")
    assert not old.exists()
    kept_by(folder, 8, time.time() - 8 * 24 * 3600)
    assert "No outputs" in run_kept(tmp_path, "recall").stdout


@pytest.mark.skipif(os.name != "posix", reason="there are no such modes here")
def test_a_store_that_others_may_write_to_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "outputs"
    folder.mkdir()
    folder.chmod(0o777)
    done = run_kept(tmp_path, "run", "--", "echo", "leaf")
    assert (done.returncode, done.stdout) == (0, "leaf\n")
    assert "warning: the whole output is not saved: the folder is not used" in done.stderr
    assert "mode 0777" in done.stderr
    assert list(folder.iterdir()) == []
    assert_one_error_line(run_kept(tmp_path, "recall"), "other users may write to it")


def test_the_way_to_the_whole_output_is_named_only_if_something_was_cut(tmp_path: Path) -> None:
    short = run_kept(tmp_path, "run", "--", "echo", "leaf")
    assert short.stderr == "exit 0, 5 -> 5 characters\n"
    long = run_kept(tmp_path, "run", "--", "seq", "20000")
    assert ", all of it: ethos-registry recall " in long.stderr


@pytest.mark.parametrize("way", ["option", "variable"])
def test_saving_can_be_switched_off(tmp_path: Path, way: str) -> None:
    options = ["--no-save"] if way == "option" else []
    variables = {} if way == "option" else {"ETHOS_REGISTRY_SAVE": "0"}
    done = run(
        *("run", *options, "--", "seq", "20000"),
        cwd=tmp_path,
        ETHOS_REGISTRY_OUTPUTS=str(tmp_path / "outputs"),
        **variables,
    )
    assert done.returncode == 0
    assert "recall" not in done.stderr
    assert not (tmp_path / "outputs").exists()


def test_the_help_says_where_outputs_are_how_long_and_how_to_stop_it(tmp_path: Path) -> None:
    for command in ("run", "recall"):
        words = " ".join(run_kept(tmp_path, command, "--help").stdout.split())
        for part in ("7 days", "1 GiB", "ETHOS_REGISTRY_OUTPUTS", "--no-save"):
            assert part in words


@pytest.mark.skipif(os.name == "nt", reason="needs a POSIX shell")
def test_a_line_of_a_shell_keeps_its_exit_code_and_its_bytes(tmp_path: Path) -> None:
    done = run_kept(tmp_path, "run", "--shell", "echo a | tr a b; echo c >&2; exit 3")
    assert (done.returncode, done.stdout, done.stderr) == (3, "b\nc\n", "")
    done = run_kept(tmp_path, "run", "--shell", "seq 1 9000; exit 4")
    assert done.returncode == 4
    assert len(done.stdout) < 17_000
    assert done.stderr.startswith("exit 4, ")
    assert newest(tmp_path) == "".join(f"{number}\n" for number in range(1, 9_001)).encode()
    data = json.dumps(list(range(9_000)))
    (tmp_path / "data.json").write_text(data)
    assert run_kept(tmp_path, "run", "--shell", "cat data.json").stdout == data


def test_a_shell_takes_one_line(tmp_path: Path) -> None:
    assert_one_error_line(run_kept(tmp_path, "run", "--shell", "echo", "a"), "--shell 'echo a'")
