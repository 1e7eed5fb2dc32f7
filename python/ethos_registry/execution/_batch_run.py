"""A session: start calls, then finish all of them.

A batch is started at once; a stream is the same session, fed call by call. The steps of a call and
their order are the table in `steps`; this module walks it.
"""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
from collections import deque
from collections.abc import Callable, Coroutine, Sequence
from time import monotonic
from types import CoroutineType
from typing import Any

from ethos_registry._table.admission import Admission
from ethos_registry.execution import _refusals, _threads
from ethos_registry.execution._approvals import PendingResult
from ethos_registry.execution._arguments import isolated_arguments
from ethos_registry.execution._call import Batch, Call, CallPlan
from ethos_registry.execution._finish import fence_of, finish_failure, source_of_call
from ethos_registry.execution._options import CheckedOptions
from ethos_registry.execution._refusals import ReadCall, StopReason, read_call
from ethos_registry.execution._report import BatchReport
from ethos_registry.execution._results import CallResults, CollectedResults
from ethos_registry.execution._runtime import HELD, Runtime, SharedSlots
from ethos_registry.execution._steps import call_plan, share_budget, verdict_answer
from ethos_registry.execution._threads import TaskStarter, is_stack_deep, task_starter
from ethos_registry.providers._wire_format import EchoingId
from ethos_registry.reduction._finish import Finished
from ethos_registry.reduction._redaction import redacted_text
from ethos_registry.types._blocking import BLOCKING_SECONDS, watched, watched_rest
from ethos_registry.types._call import CallResult, Repair, ToolCall
from ethos_registry.types._content import NO_CONTENT
from ethos_registry.types._context import ToolContext
from ethos_registry.types._errors import ConfigError
from ethos_registry.types._policy import Personality
from ethos_registry.types._result import NO_EXTRA, ToolOk, ToolResult
from ethos_registry.types._turn import DispatchContext

__all__ = ["Runner", "Session", "Slots", "Watch", "execute_batch"]


# How many calls of a batch run at once; the others wait, in order.


class Slots:
    """The slots of one batch with `max_concurrency`.

    `start` is passed to each method, not stored: it belongs to the session, which owns the slots.
    """

    __slots__ = ("_free", "_is_starting", "_waiting")

    def __init__(self, count: int) -> None:
        self._free = count
        self._is_starting = False
        self._waiting: deque[Call] = deque()

    def run(self, call: Call, start: Callable[[Call], None]) -> None:
        """Start a call now, or when a slot is free."""
        if self._free == 0:
            self._waiting.append(call)
            return
        self._free -= 1
        call.has_slot = True
        start(call)

    def call_ended(self, call: Call, start: Callable[[Call], None]) -> None:
        """Give the slot of a call to the next one."""
        if call.has_slot:
            self._free += 1
        if self._is_starting:  # a task ended in its first step; the loop below continues
            return
        self._is_starting = True
        try:
            while self._waiting and self._free:
                waiting = self._waiting.popleft()
                if not waiting.has_ended:
                    self.run(waiting, start)
        finally:
            self._is_starting = False

    def waiting(self) -> list[Call]:
        """The calls that have no slot yet."""
        return list(self._waiting)


# Stopping calls: at their timeout, at the deadline, on abort, and when no thread is free.

TICK_SECONDS = 0.01
"""The timer never fires more often: the cost of many different timeouts stays linear."""


class Watch:
    """The calls of a batch that run, under one timer."""

    __slots__ = ("_batch", "_deadline", "_settle_ended", "_settle_stopped", "running")

    def __init__(
        self,
        batch: Batch,
        deadline: float | None,
        settle_stopped: Callable[[Call], None],
        settle_ended: Callable[[Call], None],
    ) -> None:
        self.running: dict[int, Call] = {}
        self._batch = batch
        self._deadline = deadline
        """When the whole batch must have ended (monotonic seconds)."""
        self._settle_stopped = settle_stopped
        self._settle_ended = settle_ended
        """Answers a call whose task ended without a result."""
        batch.timer.start(self._sweep)
        if deadline is not None:
            batch.timer.wake_at(deadline)

    def add(self, call: Call) -> None:
        """Watch a call that runs, or waits to run."""
        self.running[call.index] = call
        if call.task is not None:
            if call.task.done():  # cancelled by other code before its first step
                self._task_ended(call)
                return
            call.task.add_done_callback(lambda _: self._task_ended(call))
        moment = self._next_look(call, monotonic())
        if moment is not None:
            self._batch.timer.wake_at(moment)

    def stop_all(self, reason: StopReason) -> None:
        """Stop every call; those that do not end are abandoned later."""
        for call in list(self.running.values()):
            self.stop(call, reason)

    def stop(self, call: Call, reason: StopReason) -> None:
        """Ask the tool to end: fire its signal and, if it is async, cancel its task once.

        A call that was not started, or that cannot notice the signal, is answered at once.
        """
        if call.has_ended or call.stop_reason is not None:
            return
        call.stop_reason = reason
        if call.controller is not None:
            call.controller.abort("the call was stopped")
        task, job = call.task, call.job
        if job is not None:
            if job.started_at is None and not self._batch.runtime.threads.abandon(job):
                self._settle_stopped(call)  # it waited for a thread and never starts
                if task is not None:
                    task.cancel()
                return
            call.started = job.started_at
            if not call.plan.entry.sees_context:
                self.abandon(call)  # a thread cannot be cancelled, and the function has no signal
                return
        elif task is None or task.done():
            self._settle_stopped(call)
            return
        else:
            if call.started is None and call.clock_started is None:
                # A task that is cancelled before its first step never runs our code.
                self._settle_stopped(call)
            task.cancel()
        if not call.has_ended:
            call.abandon_at = monotonic() + self._batch.runtime.abandon_after_seconds
            self._batch.timer.wake_at(call.abandon_at)

    def abandon(self, call: Call) -> None:
        """Answer a call whose tool does not end, and leave the tool to itself."""
        if call.has_ended:
            return
        self._settle_stopped(call)
        self._batch.runtime.abandon(call.task)
        if call.job is not None:
            self._batch.runtime.threads.abandon(call.job)
            if call.task is not None:
                call.task.cancel()

    def abandon_all(self) -> None:
        """Wait for no call any longer."""
        for call in list(self.running.values()):
            self.abandon(call)

    def _task_ended(self, call: Call) -> None:
        if not call.has_ended:
            self._settle_ended(call)

    def _sweep(self) -> None:
        now = monotonic()
        if self._deadline is not None and now >= self._deadline:
            self._deadline = None
            self.stop_all("deadline")
        soonest = self._deadline
        for call in list(self.running.values()):
            self._check(call, now)
            if call.has_ended:
                continue
            moment = self._next_look(call, now)
            if moment is not None and (soonest is None or moment < soonest):
                soonest = moment
        if soonest is not None and self.running:
            self._batch.timer.wake_at(max(soonest, now + TICK_SECONDS))

    def _check(self, call: Call, now: float) -> None:
        """Stop or abandon a call whose time is over."""
        if call.abandon_at is not None:
            if now >= call.abandon_at:
                self.abandon(call)
        elif call.limit is not None and now >= call.limit:
            call.exceed_limit()
        elif _is_over(call.thread_deadline(), now):
            self.stop(call, "no_thread")
        elif _is_over(call.deadline(), now):
            self.stop(call, "timeout")

    def _next_look(self, call: Call, now: float) -> float | None:
        """When something of this call may be over."""
        if call.abandon_at is not None:
            return call.abandon_at
        if call.limit is not None:
            return call.limit
        timeout = call.plan.timeout_seconds
        full_time = None if timeout is None else now + timeout
        if call.job is not None and call.job.started_at is None:
            # The function may get its thread at any time; its timeout counts from then.
            looks = [each for each in (call.thread_deadline(), full_time) if each is not None]
            return min(looks, default=None)
        deadline = call.deadline()
        if deadline is None and call.started is None and call.clock_started is None:
            return full_time
        return deadline


def _is_over(moment: float | None, now: float) -> bool:
    return moment is not None and now >= moment


# Running calls: the task of each, and its one result.

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
            if self._callers is None and self._caller is None:
                task = self._start_task(coroutine, name=call.plan.name)
            else:
                caller = self._context_of(call)
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

    def _context_of(self, call: Call) -> contextvars.Context:
        """A copy of the context variables that a call starts in, if not in the current ones.

        A call that waited for a slot is started at the end of another one, in whose variables it
        must not run.
        """
        if self._callers is not None:
            return self._holding(self._callers[call.index].copy())
        assert self._caller is not None
        return self._caller.copy()

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
            if plan.has_fast_call:
                call.started = started = monotonic()
                steps = plan.execute(tool_args, call)
                if type(steps) is CoroutineType:  # as `watched`, whose frame most calls do not need
                    is_done = False
                    try:
                        waits_for = steps.send(None)
                    except StopIteration as end:
                        is_done, value = True, end.value
                    finally:
                        if (seconds := monotonic() - started) > BLOCKING_SECONDS:
                            call.report_blocking(seconds)
                    if not is_done:
                        value = await watched_rest(steps, waits_for, call.report_blocking)
                else:
                    value = await watched(steps, call.report_blocking)
            else:
                call.tool_args = tool_args
                value = await plan.run(call)
        except KeyboardInterrupt as interrupt:
            if batch.answers_interrupts:
                self._settle(call, finish_failure(call, interrupt))
            elif call.task is not None:
                raise
            else:
                # In the first step of a task that starts at once: raised by `begin`, because
                # asyncio would log it as an exception that was never retrieved.
                self._interrupt = interrupt
            return
        except PendingResult as answer:
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
            and (chars := len(text)) <= plan.fast_path_chars
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
        return _refusals.stopped(
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
        if call.progress_redaction is not None:
            self._batch.deliver_redacted(call.index, call.plan.name, call.progress_redaction)
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
        answer.repairs = call.repairs
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
        if plan.has_fast_finish and call.execution is None and not call.repairs:
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
            tool = plan.entry.tool
            results.hold(call.index, answer, plan.cap, fence_of(call), call.full_text, tool)
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


_new_call: Any = Call.__new__


def execute_batch(
    calls: Sequence[Any],
    admission: Admission,
    runtime: Runtime,
    context: ToolContext,
    options: CheckedOptions,
    personality: Personality | None = None,
    turn: DispatchContext | None = None,
) -> Coroutine[Any, Any, CallResults]:
    """Answer every call, in order; only the caller's own cancellation leaves as an exception."""
    coroutine = _execute(calls, admission, runtime, context, options, personality, turn)
    return _in_own_task(coroutine) if is_stack_deep() else coroutine


async def _in_own_task(coroutine: Coroutine[Any, Any, CallResults]) -> CallResults:
    """The batch started from the loop, with all frames free."""
    return await asyncio.Task(coroutine)


async def _execute(
    calls: Sequence[Any],
    admission: Admission,
    runtime: Runtime,
    context: ToolContext,
    options: CheckedOptions,
    personality: Personality | None,
    turn: DispatchContext | None,
) -> CallResults:
    session = Session(
        admission,
        runtime,
        context,
        options,
        personality=personality,
        turn=turn,
        call_count=len(calls),
    )
    session.start(calls)
    return await session.finish()


class Session:
    """The calls of one batch; nothing of it is stored on the registry.

    With `call_count=None` calls may be added by further `start`s while others run. Each tool then
    sees the whole budget, or its own limit, and the results are trimmed to their final share by
    `finish`; `on_result` gets them before. `on_start` is called with each call that starts.
    """

    __slots__ = (
        "_batch",
        "_called_as",
        "_deadline",
        "_plans",
        "_remove_abort_listener",
        "_report",
        "_results",
        "_runner",
    )

    def __init__(
        self,
        admission: Admission,
        runtime: Runtime,
        context: ToolContext,
        options: CheckedOptions,
        *,
        personality: Personality | None = None,
        turn: DispatchContext | None = None,
        call_count: int | None = None,
        on_start: Callable[[ToolCall], object] | None = None,
    ) -> None:
        loop = asyncio.get_running_loop()
        if options.callers is not None and len(options.callers) != call_count:
            raise ConfigError(
                f"`callers` must have one entry for each call, got {len(options.callers)} for "
                f"{call_count if call_count is not None else 'a stream'}"
            )
        batch = Batch(loop, admission, runtime, context, options, personality, turn, call_count)
        share_budget(batch)
        self._batch = batch
        self._results = CollectedResults(
            runtime,
            options.on_result,
            trims_at_end=batch.trims_at_end,
            reports_early=call_count is None,
            sink=options.sink,
        )
        self._report = None if batch.observers is None else BatchReport(batch, batch.observers)
        self._plans: dict[int, CallPlan] = {}
        self._called_as: dict[int, str] = {}
        """By place, the names under which redirected calls came."""
        self._runner = Runner(batch, self._results, self._report, task_starter(loop), on_start)
        seconds = options.deadline_seconds
        self._deadline = None if seconds is None else monotonic() + seconds
        self._remove_abort_listener: Callable[[], None] | None = None
        if options.control is not None:
            options.control.attach(self.stop_call)

    # Start

    @property
    def runtime(self) -> Runtime:
        """The settings of the registry."""
        return self._batch.runtime

    def reserve(self) -> int:
        """Keep a place in the results for a call that is started later."""
        return self._results.reserve(1)

    def start(self, calls: Sequence[Any], places: Sequence[int] | None = None) -> None:
        """Answer or start each of these calls, at new places or at `places` that were reserved."""
        ready = self._prepared_by_callers(calls, places)
        try:
            self._runner.run(ready)
        except BaseException:  # KeyboardInterrupt in the first step of a task
            self._abandon_batch()
            raise
        if self._batch.call_count is None:
            self._watch_running()

    def _prepared_by_callers(
        self, calls: Sequence[Any], places: Sequence[int] | None
    ) -> list[Call]:
        """The calls that go on; the steps of each run in its own caller's context variables."""
        if places is None:
            first = self._results.reserve(len(calls))
            places = range(first, first + len(calls))
        callers = self._batch.options.callers
        if callers is None:
            return self._prepared(calls, places)
        return [
            call
            for place, given in zip(places, calls, strict=True)
            for call in callers[place].copy().run(self._prepared, (given,), (place,))
        ]

    def _prepared(self, calls: Sequence[Any], places: Sequence[int]) -> list[Call]:
        """The calls that the steps before the tool pass on; the others are answered."""
        batch, plans = self._batch, self._plans
        read = _read_all(calls, places)
        if batch.admission.redirects:
            read = [self._redirected(*each) for each in zip(places, read, strict=True)]
        codes = batch.admission.verdicts([call[1] for call in read])
        ready: list[Call] = []
        facts = batch.context._facts
        is_late = self._is_late()
        for index, (tool_call_id, name, args, problem), code in zip(
            places, read, codes, strict=True
        ):
            if type(tool_call_id) is not str and type(tool_call_id) is not EchoingId:
                tool_call_id = str.__str__(tool_call_id)
            if problem is not None:
                self._refuse(
                    index,
                    tool_call_id,
                    str.__str__(name),
                    _refusals.bad_arguments(problem),
                    args=args,
                )
                continue
            plan = plans.get(code)
            if plan is None:
                if code < 0:
                    name = str.__str__(name)
                    refusal = verdict_answer(name, code, batch)
                    self._refuse(index, tool_call_id, name, refusal, args=args)
                    continue
                plan = plans[code] = call_plan(batch, batch.admission.entry(code))
            call: Call = _new_call(Call)
            call._facts = facts
            call._tool_call_id = tool_call_id
            call.batch = batch
            call.plan = plan
            call.index = index
            call.args = args
            for check in plan.parsed_checks if type(args) is dict else plan.checks:
                answer = check(call)
                if answer is not None:
                    self._refuse(
                        index, tool_call_id, plan.name, answer, plan, call.args, call.repairs
                    )
                    break
            else:
                if is_late:
                    late = self._runner.stopped_answer(call, "deadline")
                    self._refuse(index, tool_call_id, plan.name, late, plan, call.args)
                else:
                    ready.append(call)
        return ready

    def _redirected(self, place: int, read: ReadCall) -> ReadCall:
        """The call inside a call; its result has the name that was called."""
        tool_call_id, name, args, problem = read
        target = None if problem is not None else self._batch.admission.redirect(name, args)
        if target is None:
            return read
        self._called_as[place] = name
        return tool_call_id, *target, None

    def _is_late(self) -> bool:
        """Whether the deadline of a stream passed before these calls could start."""
        deadline = self._deadline
        return deadline is not None and self._batch.call_count is None and monotonic() >= deadline

    def _refuse(
        self,
        index: int,
        tool_call_id: str,
        name: str,
        result: ToolResult,
        plan: CallPlan | None = None,
        args: Any = None,
        repairs: tuple[Repair, ...] = (),
    ) -> None:
        """Answer a call whose tool is not started."""
        if plan is not None and plan.redact is not None:  # it may repeat an argument
            result = redacted_text(result, plan.redact)
        chars = len(result.text)
        answer = CallResult(
            tool_call_id,
            name,
            result,
            raw_chars=chars,
            reduced_chars=chars,
            sent_chars=chars,
            repairs=repairs,
        )
        self._results.put(index, answer)
        if self._report is not None:
            if self._report.recorded is not None:
                self._report.recorded[index] = (args, None)
            self._report.add((index, answer, None if plan is None else plan.entry, None))

    # Finish

    def stop(self) -> None:
        """Stop the calls that run; one that does not end in time is abandoned."""
        self._watch_running()
        if self._runner.watch is not None:
            self._runner.watch.stop_all("cancelled")

    def stop_call(self, place: int) -> None:
        """Stop one call that runs, or waits to run."""
        self._watch_running()
        watch = self._runner.watch
        call = None if watch is None else watch.running.get(place)
        if watch is not None and call is not None:
            watch.stop(call, "cancelled")

    def results(self) -> CallResults:
        """The results so far, in the order of their places."""
        for place, name in self._called_as.items():
            if (answer := self._results.answers[place]) is not None:
                answer.name = name
        return self._results.all()

    async def finish(self) -> CallResults:
        """Wait until every call that was started has its result."""
        runner = self._runner
        try:
            if runner.pending and not _threads.STARTS_EAGERLY:
                await asyncio.sleep(0)  # most short tools end here: no timer, no listener for them
            if runner.pending:
                self._watch_running()
                await self._all_settled()
        except asyncio.CancelledError:
            await self._stop_for_caller()
            self._share_out()
            raise
        finally:
            self._close()
        self._share_out()
        return self.results()

    async def _all_settled(self) -> None:
        if self._runner.pending:
            self._runner.waiter = asyncio.get_running_loop().create_future()
            await self._runner.waiter

    def _watch_running(self) -> None:
        """From here on a timer and an abort listener watch the calls that still run."""
        if not self._runner.pending:
            return
        self._runner.watch_running(self._deadline)
        if self._remove_abort_listener is None:
            self._remove_abort_listener = self._batch.abort_signal.add_listener(self._abort)

    def _abort(self) -> None:
        """From any thread."""
        if self._runner.watch is not None:
            self._batch.call_soon(self._runner.watch.stop_all, "cancelled")

    async def _stop_for_caller(self) -> None:
        """The caller was cancelled: end the calls, in their grace, and answer the rest."""
        self._watch_running()
        watch = self._runner.watch
        if watch is None:
            return
        watch.stop_all("cancelled")
        with contextlib.suppress(asyncio.CancelledError):  # twice: the grace is over
            await self._all_settled()
        watch.abandon_all()

    def _abandon_batch(self) -> None:
        """The process is being interrupted: cancel what runs, wait for nothing."""
        for call in self._runner.starting:
            if call.task is not None:
                call.stop_reason = "cancelled"
                call.task.cancel()
        self._close()

    def _share_out(self) -> None:
        if self._results.trims_at_end:
            self._results.share_out(
                self._batch.context.result_budget_chars,
                is_filled=self._batch.options.budget_policy == "fill",
                callers=self._batch.options.callers,
            )
        if self._report is not None:
            self._report.batch_finished()

    def _close(self) -> None:
        self._batch.close()
        if self._batch.options.control is not None:
            self._batch.options.control.attach(None)
        if self._remove_abort_listener is not None:
            self._remove_abort_listener()
            self._remove_abort_listener = None
        self._runner.watch = None
        if self._batch.runtime.max_concurrency is not None:
            self._runner.release()


def _read_all(calls: Sequence[Any], places: Sequence[int]) -> list[ReadCall]:
    """The calls; the strings of those that are not plain dicts may be of classes of their own."""
    try:
        return [read_call(call, place) for place, call in zip(places, calls, strict=True)]
    except KeyboardInterrupt:
        raise
    except BaseException:  # a call is an object with code of its own
        return [_read(call, place) for place, call in zip(places, calls, strict=True)]


def _read(call: Any, index: int) -> ReadCall:
    """The call, or why it cannot be read."""
    try:
        return read_call(call, index)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        return str(index), "", None, f"malformed call: {_refusals.exception_text(error)}"
