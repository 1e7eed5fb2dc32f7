"""The command line as users run it: a process of its own."""

import atexit
import functools
import json
import os
import socket
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path
from typing import Any

GIT_ENVIRONMENT = {
    "GIT_AUTHOR_NAME": "Ada",
    "GIT_AUTHOR_EMAIL": "ada@example.org",
    "GIT_COMMITTER_NAME": "Ada",
    "GIT_COMMITTER_EMAIL": "ada@example.org",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_SYSTEM": os.devnull,
    "GIT_CONFIG_COUNT": "1",
    "GIT_CONFIG_KEY_0": "safe.directory",
    "GIT_CONFIG_VALUE_0": "*",
}
_LEFT_OUT = ("COLUMNS", "FORCE_COLOR", "LINES", "NO_COLOR", "PYTHONIOENCODING")


def environment(**changes: str) -> dict[str, str]:
    remaining = {name: value for name, value in os.environ.items() if name not in _LEFT_OUT}
    return remaining | GIT_ENVIRONMENT | {"PYTHONUTF8": "1", "COLUMNS": "100"} | changes


def program(*arguments: object) -> list[str]:
    return [sys.executable, "-m", "ethos_registry", *map(str, arguments)]


class _Commands:
    """The process of `command_forks.py`."""

    def __init__(self) -> None:
        self._channel, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._channel.settimeout(300)
        with other:
            number = other.fileno()
            self._process = subprocess.Popen(
                [sys.executable, Path(__file__).with_name("command_forks.py"), str(number)],
                pass_fds=[number],
                env=environment(),
            )
        atexit.register(self._end)

    def _end(self) -> None:
        self._channel.close()
        self._process.wait()

    def run(self, files: list[int], *request: Any) -> int:
        """The exit code of a command."""
        socket.send_fds(self._channel, [json.dumps(request).encode()], files)
        return int(self._channel.recv(100))


_commands = functools.cache(_Commands)


def run(
    *arguments: object, cwd: Path, stdin: str | bytes = b"", **changes: str
) -> subprocess.CompletedProcess[str]:
    command = program(*arguments)
    variables = environment(GIT_CEILING_DIRECTORIES=str(cwd.parent), **changes)
    with (
        tempfile.TemporaryFile() as given,
        tempfile.TemporaryFile() as output,
        tempfile.TemporaryFile() as errors,
    ):
        given.write(stdin.encode() if isinstance(stdin, str) else stdin)
        given.seek(0)
        # Python reads some variables when it starts.
        if sys.platform == "linux" and not any(name.startswith("PYTHON") for name in changes):
            files = [given.fileno(), output.fileno(), errors.fileno()]
            code = _commands().run(files, command[3:], str(cwd), variables)
        else:
            code = subprocess.run(
                command,
                cwd=cwd,
                stdin=given,
                stdout=output,
                stderr=errors,
                env=variables,
                timeout=300,
            ).returncode
        output.seek(0)
        errors.seek(0)
        return subprocess.CompletedProcess(
            command, code, output.read().decode(), errors.read().decode()
        )


def run_json(*arguments: object, cwd: Path, stdin: str | bytes = b"", exit_code: int = 0):
    done = run(*arguments, cwd=cwd, stdin=stdin)
    assert (done.returncode, done.stderr) == (exit_code, "")
    return json.loads(done.stdout)


def git(folder: Path, *arguments: str) -> None:
    subprocess.run(["git", *arguments], cwd=folder, check=True, env=environment())


def assert_one_error_line(done: subprocess.CompletedProcess[str], *parts: str) -> None:
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("error: ")
    assert done.stderr.count("\n") == 1
    for part in parts:
        assert part in done.stderr


def run_many(
    cases: list[tuple[tuple[str, ...], bytes]], cwd: Path
) -> list[subprocess.CompletedProcess[str]]:
    return [run(*arguments, cwd=cwd, stdin=stdin) for arguments, stdin in cases]


def run_many_json(cases: list[tuple[tuple[str, ...], bytes]], cwd: Path) -> list[Any]:
    """The JSON that each command line prints; all of them must succeed."""
    answers = run_many(cases, cwd)
    assert [(done.returncode, done.stderr) for done in answers] == [(0, "")] * len(cases)
    return [json.loads(done.stdout) for done in answers]


def native_program() -> str | None:
    """The path that the environment names, or the script of a wheel that has the program."""
    named = os.environ.get("ETHOS_REGISTRY_NATIVE_PROGRAM")
    name = "ethos-registry.exe" if os.name == "nt" else "ethos-registry"
    path = Path(named or Path(sysconfig.get_path("scripts")) / name)
    if not path.is_file() or path.read_bytes()[:2] == b"#!":
        return None
    return str(path)


NATIVE = native_program()
