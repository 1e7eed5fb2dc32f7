"""The port for ledgers and telemetry: what happened to each call of a batch."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Any, Protocol, TypeAlias, overload

from ethos_registry.types._call import CallResult
from ethos_registry.types._context import ToolContext
from ethos_registry.types._result import ErrorReason
from ethos_registry.types._tool import Tool

# One call with its arguments and output, as recordings hold it.


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


@dataclass(frozen=True, slots=True)
class StartedBatch:
    """A batch whose calls are about to start."""

    context: ToolContext
    """The caller's context, shared by all calls of the batch."""
    personality_id: str | None
    redact: Callable[[str], str] | None
    """Takes credentials out of text, as the registry does in results; `None` if it keeps them."""
    has_callers: bool = False
    """Whether each call runs in the context variables of its own caller: see `callers`."""


@dataclass(frozen=True, slots=True)
class StartedCall:
    """A call whose tool is about to run."""

    tool_call_id: str
    tool_name: str
    args: Any
    """The arguments as the model sent them, parsed. Do not change them."""
    context: ToolContext
    """The context that the tool receives."""
    agent_id: str | None
    personality_id: str | None
    owner: str | None
    plugin_id: str | None
    mcp_server: str | None
    started_at_seconds: float
    """Wall-clock time, in seconds since the Unix epoch."""
    position: int = 0
    """The position of the call in its batch; ids of calls may occur twice."""


@dataclass(frozen=True, slots=True)
class FinishedCall:
    """A call that has its result: from the tool, or from the registry if the tool did not run."""

    result: CallResult
    """The text, its lengths in characters, the duration and the cost."""
    context: ToolContext
    """The caller's context, shared by all calls of the batch."""
    agent_id: str | None
    personality_id: str | None
    owner: str | None
    """The owner given at registration; `None` for a name that is not registered."""
    plugin_id: str | None
    mcp_server: str | None
    started_at_seconds: float | None
    """Wall-clock time, in seconds since the Unix epoch; `None` if the tool was not started."""
    position: int = 0
    """The position of the call in its batch; ids of calls may occur twice."""
    exception_type: str | None = None
    """The name of the class of the exception that the tool raised; `None` if it raised none."""

    @property
    def tool_call_id(self) -> str:
        """The id of the call."""
        return self.result.tool_call_id

    @property
    def tool_name(self) -> str:
        """The name that was called, registered or not."""
        return self.result.name

    @property
    def caller_id(self) -> str:
        """The agent, else the personality, else an empty string."""
        return self.agent_id or self.personality_id or ""

    @property
    def is_started(self) -> bool:
        """Whether the tool was started; a call that was refused was not."""
        return self.started_at_seconds is not None

    @property
    def ok(self) -> bool:
        """Whether the result is a success."""
        return self.result.result.ok

    @property
    def reason(self) -> ErrorReason | None:
        """Why the registry produced the error; `None` for the tool's own results."""
        result = self.result.result
        return None if result.ok else result.reason

    @property
    def duration_seconds(self) -> float:
        """How long the tool ran; 0 if it was not started."""
        return self.result.duration_seconds

    @property
    def cost_usd(self) -> float | None:
        """What the tool reported as its cost."""
        return self.result.result.cost_usd


class TaggedTool(Protocol):
    """A tool with the tags of its registration that observers read."""

    @property
    def tool(self) -> Tool:
        """The tool that was registered."""

    @property
    def name(self) -> str:
        """The name of the tool."""

    @property
    def owner(self) -> str | None:
        """Who registered it."""

    @property
    def plugin_id(self) -> str | None:
        """The plugin that it belongs to."""

    @property
    def mcp_server(self) -> str | None:
        """The MCP server that it belongs to."""


FinishedRow: TypeAlias = tuple[int, CallResult, TaggedTool | None, float | None]
"""Position in the batch, result, tool (`None` for a name without one), start (monotonic seconds,
`None` if the tool was not started)."""


@dataclass(slots=True, eq=False, repr=False)
class FinishedCalls(Sequence[FinishedCall]):
    """The calls of a batch, in their order; each `FinishedCall` is created when it is first read.

    An observer of many calls may read `rows` instead, which are in the order in which the calls
    ended, and creates no object for each call.
    """

    rows: list[FinishedRow]
    context: ToolContext
    personality_id: str | None
    clock_offset_seconds: float
    """Added to a monotonic time, it is Unix time."""
    exception_types: Mapping[int, str] = field(default_factory=dict)
    """By position, the class name of the exception of each tool that raised one."""
    attempts: list[FinishedRow] = field(default_factory=list)
    """The attempts that failed and were followed by another: see `Retry`. `rows` has the last
    attempt of each call."""
    started_at_seconds: float = 0.0
    """Unix time of the start of the batch."""
    _calls: list[FinishedCall] | None = field(default=None, init=False)

    @property
    def caller_id(self) -> str:
        """The agent, else the personality, else an empty string."""
        return self.context.agent_id or self.personality_id or ""

    def call(self, row: FinishedRow) -> FinishedCall:
        position, answer, tool, started = row
        return FinishedCall(
            answer,
            self.context,
            self.context.agent_id,
            self.personality_id,
            None if tool is None else tool.owner,
            None if tool is None else tool.plugin_id,
            None if tool is None else tool.mcp_server,
            None if started is None else started + self.clock_offset_seconds,
            position,
            self.exception_types.get(position),
        )

    def _made(self) -> list[FinishedCall]:
        if self._calls is None:
            self._calls = [self.call(row) for row in sorted(self.rows, key=itemgetter(0))]
        return self._calls

    def __len__(self) -> int:
        return len(self.rows)

    @overload
    def __getitem__(self, index: int) -> FinishedCall: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[FinishedCall]: ...

    def __getitem__(self, index: int | slice) -> FinishedCall | Sequence[FinishedCall]:
        return self._made()[index]

    def __iter__(self) -> Iterator[FinishedCall]:
        return iter(self._made())


class Observer:
    """Receives what happens to the calls of a registry: `ToolRegistry(observers=[...])`.

    Each method does nothing; override those that you need, and only they are called. An object
    that has some of the methods and not this base is an observer too. All run on the event
    loop's thread, so they must not block. What one raises is logged once and changes nothing.

    >>> from ethos_registry import ToolRegistry
    >>> class Printer(Observer):
    ...     def batch_finished(self, calls):
    ...         for call in calls:
    ...             print(call.tool_name, call.reason, call.is_started)
    >>> registry = ToolRegistry(observers=[Printer()])
    >>> _ = registry.execute_parallel_sync([{"id": "1", "name": "missing", "args": {}}])
    missing unknown False
    """

    __slots__ = ()

    def is_idle(self) -> bool:
        """Whether it wants no batch now.

        Asked before `batch_started`; if all observers of a registry are idle, nothing is made for
        them. It counts only for observers that decide for each batch.
        """
        return False

    def batch_started(self, batch: StartedBatch) -> object:
        """The observer of this batch alone, or `None` to leave it unobserved.

        Called before the calls start, with the context variables of the caller. A batch that no
        observer wants runs as if the registry had none.
        """

    def call_started(self, call: StartedCall) -> object:
        """The tool is about to run.

        Runs inside the call's own task, so context variables that it sets are visible to the tool.
        """

    def call_finished(self, call: FinishedCall) -> object:
        """A call whose tool was started has its result.

        Runs inside the call's own task, unless the call was stopped.
        """

    def call_refused(self, call: FinishedCall) -> object:
        """A call was answered without starting its tool."""

    def batch_finished(self, calls: Sequence[FinishedCall]) -> object:
        """All calls of one batch have their results; they are in the order of the calls.

        After the caller's own cancellation these are the calls that had a result by then.
        """

    def batch_recorded(self, calls: RecordedCalls) -> object:
        """All calls of one batch, with arguments and output.

        `calls.calls()` does the redaction and belongs on another thread. Credentials that identify
        themselves, secrets that tools were given and values under secret-looking keys are replaced,
        whatever the registry's `redact` and `unredacted_tools` are.

        >>> from ethos_registry import Tool, ToolRegistry, ok
        >>> class Printer(Observer):
        ...     def batch_recorded(self, calls):
        ...         for call in calls.calls():
        ...             print(call.tool_name, call.args, call.raw)
        >>> login = Tool("login", "", {"type": "object"}, lambda args, context: ok("welcome"))
        >>> registry = ToolRegistry([login], observers=[Printer()])
        >>> call = {"id": "1", "name": "login", "args": {"user": "ada", "password": "hunter2"}}
        >>> _ = registry.execute_parallel_sync([call])
        login {"user":"ada","password":"[redacted]"} welcome
        """
