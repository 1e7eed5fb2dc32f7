"""One call while it runs: its task, its clock, and the moment it ends."""

from __future__ import annotations

import asyncio
import inspect
import sys
import threading
from collections.abc import Callable, Mapping
from functools import partial
from time import monotonic
from types import MappingProxyType
from typing import Any

from ethos_registry.artifacts.artifact_tool import ArtifactTool
from ethos_registry.contract.abort import AbortController, AbortSignal
from ethos_registry.contract.artifact import ArtifactOrigin
from ethos_registry.contract.attachment import Attachment
from ethos_registry.contract.dispatch import ToolExecution
from ethos_registry.contract.progress import ToolProgressEvent
from ethos_registry.contract.reducer import ToolResultReducer
from ethos_registry.contract.result import NO_EXTRA, ToolError, ToolOk, ToolResult
from ethos_registry.execution import observed, refusals, steps
from ethos_registry.execution.batch import Batch
from ethos_registry.execution.call_context import CallContext
from ethos_registry.execution.clock import CallClock
from ethos_registry.execution.filtered import BadResultError, around
from ethos_registry.execution.own_args import own_args
from ethos_registry.execution.refusals import StopReason
from ethos_registry.execution.runtime import Runtime
from ethos_registry.execution.threads import shared_threads
from ethos_registry.execution.whole_text import FENCED_SOURCE_CHARS, Keeper, WholeText
from ethos_registry.reduction.finish import (
    Fence,
    Finished,
    finish_result,
    sanitized,
)
from ethos_registry.table.entry import Entry

__all__ = ["LARGE_TEXT_CHARS", "RunningCall"]

LARGE_TEXT_CHARS = 256 * 1024
"""Longer texts are finished on a thread: the loop goes on (docs/performance.md)."""


class RunningCall(CallClock):
    """The execute and finish steps of one call. `ended` once its result stands."""

    # Class-level defaults: a call that runs through stores only what is its own.
    give_up_at: float | None = None
    stop_reason: StopReason | None = None
    execution: ToolExecution | None = None
    scoped: Mapping[str, Any] = MappingProxyType({})
    ended = False
    has_slot = False
    whole: WholeText | None = None
    _controller: AbortController | None = None

    def __init__(
        self, batch: Batch, index: int, tool_call_id: str, entry: Entry, args: Any, cap: int
    ) -> None:
        self.batch = batch
        self.index = index
        self.tool_call_id = tool_call_id
        self.entry = entry
        self.args = args
        self.own_args = own_args(args)
        self.cap = cap
        self.trim_cap = sys.maxsize if batch.trims_together else cap

    @property
    def context(self) -> CallContext:
        """What the tool gets, made at each use."""
        # Kept here it would be a cycle: the arguments of every call would wait for the collector.
        return CallContext(self.batch.context, self)

    async def run(self) -> None:
        """Run the tool inside this call's own task; whatever it does, the result stands after."""
        batch, entry = self.batch, self.entry
        if batch.turn_signal.aborted:  # since the task was made
            self.stop_reason = "cancelled"
            self.end_stopped()
            return
        self.start_clock()
        try:
            if batch.filters:
                value = await around(batch.filters, self, self._value)
            elif entry.is_coroutine and batch.turn is None:
                value = await entry.execute(self.own_args, self.context)
            else:
                value = await self._value()
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # SystemExit, CancelledError and foreign ones end one call
            self.end_finished(self._failure(error))
            return
        if self.stop_reason is not None or self.ended:
            self.end_stopped()
            return
        self.deadline = None
        if (  # the usual answer, a short success, needs nothing done
            type(value) is ToolOk
            and type(text := value.value) is str
            and (chars := len(text)) <= self.trim_cap
            and batch.finishes_plainly
            and value.structured is None
            and value.cost_usd is None
            and value.extra is NO_EXTRA
            and not value.content
            and text.isascii()
        ):
            self.ended = True
            batch.settle_running(self, value, chars, chars, chars, None)
            return
        try:
            result = steps.accepted(value)
            if len(result.text) > LARGE_TEXT_CHARS:
                job = shared_threads.submit(self._finish, result)
                finished = await shared_threads.outcome(job)
            else:
                finished = self._finish(result)
        except KeyboardInterrupt:
            raise
        except asyncio.CancelledError:
            self.end_stopped()
        except BaseException as error:  # a result may hold objects with code of their own
            self.end_finished(self._bad_result(refusals.raised(error)))
        else:
            self.end_finished(finished)

    @property
    def personality_id(self) -> str | None:
        """The personality of the view that runs the call."""
        return self.batch.personality_id

    @property
    def turn_attachments(self) -> tuple[Attachment, ...]:
        """The files that came with the turn."""
        return self.batch.turn_attachments

    @property
    def runtime(self) -> Runtime:
        """What outlives the batch."""
        return self.batch.runtime

    async def _value(self) -> Any:
        """What the tool returns, however it is written."""
        turn = self.batch.turn
        if turn is None:
            run: Callable[[], Any] = partial(self.entry.execute, self.own_args, self.context)
        else:
            started = observed.start(turn, self)
            if isinstance(started, ToolError):
                return started
            run = started
        if self.entry.is_coroutine:
            return await run()
        value = await self._run_function(run)
        if not inspect.isawaitable(value):
            return value
        if self.stop_reason is not None:  # while on its thread: the rest does not begin
            if inspect.iscoroutine(value):
                value.close()
            raise asyncio.CancelledError
        return await value

    async def _run_function(self, run: Callable[[], Any]) -> Any:
        job = self._job = shared_threads.submit(run)
        try:
            return await shared_threads.outcome(job)
        finally:
            self._job = None
            if job.started_at is not None:
                self.started = job.started_at

    def _finish(self, result: ToolResult) -> Finished:
        """What a tool returned: reduced, then bounded."""
        return self._finish_with(result, self.batch.runtime.reducer_of(self.entry.name))

    def _finish_with(self, result: ToolResult, reducer: ToolResultReducer | None) -> Finished:
        batch, fence = self.batch, self.fence()
        turn = batch.context.current_turn
        trims_now = not batch.trims_together
        now = fence if trims_now else None
        finished = finish_result(result, self.trim_cap, reducer, self.args, turn, now)
        if batch.keeper is not None and not isinstance(self.entry.tool, ArtifactTool):
            is_reduced = reducer is not None and finished.reduced_chars < finished.raw_chars
            self._keep_whole(batch.keeper, result.text, finished, is_reduced=is_reduced)
        return finished if trims_now or fence is None else sanitized(finished)

    def _keep_whole(
        self, keeper: Keeper, text: str, finished: Finished, *, is_reduced: bool
    ) -> None:
        """Keep the whole text once it is known that not all of it is sent, and say so to the model.

        A text that is to share the budget with others is kept here if it cannot be sent whole
        whatever they need: here is where large texts are worked on off the loop.
        """
        origin = ArtifactOrigin(self.entry.name, self.tool_call_id, self.source())
        whole = WholeText(keeper, text, origin, is_reduced=is_reduced)
        if self.batch.trims_together:
            self.whole = whole
            if is_reduced or finished.sent_chars > self.cap:
                whole.keep()
        elif is_reduced or finished.truncated_from == finished.reduced_chars:
            finished.add_line(whole.line(finished.truncated_from, self.fence()))

    def source(self) -> str | None:
        """Where the tool's output came from; `None` where its author vouches for it."""
        entry = self.entry
        if not entry.output_is_untrusted:
            return None
        try:
            if isinstance(entry.tool, ArtifactTool):
                return entry.tool.source_of(self.args)
            return steps.source_of(entry.name, self.args)
        except KeyboardInterrupt:
            raise
        except BaseException:  # a program may give a mapping of its own; the answer must stand
            return "unknown"

    def fence(self) -> Fence | None:
        """The fence that the tool's text is to stand in, if any."""
        if not (self.entry.output_is_untrusted and self.batch.wraps_untrusted):
            return None
        source = self.source()
        if source is None:
            return None
        limit = None if self.batch.keeper is None else FENCED_SOURCE_CHARS
        return self.entry.name, source[:limit]

    def _failure(self, error: BaseException) -> Finished:
        """The result of a tool that raised: its message, bounded and never reduced."""
        if isinstance(error, BadResultError):
            return self._bad_result(str(error))
        if self.stop_reason is None:
            refusals.log_raised(self.entry.name, error)
        message = refusals.raised(error)
        return self._finish_with(ToolError(message, "execution_failed", "raised"), None)

    def _bad_result(self, problem: str) -> Finished:
        message = refusals.returned_no_result(self.entry.name, problem)
        return self._finish_with(ToolError(message, "execution_failed", "bad_result"), None)

    def end_finished(self, finished: Finished) -> None:
        """The tool has ended with a result."""
        if self.stop_reason is not None:
            self.end_stopped()
        elif not self.ended:
            self.ended = True
            self.batch.settle_running(
                self,
                finished.result,
                finished.raw_chars,
                finished.reduced_chars,
                finished.sent_chars,
                finished.truncated_from,
            )

    def end_stopped(self) -> None:
        """The call was stopped: its answer says so, whatever the tool still returned."""
        if self.ended:
            return
        self.ended = True
        ran_seconds = None if self.started is None else monotonic() - self.started
        result = refusals.stopped(self.entry.name, self.stop_reason, ran_seconds, self.timeout)
        chars = len(result.text)
        self.batch.settle_running(self, result, chars, chars, chars, None, is_body=False)

    def stop(self, reason: StopReason, give_up_at: float) -> None:
        """Ask the tool to end: fire its signal and, if it is async, cancel its task once."""
        if self.ended or self.stop_reason is not None:
            return
        self.stop_reason = reason
        self.give_up_at = give_up_at
        if self._controller is not None:
            self._controller.abort("the call was stopped")
        task, job = self.task, self._job
        if job is not None and job.started_at is None and not shared_threads.abandon(job):
            self.started = None
        if self.started is None or task is None or task.done():
            # A task that is cancelled before its first step never runs our code.
            self.end_stopped()
            if task is not None:
                task.cancel()
        elif job is None:
            task.cancel()

    def give_up(self) -> None:
        """Stop waiting for a tool that did not end in its grace."""
        if self.ended:
            return
        self.end_stopped()
        self.batch.runtime.abandon(self.task)
        if self._job is not None and self.task is not None:
            self.task.cancel()

    def signal(self) -> AbortSignal:
        """The call's own signal, made when the tool first asks for it."""
        controller = self._controller
        if controller is None:
            controller = AbortController()
            if not self.ended:
                self.batch.link(controller)
            self._controller = controller
            if self.stop_reason is not None:
                controller.abort("the call was stopped")
        return controller.signal

    def emit(self, event: ToolProgressEvent | Mapping[str, Any]) -> None:
        """Pass a progress event on, under the tool's true name; from any thread."""
        if self.ended:
            return
        batch = self.batch
        if threading.get_ident() == batch.thread_id:
            self._deliver(event)
        else:
            batch.call_soon(self._deliver, event)

    def _deliver(self, event: Any) -> None:
        if not self.ended:
            self.batch.deliver(self.entry.name, event)
