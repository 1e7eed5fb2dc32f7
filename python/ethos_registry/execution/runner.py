"""Running calls: the task of each, and its one result."""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Callable
from time import monotonic
from typing import Any

from ethos_registry.contract.call import CallResult, ToolCall
from ethos_registry.contract.content import NO_CONTENT
from ethos_registry.contract.result import NO_EXTRA, ToolOk, ToolResult
from ethos_registry.execution import refusals
from ethos_registry.execution.batch import Batch
from ethos_registry.execution.batch_report import BatchReport
from ethos_registry.execution.blocking import watched
from ethos_registry.execution.call import Call
from ethos_registry.execution.collected_results import CollectedResults
from ethos_registry.execution.finish import fence_of, finish_failure, source_of_call
from ethos_registry.execution.isolated_arguments import isolated_arguments
from ethos_registry.execution.pending import Answered
from ethos_registry.execution.refusals import StopReason
from ethos_registry.execution.shared_slots import HELD, SharedSlots
from ethos_registry.execution.slots import Slots
from ethos_registry.execution.task_start import TaskStarter
from ethos_registry.execution.watch import Watch
from ethos_registry.reduction.finish import Finished

__all__ = ["Runner"]

_BLOCKED_CALLER = " (it may wait for the event loop of its caller, which a synchronous call blocks)"

_new_result: Any = CallResult.__new__


class Runner:
    """The calls of a batch that were started; each gets exactly one result."""

    __slots__ = (
        "_answers",
        "_batch",
        "_caller",
        "_callers",
        "_interrupt",
        "_on_start",
        "_report",
        "_results",
        "_shared",
        "_slots",
        "_start_task",
        "pending",
        "starting",
        "waiter",
        "watch",
    )

    def __init__(
        self,
        batch: Batch,
        results: CollectedResults,
        report: BatchReport | None,
        start_task: TaskStarter,
        on_start: Callable[[ToolCall], object] | None = None,
    ) -> None:
        self._batch = batch
        self._results = results
        self._answers = results.answers
        self._report = report
        self._start_task = start_task
        self._on_start = on_start
        most = batch.options.max_concurrency
        self._slots = None if most is None else Slots(most)
        self._shared: SharedSlots | None = None
        if batch.runtime.max_concurrency is not None:
            shared = batch.shared_slots()
            self._shared = None if shared in HELD.get() else shared
        self._callers = batch.options.callers
        self._caller: contextvars.Context | None = None
        self._interrupt: KeyboardInterrupt | None = None
        self.pending = 0
        """How many calls have no result yet."""
        self.starting: list[Call] = []
        """Calls with a task that nothing watches yet: most end in its first step."""
        self.watch: Watch | None = None
        self.waiter: asyncio.Future[None] | None = None
        """Resolved when no call is pending."""

    def run(self, calls: list[Call]) -> None:
        """Start these calls, or let them wait for a slot; the list is empty after."""
        self.pending += len(calls)
        is_limited = self._slots is not None or self._shared is not None
        if is_limited:
            self._caller = self._holding(contextvars.copy_context())
        calls.reverse()
        while calls:  # a call that has ended frees its memory for the next
            call = calls.pop()
            if not is_limited:
                self.begin(call)
            elif self._slots is None:
                self._enter(call)
            else:
                self._slots.run(call, self._enter)

    def watch_running(self, deadline: float | None) -> None:
        """From here on a timer watches the calls that have no result."""
        if self.watch is None:
            self.watch = Watch(self._batch, deadline, self._settle_stopped, self._settle_ended)
        starting, self.starting = self.starting, []
        waiting = [] if self._slots is None else self._slots.waiting()
        if self._shared is not None:
            waiting += self._shared.waiting_of(self)
        for call in (*starting, *waiting):
            if not call.has_ended:
                self.watch.add(call)

    def _enter(self, call: Call) -> None:
        """Start a call that may run as far as its batch goes."""
        if self._shared is None:
            self.begin(call)
        else:
            self._shared.run(call, self)

    def release(self) -> None:
        """The batch has ended: give back what it holds of the registry."""
        if self._shared is not None:
            self._shared.forget(self)

    def begin(self, call: Call) -> None:
        """Start the task of a call."""
        if self._on_start is not None:
            started = ToolCall(call._tool_call_id, call.plan.name, call.args)
            self._batch.runtime.guard("`on_start`", self._on_start, started)
        coroutine = self._run(call)
        try:
            caller = self._caller_of(call)
            if caller is None:
                task = self._start_task(coroutine, name=call.plan.name)
            else:
                task = caller.run(self._start_task, coroutine, name=call.plan.name)
        except BaseException as error:
            coroutine.close()
            if isinstance(error, KeyboardInterrupt):
                raise
            self._settle(call, finish_failure(call, error))
            return
        if call.has_ended:  # in the first step of its task
            return
        call.task = task
        if self._interrupt is not None:
            raise self._interrupt
        if task.done():
            self._settle_ended(call)
        elif self.watch is None:
            self.starting.append(call)
        else:
            self.watch.add(call)

    def _caller_of(self, call: Call) -> contextvars.Context | None:
        """A copy of the context variables that a call starts in; `None` for the current ones.

        A call that waited for a slot is started at the end of another one, in whose variables it
        must not run.
        """
        if self._callers is not None:
            return self._holding(self._callers[call.index].copy())
        return None if self._caller is None else self._caller.copy()

    def _holding(self, context: contextvars.Context) -> contextvars.Context:
        """The same context, in which what a call calls itself runs inside its slot."""
        if self._shared is not None:
            context.run(HELD.set, (*context.get(HELD, ()), self._shared))
        return context

    # The task of a call

    async def _run(self, call: Call) -> None:
        """The execute and finish steps; whatever the tool does, the call has its result after."""
        batch, plan = call.batch, call.plan
        if batch.can_abort and batch.abort_signal._aborted:  # since the task was created
            call.stop_reason = "cancelled"
            self._settle_stopped(call)
            return
        try:
            tool_args = isolated_arguments(call.args)
            if plan.is_direct:
                call.started = monotonic()
                value = await watched(plan.execute(tool_args, call), call.report_blocking)
            else:
                call.tool_args = tool_args
                value = await plan.run(call)
        except KeyboardInterrupt as interrupt:
            if call.task is not None:
                raise
            # In the first step of a task that starts at once: raised by `begin`, because asyncio
            # would log it as an exception that was never retrieved.
            self._interrupt = interrupt
            return
        except Answered as answer:
            self._settle_unstarted(call, answer.result)
            return
        except BaseException as error:  # SystemExit, CancelledError and others end one call
            self._settle(call, finish_failure(call, error))
            return
        if call.blocked_seconds and call.is_overdue():
            call.stop_reason = "timeout"
        if call.stop_reason is not None or call.has_ended:
            self._settle_stopped(call)
            return
        if (  # a short success, the usual result, needs no finish step
            type(value) is ToolOk
            and type(text := value.value) is str
            and (chars := len(text)) <= plan.plain_chars
            and value.structured is None
            and value.cost_usd is None
            and value.extra is NO_EXTRA
            and value.content is NO_CONTENT
            and text.isascii()
            and "[" not in text  # it may look like a note of the registry
            and (plan.redact is None or plan.redact(text) is text)
            and call.finish_facts is None
        ):
            self._settled(call, value, chars, chars, chars, None)
            return
        call.stop_clock()
        try:
            finished = await plan.finish(call, value)
        except asyncio.CancelledError:
            self._settle_stopped(call)
        else:
            self._settle(call, finished)

    # Settle: each call exactly once

    def _settle(self, call: Call, finished: Finished) -> None:
        """Answer a call with what its tool returned or raised."""
        if call.stop_reason is not None:
            self._settle_stopped(call)
        elif not call.has_ended:
            self._settled(
                call,
                finished.result,
                finished.raw_chars,
                finished.reduced_chars,
                finished.sent_chars,
                finished.truncated_from,
            )

    def _settle_unstarted(self, call: Call, result: ToolResult) -> None:
        """Answer a call whose tool was not started, by what a filter decided."""
        if call.stop_reason is not None:
            self._settle_stopped(call)
        elif not call.has_ended:
            chars = len(result.text)
            self._settled(call, result, chars, chars, chars, None, False)

    def _settle_stopped(self, call: Call) -> None:
        """Answer a call that was stopped, whatever its tool still returns."""
        if call.has_ended:
            return
        result = self.stopped_answer(call, call.stop_reason)
        chars = len(result.text)
        self._settled(call, result, chars, chars, chars, None, False)

    def _settle_ended(self, call: Call) -> None:
        """Answer a call whose task ended without a result.

        Other code cancelled it before its first step, or it exceeded a limit of the interpreter, as
        of recursion.
        """
        task = call.task
        assert task is not None
        if task.cancelled():
            self._settle_stopped(call)
        else:
            error = task.exception() or RuntimeError("the call's task ended early")
            self._settle(call, finish_failure(call, error))

    def stopped_answer(self, call: Call, reason: StopReason | None) -> ToolResult:
        """What a call is answered that was stopped, or never started, for this reason."""
        runtime = self._batch.runtime
        limit_seconds = call.plan.timeout_seconds
        if reason == "deadline":
            limit_seconds = self._batch.options.deadline_seconds
        elif reason == "no_thread":
            limit_seconds = runtime.thread_wait_seconds
        return refusals.stopped(
            call.plan.name,
            reason,
            was_started=call.started is not None,
            limit_seconds=limit_seconds,
            max_threads=runtime.threads.max_threads,
            note=self._why_late(call),
        )

    def _why_late(self, call: Call) -> str:
        if call.blocked_seconds:
            return f" (it blocked the event loop for {call.blocked_seconds:.1f} s)"
        return _BLOCKED_CALLER if self._batch.blocks_caller_loop else ""

    def _settled(
        self,
        call: Call,
        result: ToolResult,
        raw_chars: int,
        reduced_chars: int,
        sent_chars: int,
        truncated_from: int | None,
        is_output: bool = True,
    ) -> None:
        """Answer a call; `is_output` for what its tool produced."""
        if call.held_progress is not None:
            self._batch.deliver_held(call.index, call.plan.name, call.held_progress)
        call.has_ended = True
        plan, index, started = call.plan, call.index, call.started
        answer: CallResult = _new_result(CallResult)
        answer.tool_call_id = call._tool_call_id
        answer.name = plan.name
        answer.result = result
        answer.untrusted = False
        answer.source = None
        answer.raw_chars = raw_chars
        answer.reduced_chars = reduced_chars
        answer.sent_chars = sent_chars
        answer.truncated_from = truncated_from
        answer.exception = call.exception
        if call.exception is not None:
            del call.exception  # a frame of its traceback holds the call
        answer.duration_seconds = 0.0 if started is None else monotonic() - started
        self._answers[index] = answer
        report = self._report
        if report is not None and report.recorded is not None:
            raw = call.raw_text if is_output else None
            # What a worker elsewhere reduced arrives without the rest.
            if raw is None and is_output and call.worker_raw_chars is None:
                raw = result.text
            report.recorded[index] = (call.args, raw)
        if plan.settles_plainly and call.execution is None:
            if report is not None:
                report.add((index, answer, plan.entry, started))
            if self.watch is not None:
                self.watch.running.pop(index, None)
        else:
            self._settle_rest(call, answer, is_output=is_output)
        self.pending -= 1
        if self.pending == 0 and self.waiter is not None and not self.waiter.done():
            self.waiter.set_result(None)

    def _settle_rest(self, call: Call, answer: CallResult, *, is_output: bool) -> None:
        """What few calls need: untrusted output, a trim at the end, hooks, slots."""
        batch, plan, results = self._batch, call.plan, self._results
        if plan.entry.output_is_untrusted:
            answer.source = source_of_call(call)
            answer.untrusted = answer.source is not None
        if is_output and results.trims_at_end:
            results.hold(call.index, answer, plan.cap, fence_of(call), call.full_text)
        else:
            results.put(call.index, answer, was_started=call.started is not None)
        if call.execution is not None and batch.turn is not None:
            batch.turn.call_ended(call.execution, is_error=not answer.result.ok)
        if self._report is not None:
            self._report.add((call.index, answer, plan.entry, call.started))
        if self.watch is not None:
            self.watch.running.pop(call.index, None)
        if self._slots is not None:
            self._slots.call_ended(call, self._enter)
        if self._shared is not None:
            self._shared.call_ended(call)
