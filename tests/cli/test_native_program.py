"""The native program `ethos-registry` answers as the command line in Python does."""

import json
import random
import subprocess
from pathlib import Path

import pytest

from cli_program import NATIVE, environment, program
from hook_payloads import LONG, recorded, with_output

pytestmark = [
    pytest.mark.skipif(NATIVE is None, reason="needs a wheel with the native program"),
    pytest.mark.slow,
]


def both(folder: Path, *arguments: str, stdin: bytes = b"") -> list[tuple[int, bytes, bytes]]:
    assert NATIVE is not None
    answers = []
    for words in ([NATIVE, *arguments], program(*arguments)):
        done = subprocess.run(
            words,
            input=stdin,
            capture_output=True,
            cwd=folder,
            env=environment(
                ETHOS_REGISTRY_OUTPUTS=str(folder / "outputs"), XDG_CONFIG_HOME=str(folder)
            ),
            timeout=300,
            check=False,
        )
        answers.append((done.returncode, done.stdout, done.stderr))
    return answers


@pytest.mark.parametrize(
    "options",
    [
        (),
        ("-",),
        ("--command", "make", "--exit-code", "2"),
        ("--command=pytest -q", "--target-chars=900"),
        ("--tool", "read_file"),
        ("--tool", "generic", "--budget", "700"),
        ("--level", "verdict"),
        ("--tool", "head_tail", "--level", "lossless"),
        ("--exit-code", "abc"),
        ("--budget", "0"),
        ("--no-such",),
        ("a.log",),
    ],
)
def test_reduce_gives_the_same_bytes(options: tuple[str, ...], tmp_path: Path) -> None:
    rng = random.Random(3)
    wild = bytes(rng.choice(b"ab\n\xe2\x82\xac\xf0\x9f\x1b[m") for _ in range(30_000))
    for data in (LONG.encode(), wild, b"", b"short"):
        native, python = both(tmp_path, "reduce", *options, stdin=data)
        assert native == python


def test_a_hook_gives_the_same_answer(tmp_path: Path) -> None:
    [payload] = [
        payload
        for agent, _, payload in recorded()
        if agent == "opencode" and payload["output"].get("metadata", {}).get("exit") == 3
    ]
    data = json.dumps(with_output(payload, LONG, "out\n")).encode()
    native, python = both(tmp_path, "hook", "opencode", stdin=data)
    assert native[0] == python[0] == 0
    one, other = (
        json.loads(answer[1])["output"].rpartition("[all of it: ") for answer in (native, python)
    )
    assert one[0] == other[0] != ""
    assert one[2].split()[1:] == other[2].split()[1:]


def test_a_hook_never_fails(tmp_path: Path) -> None:
    for data in (b"", b"\xff", b"[" * 100_000, b"{}", b"null"):
        assert both(tmp_path, "hook", "claude", stdin=data) == [(0, b"", b"")] * 2


def test_other_commands_are_those_of_python(tmp_path: Path) -> None:
    for words in (("--version",), ("--help",), ("hook", "status"), ("recall", "x"), ("no-such",)):
        native, python = both(tmp_path, *words)
        assert native == python


def test_formats_of_the_user_are_used(tmp_path: Path) -> None:
    (tmp_path / "ethos-registry" / "formats" / "mine").mkdir(parents=True)
    (tmp_path / "ethos-registry" / "formats" / "mine" / "format.toml").write_text("wrong = 1\n")
    native, python = both(tmp_path, "reduce", stdin=b"x\n")
    assert native == python
    assert b"warning" in native[2]
