"""`ethos-registry run`: a command whose output is shown reduced and saved without secrets."""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated

import typer
from rich.console import Console, ConsoleOptions, RenderResult
from rich.live import Live
from rich.text import Text

from ethos_registry import _core, reduce_text
from ethos_registry._cli.console import (
    READ_BYTES,
    CapturedOutput,
    CommandError,
    EndedError,
    SignalGuard,
    StoppedError,
    make_app,
    print_line,
    signals_raise,
    visible,
    write_stdout,
)
from ethos_registry._cli.formats import load_own_formats
from ethos_registry._cli.options import Level, TargetChars, read_policy
from ethos_registry._cli.recall import OTHER_FOLDER, SAVE_VARIABLE, SAVING
from ethos_registry.capabilities import (
    SupervisedProcess,
    SupervisorUnavailableError,
    start_supervised,
)
from ethos_registry.reduction import DefaultPolicy, ReductionPolicy, is_secret_name, redact_text

app = make_app()


# The program of `ethos-registry run`: its output read until it ends or is asked to.

QUIET_SECONDS = 0.25
"""How long more output is awaited after the program's exit, if other processes hold the pipe."""
LATE_SECONDS = 2.0
"""The longest time that it is awaited."""
STOP_SECONDS = 5.0
"""How long a program that was asked to end may take before it is killed."""


def run_program(
    argv: Sequence[str], on_output: Callable[[bytes], None]
) -> tuple[int, CapturedOutput]:
    """Run a program; its status, negative for a signal, and its standard output and error.

    `on_output` gets each piece of the output, on another thread.

    Background processes that the program leaves run on, and what they write later is lost. A
    signal that asks this process to end is passed on to everything that the program started; what
    is left after 5 s is killed. After the terminal's keys (Ctrl-C) the program may take as long as
    it likes; a second signal kills it. On Linux nothing survives a `kill -9` of this process.

    Raises:
        OSError: The program cannot be started.

    """
    # Held: a signal that arrives while the program is started finds it and its reader there.
    with signals_raise(held=True) as signals:
        process = _started(argv)
        captured = CapturedOutput()
        reader = threading.Thread(target=_read, args=(process, captured, on_output), daemon=True)
        reader.start()
        status = _status(process, signals)
    latest = time.monotonic() + LATE_SECONDS
    before = -1
    while reader.is_alive() and before != captured.total_bytes and time.monotonic() < latest:
        before = captured.total_bytes
        reader.join(QUIET_SECONDS)
    return status, captured


def _started(argv: Sequence[str]) -> SupervisedProcess:
    def start() -> SupervisedProcess:
        process = start_supervised(
            argv,
            stdin=None,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            new_session=False,  # the keys of the terminal, and its input
            close_fds=False,  # what a shell opened for the program, as for `diff <(a) <(b)`
            when_ended="leave",
        )
        try:
            process.wait_started()
        except OSError:
            assert process.stdout is not None
            process.stdout.close()
            process.detach()
            raise
        return process

    try:
        return start()
    except SupervisorUnavailableError:
        return start()


def _read(
    process: SupervisedProcess, captured: CapturedOutput, on_output: Callable[[bytes], None]
) -> None:
    assert process.stdout is not None
    with contextlib.suppress(OSError), process.stdout as pipe:
        while piece := os.read(pipe.fileno(), READ_BYTES):
            captured.add(piece)
            on_output(piece)


def _status(process: SupervisedProcess, signals: SignalGuard) -> int:
    """The status of a program that exited by itself, or because this process was asked to end."""
    try:
        signals.release()
        return process.wait()
    except StoppedError as stopped:
        number = stopped.number
    try:
        process.stop(number, STOP_SECONDS)
        process.wait_ended()
    except StoppedError:
        process.kill()
        process.wait_ended()
    return process.wait() or -number


# The last lines of a running command, dimmed, on the terminal of standard error.

MAX_LINES = 8
MAX_LINE_BYTES = 2_000
_TAIL_BYTES = 64 * 1024


class LiveOutput:
    """The end of an output, as lines, and how much it is so far; safe from threads."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._started = clock()
        self._bytes = 0
        self._tail = b""

    def add(self, piece: bytes) -> None:
        self._bytes += len(piece)
        self._tail = (self._tail + piece[-_TAIL_BYTES:])[-_TAIL_BYTES:]

    def lines(self) -> list[str]:
        """The last lines, without terminal commands; of a progress bar its newest state."""
        lines = self._tail.rstrip(b"\r\n").split(b"\n")[-MAX_LINES:]
        newest = (line.rstrip(b"\r").rpartition(b"\r")[2][-MAX_LINE_BYTES:] for line in lines)
        texts = (_plain(line.decode("utf-8", errors="replace")) for line in newest)
        return [text for text in texts if text.strip()]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for line in self.lines():
            yield Text(line, style="dim", no_wrap=True, overflow="crop")
        seconds = self._clock() - self._started
        yield Text(f"running, {self._bytes:,} bytes, {seconds:.0f} s", style="dim italic")


def _plain(text: str) -> str:
    return visible(Text.from_ansi(text).plain.expandtabs(4))


@contextlib.contextmanager
def live_output() -> Iterator[LiveOutput]:
    """Draw the output while the block runs, and remove the drawing at its end.

    Draws nothing if standard error is not a terminal that can move its cursor.
    """
    shown = LiveOutput()
    console = Console(stderr=True, markup=False, highlight=False, emoji=False)
    if sys.stderr is None or not sys.stderr.isatty() or console.is_dumb_terminal:
        yield shown
        return
    with Live(
        shown,
        console=console,
        transient=True,
        refresh_per_second=8,
        redirect_stdout=False,
        redirect_stderr=False,
    ):
        yield shown


REDACTED = "[redacted]"

_ABOUT_A_SECRET = re.compile(r"(?i)(?:file|path|dir|stdin|env|ttl|url|type|name|tokens)$")
"""Options with such a name hold no secret, but say where one is: `--token-file`."""
_OPTION_ASSIGNMENT = re.compile(r"(--?[A-Za-z][\w.-]*|[A-Za-z_][\w.-]*)([=:])(?=\S)")
_OPTION = re.compile(r"--?[A-Za-z][\w.-]*")
_URL_LOGIN = re.compile(r"(?P<scheme>\b[a-zA-Z][a-zA-Z0-9+.-]*://)(?P<login>[^\s/@'\"]+)@")
_HEADER = re.compile(
    r"(?i)(?P<name>\b[A-Z][\w-]*)(?P<colon>\s*:\s*)(?:(?P<scheme>basic|bearer|token|digest)\s+)?"
    r"[^\s'\"/][^\s'\"]*"
)
_SCHEME = re.compile(r"(?i)\b(bearer|basic)(\s+)[A-Za-z0-9+/=_.~-]{8,}")
_IN_SHELL_LINE = re.compile(
    r"""(?x)
    (?P<name>--?[A-Za-z][\w.-]*|[A-Za-z_][\w.-]*)
    (?P<between>\s*=\s*|\s+)
    (?P<value>"(?:[^"\\]|\\.)*"|'[^']*'|[^-\s;&|)<>'"][^\s;&|)<>'"]*)
    """
)
_USER_OPTIONS = {"curl": ("-u", "--user", "-U", "--proxy-user"), "wget": ("--user",)}
_PASSWORD_OPTIONS = {
    "mysql": "-p",
    "mysqldump": "-p",
    "mysqladmin": "-p",
    "mariadb": "-p",
    "sshpass": "-p",
    "redis-cli": "-a",
    "7z": "-p",
    "unzip": "-P",
    "zip": "-P",
    "docker": "-p",
}


def redacted_command(argv: Sequence[str]) -> str:
    """The command line as a shell reads it, with each secret as `[redacted]`.

    A secret is the value of an option, a variable or a header with a secret-looking name
    (`--token`, `DB_PASSWORD=`, `Authorization:`), the login in a URL, or a credential of a known
    shape, as in results of tools. A password without a name and a known shape is not recognised.

    >>> redacted_command(["curl", "-H", "Authorization: Bearer abcdefghij", "https://example.org"])
    "curl -H 'Authorization: Bearer [redacted]' https://example.org"
    >>> redacted_command(["deploy", "--token", "abc", "DB_PASSWORD=x"])
    "deploy --token '[redacted]' 'DB_PASSWORD=[redacted]'"
    """
    program = argv[0].rpartition("/")[2] if argv else ""
    parts: list[str] = []
    is_secret = False
    for part in argv:
        if is_secret:
            parts.append(REDACTED)
            is_secret = False
            continue
        if _OPTION.fullmatch(part) and not _is_attached_password(part, program):
            is_secret = _is_secret_option(part, program)
            parts.append(part)
            continue
        parts.append(_redacted_part(part, program))
    return shlex.join(parts)


def redacted_output(output: bytes) -> bytes:
    r"""The output with each credential of a known shape as `[redacted: KIND]`; else unchanged.

    >>> redacted_output(b"\xff https://ada:correct-horse@example.org")
    b'\xff https://ada:[redacted: password]@example.org'
    """
    # Credentials and labels are ASCII; Latin-1 keeps every other byte as it is.
    text = output.decode("latin-1")
    redacted = redact_text(text)
    return output if redacted is text else redacted.encode("latin-1")


def _is_secret_option(option: str, program: str) -> bool:
    return (
        _is_secret_name(option)
        or option in _USER_OPTIONS.get(program, ())
        or option == _PASSWORD_OPTIONS.get(program)
    )


def _is_attached_password(part: str, program: str) -> bool:
    option = _PASSWORD_OPTIONS.get(program)
    return option is not None and part.startswith(option) and len(part) > len(option)


def _is_secret_name(name: str) -> bool:
    return is_secret_name(name) and _ABOUT_A_SECRET.search(name) is None


def _redacted_part(part: str, program: str) -> str:
    if _is_attached_password(part, program):
        return _PASSWORD_OPTIONS[program] + REDACTED
    assignment = _OPTION_ASSIGNMENT.match(part)
    if assignment and not any(sign.isspace() for sign in part):
        name, sign = assignment.groups()
        if _is_secret_name(name):
            return f"{name}{sign}{REDACTED}"
    text = redact_text(part)
    text = _URL_LOGIN.sub(_redacted_login, text)
    text = _HEADER.sub(_redacted_header, text)
    text = _SCHEME.sub(rf"\1\2{REDACTED}", text)
    if any(sign.isspace() for sign in part):  # a line for a shell
        text = _IN_SHELL_LINE.sub(_redacted_assignment, text)
    return text


def _redacted_login(match: re.Match[str]) -> str:
    user, colon, _ = match["login"].partition(":")
    return f"{match['scheme']}{user if colon else ''}{':' if colon else ''}{REDACTED}@"


def _redacted_header(match: re.Match[str]) -> str:
    if not _is_secret_name(match["name"]):
        return match[0]
    scheme = f"{match['scheme']} " if match["scheme"] else ""
    return f"{match['name']}{match['colon']}{scheme}{REDACTED}"


def _redacted_assignment(match: re.Match[str]) -> str:
    is_named = match["name"].startswith("-") or "=" in match["between"]
    if not is_named or not _is_secret_name(match["name"]):
        return match[0]
    return f"{match['name']}{match['between']}{REDACTED}"


# `ethos-registry run`: a command whose output is shown reduced and saved whole.

NOT_EXECUTABLE = 126
NOT_FOUND = 127
_ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=")


@dataclass(frozen=True, slots=True)
class ReducedRun:
    """The result of a command, or of a line of a shell."""

    exit_code: int
    """As a shell reports it: 128 plus the signal if a signal ended it."""
    output: str | bytes
    """Its output, reduced; bytes of a line, as the line wrote them if nothing is left out."""
    summary: str
    """One line: how it ended, how much was left out, how to read the whole output.

    Empty if nothing of a line is left out.
    """


def saves_by_default() -> bool:
    """Whether outputs are saved: not if `ETHOS_REGISTRY_SAVE` is `0`, `no`, `off` or `false`."""
    return os.environ.get(SAVE_VARIABLE, "").strip().lower() not in ("0", "no", "off", "false")


def run_reduced(
    argv: Sequence[str],
    *,
    is_shell_line: bool,
    save: bool,
    policy: ReductionPolicy | DefaultPolicy,
) -> ReducedRun:
    """Run a program with this process's input and environment; both its outputs count as one.

    Returns when the program has ended; see `run_program` for signals. The command line is
    saved without the secrets in it, the output without credentials of known shapes.

    A shell line is the only word of `argv`, for the shell of this system (`$SHELL` if it is bash or
    zsh, else `sh`). Its output for programs stays as it is: JSON, XML, base64 and what is not
    UTF-8. If its complete output cannot be saved, as in a sandbox, nothing is said about it.

    Raises:
        CommandError: The program cannot be started; with the exit code that a shell gives.

    """
    started = time.time()
    status, captured = _run(_shell(argv[0]) if is_shell_line else argv)
    output, omitted_bytes = captured.snapshot()
    exit_code = status if status >= 0 else 128 - status
    if is_shell_line and _is_data(output):
        return ReducedRun(exit_code, output, "")
    whole = output.decode("utf-8", errors="replace")
    command = argv[0] if is_shell_line else shlex.join(argv)
    text = reduce_text(whole, command=command, exit_code=exit_code, policy=policy)
    is_whole = text.rstrip("\n") == whole.rstrip("\n") and not omitted_bytes
    if is_shell_line and is_whole:
        return ReducedRun(exit_code, output, "")
    summary = f"exit {exit_code}, {len(whole):,} -> {len(text):,} characters"
    if save:
        warn = not is_shell_line
        output_id = _save(redacted_command(argv), exit_code, started, output, warn=warn)
        if output_id and not is_whole:
            what = f"all but {omitted_bytes:,} bytes" if omitted_bytes else "all"
            summary += f", {what} of it: ethos-registry recall {output_id}"
    if text and not text.endswith("\n"):
        text += "\n"
    return ReducedRun(exit_code, text.encode() if is_shell_line else text, summary)


def _is_data(output: bytes) -> bool:
    try:
        return _core.is_data(output.decode("utf-8"))
    except UnicodeDecodeError:
        return True


def _shell(line: str) -> list[str]:
    if sys.platform == "win32":
        return [os.environ.get("COMSPEC", "cmd.exe"), "/d", "/s", "/c", line]
    own = os.environ.get("SHELL", "")
    is_known = os.path.basename(own) in ("bash", "zsh") and os.access(own, os.X_OK)
    return [own if is_known else "/bin/sh", "-c", line]


def _save(command: str, exit_code: int, started: float, output: bytes, *, warn: bool) -> str | None:
    """The id of the saved output; `None` if it could not be saved."""
    try:
        return _core.OutputArchive().save(command, exit_code, started, redacted_output(output))
    except OSError as error:
        if warn:
            place = "" if error.filename is None else f": {error.filename}"
            reason = f"{error.strerror}{place}"
            way_out = "" if OTHER_FOLDER in reason else f"; {OTHER_FOLDER}"
            print_line(f"warning: the whole output is not saved: {reason}{way_out}")
        return None


def _hint(argv: Sequence[str]) -> str:
    if _ASSIGNMENT.match(argv[0]):
        return f"; set variables with: run -- env {shlex.join(argv)}"
    if len(argv) > 1 or not any(character.isspace() for character in argv[0]):
        return ""
    return f"; run a shell line with: run --shell {shlex.quote(argv[0])}"


def _run(argv: Sequence[str]) -> tuple[int, CapturedOutput]:
    try:
        with live_output() as live:
            return run_program(argv, live.add)
    except FileNotFoundError:
        if os.path.dirname(argv[0]) and os.path.exists(argv[0]):
            raise CommandError(
                f"cannot run {argv[0]!r}: the interpreter in its first line does not exist",
                NOT_EXECUTABLE,
            ) from None
        raise CommandError(f"command not found: {argv[0]!r}{_hint(argv)}", NOT_FOUND) from None
    except OSError as error:
        raise CommandError(f"cannot run {argv[0]!r}: {error.strerror}", NOT_EXECUTABLE) from None


@app.command(
    short_help="Run a command and print its output reduced.",
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
    epilog=SAVING,
)
def run(
    command: Annotated[
        list[str], typer.Argument(metavar="COMMAND...", help="Put -- before its first word.")
    ],
    save: Annotated[
        bool | None,
        typer.Option("--save/--no-save", help="Save the complete output for `recall`."),
    ] = None,
    target_chars: TargetChars = None,
    level: Level = None,
    shell: Annotated[
        bool,
        typer.Option(
            "--shell",
            help="COMMAND is one line for the shell. Output that is JSON, XML, base64 or binary is "
            "not reduced, and how it ended is only printed if something is left out.",
        ),
    ] = False,
) -> None:
    """Run a command, show its output reduced, and exit with its exit code.

    On a terminal its last lines are shown while it runs.
    """
    load_own_formats()
    policy = read_policy(target_chars, level)
    saves = saves_by_default() if save is None else save
    if shell and len(command) != 1:
        raise CommandError(
            f"`--shell` needs one line: run --shell {shlex.quote(' '.join(command))}"
        )
    result = run_reduced(command, is_shell_line=shell, save=saves, policy=policy)
    try:
        write_stdout(result.output)
    finally:
        # If the output could not be written, how to read it matters the more.
        if result.summary:
            print_line(result.summary)
    raise EndedError(result.exit_code)
