"""Where a tool runs: the port of transports, and what travels through it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import aclosing
from contextvars import Context
from dataclasses import dataclass
from typing import Any, Literal, Protocol, TypeAlias, runtime_checkable

from ethos_registry.contract.abort import AbortSignal
from ethos_registry.contract.context import ReadMtime
from ethos_registry.contract.execute_request import ToolExecuteRequest
from ethos_registry.contract.finish_elsewhere import FinishFacts
from ethos_registry.contract.progress import ToolProgressEvent
from ethos_registry.contract.result import (
    ERROR_REASONS,
    ToolError,
    ToolResult,
    result_from_wire,
)

__all__ = [
    "LiveContext",
    "ToolTransport",
    "TransportItem",
    "TransportProgress",
    "TransportReply",
    "TransportStarted",
    "TransportTraits",
    "may_have_run",
    "not_started",
]


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
            result = ToolError(
                result.error,
                result.code,
                reason,
                result.structured,
                result.cost_usd,
                result.extra,
                result.content,
            )
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


TransportItem: TypeAlias = TransportStarted | TransportProgress | TransportReply
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
    return ToolError(
        f"Tool {name} failed: {problem}; it may have run", "execution_failed", "worker_lost"
    )
