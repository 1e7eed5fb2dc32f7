"""What is compared: each runner makes a shorter text of the output of a command.

A runner is a module with `reduce(command, exit_code, text, target) -> str`, and with `MARK`, a
regular expression, if it writes lines of its own. `target` is the length that is asked for, in
characters; a runner with a limit of its own ignores it. `README.md` shows one.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import baseline
import cuts

__all__ = ["RUNNERS", "Reduce", "Runner", "has_tokf_filter", "load", "tokf_version"]

Reduce = Callable[[str, int, str, int], str]
OUR_MARK = (
    r"\[\d+ lines? left out\]|\[\d+ of \d+ lines left out\]|  \[(?:same|similar)\] .*|"
    r"\[lines with .* are cut; .*\]|\.\.\. \[reduced from .*\] \.\.\."
)


@dataclass(frozen=True)
class Runner:
    """A way to shorten outputs; `skipped` is the reason why it cannot run here."""

    name: str
    reduce: Reduce
    mark: str = r"(?!)"
    has_target: bool = True
    skipped: str | None = None


def ours(command: str, exit_code: int, text: str, target: int) -> str:
    from ethos_registry import reduce_text
    from ethos_registry.reduction import ReductionPolicy

    return reduce_text(text, command=command, exit_code=exit_code, policy=ReductionPolicy(target))


def tokf(command: str, exit_code: int, text: str, target: int) -> str:
    """The output as `tokf run` shows it: a program of that name prints the recorded output.

    Only the first program of a line is known to it: a pipe or `&&` is left as it is. So is the
    output if tokf runs the command with other arguments (`git status --porcelain=v1`): nobody
    recorded what that prints.
    """
    words = [word for word in _words(command) if "=" not in word or word.startswith("-")]
    if not words or re.search(r"[|;&<>`$(]", command):
        return text
    with tempfile.TemporaryDirectory() as folder:
        recorded, program = Path(folder) / "recorded", Path(folder) / Path(words[0]).name
        arguments = Path(folder) / "arguments"
        status = exit_code if exit_code >= 0 else 128 - exit_code  # a signal, as a shell shows it
        recorded.write_text(text, encoding="utf-8", newline="")
        program.write_text(
            f"#!/bin/sh\nprintf '%s\\0' \"$@\" >{shlex.quote(str(arguments))}\n"
            f"{shutil.which('cat')} {shlex.quote(str(recorded))}\nexit {status}\n"
        )
        program.chmod(0o755)
        path = f"{folder}:{os.environ['PATH']}"
        tool = shutil.which("tokf") or "tokf"
        done = subprocess.run(
            [tool, "run", "--no-mask-exit-code", program.name, *words[1:]],
            cwd=folder,
            env={"PATH": path, "HOME": folder, "TOKF_HOME": folder},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=60,
            check=False,
        )
        given = "".join(f"{word}\0" for word in words[1:]) or "\0"
        if not arguments.exists() or arguments.read_text(encoding="utf-8") != given:
            return text
    # Its sign and the number of the saved output come before the first line.
    return re.sub(r"^🗜\ufe0f?(#\d+)? ?", "", done.stdout.decode("utf-8", "replace"))


def has_tokf_filter(command: str) -> bool:
    """Whether tokf is installed and changes the output of a command."""
    tool = shutil.which("tokf")
    if tool is None or re.search(r"[|;&<>`$(]", command):
        return False
    done = subprocess.run([tool, "which", command], capture_output=True, check=False)
    return done.returncode == 0


def tokf_version() -> dict[str, str]:
    """What a record has of it; nothing if it is not installed."""
    if (tool := shutil.which("tokf")) is None:
        return {}
    done = subprocess.run([tool, "--version"], capture_output=True, text=True, check=True)
    return {"tokf": done.stdout.split()[-1]}


def _words(command: str) -> list[str]:
    try:
        return shlex.split(command)
    except ValueError:
        return []


RUNNERS = (
    Runner("everything", lambda command, exit_code, text, target: text, has_target=False),
    Runner("head", lambda _c, _e, text, target: cuts.head(text, target), r"\[truncated — .*\]"),
    Runner(
        "head and tail", lambda _c, _e, text, target: cuts.head_and_tail(text, target), r"\[...\]"
    ),
    Runner(
        "rules of the original system",
        lambda command, _e, text, _t: cuts.head(cuts.seed_rules(command, text)),
        r"\[truncated — .*\]|\.\.\. \[reduced from .*\] \.\.\.|git status: .*",
        has_target=False,
    ),
    Runner("110 lines of Python", baseline.reduce, OUR_MARK),
    Runner(
        "tokf",
        tokf,
        r"\[tokf.*|.*tokf raw .*",
        has_target=False,
        skipped=None if shutil.which("tokf") else "tokf is not installed: cargo install tokf",
    ),
    Runner("ethos-registry", ours, OUR_MARK),
)


def load(path: Path) -> Runner:
    """The runner in a file of yours."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise SystemExit(f"{path} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return Runner(path.stem.replace("_", " "), module.reduce, getattr(module, "MARK", r"(?!)"))
