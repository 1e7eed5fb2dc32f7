"""A batch that runs: start calls, then finish all of them.

A batch is started at once; a stream is the same, fed call by call. The steps of a call and their
order are the table in `steps`; this module walks it.
"""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
from collections.abc import Coroutine, Generator, Sequence
from time import monotonic
from types import CoroutineType, coroutine
from typing import Any

from ethos_registry import _core
from ethos_registry.execution import _refusals, _threads
from ethos_registry.execution._approvals import PendingResult
from ethos_registry.execution._call import Batch, BatchRequest, Call, CallPlan
from ethos_registry.execution._finish import fence_of, finish_failure, source_of_call
from ethos_registry.execution._refusals import ReadCall, StopReason, read_call
from ethos_registry.execution._report import BatchReport
from ethos_registry.execution._results import (
    CallResults,
    HeldOutput,
    repair_line,
    trim_together,
)
from ethos_registry.execution._runtime import HELD, Slots
from ethos_registry.execution._steps import STEPS, call_plan, kept_plans, verdict_answer
from ethos_registry.execution._threads import task_starter
from ethos_registry.reduction._finish import Finished, add_line
from ethos_registry.reduction._redaction import redacted_text
from ethos_registry.types._blocking import BLOCKING_SECONDS, watched, watched_rest
from ethos_registry.types._call import CallResult, Repair, ToolCall
from ethos_registry.types._content import NO_CONTENT
from ethos_registry.types._errors import ConfigError
from ethos_registry.types._loop_thread import is_stack_deep
from ethos_registry.types._result import NO_EXTRA, ToolOk, ToolResult

# Stopping calls: at their timeout, at the deadline, on abort, and when no thread is free.

TICK_SECONDS = 0.01
"""The timer never fires more often: the cost of many different timeouts stays linear."""
LATE_SECONDS = 0.05
"""A timer that fires later than that was kept from it by code that blocked the loop."""
TURNS = 3
"""A task may need several turns to get from its event to its end."""


class Timeouts:
    """The calls of a batch that outlived a turn of the loop, under one timer."""

    __slots__ = ("_batch", "_deadline", "_is_closed", "_timer", "_wakes_at", "running")

    def __init__(self, batch: BatchRun, deadline: float | None) -> None:
        self.running: dict[int, Call] = {}
        self._batch = batch
        self._deadline = deadline
        """When the whole batch must have ended (monotonic seconds)."""
        self._is_closed = False
        self._timer: asyncio.TimerHandle | None = None
        self._wakes_at = 0.0
        self.wake_at(deadline)

    def wake_at(self, moment: float | None) -> None:
        """Look at the calls no later than at `moment` (monotonic seconds), if it is one."""
        if moment is None or self._is_closed:
            return
        if self._timer is not None:
            if self._wakes_at <= moment:
                return
            self._timer.cancel()
        self._wakes_at = moment
        delay = max(moment - monotonic(), 0.0)
        self._timer = self._batch.loop.call_later(delay, self._wake)

    def _wake(self) -> None:
        self._timer = None
        self._after_turns(TURNS if monotonic() - self._wakes_at > LATE_SECONDS else 0)

    def _after_turns(self, turns: int) -> None:
        """Let what became ready while the loop was blocked go first."""
        if turns:
            self._batch.loop.call_soon(self._after_turns, turns - 1)
        elif not self._is_closed:
            self._sweep()

    def close(self) -> None:
        """Look at no call any more."""
        self._is_closed = True
        if self._timer is not None:
            self._timer.cancel()

    def add(self, call: Call) -> None:
        """Watch a call that runs, or waits to run."""
        self.running[call.index] = call
        if call.task is not None:
            if call.task.done():  # cancelled by other code before its first step
                self._task_ended(call)
                return
            call.task.add_done_callback(lambda _: self._task_ended(call))
        self.wake_at(self._next_look(call, monotonic()))

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
                self._batch.settle_stopped(call)  # it waited for a thread and never starts
                if task is not None:
                    task.cancel()
                return
            call.started = job.started_at
            if not call.plan.entry.sees_context:
                self.abandon(call)  # a thread cannot be cancelled, and the function has no signal
                return
        elif task is None or task.done():
            self._batch.settle_stopped(call)
            return
        else:
            if call.started is None and call.clock_started is None:
                # A task that is cancelled before its first step never runs our code.
                self._batch.settle_stopped(call)
            task.cancel()
        if not call.has_ended:
            call.abandon_at = monotonic() + self._batch.runtime.abandon_after_seconds
            self.wake_at(call.abandon_at)

    def abandon(self, call: Call) -> None:
        """Answer a call whose tool does not end, and leave the tool to itself."""
        if call.has_ended:
            return
        self._batch.settle_stopped(call)
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
            self._batch.settle_ended(call)

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
            self.wake_at(max(soonest, now + TICK_SECONDS))

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


# Running a batch: the steps before each tool, the task of each call, and its one result.

_BLOCKED_CALLER = " (it may wait for the event loop of its caller, which a synchronous call blocks)"

_new_result: Any = CallResult.__new__


@coroutine
def _one_turn() -> Generator[None, None, None]:
    """Let the loop run what is ready."""
    yield


class BatchRun(Batch):
    """A request that runs; each of its calls gets exactly one result, in order.

    `await BatchRun(request).run()` answers every call; only the caller's own cancellation leaves as
    an exception. With `request.calls` of `None` calls may be added by further `start`s while others
    run. Each tool then sees the whole budget, or its own limit, and the results are trimmed to
    their final share by `finish`; `on_result` gets them before. Nothing of it is stored on the
    registry.
    """

    __slots__ = (
        "_answers",
        "_called_as",
        "_caller",
        "_deadline",
        "_held",
        "_interrupt",
        "_plans",
        "_report",
        "_shared",
        "_slots",
        "_start_task",
        "_starting",
        "_waiter",
        "pending",
        "timeouts",
    )

    def __init__(self, request: BatchRequest) -> None:
        super().__init__(request)
        options = self.options
        if options.callers is not None and len(options.callers) != self.call_count:
            raise ConfigError(
                f"`callers` must have one entry for each call, got {len(options.callers)} for "
                f"{self.call_count if self.call_count is not None else 'a stream'}"
            )
        self.share_chars = STEPS.share(self)
        self.pending = 0
        """How many calls have no result yet."""
        self.timeouts: Timeouts | None = None
        """Made when a call outlives a turn of the loop."""
        self._answers: list[CallResult | None] = []
        self._held: list[HeldOutput] = []
        """Outputs that wait to be trimmed."""
        self.kept_plans = known = kept_plans(self)
        # A registry of reducers is asked in each batch.
        self._plans = {} if known is None or self.runtime.reducers is not None else known
        self._called_as: dict[int, str] = {}
        """By position, the names under which redirected calls came."""
        self._starting: list[Call] = []
        """Calls with a task that nothing watches yet: most end in its first step."""
        self._start_task = task_starter(self.loop)
        self._caller: contextvars.Context | None = None
        """The context variables of the batch, for calls that start at the end of another one."""
        self._interrupt: KeyboardInterrupt | None = None
        self._waiter: asyncio.Future[None] | None = None
        """Resolved when no call is pending."""
        observers, most = self.observers, options.max_concurrency
        self._report = None if observers is None else BatchReport(self, observers)
        self._slots = None if most is None else Slots(most, lambda call: call.batch._enter(call))
        self._shared: Slots | None = None
        if self.runtime.max_concurrency is not None:
            shared = self.runtime.slots_on(self.loop)
            self._shared = None if shared in HELD.get() else shared
        seconds = options.deadline_seconds
        self._deadline = None if seconds is None else monotonic() + seconds
        if options.control is not None:
            options.control.attach(self.stop_call)

    def run(self) -> Coroutine[Any, Any, CallResults]:
        """Answer every call of the request."""
        if is_stack_deep():
            return self._run_in_own_task()
        assert self.request.calls is not None
        self.start(self.request.calls)
        return self.finish()

    async def _run_in_own_task(self) -> CallResults:
        """The batch started from the loop, with all frames free."""

        async def run() -> CallResults:
            return await self.run()

        return await asyncio.Task(run())

    # Start

    def reserve(self) -> None:
        """Keep the next position for a call that is started later."""
        self._answers.append(None)

    def start(self, calls: Sequence[Any], positions: Sequence[int] | None = None) -> None:
        """Answer or start each of these calls, at new positions or at those that were reserved."""
        if positions is None:
            first = len(self._answers)
            positions = range(first, first + len(calls))
            self._answers += [None] * len(calls)
        callers = self.options.callers
        if callers is None:
            ready = self._prepared(calls, positions)
        else:  # the steps of each call run in its own caller's context variables
            ready = [
                call
                for position, given in zip(positions, calls, strict=True)
                for call in callers[position].copy().run(self._prepared, (given,), (position,))
            ]
        self.pending += len(ready)
        ready.reverse()
        try:
            if self._slots is None and self._shared is None:
                self._begin(ready)
            else:
                self._begin_in_slots(ready)
        except BaseException:  # KeyboardInterrupt in the first step of a task
            self._abandon_batch()
            raise
        if self.call_count is None:
            self._watch_running()

    def _prepared(self, calls: Sequence[Any], positions: Sequence[int]) -> list[Call]:
        """The calls that the steps before the tool pass on; the others are answered."""
        plans, admission = self._plans, self.admission
        read: list[ReadCall] = []
        names: list[str] = []
        for index, given in enumerate(calls):
            if (
                type(given) is dict
                and "args" in given
                and "input" not in given
                and type(tool_call_id := given.get("id")) is str
                and type(name := given.get("name")) is str
            ):  # the usual call
                one: ReadCall = tool_call_id, name, given["args"], None
            else:
                one = read_call(given, positions[index])
            if admission.redirects:
                one = self._redirected(positions[index], one)
            read.append(one)
            names.append(one[1])
        codes = admission.verdicts(names)
        ready: list[Call] = []
        is_late = self.call_count is None and self._is_late()
        for index, code in enumerate(codes):  # a strict `zip` costs half a microsecond a batch
            tool_call_id, name, args, problem = read[index]
            position = positions[index]
            if problem is not None:
                wrong = _refusals.bad_arguments(problem)
                self._refuse(position, tool_call_id, str.__str__(name), wrong, args=args)
                continue
            plan = plans.get(code)
            if plan is None:
                if code < 0:
                    name = str.__str__(name)
                    verdict = verdict_answer(name, code, self)
                    self._refuse(position, tool_call_id, name, verdict, args=args)
                    continue
                plan = plans[code] = call_plan(self, code)
            call = Call(self, plan, position, tool_call_id, args)
            for check in plan.parsed_checks if type(args) is dict else plan.checks:
                refusal = check(call)
                if refusal is not None:
                    self._refuse(
                        position, tool_call_id, plan.name, refusal, plan, call.args, call.repairs
                    )
                    break
            else:
                if is_late:
                    refusal = self._stopped_answer(call, "deadline")
                    self._refuse(position, tool_call_id, plan.name, refusal, plan, call.args)
                else:
                    ready.append(call)
        return ready

    def _redirected(self, position: int, read: ReadCall) -> ReadCall:
        """The call inside a call; its result has the name that was called."""
        tool_call_id, name, args, problem = read
        target = None if problem is not None else self.admission.redirect(name, args)
        if target is None:
            return read
        self._called_as[position] = name
        return tool_call_id, *target, None

    def _is_late(self) -> bool:
        """Whether the deadline of a stream passed before these calls could start."""
        return self._deadline is not None and monotonic() >= self._deadline

    def _refuse(
        self,
        position: int,
        tool_call_id: str,
        name: str,
        result: ToolResult,
        plan: CallPlan | None = None,
        args: Any = None,
        repairs: tuple[Repair, ...] = (),
    ) -> None:
        """Answer a call whose tool is not started."""
        redact = self.runtime.redact if plan is None else plan.redact
        if redact is not None:  # it may repeat an argument, or the name of a tool that is unknown
            result = redacted_text(result, redact)
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
        self._put(position, answer, was_started=False)
        if self._report is not None:
            if self._report.recorded is not None:
                self._report.recorded[position] = (args, None)
            self._report.add((position, answer, None if plan is None else plan.entry, None))

    def _begin_in_slots(self, calls: list[Call]) -> None:
        self._caller = self._holding(contextvars.copy_context())
        while calls:
            call = calls.pop()
            if self._slots is None:
                self._enter(call)
            else:
                self._slots.run(call)

    def _enter(self, call: Call) -> None:
        """Start a call that may run as far as its batch goes."""
        if self._shared is None:
            self.begin(call)
        else:
            self._shared.run(call)

    def begin(self, call: Call) -> None:
        """Start the task of a call."""
        self._begin([call])

    def _begin(self, calls: list[Call]) -> None:
        """Start the tasks of calls, the last one first; the list is empty after."""
        run, start_task, loop = self._run_call, self._start_task, self.loop
        on_start = self.options.on_start
        has_context = self._caller is not None or self.options.callers is not None
        while calls:  # a call that has ended frees its memory for the next
            call = calls.pop()
            name = call.plan.name
            if on_start is not None:
                started = ToolCall(call._tool_call_id, name, call.args)
                self.runtime.guard("`on_start`", on_start, started)
            steps = run(call)
            try:
                if has_context:
                    task = self._context_of(call).run(start_task, steps, loop=loop, name=name)
                else:
                    task = start_task(steps, loop=loop, name=name)
            except BaseException as error:
                steps.close()
                if isinstance(error, KeyboardInterrupt):
                    raise
                self._settle(call, finish_failure(call, error))
                continue
            if call.has_ended:  # in the first step of its task
                continue
            call.task = task
            if self._interrupt is not None:
                raise self._interrupt
            if task.done():
                self.settle_ended(call)
            elif self.timeouts is None:
                self._starting.append(call)
            else:
                self.timeouts.add(call)

    def _context_of(self, call: Call) -> contextvars.Context:
        """A copy of the context variables that a call starts in, if not in the current ones.

        A call that waited for a slot is started at the end of another one, in whose variables it
        must not run.
        """
        if self.options.callers is not None:
            return self._holding(self.options.callers[call.index].copy())
        assert self._caller is not None
        return self._caller.copy()

    def _holding(self, context: contextvars.Context) -> contextvars.Context:
        """The same context, in which what a call calls itself runs inside its slot."""
        if self._shared is not None:
            context.run(HELD.set, (*context.get(HELD, ()), self._shared))
        return context

    # The task of a call

    async def _run_call(self, call: Call) -> None:
        """The execute and finish steps; whatever the tool does, the call has its result after."""
        plan, took_seconds = call.plan, None
        if self.can_abort and self.abort_signal._aborted:  # since the task was created
            call.stop_reason = "cancelled"
            self.settle_stopped(call)
            return
        try:
            # A tool may change what it has read. The caller's reply goes back to the model.
            tool_args = _core.isolated_arguments(call.args)
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
                    if is_done:
                        took_seconds = seconds
                    else:
                        value = await watched_rest(steps, waits_for, call.report_blocking)
                else:
                    value = await watched(steps, call.report_blocking)
            else:
                call.tool_args = tool_args
                value = await plan.run(call)
        except KeyboardInterrupt as interrupt:
            if self.answers_interrupts:
                self._settle(call, finish_failure(call, interrupt))
            elif call.task is not None:
                raise
            else:
                # In the first step of a task that starts at once: raised by `begin`, because
                # asyncio would log it as an exception that was never retrieved.
                self._interrupt = interrupt
            return
        except PendingResult as answer:
            self.settle_stopped(call, answer.result)
            return
        except BaseException as error:  # SystemExit, CancelledError and others end one call
            self._settle(call, finish_failure(call, error))
            return
        if call.blocked_seconds and call.is_overdue():
            call.stop_reason = "timeout"
        if call.stop_reason is not None or call.has_ended:
            self.settle_stopped(call)
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
            self._settled(call, value, chars, chars, chars, None, took_seconds=took_seconds)
            return
        call.stop_clock()
        try:
            finished = await plan.finish(call, value)
        except asyncio.CancelledError:
            self.settle_stopped(call)
        else:
            self._settle(call, finished)

    # Settle: each call exactly once

    def _settle(self, call: Call, finished: Finished) -> None:
        """Answer a call with what its tool returned or raised."""
        if call.stop_reason is not None:
            self.settle_stopped(call)
        elif not call.has_ended:
            self._settled(
                call,
                finished.result,
                finished.raw_chars,
                finished.reduced_chars,
                finished.sent_chars,
                finished.truncated_from,
            )

    def settle_stopped(self, call: Call, refusal: ToolResult | None = None) -> None:
        """Answer a call that was stopped, whatever its tool still returns; else with a refusal."""
        if call.has_ended:
            return
        if refusal is None or call.stop_reason is not None:
            refusal = self._stopped_answer(call, call.stop_reason)
        chars = len(refusal.text)
        self._settled(call, refusal, chars, chars, chars, None, False)

    def settle_ended(self, call: Call) -> None:
        """Answer a call whose task ended without a result.

        Other code cancelled it before its first step, or it exceeded a limit of the interpreter, as
        of recursion.
        """
        task = call.task
        assert task is not None
        if task.cancelled():
            self.settle_stopped(call)
        else:
            error = task.exception() or RuntimeError("the call's task ended early")
            self._settle(call, finish_failure(call, error))

    def _stopped_answer(self, call: Call, reason: StopReason | None) -> ToolResult:
        """What a call is answered that was stopped, or never started, for this reason."""
        runtime = self.runtime
        limit_seconds = call.plan.timeout_seconds
        if reason == "deadline":
            limit_seconds = self.options.deadline_seconds
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
        return _BLOCKED_CALLER if self.blocks_caller_loop else ""

    def _settled(
        self,
        call: Call,
        result: ToolResult,
        raw_chars: int,
        reduced_chars: int,
        sent_chars: int,
        truncated_from: int | None,
        is_output: bool = True,
        took_seconds: float | None = None,
    ) -> None:
        """Answer a call; `is_output` for what its tool produced."""
        if call.progress_redaction is not None:
            call.flush_progress()
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
        call.exception = None  # a frame of its traceback holds the call
        if took_seconds is None:
            took_seconds = 0.0 if started is None else monotonic() - started
        answer.duration_seconds = took_seconds
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
            if self.timeouts is not None:
                self.timeouts.running.pop(index, None)
        else:
            self._settle_rest(call, answer, is_output=is_output)
        self.pending -= 1
        if self.pending == 0 and self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    def _settle_rest(self, call: Call, answer: CallResult, *, is_output: bool) -> None:
        """What few calls need: untrusted output, a trim at the end, hooks, slots."""
        plan = call.plan
        if plan.entry.output_is_untrusted:
            answer.source = source_of_call(call)
            answer.untrusted = answer.source is not None
        if is_output and self.trims_at_end:
            tool, fence = plan.entry.tool, fence_of(call)
            self._held.append(HeldOutput(call.index, answer, plan.cap, fence, call.full_text, tool))
            if self.call_count is None:
                self._report_result(answer)
        else:
            self._put(call.index, answer, was_started=call.started is not None)
        if call.execution is not None and self.turn is not None:
            self.turn.call_ended(call.execution, is_error=not answer.result.ok)
        if self._report is not None:
            self._report.add((call.index, answer, plan.entry, call.started))
        if self.timeouts is not None:
            self.timeouts.running.pop(call.index, None)
        for slots in (self._slots, self._shared):
            if slots is not None:
                slots.call_ended(call)

    def _put(self, position: int, answer: CallResult, *, was_started: bool) -> None:
        """Answer a call with a result that needs no trim."""
        self._answers[position] = answer
        self._note_repairs(answer)
        if self.options.sink is not None:
            self.options.sink.on_result(position, answer.result, was_started=was_started)
        self._report_result(answer)

    def _finish_output(self, answer: CallResult) -> None:
        """What is left when an output has been trimmed with the others; a stream reported it."""
        self._note_repairs(answer)
        if self.call_count is not None:
            self._report_result(answer)

    def _note_repairs(self, answer: CallResult) -> None:
        """Tell the model what was repaired; a worker leaves that to the registry of its caller."""
        if answer.repairs and self.runtime.repair_note and self.options.sink is None:
            add_line(answer, repair_line(answer.repairs))

    def _report_result(self, answer: CallResult) -> None:
        if self.options.on_result is not None:
            self.runtime.guard("`on_result`", self.options.on_result, answer)

    # Finish

    def stop(self) -> None:
        """Stop the calls that run; one that does not end in time is abandoned."""
        self._watch_running()
        if self.timeouts is not None:
            self.timeouts.stop_all("cancelled")

    def stop_call(self, position: int) -> None:
        """Stop one call that runs, or waits to run."""
        self._watch_running()
        if self.timeouts is not None:
            call = self.timeouts.running.get(position)
            if call is not None:
                self.timeouts.stop(call, "cancelled")

    def task_of(self, position: int) -> asyncio.Task[None] | None:
        """The task of a call that took its first step; from any thread."""
        timeouts = self.timeouts
        call = None if timeouts is None else timeouts.running.get(position)
        if call is None:
            call = next((each for each in self._starting.copy() if each.index == position), None)
        return None if call is None else call.task

    def results(self) -> CallResults:
        """The results so far, in the order of the calls."""
        answers = self._answers
        for position, name in self._called_as.items():
            if (answer := answers[position]) is not None:
                answer.name = name
        # Not `None in answers`, which asks each result's `__eq__`.
        if not all(answers):  # the caller's cancellation came between two starts
            return CallResults(answer for answer in answers if answer is not None)
        return CallResults(answers)  # type: ignore[arg-type]

    async def finish(self) -> CallResults:
        """Wait until every call that was started has its result."""
        try:
            if self.pending and not _threads.STARTS_EAGERLY:
                await _one_turn()  # most short tools end here: no timer, no listener for them
            if self.pending:
                self._watch_running()
                await self._all_settled()
        except asyncio.CancelledError:
            await self._stop_for_caller()
            self._share_out()
            raise
        finally:
            self.close()
        if self.trims_at_end or self._report is not None:
            self._share_out()
        results = self.results()
        self._answers = []  # the traceback of an exception holds its call, and so this batch
        return results

    async def _all_settled(self) -> None:
        if self.pending:
            self._waiter = self.loop.create_future()
            await self._waiter

    def _watch_running(self) -> None:
        """From here on a timer and an abort listener watch the calls that still run."""
        if not self.pending:
            return
        timeouts = self.timeouts
        if timeouts is None:
            timeouts = self.timeouts = Timeouts(self, self._deadline)
            self.link(self._abort)
        starting, self._starting = self._starting, []
        for slots in (self._slots, self._shared):
            if slots is not None:
                starting += slots.waiting_of(self)
        for call in starting:
            if not call.has_ended:
                timeouts.add(call)

    def _abort(self) -> None:
        """From any thread."""
        if self.timeouts is not None:
            self.call_soon(self.timeouts.stop_all, "cancelled")

    async def _stop_for_caller(self) -> None:
        """The caller was cancelled: end the calls, in their grace, and answer the rest."""
        self._watch_running()
        timeouts = self.timeouts
        if timeouts is None:
            return
        timeouts.stop_all("cancelled")
        with contextlib.suppress(asyncio.CancelledError):  # twice: the grace is over
            await self._all_settled()
        timeouts.abandon_all()

    def _abandon_batch(self) -> None:
        """The process is being interrupted: cancel what runs, wait for nothing."""
        for call in self._starting:
            if call.task is not None:
                call.stop_reason = "cancelled"
                call.task.cancel()
        self.close()

    def _share_out(self) -> None:
        if self._held:
            held, self._held = self._held, []
            is_filled = self.options.budget_policy == "fill"
            trim_together(
                held,
                self.context.result_budget_chars,
                None if is_filled else len(self._answers),
                self.options.callers,
                self._finish_output,
            )
        if self._report is not None:
            self._report.batch_finished()

    def close(self) -> None:
        """Release the timer, the listeners and the slots."""
        if self.timeouts is not None:
            self.timeouts.close()
        for remove in self._links:
            remove()
        self._links.clear()
        if self.options.control is not None:
            self.options.control.attach(None)
        self.timeouts = None
        self._starting.clear()
        if self._shared is not None:
            self._shared.forget(self)
