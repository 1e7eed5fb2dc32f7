"""The entry point: checks that the extra `cli` is installed before anything needs it."""

from __future__ import annotations

import importlib
import importlib.util
import sys

__all__ = ["load", "main"]


_NEEDED = ("platformdirs", "rich", "typer")


def main() -> int:
    """Run the command that `sys.argv` names; return its exit code.

    0 on success, 1 if some call failed, 2 for bad usage and for what could not be read or written,
    3 if `recall` finds no such output, 130 after an interrupt, 141 if the reader of the output has
    gone. `run` returns the exit code of its command.
    """
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


def load() -> None:
    """Import what `main` needs, if it is installed."""
    if not _missing():
        importlib.import_module("ethos_registry._cli.app")


def _missing() -> list[str]:
    return [name for name in _NEEDED if importlib.util.find_spec(name) is None]


def _joined(names: list[str]) -> str:
    *before, last = names
    return f"{', '.join(before)} and {last}" if before else last
