"""A call that waits for its batch, and the batch that it joined."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
from collections.abc import Callable
from contextvars import copy_context
from typing import Any, TypeAlias

from ethos_registry.contract import checks
from ethos_registry.contract.call import CallResult, ToolCall
from ethos_registry.contract.context import ToolContext
from ethos_registry.contract.errors import ConfigError
from ethos_registry.contract.ports import ToolView
from ethos_registry.contract.progress import ToolProgressEvent
from ethos_registry.execution import refusals
from ethos_registry.execution.control import BatchControl
from ethos_registry.providers.wire_value import EchoingId

__all__ = [
    "CollectedBatch",
    "CollectedCall",
    "OnProgress",
    "RunKey",
    "batch_number",
    "is_same_context",
    "run_key",
]

_NO_EMIT = ToolContext().emit
_WRITTEN = ("abort_signal", "artifact_store", "read_mtimes", "storage")
"""The fields that tools write to, or that stop them: equal is not enough."""

OnProgress: TypeAlias = Callable[[ToolProgressEvent], object]
RunKey: TypeAlias = tuple[int, ...]
"""The identities of the objects of a run; it means nothing once they are gone."""


def run_key(run: object) -> RunKey:
    """What tells one run of a framework from all others, while its objects exist.

    `run` is an object that the framework makes for one run, or a tuple of objects that are together
    those of one run. Raises `ConfigError` for a plain value: two runs may use the same.
    """
    parts = run if isinstance(run, tuple) else (run,)
    if not parts or isinstance(parts[0], str | bytes | int | float | None):
        raise ConfigError(
            f"`run` must be an object that the framework makes for one run, got "
            f"{checks.brief(run)}, which another run may use as well"
        )
    return tuple(map(id, parts))


class CollectedCall:
    """One call, its caller's context and context variables, and the future of its result."""

    __slots__ = (
        "answer",
        "args",
        "caller",
        "context",
        "ended",
        "name",
        "on_progress",
        "tool_call_id",
    )

    answer: asyncio.Future[CallResult]
    """What the caller waits for; cancelled with the caller."""

    def __init__(
        self,
        tool_call_id: str,
        name: str,
        args: Any,
        context: ToolContext | None,
        on_progress: OnProgress | None = None,
    ) -> None:
        self.tool_call_id = checks.text(tool_call_id, "tool_call_id")
        self.name = checks.text(name, "name")
        self.args = args
        self.context = context
        self.caller = copy_context()
        if on_progress is None and context is not None and context.emit is not _NO_EMIT:
            on_progress = context.emit
        self.on_progress = on_progress
        """Receives the events of the tool; `None` if they are dropped."""
        self.ended: asyncio.Future[None] | None = None
        """What a caller that was cancelled waits for."""

    def settle(self, result: CallResult) -> None:
        """Give the result to the caller."""
        if not self.answer.done():
            self.answer.set_result(result)
        if self.ended is not None and not self.ended.done():
            self.ended.set_result(None)

    def not_started(self) -> CallResult:
        """The answer where the batch was cancelled before it started."""
        result = refusals.aborted_before_start(refusals.shown_name(self.name))
        chars = len(result.text)
        return CallResult(
            self.tool_call_id,
            self.name,
            result,
            raw_chars=chars,
            reduced_chars=chars,
            sent_chars=chars,
        )


class CollectedBatch:
    """The calls of one run that start together, in the context that they share."""

    __slots__ = ("calls", "context", "control", "is_started", "run", "task", "view")

    task: asyncio.Task[None]

    def __init__(self, view: ToolView, run: object, first: CollectedCall) -> None:
        self.view = view
        self.run = run
        """Kept while calls may join: until then no other object has its identity."""
        self.context = first.context
        self.calls = [first]
        self.control = BatchControl()
        self.is_started = False

    @property
    def is_open(self) -> bool:
        """Whether calls may still join: not if its task was cancelled before it could start."""
        return not (self.is_started or self.task.done() or self.task.cancelling())

    def start(self, number: int) -> list[ToolCall]:
        """The calls to run in the batch of this number; none joins any more.

        Their ids carry number and position, so that calls with equal ids stay apart.
        """
        self.is_started = True
        self.calls = [call for call in self.calls if not call.answer.cancelled()]
        started = []
        for position, call in enumerate(self.calls):
            batch_id = EchoingId(call.tool_call_id)
            batch_id.echo = {"batch": number, "position": position}
            started.append(ToolCall(batch_id, call.name, call.args))
        return started

    def _call_of(self, batch_id: str) -> CollectedCall:
        assert isinstance(batch_id, EchoingId)
        position: int = batch_id.echo["position"]
        return self.calls[position]

    def hand_over(self, result: CallResult) -> None:
        """Give a result to the caller that waits for it."""
        call = self._call_of(result.tool_call_id)
        result.tool_call_id = call.tool_call_id
        call.settle(result)

    def emit(self, event: ToolProgressEvent) -> None:
        """Pass an event to the call that it belongs to."""
        call = self._call_of(event.tool_call_id)
        if call.on_progress is not None:
            call.on_progress(dataclasses.replace(event, tool_call_id=call.tool_call_id))

    def fail(self, error: BaseException) -> None:
        """Raise an error of the whole batch in every caller that waits."""
        for call in self.calls:
            if not call.answer.done():
                call.answer.set_exception(error)

    def close(self) -> None:
        """Answer the calls that the batch was cancelled before."""
        for call in self.calls:
            if not call.answer.done():
                call.settle(call.not_started())

    async def leave(self, call: CollectedCall, *, is_held: bool) -> None:
        """Stop a call whose caller was cancelled; returns when it has ended.

        `is_held` if results are held until the end of the batch, which is not waited for.
        """
        if not self.is_started or not call.answer.cancelled() or call not in self.calls:
            return
        if all(other.answer.done() for other in self.calls):
            self.task.cancel()
            await _ended(self.task)
            return
        call.ended = self.task.get_loop().create_future()
        self.control.stop(self.calls.index(call))
        if not is_held:
            await _ended(call.ended)


def batch_number(batch_id: str) -> int:
    """The number of the batch that an id belongs to."""
    assert isinstance(batch_id, EchoingId)
    number: int = batch_id.echo["batch"]
    return number


async def _ended(future: asyncio.Future[Any]) -> None:
    """Wait for the end; a second cancellation ends the wait."""
    with contextlib.suppress(asyncio.CancelledError):
        await asyncio.wait([future])


def is_same_context(first: ToolContext | None, second: ToolContext | None) -> bool:
    """Whether calls of two contexts may share a batch: all but `emit` and the id is the same."""
    if first is second:
        return True
    if type(first) is not ToolContext or type(second) is not ToolContext:
        return False  # a subclass may hold more
    return (
        first.result_budget_chars == second.result_budget_chars
        and all(getattr(first, name) is getattr(second, name) for name in _WRITTEN)
        and first._facts == second._facts
        and first._scoped == second._scoped
    )
