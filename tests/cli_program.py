"""The command line as users run it: a process of its own."""

import json
import os
import subprocess
import sys
import sysconfig
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


def run(
    *arguments: object, cwd: Path, stdin: str | bytes = b"", **variables: str
) -> subprocess.CompletedProcess[str]:
    data = stdin.encode() if isinstance(stdin, str) else stdin
    done = subprocess.run(
        program(*arguments),
        cwd=cwd,
        input=data,
        capture_output=True,
        env=environment(GIT_CEILING_DIRECTORIES=str(cwd.parent), **variables),
        timeout=300,
    )
    out, errors = done.stdout.decode(), done.stderr.decode()
    return subprocess.CompletedProcess(done.args, done.returncode, out, errors)


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


_MANY = """
import io, json, sys
from ethos_registry._cli import main

real = sys.stdin, sys.stdout
cases = json.loads(sys.stdin.buffer.read())
answers = []
for arguments, stdin in cases:
    sys.argv = ["ethos-registry", *arguments]
    sys.stdin = io.TextIOWrapper(io.BytesIO(stdin.encode("latin-1")), "utf-8")
    sys.stdout = io.TextIOWrapper(io.BytesIO(), "utf-8")
    sys.stderr = io.TextIOWrapper(io.BytesIO(), "utf-8")
    code = main()
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    written = [stream.buffer.getvalue().decode() for stream in (sys.stdout, sys.stderr)]
    answers.append([code, *written])
json.dump(answers, real[1])
"""


def run_many(
    cases: list[tuple[tuple[str, ...], bytes]], cwd: Path
) -> list[subprocess.CompletedProcess[str]]:
    """Many command lines one after the other in one process: its start costs more than they do."""
    wanted = [(arguments, stdin.decode("latin-1")) for arguments, stdin in cases]
    done = subprocess.run(
        [sys.executable, "-c", _MANY],
        cwd=cwd,
        input=json.dumps(wanted),
        capture_output=True,
        env=environment(),
        text=True,
        timeout=300,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return [
        subprocess.CompletedProcess(arguments, *answer)
        for (arguments, _), answer in zip(cases, json.loads(done.stdout), strict=True)
    ]


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
