"""Errors, each on one line of standard error; nothing leaves as a traceback."""

from __future__ import annotations

import contextlib
import logging
import os
import sys
from typing import TextIO

import typer

from ethos_registry import EthosRegistryError
from ethos_registry.cli.signals import StoppedError
from ethos_registry.cli.visible import visible

__all__ = [
    "NOTHING_FOUND",
    "CommandError",
    "EndedError",
    "OutputClosedError",
    "print_line",
    "run_app",
]

BAD_USAGE = 2
INTERRUPTED = 130
NOTHING_FOUND = 3
"""`recall` has no output of that id."""
READER_GONE = 141
"""What a shell reports for a program that SIGPIPE ended."""

_PARSER_ERROR = next(
    kind for kind in typer.BadParameter.__mro__ if kind.__name__ == "ClickException"
)
"""The base of what the option parser raises; typer brings its own copy, or that of click."""


class CommandError(Exception):
    """The command cannot be done; the message has the reason and the way out."""

    def __init__(self, message: str, exit_code: int = BAD_USAGE) -> None:
        super().__init__(message)
        self.exit_code = exit_code


class EndedError(Exception):
    """The program of `run` has ended, with an exit code of its own."""

    def __init__(self, exit_code: int) -> None:
        super().__init__(exit_code)
        self.exit_code = exit_code


class OutputClosedError(Exception):
    """The reader of standard output has gone, as `head` does after its last line."""


def run_app(app: typer.Typer) -> int:
    """Run a command; the exit code of `ethos_registry.cli.main`."""
    _accept_every_character(sys.stdout)
    _accept_every_character(sys.stderr)
    logging.basicConfig(handlers=[_OneLine(logging.WARNING)], level=logging.WARNING)
    try:
        code = app(standalone_mode=False, prog_name="ethos-registry")
        if code == INTERRUPTED:
            raise KeyboardInterrupt
        return code if isinstance(code, int) else 0
    except EndedError as ended:
        return ended.exit_code
    except SystemExit as ended:
        # typer ends the process itself after shell completion, and when its help finds no reader.
        if ended.code in (0, None):
            return 0
        _forget_output()
        return READER_GONE
    except OutputClosedError:
        _forget_output()
        return READER_GONE
    except (KeyboardInterrupt, typer.Abort):
        print_line("error: interrupted")
        return INTERRUPTED
    except StoppedError as stopped:
        print_line(f"error: {stopped}")
        return stopped.exit_code
    except CommandError as error:
        print_line(f"error: {error}")
        return error.exit_code
    except EthosRegistryError as error:
        print_line(f"error: {error}")
        return BAD_USAGE
    except Exception as error:
        print_line(f"error: {_described(error)}")
        return BAD_USAGE


def print_line(text: str) -> None:
    """One line to standard error, whatever the text holds."""
    if sys.stderr is None:
        return
    with contextlib.suppress(OSError, ValueError):
        sys.stderr.write(f"{visible(' '.join(text.split()))}\n")
        sys.stderr.flush()


def _described(error: Exception) -> str:
    if isinstance(error, _PARSER_ERROR):
        format_message = getattr(error, "format_message", error.__str__)
        return f"{format_message().rstrip('.')}; see --help"
    if isinstance(error, FileNotFoundError) and error.filename is None and _is_nowhere():
        return "the current folder is gone; change to another"
    if isinstance(error, OSError) and error.strerror:
        place = f": {error.filename!r}" if error.filename is not None else ""
        return f"{error.strerror}{place}"
    return f"unexpected {type(error).__name__}: {error}"


def _is_nowhere() -> bool:
    """Whether the current folder was removed."""
    try:
        os.getcwd()
    except FileNotFoundError:
        return True
    return False


def _accept_every_character(stream: TextIO | None) -> None:
    """Write what the terminal's encoding lacks, and lone surrogates, as escapes."""
    if stream is not None and hasattr(stream, "reconfigure"):
        stream.reconfigure(errors="backslashreplace")


def _forget_output() -> None:
    """Let the interpreter flush into nothing when it ends."""
    with contextlib.suppress(OSError, ValueError):
        devnull = os.open(os.devnull, os.O_WRONLY)
        os.dup2(devnull, sys.stdout.fileno())
        os.close(devnull)


class _OneLine(logging.Handler):
    """Log records as one line each; of an exception its class and message."""

    def emit(self, record: logging.LogRecord) -> None:
        error = record.exc_info[1] if record.exc_info else None
        cause = f": {type(error).__name__}: {error}" if error is not None else ""
        print_line(f"{record.levelname.lower()}: {record.getMessage()}{cause}")
