"""One program run for a model: its output bounded and reported, how it ended described."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import errno
import os
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from ethos_registry._processes.supervised_process import Containment
from ethos_registry._processes.supervisor import containment
from ethos_registry.capabilities._files import DEFAULT_PROTECTION
from ethos_registry.capabilities._process import joined_limits
from ethos_registry.capabilities._resolver import personality_of
from ethos_registry.capabilities._run import ProcessEnd, run_program, signal_name
from ethos_registry.capabilities._sandbox import (
    SHARED_SANDBOX,
    CommandSandbox,
    PreparedCommand,
    SandboxPolicy,
    UnconfinedError,
)
from ethos_registry.capabilities._secrets import SecretByteStream
from ethos_registry.capabilities._standard import sandbox_policy, why_unconfined
from ethos_registry.tools._arguments import (
    RefusalError,
    argument_tool,
    optional_number,
    quoted,
    required_text,
    resolve_below,
    string,
    working_directory,
)
from ethos_registry.types import _checks
from ethos_registry.types._context import ToolContext
from ethos_registry.types._errors import ConfigError
from ethos_registry.types._policy import (
    CommandPolicy,
    Personality,
    binds_itself,
    without_confinement,
)
from ethos_registry.types._result import ToolResult, err, ok
from ethos_registry.types._tool import Tool

# The output of a command: bounded in memory, and reported in pieces while it runs.

_CUT_SEARCH_BYTES = 4_096
"""How far a cut moves to fall between two lines."""

_REPORT_EVERY_SECONDS = 0.1
_REPORT_CHARS = 2_000
_REPORT_BYTES = 4 * _REPORT_CHARS
_REPORTS_BEFORE_PARTIAL = 5
"""A line without its end is reported after this many silent intervals."""


class BoundedOutput:
    """The first and the last bytes of a stream of any length, at most `max_bytes`.

    Holds at most 1.5 times as much, and one piece. Never strips: what fits is returned unchanged.
    """

    def __init__(self, max_bytes: int) -> None:
        self._head_limit = max_bytes // 2
        self._tail_limit = max_bytes - self._head_limit
        self._head = bytearray()
        self._tail = bytearray()
        self._newlines = 0
        self.total_bytes = 0

    def add(self, piece: bytes) -> None:
        self.total_bytes += len(piece)
        self._newlines += piece.count(b"\n")
        if room := self._head_limit - len(self._head):
            self._head += piece[:room]
            piece = piece[room:]
        self._tail += piece
        if len(self._tail) > 2 * self._tail_limit:
            del self._tail[: -self._tail_limit]

    def text(self) -> tuple[str, int]:
        """The output as text, and how many bytes in its middle were dropped.

        UTF-8, with U+FFFD for invalid bytes. If bytes were dropped one line gives their number,
        between two lines of the output, or between two characters if lines are very long.
        """
        if self.total_bytes <= self._head_limit + self._tail_limit:
            return (self._head + self._tail).decode(errors="replace"), 0
        head = self._head[: _end_of_head(self._head)]
        tail = self._tail[-self._tail_limit :]
        tail = tail[_start_of_tail(tail) :]
        dropped = self.total_bytes - len(head) - len(tail)
        lines = self._newlines - head.count(b"\n") - tail.count(b"\n")
        before = "" if not head or head.endswith(b"\n") else "\n"
        note = f"{before}[... {dropped:,} bytes ({lines:,} line ends) of output are left out ...]\n"
        return head.decode(errors="replace") + note + tail.decode(errors="replace"), dropped


class OutputProgress:
    """Reports output while it is written: whole lines, at most about ten times a second.

    Each report holds at most 2,000 characters, the newest; the line end before the next report
    is not part of it. A line that stays unfinished is reported after half a second. A `stream`
    takes secrets out before anything is cut.
    """

    def __init__(
        self, report: Callable[[str], None], stream: SecretByteStream | None = None
    ) -> None:
        self._report = report
        self._stream = stream
        self._pending = bytearray()
        self._timer: asyncio.TimerHandle | None = None
        self._silent_intervals = 0

    def add(self, piece: bytes) -> None:
        """Add the next bytes of the stream; on the loop's thread."""
        if self._stream is not None:
            piece = self._stream.add(piece)
        self._pending += piece[-_REPORT_BYTES:]
        del self._pending[:-_REPORT_BYTES]
        if self._timer is None and self._pending:
            self._start_timer()

    def finish(self) -> None:
        """Report the rest, and nothing after that."""
        if self._stream is not None:
            self._pending += self._stream.flush()
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._report_up_to(len(self._pending))

    def _start_timer(self) -> None:
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(_REPORT_EVERY_SECONDS, self._interval_over)

    def _interval_over(self) -> None:
        self._timer = None
        end = self._pending.rfind(b"\n") + 1
        self._silent_intervals += 1
        if not end and self._silent_intervals > _REPORTS_BEFORE_PARTIAL:
            end = _end_of_characters(self._pending)
        if end:
            self._silent_intervals = 0
        if self._pending:
            self._start_timer()
        self._report_up_to(end)

    def _report_up_to(self, end: int) -> None:
        text = self._pending[:end].decode(errors="replace")
        del self._pending[:end]
        text = text[-_REPORT_CHARS:].removesuffix("\n").removesuffix("\r")
        if text:
            self._report(text)


def _end_of_head(head: bytearray) -> int:
    """Where to cut: after a line that ends near, else after a whole character."""
    newline = head.rfind(b"\n", max(0, len(head) - _CUT_SEARCH_BYTES))
    return newline + 1 if newline >= 0 else _end_of_characters(head)


def _start_of_tail(tail: bytearray) -> int:
    """Where to continue: at a line that starts near, else at a whole character."""
    newline = tail.find(b"\n", 0, _CUT_SEARCH_BYTES)
    if newline >= 0:
        return newline + 1
    start = 0
    while start < min(3, len(tail)) and tail[start] & 0xC0 == 0x80:
        start += 1
    return start


def _end_of_characters(data: bytearray) -> int:
    """The length of `data` without a UTF-8 character that is cut at its end."""
    for back in range(1, min(4, len(data)) + 1):
        byte = data[-back]
        if byte & 0xC0 != 0x80:
            needed = 1 + (byte >= 0xC0) + (byte >= 0xE0) + (byte >= 0xF0)
            return len(data) - back if needed > back else len(data)
    return len(data)


# Commands of ready tools under the policy of the personality that runs them.

SandboxChoice: TypeAlias = CommandSandbox | Literal["policy", "required", "off"]
"""`"policy"`: confined if the personality states a reach or a network policy. `"required"`: always,
to the working directory if there is no policy. `"off"`: never, whatever the personality states."""

_REFUSED_PATH = re.compile(
    r"(?P<path>/[^\s:'\"`]+)['\"`]?:? *(?:\S+ )?"
    r"(?:Permission denied|Read-only file system|Operation not permitted)"
)
_NAMED_PATHS = 3
MAX_TIMEOUT_SECONDS = 3_600.0
"""The longest timeout that a model can request."""
_REGISTRY_MARGIN_SECONDS = 10.0
_PATH_IN_QUOTES = re.compile(
    r"(?:Permission denied|Read-only file system|Operation not permitted): ['\"](?P<path>/[^'\"]+)"
)
_NO_NETWORK = re.compile(
    r"could not resolve|temporary failure in name resolution|network is unreachable|"
    r"name or service not known|nodename nor servname|getaddrinfo|no route to host",
    re.IGNORECASE,
)


class Confinement:
    """How the commands of one tool are confined."""

    __slots__ = ("_choice", "_commands", "sandbox", "tool_name")

    def __init__(
        self, choice: SandboxChoice, tool_name: str, commands: CommandPolicy | None = None
    ) -> None:
        if not isinstance(commands, CommandPolicy | None):
            raise ConfigError(f"`commands` must be a CommandPolicy, got {type(commands).__name__}")
        is_known = choice in ("policy", "required", "off")
        if not is_known and not callable(getattr(choice, "wrap", None)):
            raise ConfigError(
                '`sandbox` must be "policy", "required", "off" or a command sandbox, '
                f"got {choice!r}"
            )
        self._commands = CommandPolicy() if commands is None else commands
        self.tool_name = tool_name
        self._choice = choice
        self.sandbox = SHARED_SANDBOX if isinstance(choice, str) else choice

    def is_possible(self) -> bool:
        """Whether commands can be confined here."""
        return self.sandbox.probe().level != "none"

    def why_refused(self, personality: Personality) -> str:
        """Why no command can run under a personality here; empty if commands can."""
        return why_unconfined(self.tool_name, personality, self.sandbox)

    def policy(self, context: ToolContext) -> SandboxPolicy | None:
        """What the commands of this call may touch; `None` if nothing restricts them."""
        if self._choice == "off":
            return None
        protection = getattr(context, "protection", DEFAULT_PROTECTION)
        policy = sandbox_policy(context, None, protection)
        if policy is None and self._choice == "required":
            return SandboxPolicy(write=[context.working_dir], protection=protection)
        return policy

    def limits(self, context: ToolContext) -> CommandPolicy:
        """The limits of the tool and of the personality; what neither states has a default."""
        personality = personality_of(context)
        stated = self._commands.narrowed(None if personality is None else personality.commands)
        unset = {name: value for name, value in _DEFAULTS.items() if not getattr(stated, name)}
        if containment() != "tree" and not (
            unset.pop("processes", 0) and unset.pop("total_memory_bytes", 0)
        ):
            raise RefusalError(
                f"{self.tool_name} cannot limit processes and memory on this system: leave "
                "`processes` and `total_memory_bytes` out of `commands`",
                "not_available",
            )
        return dataclasses.replace(stated, **unset)  # type: ignore[arg-type]


def _memory_of_machine() -> int:
    with contextlib.suppress(OSError, ValueError, AttributeError):
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return 8 * 1024**3


_DEFAULTS = {
    "processes": 1_000,
    "total_memory_bytes": _memory_of_machine() * 3 // 4,
    "output_bytes": 256 * 1024**2,
}
"""For a build with all processors, but not for a fork bomb or output without end."""


def blocked_note(output: str, policy: SandboxPolicy) -> str:
    """One sentence on what the sandbox blocked, as far as the output names it; else empty.

    The sentence names at most three paths, in the order of the output.
    """
    tail = output[-8_000:]
    refused = [*_REFUSED_PATH.finditer(tail), *_PATH_IN_QUOTES.finditer(tail)]
    refused.sort(key=lambda match: match.start("path"))
    paths = list(dict.fromkeys(match["path"] for match in refused))
    if paths:
        return f"The sandbox blocked {_some_of(paths)}."
    if not policy.network and _NO_NETWORK.search(tail):
        return (
            "The sandbox gives commands of this personality no network: they get one only from a "
            "policy that allows every host, not from a list of hosts."
        )
    return ""


def _some_of(paths: Sequence[str]) -> str:
    more = len(paths) - _NAMED_PATHS
    return ", ".join(paths[:_NAMED_PATHS]) + (f" and {more} more" if more > 0 else "")


_ENVIRONMENT = {
    "GIT_PAGER": "cat",
    "GIT_TERMINAL_PROMPT": "0",
    "NO_COLOR": "1",
    "PAGER": "cat",
    "TERM": "dumb",
}
_ENDED: Mapping[Containment, str] = {
    "tree": "and everything that it started is ended",
    "group": "and its process group are ended; a process that left the group runs on",
    "process": "is ended; processes that it started run on",
}
MAY_RUN_ON: Mapping[Containment, str] = {
    "tree": "Some of its processes could not be ended and may still be running.",
    "group": "Processes that left its process group may still be running.",
    "process": "Processes that it started may still be running.",
}
_COLOUR_SWITCHES = ("CLICOLOR_FORCE", "COLORTERM", "FORCE_COLOR", "PY_COLORS")


def described_end(
    end: ProcessEnd, timeout_seconds: float, limits: CommandPolicy
) -> tuple[str, dict[str, Any]]:
    """How a program ended, if it did not succeed, and the extra fields of the error."""
    status = end.status
    if end.exceeded:
        limit = f"{end.exceeded} ({getattr(limits, end.exceeded):,})"
        text = f"Command was ended: it exceeded the limit {limit}."
        return text, {"exit_code": None, "limit": end.exceeded}
    if end.timed_out or status is None:
        text = f"Command was killed after {timeout_seconds:g} s: time was up."
        fields: dict[str, Any] = {"exit_code": None, "timed_out": True}
        if not end.is_all_ended:
            text, fields["may_still_run"] = f"{text} {MAY_RUN_ON[containment()]}", True
        return text, fields
    if status < 0:
        text = f"Command was killed by signal {signal_name(-status, 'number')} ({-status})."
        return text, {"exit_code": status}
    return f"Command exited with code {status}.", {"exit_code": status}


@dataclass(frozen=True, slots=True)
class CommandCall:
    """A call of a tool that runs one program: its arguments, and where and how it may run."""

    values: Mapping[str, Any]
    context: ToolContext
    root: str
    """The real path of the working directory."""
    directory: str
    timeout_seconds: float
    confinement: Confinement


def command_tool(
    name: str,
    description: str,
    properties: Mapping[str, Any],
    work: Callable[[CommandCall], Awaitable[ToolResult]],
    *,
    default_timeout_seconds: float,
    sandbox: SandboxChoice,
    commands: CommandPolicy | None,
    what: str,
    folder: str,
    required: Sequence[str] | None = None,
) -> Tool:
    """A tool whose `work` runs one program; `timeout_seconds` and `cwd` are added to its schema.

    `what` is ended at the timeout, `folder` is the use of `cwd`: both are for its description.
    """
    default = float(_checks.finite_number(default_timeout_seconds, "default_timeout_seconds"))
    confinement = Confinement(sandbox, name, commands)

    async def run(values: Mapping[str, Any], context: ToolContext) -> ToolResult:
        timeout = optional_number(values, "timeout_seconds", maximum=MAX_TIMEOUT_SECONDS)
        root = working_directory(context.working_dir)
        directory = _folder(values, root)
        seconds = default if timeout is None else timeout
        return await work(CommandCall(values, context, root, directory, seconds, confinement))

    def bind(execute: Any) -> None:
        if sandbox == "off":
            without_confinement(execute)
        else:
            binds_itself(execute, confinement.why_refused)

    return argument_tool(
        name,
        description,
        {
            **properties,
            "timeout_seconds": {
                "type": "number",
                "exclusiveMinimum": 0,
                "maximum": MAX_TIMEOUT_SECONDS,
                "description": f"Seconds after which {what} {_ENDED[containment()]}. "
                f"Default: {default_timeout_seconds:g}.",
            },
            "cwd": string(f"{folder}, inside the working directory. Default: itself."),
        },
        run,
        required=required,
        bind=bind,
        toolset="terminal",
        max_result_chars=20_000,
        output_is_untrusted=True,
        timeout_seconds=max(MAX_TIMEOUT_SECONDS, default) + _REGISTRY_MARGIN_SECONDS,
        is_available=confinement.is_possible if sandbox == "required" else None,
    )


def _folder(values: Mapping[str, Any], root: str) -> str:
    if "cwd" not in values:
        return root
    path = required_text(values, "cwd", "src")
    directory = resolve_below(root, path)
    if not os.path.isdir(directory):
        raise RefusalError(f"`cwd` {quoted(path)} is not a folder in the working directory")
    return directory


async def run_command(
    argv: Sequence[str],
    call: CommandCall,
    *,
    max_output_bytes: int,
    variables: Mapping[str, str] | None = None,
    first_line: str = "",
    **fields: Any,
) -> ToolResult:
    """Run a program as `run_program` does, with this process's environment and `variables`.

    If the policy of the call's confinement restricts it, it runs confined, with the few variables
    that pass. A refusal is raised if it must be confined and cannot be.

    Pagers, prompts and colours are switched off. At most `max_output_bytes` of the output are
    kept, from its start and its end; it is reported to the user while it is written. The result
    starts with `first_line`, which ends with its line end, and has the `fields`.

    Raises:
        RefusalError: The program cannot be started.

    """
    context, confinement, directory = call.context, call.confinement, call.directory
    output = BoundedOutput(max_output_bytes)
    progress = _progress(context)

    def receive(piece: bytes) -> None:
        output.add(piece)
        progress.add(piece)

    inherited = {name: value for name, value in os.environ.items() if name not in _COLOUR_SWITCHES}
    own = _ENVIRONMENT | dict(variables or {})
    environment = inherited | own
    policy = confinement.policy(context)
    commands = confinement.limits(context)

    def prepare() -> PreparedCommand:
        if policy is None:
            return PreparedCommand([*argv], environment)
        try:
            prepared = confinement.sandbox.wrap(
                argv, policy, directory=directory, environment=environment
            )
        except UnconfinedError as error:
            reason = str(error).partition(": ")[2]
            raise RefusalError(
                f"{confinement.tool_name} cannot be confined here, and this personality requires "
                f"it: {reason}",
                "not_available",
            ) from None
        prepared.environment.update(own)
        return prepared

    try:
        end = await run_program(
            prepare,
            directory=directory,
            timeout_seconds=call.timeout_seconds,
            on_output=receive,
            limits=lambda: joined_limits(confinement.limits(context), None),
            output_bytes=commands.output_bytes,
        )
    except (OSError, ValueError) as error:
        raise _not_started(error, argv[0], call) from None
    finally:
        progress.finish()
    text, dropped = output.text()
    if dropped:
        fields["dropped_bytes"] = dropped
    if end.restored:
        fields["restored_files"] = [*end.restored]
        text += f"\n[The sandbox put protected files back: {_some_of(end.restored)}]\n"
    sentence, extra = described_end(end, call.timeout_seconds, commands)
    if extra == {"exit_code": 0}:
        return ok(f"{first_line}{text}", structured=extra | fields)
    note = "" if policy is None or end.status == 0 else blocked_note(text, policy)
    sentence = f"{sentence} {note}".rstrip()
    return err(f"{first_line}{sentence}\n{text}", structured=fields or None, **extra)


def _not_started(error: OSError | ValueError, program: str, call: CommandCall) -> RefusalError:
    argument = "`command`" if "command" in call.values else "`arguments`"
    if isinstance(error, ValueError):
        return RefusalError(f"{argument} has a NUL or a lone surrogate: it could not be started")
    if error.errno == errno.E2BIG:
        return RefusalError(f"{argument} is too long; write it to a file and run that")
    reason = error.strerror or type(error).__name__
    return RefusalError(f"{quoted(program)} could not be started: {reason}", "execution_failed")


def _progress(context: ToolContext) -> OutputProgress:
    """Live output for the user, without the secrets that tools were given."""
    make_stream = getattr(context, "secret_stream", None)
    stream = None if make_stream is None else make_stream()
    if stream is None:
        return OutputProgress(lambda text: context.report(text, audience="user"))
    report = context.report_searched  # type: ignore[attr-defined]
    return OutputProgress(lambda text: report(text, audience="user"), stream)
