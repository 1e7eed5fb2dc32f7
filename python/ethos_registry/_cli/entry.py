"""The entry point: checks that the extra `cli` is installed before anything needs it."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from ethos_registry import _core

if TYPE_CHECKING:
    from ethos_registry.reduction import FormatError

_NEEDED = ("platformdirs", "rich", "typer")
_AGENTS = ("claude", "codex", "copilot", "cursor", "gemini", "opencode", "pi", "vscode")
_MAX_PAYLOAD_BYTES = 64 * 1024 * 1024


def main() -> int:
    """Run the command that `sys.argv` names; return its exit code.

    0 on success, 1 if some call failed, 2 for bad usage and for what could not be read or written,
    3 if `recall` finds no such output, 130 after an interrupt, 141 if the reader of the output has
    gone. `run` returns the exit code of its command.
    """
    if is_hook_call(sys.argv[1:]):
        return answer_hook(sys.argv[2:])
    missing = _missing()
    if missing:
        sys.stderr.write(
            f"error: the command line needs {_joined(missing)}: "
            "pip install '.[cli]' in a checkout, else pip install 'ethos-registry[cli]'\n"
        )
        return 2
    try:
        from ethos_registry._cli.app import app
        from ethos_registry._cli.console import run_app
    except KeyboardInterrupt:  # no handler is installed yet
        sys.stderr.write("error: interrupted\n")
        return 130

    return run_app(app)


def is_hook_call(words: list[str]) -> bool:
    """Whether an agent calls `hook AGENT`, and not a user `hook install`."""
    return words[:1] == ["hook"] and words[1:2] != [] and words[1] in _AGENTS


def answer_hook(words: list[str]) -> int:
    """Answer one payload on standard input as the native program does; 0 whatever happens."""
    with contextlib.suppress(BaseException):
        payload = sys.stdin.buffer.read(_MAX_PAYLOAD_BYTES + 1)
        switch = os.environ.get("ETHOS_REGISTRY_HOOK")
        if switch == "0":
            return 0
        target_chars = int(words[1]) if len(words) > 1 else None
        load_own_formats(lambda error: None)
        answer = _core.hook_answer(
            words[0], payload, _program(), target_chars, is_shadow=switch == "shadow"
        )
        if answer is not None:
            sys.stdout.buffer.write(answer.encode())
            sys.stdout.buffer.flush()
    return 0


def load_own_formats(on_error: Callable[[FormatError], None]) -> None:
    """Load the formats of the user, and of the nearest folder from here upwards that has some."""
    from ethos_registry.reduction import load_formats

    folders: list[Path] = []
    with contextlib.suppress(OSError):  # the current folder was removed
        folders = [Path.cwd(), *Path.cwd().parents]
    project = next((each for each in folders if (each / ".ethos" / "formats").is_dir()), None)
    load_formats(project=project, on_error=on_error)


def _program() -> str:
    """The path of `ethos-registry` for commands in answers."""
    beside = os.path.join(os.path.dirname(sys.executable), "ethos-registry")
    return beside if os.path.exists(beside) else "ethos-registry"


def load() -> None:
    """Import what `main` needs, if it is installed."""
    if is_hook_call(sys.argv[1:]) or _missing():
        return
    from ethos_registry._cli.app import load_command

    for name in sys.argv[1:2]:
        with contextlib.suppress(KeyError):  # reported when it is run
            load_command(name)


def _missing() -> list[str]:
    return [name for name in _NEEDED if importlib.util.find_spec(name) is None]


def _joined(names: list[str]) -> str:
    *before, last = names
    return f"{', '.join(before)} and {last}" if before else last
