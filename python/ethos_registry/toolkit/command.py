"""One program run for a model: its output bounded and reported, how it ended described."""

from __future__ import annotations

import os
import signal
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ethos_registry.capabilities.sandbox.policy import PreparedCommand
from ethos_registry.contract.context import ToolContext
from ethos_registry.processes.supervised_process import Containment
from ethos_registry.processes.supervisor import containment
from ethos_registry.toolkit.confined import Confinement, blocked_note
from ethos_registry.toolkit.output import BoundedOutput, OutputProgress
from ethos_registry.toolkit.process import run_process

__all__ = ["Ending", "ended_at_timeout", "run_command"]

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


@dataclass(frozen=True, slots=True)
class Ending:
    """How a program ended, and its output."""

    exit_code: int | None
    """Negative: the signal that ended it; `None`: it was ended at the timeout."""
    output: str
    dropped_bytes: int
    timeout_seconds: float
    is_all_ended: bool = True
    """After a timeout: whether certainly nothing that it started is running."""
    note: str = ""
    """What a sandbox blocked, if it is known."""

    @property
    def sentence(self) -> str:
        """How it ended, for a program that did not succeed."""
        return f"{self._how} {self.note}".rstrip()

    @property
    def _how(self) -> str:
        if self.exit_code is None:
            text = f"Command was killed after {self.timeout_seconds:g} s: time was up."
            return text if self.is_all_ended else f"{text} {MAY_RUN_ON[containment()]}"
        if self.exit_code < 0:
            name = _signal_name(-self.exit_code)
            return f"Command was killed by signal {name} ({-self.exit_code})."
        return f"Command exited with code {self.exit_code}."

    @property
    def error_fields(self) -> Mapping[str, Any]:
        """The extra fields of the error result."""
        if self.exit_code is not None:
            return {"exit_code": self.exit_code}
        fields: dict[str, Any] = {"exit_code": None, "timed_out": True}
        return fields if self.is_all_ended else fields | {"may_still_run": True}

    @property
    def structured(self) -> dict[str, Any]:
        """The fields for programs in either case."""
        return {"dropped_bytes": self.dropped_bytes} if self.dropped_bytes else {}


def ended_at_timeout(what: str) -> str:
    """What is ended at the timeout on this system, for the schema that the model reads."""
    return f"Seconds after which {what} {_ENDED[containment()]}."


async def run_command(
    argv: Sequence[str],
    context: ToolContext,
    *,
    directory: str,
    timeout_seconds: float,
    max_output_bytes: int,
    variables: Mapping[str, str] | None = None,
    confinement: Confinement | None = None,
) -> Ending:
    """Run a program as `run_process` does, with this process's environment and `variables`.

    Under a `confinement` whose policy restricts the call it runs confined, with the few variables
    that pass. A refusal is raised if it must be confined and cannot be.

    Pagers, prompts and colours are switched off. At most `max_output_bytes` of the output are
    kept, from its start and its end; it is reported to the user while it is written.

    Raises:
        OSError: The program cannot be started.
        ValueError: The program or an argument contains a NUL character.

    """
    output = BoundedOutput(max_output_bytes)
    progress = _progress(context)

    def receive(piece: bytes) -> None:
        output.add(piece)
        progress.add(piece)

    inherited = {name: value for name, value in os.environ.items() if name not in _COLOUR_SWITCHES}
    own = _ENVIRONMENT | dict(variables or {})
    policy = None if confinement is None else confinement.policy(context)
    prepared = PreparedCommand([*argv], inherited | own)
    if confinement is not None and policy is not None:
        prepared = confinement.prepared(
            argv, policy, directory=directory, environment=inherited | own
        )
        prepared.environment.update(own)
    try:
        end = await run_process(
            prepared,
            directory=directory,
            timeout_seconds=timeout_seconds,
            on_output=receive,
        )
    finally:
        progress.finish()
        prepared.clean_up()
    text, dropped = output.text()
    note = "" if policy is None or end.status == 0 else blocked_note(text, policy)
    return Ending(end.status, text, dropped, timeout_seconds, end.is_all_ended, note)


def _progress(context: ToolContext) -> OutputProgress:
    """Live output for the user, without the secrets that tools were given."""
    make_stream = getattr(context, "secret_stream", None)
    stream = None if make_stream is None else make_stream()
    if stream is None:
        return OutputProgress(lambda text: context.report(text, audience="user"))
    report = context.report_searched  # type: ignore[attr-defined]
    return OutputProgress(lambda text: report(text, audience="user"), stream)


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return "number"
