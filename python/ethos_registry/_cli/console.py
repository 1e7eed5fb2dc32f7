"""Errors, each on one line of standard error; nothing leaves as a traceback."""

from __future__ import annotations

import contextlib
import dataclasses
import io
import json
import logging
import math
import os
import signal
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import FrameType
from typing import Any, Literal, TextIO, TypeVar, cast

import typer
from rich.console import Console, Group, RenderableType

from ethos_registry import EthosRegistryError

T = TypeVar("T")

# The output of a program, bounded in memory.

READ_BYTES = 64 * 1024
MAX_PART_BYTES = 128 * 1024 * 1024
"""The most that is held of the start of an output, and of its end."""


class CapturedOutput:
    """The start and the end of an output, with a marker between them; safe from threads."""

    def __init__(self, max_part_bytes: int = MAX_PART_BYTES) -> None:
        self.total_bytes = 0
        self._max_part_bytes = max_part_bytes
        self._start = bytearray()
        self._end: deque[bytes] = deque()
        self._end_bytes = 0
        self._lock = threading.Lock()

    def add(self, piece: bytes) -> None:
        with self._lock:
            self.total_bytes += len(piece)
            room = self._max_part_bytes - len(self._start)
            self._start += piece[:room]
            if len(piece) <= room:
                return
            self._end.append(piece[room:])
            self._end_bytes += len(piece) - room
            while self._end_bytes - len(self._end[0]) >= self._max_part_bytes:
                self._end_bytes -= len(self._end.popleft())

    def output(self) -> bytes:
        """All of it, or its start and its end around `[... 12 bytes omitted ...]`."""
        return self.snapshot()[0]

    def snapshot(self) -> tuple[bytes, int]:
        """The output so far, and how many bytes of it are omitted."""
        with self._lock:
            end = b"".join(self._end)
            omitted = self.total_bytes - len(self._start) - len(end)
            marker = f"\n[... {omitted} bytes omitted ...]\n".encode() if omitted else b""
            return bytes(self._start) + marker + end, omitted


# Signals that ask this process to end, raised as an exception, so that it can finish in order.

_NAMES = ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT")
_SIGNALS = [getattr(signal, name) for name in _NAMES if hasattr(signal, name)]


class StoppedError(Exception):
    """A signal asked this process to end."""

    def __init__(self, number: int) -> None:
        name = signal.Signals(number).name
        super().__init__("interrupted" if number == signal.SIGINT else f"ended by {name}")
        self.number = number
        self.exit_code = 128 + number
        """What a shell reports for a program that the signal ended."""


class SignalGuard:
    """The signals of a `signals_raise` block: held back, or raised as they arrive."""

    def __init__(self, held: bool) -> None:
        self._held = held
        self._waiting: int | None = None

    @property
    def is_waiting(self) -> bool:
        """Whether a signal is held back."""
        return self._waiting is not None

    def release(self) -> None:
        """Hold no signals back from now on.

        Raises:
            StoppedError: A signal arrived before.

        """
        self._held = False
        if self._waiting is not None:
            raise StoppedError(self._waiting)

    def handle(self, number: int, frame: FrameType | None) -> None:
        if not self._held:
            raise StoppedError(number)
        self._waiting = number


@contextlib.contextmanager
def signals_raise(*, held: bool = False) -> Iterator[SignalGuard]:
    """Within the block, signals that ask this process to end raise `StoppedError`.

    Ignored signals stay ignored. With `held`, signals raise from `SignalGuard.release` on. Outside
    the main thread nothing changes: Python runs signal handlers in the main thread only.
    """
    guard = SignalGuard(held)
    if threading.current_thread() is not threading.main_thread():
        yield guard
        return
    before = {number: signal.getsignal(number) for number in _SIGNALS}
    # A handler that Python did not install is `None`, and could not be put back.
    handled = [number for number in _SIGNALS if before[number] not in (signal.SIG_IGN, None)]
    for number in handled:
        signal.signal(number, guard.handle)
    try:
        yield guard
    finally:
        for number in handled:
            signal.signal(number, before[number])


# Untrusted text, made safe for a terminal.


def visible(text: str, max_chars: int | None = None) -> str:
    r"""Escape everything that a terminal would obey or hide.

    Control characters, ANSI, line ends, direction markers and lone surrogates; text over
    `max_chars` is cut and ends in `...`.

    >>> visible("red \x1b[31m!\n")
    'red \\x1b[31m!\\n'
    """
    if max_chars is not None and len(text) > max_chars:
        text = f"{text[: max(max_chars - 3, 0)]}..."
    if text.isprintable():
        return text
    return "".join(
        character if character.isprintable() else character.encode("unicode_escape").decode("ascii")
        for character in text
    )


def first_line(text: str) -> str:
    """The first line that is not blank, without the space around it."""
    return next((line.strip() for line in text.splitlines() if line.strip()), "")


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


def fail_if(is_bad: object) -> None:
    """End the command with exit code 1 for something that its output has shown."""
    if is_bad:
        raise typer.Exit(1)


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
    """Run a command; the exit code of `ethos_registry._cli.main`."""
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
    except (SystemExit, OutputClosedError) as ended:
        # typer ends the process itself after shell completion, and when its help finds no reader.
        if isinstance(ended, SystemExit) and ended.code in (0, None):
            return 0
        _forget_output()
        return READER_GONE
    except (KeyboardInterrupt, typer.Abort):
        print_line("error: interrupted")
        return INTERRUPTED
    except (StoppedError, CommandError) as error:
        print_line(f"error: {error}")
        return error.exit_code
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
    if isinstance(error, EthosRegistryError):
        return str(error)
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


# Standard output: text, bytes, JSON, and what rich draws.

MIN_WIDTH = 40
MAX_DEPTH = 200


def is_terminal() -> bool:
    return sys.stdout is not None and sys.stdout.isatty()


def write_stdout(content: str | bytes) -> None:
    """Write, bytes as they are, and flush; `OutputClosedError` if the reader has gone."""
    if sys.stdout is None:
        raise CommandError("there is no standard output to write to")
    try:
        if isinstance(content, str):
            sys.stdout.write(content)
        else:
            sys.stdout.buffer.write(content)
        sys.stdout.flush()
    except BrokenPipeError:
        raise OutputClosedError from None


@contextlib.contextmanager
def file_errors(place: object, what: Literal["read", "written"] = "read") -> Iterator[None]:
    """Within the block, a file that cannot be read or written is a `CommandError`."""
    try:
        yield
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise CommandError(f"{place}: cannot be {what}: {reason}") from None


def write_output(path: str, text: str) -> None:
    """Write a file that an option names."""
    with file_errors(path, "written"), open(path, "w", encoding="utf-8") as file:
        file.write(text)


def write_json(document: object) -> None:
    """Indented JSON and a line end."""
    encoding = (getattr(sys.stdout, "encoding", None) or "ascii").lower().replace("-", "")
    write_stdout(json_text(document, only_ascii=not encoding.startswith("utf")))


def json_text(document: object, *, only_ascii: bool = True) -> str:
    """Valid JSON of any value: a dataclass becomes an object, NaN and infinities become null.

    What else JSON lacks becomes a string.
    """
    plain = _plain(document, MAX_DEPTH)
    return json.dumps(plain, ensure_ascii=only_ascii, indent=2, allow_nan=False) + "\n"


def write_lines(lines: Iterable[str]) -> None:
    """Write each line, with what a terminal would obey escaped."""
    write_stdout("".join(f"{visible(line)}\n" for line in lines))


def write_rendered(draw: Callable[[T, int], Iterable[RenderableType]], report: T) -> None:
    """Draw for the terminal, or in plain text; `draw` takes the report and the width."""
    console = Console(file=sys.stdout, markup=False, highlight=False, emoji=False)
    console.width = max(console.width, MIN_WIDTH)
    with console.capture() as captured:
        console.print(Group(*draw(report, console.width)))
    write_stdout("".join(f"{line.rstrip()}\n" for line in captured.get().splitlines()))


def write_report(
    report: T, draw: Callable[[T, int], Iterable[RenderableType]], *, as_json: bool
) -> None:
    """Write a report as JSON, or draw it."""
    if as_json:
        write_json(report)
    else:
        write_rendered(draw, report)


def write_json_or_lines(document: object, lines: Iterable[str], *, as_json: bool) -> None:
    """Write a document as JSON, or the lines that show it."""
    if as_json:
        write_json(document)
    else:
        write_lines(lines)


def _plain(value: Any, depth: int) -> Any:
    if value is None or isinstance(value, bool | str | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if depth == 0:
        return "..."
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        value = dataclasses.asdict(value)
    if isinstance(value, Mapping):
        return {str(key): _plain(item, depth - 1) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_plain(item, depth - 1) for item in value]
    return str(value)


# Standard input of a command that reduces it.


def read_output() -> str:
    """The output of a command, from standard input; bytes that are not UTF-8 become U+FFFD.

    Of more than `CapturedOutput` holds, the start and the end: a filter must not lose its input.
    """
    if sys.stdin is None:
        raise CommandError("there is no standard input to reduce")
    captured = CapturedOutput()
    with file_errors("<stdin>"):
        # Not `read`: it asks a terminal for more after the end was typed.
        stdin = cast("io.BufferedReader", sys.stdin.buffer)
        while piece := stdin.read1(READ_BYTES):
            captured.add(piece)
    return captured.output().decode("utf-8", errors="replace")


# The commands of a module, and what a group such as `formats` does without one of its commands.


def make_app(**settings: Any) -> typer.Typer:
    """The commands of one module; `settings` are those of `typer.Typer` for a group."""
    return typer.Typer(
        add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None, **settings
    )


def make_group(help_text: str, short_help: str) -> typer.Typer:
    """The commands of a group such as `formats`; without one of them it prints its help."""
    return make_app(
        callback=_show_help_without_command,
        invoke_without_command=True,
        help=help_text,
        short_help=short_help,
    )


def _show_help_without_command(context: typer.Context) -> None:
    """Print the help of the group on standard output, as the program itself does."""
    if context.invoked_subcommand is None:
        write_stdout(f"{context.get_help()}\n")
