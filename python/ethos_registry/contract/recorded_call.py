"""One call with its arguments and output, as recordings hold it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

__all__ = ["CallRecorder", "RecordedCall", "RecordedCalls"]


@dataclass(frozen=True, slots=True)
class RecordedCall:
    """One call with its arguments and output, both after redaction.

    The fields are the columns of a recording, under Python names.
    """

    started_at_seconds: float
    """Unix time: when the tool was started, else when the batch was."""
    session_id: str
    turn: int
    batch_id: str
    """The same for all calls of a batch."""
    tool_call_id: str
    tool_name: str
    caller_id: str
    """The agent, else the personality, else an empty string."""
    args: str
    """JSON; values under secret-looking keys are replaced."""
    ok: bool
    code: str | None
    """The code of an error."""
    reason: str | None
    """Why the registry produced the error; `None` for the tool's own results."""
    raw: str | None
    """The text that the tool returned, before it was reduced; `None` if the tool was not started
    or did not return."""
    value: str
    """The text that the model received."""
    raw_chars: int
    reduced_chars: int
    sent_chars: int
    exit_code: int | None
    duration_seconds: float
    cost_usd: float | None
    number: int = 0
    """The position in its recording, counted from 1; 0 before it is stored."""


class RecordedCalls(Protocol):
    """The calls of one batch; each is redacted when it is read, on whatever thread reads it."""

    @property
    def size_chars(self) -> int:
        """About how many characters the calls hold."""

    def __len__(self) -> int:
        """How many calls."""

    def calls(self) -> Sequence[RecordedCall]:
        """The calls, in the order of the batch."""


class CallRecorder(Protocol):
    """An observer that receives arguments and output: see `Observer` for those without.

    Called on the event loop's thread when all calls of a batch have their results, so it must not
    block; `calls.calls()` does the redaction and belongs on another thread. Credentials that
    identify themselves, secrets that tools were given and values under secret-looking keys are
    replaced, whatever the registry's `redact` and `unredacted_tools` are.

    >>> from ethos_registry import Tool, ToolRegistry, ok
    >>> class Printer:
    ...     def batch_recorded(self, calls):
    ...         for call in calls.calls():
    ...             print(call.tool_name, call.args, call.raw)
    >>> login = Tool("login", "", {"type": "object"}, lambda args, context: ok("welcome"))
    >>> registry = ToolRegistry([login], observers=[Printer()])
    >>> call = {"id": "1", "name": "login", "args": {"user": "ada", "password": "hunter2"}}
    >>> _ = registry.execute_parallel_sync([call])
    login {"user":"ada","password":"[redacted]"} welcome
    """

    def batch_recorded(self, calls: RecordedCalls) -> Any:
        """All calls of one batch."""
