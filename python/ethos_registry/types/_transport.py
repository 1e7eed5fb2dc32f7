"""Where a tool runs: the port of transports, and what travels through it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import aclosing
from contextvars import Context
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple, Protocol, TypeAlias, runtime_checkable

from ethos_registry.types import _checks
from ethos_registry.types._abort import AbortSignal
from ethos_registry.types._checks import wire_name
from ethos_registry.types._content import Attachment
from ethos_registry.types._context import ReadMtime, ToolContext, ToolProgressEvent
from ethos_registry.types._errors import ConfigError
from ethos_registry.types._policy import NO_TOOLS, Personality, ToolFilterOpts
from ethos_registry.types._remote_finish import FinishFacts, FinishOrder
from ethos_registry.types._result import ERROR_REASONS, ToolError, ToolResult, result_from_wire

# A call on its way to where its tool runs.

PROTOCOL_VERSION = 1
"""The version of requests and replies between a registry and its workers."""


@dataclass(frozen=True, slots=True)
class ToolExecuteRequest:
    """Everything that a transport needs to run one call elsewhere.

    The data of the context travels; the receiver supplies the live objects (`emit`,
    `abort_signal`, the scoped ones, which it makes from the tool's declared capabilities).
    """

    tool_call_id: str
    name: str
    args: Any
    context: ToolContext
    attachments: tuple[Attachment, ...] = ()
    personality: Personality | None = None
    """The personality of the view that runs the call: the receiver judges its gate again."""
    allowed_tools: tuple[str, ...] | None = None
    """The allow list of the batch, judged again too."""
    filter_opts: ToolFilterOpts | None = None
    """The filters of the batch, judged again too."""
    idempotent: bool = False
    """Whether the call may be sent again if its worker was lost."""
    tool_digest: str = ""
    """SHA-256 hex of the definition and capabilities that the caller has; a receiver with another
    definition refuses the call. Empty: not compared."""
    finish: FinishOrder | None = None
    """How the receiver shortens the result; `None`: it sends the result as it is."""
    protocol_version: int = PROTOCOL_VERSION

    def __post_init__(self) -> None:
        if type(self.tool_call_id) is not str:
            _checks.text(self.tool_call_id, "tool_call_id")
        if type(self.name) is not str:
            _checks.text(self.name, "name")
        _checks.instance(self.context, ToolContext, "context", "a ToolContext")
        if self.attachments != ():
            object.__setattr__(self, "attachments", _checked_attachments(self.attachments))
        if self.personality is not None:
            _checks.instance(self.personality, Personality, "personality", "a Personality")
        if self.filter_opts is not None:
            _checks.instance(self.filter_opts, ToolFilterOpts, "filter_opts", "ToolFilterOpts")
        if self.allowed_tools is not None and self.allowed_tools is not NO_TOOLS:
            names = _checks.strings(self.allowed_tools, "allowed_tools")
            if names != self.allowed_tools or not names:
                object.__setattr__(self, "allowed_tools", names or NO_TOOLS)
        if self.idempotent is not False:
            _checks.boolean(self.idempotent, "idempotent")
        if type(self.tool_digest) is not str:
            _checks.text(self.tool_digest, "tool_digest")
        if self.finish is not None:
            _checks.instance(self.finish, FinishOrder, "finish", "a FinishOrder")
        if self.protocol_version is not PROTOCOL_VERSION:
            _checks.whole_count(self.protocol_version, "protocol_version")

    def to_wire(self) -> dict[str, Any]:
        """The JSON object; live objects of the context stay behind: see `obstacle`."""
        return _checks.to_wire(self, ToolExecuteRequest)

    @property
    def obstacle(self) -> str | None:
        """The live field of the context that keeps the request from being sent; usually `None`.

        The other live fields are bridged, stay with the caller, or are made again by the receiver.
        """
        for name in _REFUSED:
            if getattr(self.context, name) is not None:
                return name
        return None

    @classmethod
    def from_wire(cls, payload: Mapping[str, Any], **live: Any) -> ToolExecuteRequest:
        """The request that a JSON object describes; `live` are context fields of this process.

        Raises `ConfigError` for an unknown field, unless the sender has a later protocol: then
        such fields are ignored.
        """
        if isinstance(payload, Mapping) and _is_later(payload):
            known = {*cls.__match_args__, *map(wire_name, cls.__match_args__)}
            payload = {name: payload[name] for name in payload if name in known}
        values = _checks.from_wire(cls, payload, "tool execute request")
        for name, read in _READ.items():
            if name in values:
                values[name] = read(values[name])
        values["context"] = ToolContext.from_wire(values["context"], **live)
        return cls(**values)


def _is_later(payload: Mapping[str, Any]) -> bool:
    version = payload.get("protocolVersion", payload.get("protocol_version", PROTOCOL_VERSION))
    return isinstance(version, int) and version > PROTOCOL_VERSION


def _checked_attachments(attachments: Any) -> tuple[Attachment, ...]:
    _checks.instance(attachments, list | tuple, "attachments", "a list")
    for item in attachments:
        if not isinstance(item, Attachment):
            raise ConfigError(f"`attachments` holds Attachments, got {type(item).__name__}")
    return tuple(attachments)


def _attachments_from_wire(attachments: Any) -> Any:
    if isinstance(attachments, list):
        return tuple(map(Attachment.from_wire, attachments))
    return attachments


_READ: dict[str, Callable[[Any], Any]] = {
    "attachments": _attachments_from_wire,
    "personality": Personality.from_wire,
    "filter_opts": ToolFilterOpts.from_wire,
    "finish": FinishOrder.from_wire,
}
"""How the fields travel that are not JSON values, but for the context."""


REMOTE_LIVE_FIELDS: dict[str, str] = {
    "abort_signal": "bridged",
    "emit": "bridged",
    "storage": "refused",
    "artifact_store": "stays",
    "kv_store": "rebuilt",
    "secrets_resolver": "rebuilt",
    "scoped_fetch": "rebuilt",
    "scoped_fs": "rebuilt",
    "scoped_process": "rebuilt",
    "attachments": "rebuilt",
}
"""What happens to each live field of a context: `bridged` to the process where the tool runs,
`rebuilt` there from the declared capabilities, `stays` with the registry that finishes the result,
`refused`: a call whose context has it is not sent."""


_REFUSED = tuple(name for name, way in REMOTE_LIVE_FIELDS.items() if way == "refused")


class WireBatch(NamedTuple):
    """Requests as JSON objects, with what they share written once."""

    shared: list[dict[str, Any]]
    requests: list[dict[str, Any]]


def batch_to_wire(requests: Sequence[ToolExecuteRequest]) -> WireBatch:
    """The requests of one batch; equal contexts and policies are written once.

    Each entry of `requests` has `shared`, the position of its shared part.
    """
    shared: list[dict[str, Any]] = []
    written: list[dict[str, Any]] = []
    known: dict[tuple[Any, ...], int] = {}
    orders: dict[tuple[int, int], int] = {}
    for request in requests:
        context = request.context
        key = (
            id(context._facts),
            context.result_budget_chars,
            context.personality_id,
            id(request.personality),
            id(request.allowed_tools),
            id(request.filter_opts),
            id(request.attachments) if request.attachments else 0,
        )
        place = known.get(key)
        if place is None:
            place = known[key] = len(shared)
            common = request.to_wire()
            for name in _OF_THE_CALL:
                common.pop(name, None)
            common["context"].pop("toolCallId", None)
            shared.append(common)
        entry: dict[str, Any] = {
            "toolCallId": request.tool_call_id,
            "name": request.name,
            "args": request.args,
            "shared": place,
        }
        if request.tool_digest:
            entry["toolDigest"] = request.tool_digest
        if request.idempotent:
            entry["idempotent"] = True
        if request.finish is not None:
            order = (place, id(request.finish))
            if order not in orders:
                written_orders = shared[place].setdefault(_ORDERS, [])
                orders[order] = len(written_orders)
                written_orders.append(request.finish.to_wire())
            entry["finish"] = orders[order]
        if context.tool_call_id != request.tool_call_id:
            entry["contextToolCallId"] = context.tool_call_id
        written.append(entry)
    return WireBatch(shared, written)


def batch_from_wire(
    shared: Sequence[Mapping[str, Any]], requests: Sequence[Mapping[str, Any]]
) -> list[ToolExecuteRequest]:
    """The requests that `batch_to_wire` wrote."""
    orders = [list(map(FinishOrder.from_wire, common.get(_ORDERS, ()))) for common in shared]
    templates = [ToolExecuteRequest.from_wire(_template(common)) for common in shared]
    read: list[ToolExecuteRequest] = []
    for entry in requests:
        place = entry["shared"]
        template, order = templates[place], entry.get("finish")
        tool_call_id = entry["toolCallId"]
        context = context_for_call(template.context, entry.get("contextToolCallId", tool_call_id))
        read.append(
            ToolExecuteRequest(
                tool_call_id,
                entry["name"],
                entry["args"],
                context,
                template.attachments,
                template.personality,
                template.allowed_tools,
                template.filter_opts,
                entry.get("idempotent", False),
                entry.get("toolDigest", ""),
                None if order is None else orders[place][order],
                template.protocol_version,
            )
        )
    return read


def context_for_call(
    context: ToolContext, tool_call_id: str, abort_signal: AbortSignal | None = None
) -> ToolContext:
    """The same context under the id of one call, or with another signal; no facts are copied."""
    made = ToolContext.__new__(ToolContext)
    made._facts = context._facts
    made._abort_signal = context.abort_signal if abort_signal is None else abort_signal
    made._emit = context.emit
    made._budget = context.result_budget_chars
    made._tool_call_id = tool_call_id
    made._scoped = context._scoped
    return made


def _template(common: Mapping[str, Any]) -> dict[str, Any]:
    wire = {**common, "toolCallId": "", "name": "", "args": None}
    wire.pop(_ORDERS, None)
    return wire


_OF_THE_CALL = ("toolCallId", "name", "args", "toolDigest", "idempotent", "finish")
_ORDERS = "finishOrders"


@dataclass(frozen=True, slots=True)
class TransportTraits:
    """What a transport can do, for the registry and for programs that choose one.

    >>> TransportTraits("process").delivery
    'at_most_once'
    """

    name: str
    """Appears in messages: `process`, `ray`, ..."""
    remote: bool = True
    """Whether tools run outside this process, so that requests travel as JSON."""
    in_place: bool = False
    """Whether the registry calls the tool's own function itself, as without a transport."""
    cancels_running: bool = True
    """Whether a call that was stopped really ends, plain functions included."""
    streams_progress: bool = True
    """Whether progress events arrive while the tool runs."""
    reports_start: bool = False
    """Whether a `TransportStarted` is sent for each call: its timeout counts from then."""
    start_seconds: float | None = 5.0
    """How long a call may wait for its `TransportStarted`: from then on its time counts without.
    `None`: the transport itself bounds how long calls wait."""
    reduces_results: bool = False
    """Whether results may be reduced before they arrive; `TransportReply.raw_chars` is then set."""
    finishes_results: bool = False
    """Whether workers do what `ToolExecuteRequest.finish` asks for: long results are shortened
    before they travel."""
    delivery: Literal["at_most_once"] = "at_most_once"
    """A call runs at most once, unless its tool is `idempotent`."""
    max_result_bytes: int | None = None
    """Larger results are bounded before they are sent; `None` for no limit."""
    batch: bool = True
    """Whether the calls of one batch travel together."""


@dataclass(frozen=True, slots=True)
class LiveContext:
    """What requests have in the caller's process and cannot take along."""

    signals: Sequence[AbortSignal] = ()
    """One for each request: fires when that call alone is stopped. Empty: no call is."""
    callers: Sequence[Context] = ()
    """One for each request: the context variables of the call. Empty: those of the transport."""


@dataclass(frozen=True, slots=True)
class TransportStarted:
    """A call is about to run."""

    index: int
    """The position of its request."""


@dataclass(frozen=True, slots=True)
class TransportHeld:
    """A call cannot go on: other code blocks the event loop that it runs on.

    Its time does not count until its next `TransportStarted`, or for 10 s in all.
    """

    index: int
    seconds: float
    """How long it could not go on already."""


@dataclass(frozen=True, slots=True)
class TransportProgress:
    """A progress event of a call that runs."""

    index: int
    event: ToolProgressEvent


@dataclass(frozen=True, slots=True)
class TransportReply:
    """The result of a call: the last item with its index, and the only reply."""

    index: int
    result: ToolResult
    was_started: bool = True
    """False if the tool surely did not run."""
    raw_chars: int | None = None
    """Characters before a reducer that ran elsewhere; the registry then reduces no further."""
    read_mtimes: Mapping[str, ReadMtime] | None = None
    """Entries of `context.read_mtimes` that the tool wrote."""
    finish: FinishFacts | None = None
    """What the worker did with the result; `None` if it sends what the tool returned."""
    blocked_seconds: float = 0.0
    """How long the tool kept the caller's own loop from running anything else, its clock included.
    Not sent: a tool elsewhere does not block that loop."""

    def to_wire(self) -> dict[str, Any]:
        """The reply as a JSON object."""
        result = self.result
        wire: dict[str, Any] = {"index": self.index, "result": result.to_wire()}
        if isinstance(result, ToolError) and result.reason is not None:
            wire["reason"] = result.reason
        if not self.was_started:
            wire["wasStarted"] = False
        if self.raw_chars is not None:
            wire["rawChars"] = self.raw_chars
        if self.read_mtimes:
            wire["readMtimes"] = {path: entry.to_wire() for path, entry in self.read_mtimes.items()}
        if self.finish is not None:
            wire["finish"] = self.finish.to_wire()
        return wire

    @classmethod
    def from_wire(cls, payload: Mapping[str, Any]) -> TransportReply:
        """The reply that a JSON object describes; fields that are not known are ignored.

        Raises `ConfigError` if `result` is not a result.
        """
        result = result_from_wire(payload["result"])
        reason = payload.get("reason")
        if reason in ERROR_REASONS and isinstance(result, ToolError):
            result = replace(result, reason=reason)
        mtimes, finish = payload.get("readMtimes"), payload.get("finish")
        return cls(
            payload["index"],
            result,
            payload.get("wasStarted", True) is True,
            payload.get("rawChars"),
            None
            if mtimes is None
            else {path: ReadMtime.from_wire(entry) for path, entry in mtimes.items()},
            None if finish is None else FinishFacts.from_wire(finish),
        )


TransportItem: TypeAlias = TransportStarted | TransportHeld | TransportProgress | TransportReply
"""What `execute_many` yields."""


@runtime_checkable
class ToolTransport(Protocol):
    """Runs tools somewhere: on this process's loop, in worker processes, on other machines.

    The registry judges gates, validates, counts time, finishes results; the transport only runs
    what it is given. Every request gets exactly one `TransportReply`, in any order; only the
    caller's own cancellation leaves as an exception. A reply with the code `not_available` means
    that the tool surely did not start, `execution_failed` that it may have run. Nothing is sent
    twice unless the request is `idempotent`.
    """

    @property
    def traits(self) -> TransportTraits:
        """What this transport can do."""

    def execute_many(
        self,
        requests: Sequence[ToolExecuteRequest],
        signal: AbortSignal,
        *,
        live: LiveContext | None = None,
    ) -> AsyncIterator[TransportItem]:
        """Run the requests; events and replies come as they happen.

        Args:
            requests: The calls; `index` in the items is a position in this sequence.
            signal: Fires when the whole batch is aborted: nothing more is started, and what runs is
                stopped and answered.
            live: The signals of single calls.

        Closing the iterator early stops the calls that still run.

        """

    async def execute(
        self,
        request: ToolExecuteRequest,
        signal: AbortSignal,
        *,
        live: LiveContext | None = None,
    ) -> ToolResult:
        """Run one request: `execute_many` with a single one.

        Its progress events go to `request.context.emit`.
        """
        async with aclosing(self.execute_many([request], signal, live=live)) as items:  # type: ignore[type-var]
            async for item in items:
                if isinstance(item, TransportReply):
                    return item.result
                if isinstance(item, TransportProgress):
                    request.context.emit(item.event)
        return may_have_run(request.name, "the transport sent no result")

    async def aclose(self) -> None:
        """Release workers and connections; calls that run are stopped. Safe to call again."""


def not_started(name: str, problem: str) -> ToolError:
    """The answer to a call that surely did not run.

    >>> not_started("render", "no worker was free for 5 s").text
    'Tool render was not started: no worker was free for 5 s'
    """
    return ToolError(f"Tool {name} was not started: {problem}", "not_available", "unavailable")


def may_have_run(name: str, problem: str) -> ToolError:
    """The answer to a call whose outcome is not known.

    >>> may_have_run("render", "its worker process ended").text
    'Tool render failed: its worker process ended; it may have run'
    """
    problem = problem.removesuffix("; it may have run")
    return ToolError(
        f"Tool {name} failed: {problem}; it may have run", "execution_failed", "worker_lost"
    )
