"""A session: start calls, then finish all of them.

A batch is started at once; a stream is the same session, fed call by call. The steps of a call and
their order are the table in `steps`; this module walks it.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Sequence
from time import monotonic
from typing import Any

from ethos_registry.contract.call import CallResult
from ethos_registry.contract.context import ToolContext
from ethos_registry.contract.dispatch import DispatchContext
from ethos_registry.contract.result import NO_EXTRA, ToolOk, ToolResult
from ethos_registry.execution import refusals, task_start
from ethos_registry.execution.batch import Batch
from ethos_registry.execution.batch_report import BatchReport
from ethos_registry.execution.call import Call
from ethos_registry.execution.collected_results import CollectedResults
from ethos_registry.execution.execute import execute
from ethos_registry.execution.finish import fence_of, finish, finish_failure, source_of_call
from ethos_registry.execution.isolated_arguments import isolated_arguments
from ethos_registry.execution.options import CheckedOptions
from ethos_registry.execution.plan import CallPlan
from ethos_registry.execution.read_call import ReadCall, read_call
from ethos_registry.execution.results import CallResults
from ethos_registry.execution.runtime import Runtime
from ethos_registry.execution.slots import Slots
from ethos_registry.execution.steps import call_plan, verdict_answer
from ethos_registry.execution.task_start import TaskStarter, is_stack_deep, task_starter
from ethos_registry.execution.watch import Watch
from ethos_registry.reduction.finish import Finished
from ethos_registry.table.admission import Admission

__all__ = ["Session", "execute_batch"]

_new_call: Any = Call.__new__
_new_result: Any = CallResult.__new__


async def execute_batch(
    calls: Sequence[Any],
    admission: Admission,
    runtime: Runtime,
    context: ToolContext,
    options: CheckedOptions,
    personality_id: str | None = None,
    turn: DispatchContext | None = None,
) -> CallResults:
    """Answer every call, in order; only the caller's own cancellation leaves as an exception."""
    if is_stack_deep():
        coroutine = _execute(calls, admission, runtime, context, options, personality_id, turn)
        return await asyncio.Task(coroutine)  # it starts from the loop, with all frames free
    return await _execute(calls, admission, runtime, context, options, personality_id, turn)


async def _execute(
    calls: Sequence[Any],
    admission: Admission,
    runtime: Runtime,
    context: ToolContext,
    options: CheckedOptions,
    personality_id: str | None,
    turn: DispatchContext | None,
) -> CallResults:
    session = Session(
        admission,
        runtime,
        context,
        options,
        personality_id=personality_id,
        turn=turn,
        call_count=len(calls),
    )
    session.start(calls)
    return await session.finish()


class Session:
    """The calls of one batch; nothing of it is stored on the registry.

    With `call_count=None` calls may be added by further `start`s while others run. Each tool then
    sees the whole budget, or its own limit, and the results are trimmed to their final share by
    `finish`.
    """

    __slots__ = (
        "_batch",
        "_deadline",
        "_gate",
        "_pending",
        "_plans",
        "_remove_abort_listener",
        "_report",
        "_results",
        "_slots",
        "_start_task",
        "_starting",
        "_waiter",
        "_watch",
    )

    def __init__(
        self,
        admission: Admission,
        runtime: Runtime,
        context: ToolContext,
        options: CheckedOptions,
        *,
        personality_id: str | None = None,
        turn: DispatchContext | None = None,
        call_count: int | None = None,
    ) -> None:
        loop = asyncio.get_running_loop()
        batch = Batch(loop, admission, runtime, context, options, personality_id, turn, call_count)
        self._batch = batch
        self._results = CollectedResults(
            runtime, options.on_result, trims_at_end=batch.trims_at_end
        )
        self._report = None if runtime.observers is None else BatchReport(batch, runtime.observers)
        self._plans: dict[int, CallPlan] = {}
        self._start_task: TaskStarter = task_starter(loop)
        most = options.max_concurrency
        self._slots = None if most is None else Slots(most)
        seconds = options.deadline_seconds
        self._deadline = None if seconds is None else monotonic() + seconds
        self._starting: list[Call] = []
        """Calls whose tasks were created and may end in their first step."""
        self._pending = 0
        self._watch: Watch | None = None
        self._waiter: asyncio.Future[None] | None = None
        self._remove_abort_listener: Any = None

    # Start

    def start(self, calls: Sequence[Any]) -> None:
        """Answer or start each of these calls."""
        ready = self._prepared(calls)
        try:
            for call in ready:
                if self._slots is None:
                    self._begin(call)
                else:
                    self._slots.run(call, self._begin)
        except BaseException:  # KeyboardInterrupt in the first step of a task
            self._abandon_batch()
            raise
        if self._batch.call_count is None:
            self._watch_running()

    def _prepared(self, calls: Sequence[Any]) -> list[Call]:
        """The calls that the steps before the tool pass on; the others are answered."""
        batch, plans = self._batch, self._plans
        index = self._results.reserve(len(calls))
        read = [_read(call, place) for place, call in enumerate(calls, index)]
        codes = batch.admission.verdicts([call[1] for call in read])
        ready: list[Call] = []
        facts = batch.context._facts
        for (tool_call_id, name, args, problem), code in zip(read, codes, strict=True):
            if problem is not None:
                self._refuse(index, tool_call_id, name, refusals.bad_arguments(problem))
                index += 1
                continue
            plan = plans.get(code)
            if plan is None:
                if code < 0:
                    self._refuse(index, tool_call_id, name, verdict_answer(name, code))
                    index += 1
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
                    self._refuse(index, tool_call_id, plan.name, answer, plan)
                    break
            else:
                ready.append(call)
            index += 1
        self._pending += len(ready)
        return ready

    def _refuse(
        self,
        index: int,
        tool_call_id: str,
        name: str,
        result: ToolResult,
        plan: CallPlan | None = None,
    ) -> None:
        """Answer a call whose tool is not started."""
        chars = len(result.text)
        answer = CallResult(
            tool_call_id,
            name,
            result,
            raw_chars=chars,
            reduced_chars=chars,
            sent_chars=chars,
        )
        self._results.put(index, answer)
        if self._report is not None:
            self._report.refused(index, answer, None if plan is None else plan.entry)

    def _begin(self, call: Call) -> None:
        """Start the task of a call."""
        coroutine = self._run(call)
        try:
            task = self._start_task(coroutine, name=call.plan.name)
        except BaseException as error:
            coroutine.close()
            if isinstance(error, KeyboardInterrupt):
                raise
            self._settle(call, finish_failure(call, error))
            return
        if task.done():
            if not call.has_ended:  # the interpreter's limits, as of recursion
                self._settle(call, finish_failure(call, _outcome_of(task)))
            return
        call.task = task
        if self._watch is None:
            self._starting.append(call)
        else:
            self._watch.add(call)

    # The task of a call

    async def _run(self, call: Call) -> None:
        """The execute and finish steps; whatever the tool does, the call has its result after."""
        batch, plan = call.batch, call.plan
        if batch.can_abort and batch.abort_signal.aborted:  # since the task was created
            call.stop_reason = "cancelled"
            self._settle_stopped(call)
            return
        try:
            call.tool_args = isolated_arguments(call.args)
            if plan.is_direct:
                call.started = monotonic()
                value = await plan.execute(call.tool_args, call)
            else:
                value = await execute(call)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # SystemExit, CancelledError and others end one call
            self._settle(call, finish_failure(call, error))
            return
        if call.stop_reason is not None or call.has_ended:
            self._settle_stopped(call)
            return
        if (  # a short success, the usual result, needs no finish step
            type(value) is ToolOk
            and plan.finishes_plainly
            and type(text := value.value) is str
            and (chars := len(text)) <= plan.trim_cap
            and value.structured is None
            and value.cost_usd is None
            and value.extra is NO_EXTRA
            and text.isascii()
        ):
            self._settle_plainly(call, value, chars)
            return
        call.stop_clock()
        try:
            finished = await finish(call, value)
        except asyncio.CancelledError:
            self._settle_stopped(call)
        else:
            self._settle(call, finished)

    # Settle: each call exactly once

    def _settle_plainly(self, call: Call, result: ToolResult, chars: int) -> None:
        self._settled(call, result, chars, chars, chars, None, is_body=True)

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
                is_body=True,
            )

    def _settle_stopped(self, call: Call) -> None:
        """Answer a call that was stopped, whatever its tool still returns."""
        if call.has_ended:
            return
        runtime, reason = self._batch.runtime, call.stop_reason
        limit_seconds = call.plan.timeout_seconds
        if reason == "deadline":
            limit_seconds = self._batch.options.deadline_seconds
        elif reason == "no_thread":
            limit_seconds = runtime.thread_wait_seconds
        result = refusals.stopped(
            call.plan.name,
            reason,
            was_started=call.started is not None,
            limit_seconds=limit_seconds,
            max_threads=runtime.threads.max_threads,
        )
        chars = len(result.text)
        self._settled(call, result, chars, chars, chars, None, is_body=False)

    def _settled(
        self,
        call: Call,
        result: ToolResult,
        raw_chars: int,
        reduced_chars: int,
        sent_chars: int,
        truncated_from: int | None,
        *,
        is_body: bool,
    ) -> None:
        call.has_ended = True
        plan, index, started = call.plan, call.index, call.started
        source = source_of_call(call) if plan.entry.output_is_untrusted else None
        answer: CallResult = _new_result(CallResult)
        answer.tool_call_id = call._tool_call_id
        answer.name = plan.name
        answer.result = result
        answer.untrusted = source is not None
        answer.source = source
        answer.raw_chars = raw_chars
        answer.reduced_chars = reduced_chars
        answer.sent_chars = sent_chars
        answer.truncated_from = truncated_from
        answer.duration_seconds = 0.0 if started is None else monotonic() - started
        results = self._results
        if is_body and results.trims_at_end:
            results.hold(index, answer, plan.cap, fence_of(call), call.full_text)
        else:
            results.put(index, answer)
        if call.execution is not None and self._batch.turn is not None:
            self._batch.turn.call_ended(call.execution, is_error=not result.ok)
        if self._report is not None:
            self._report.finished(index, answer, plan.entry, started)
        if self._watch is not None:
            self._watch.running.pop(index, None)
        if self._slots is not None:
            self._slots.call_ended(call, self._begin)
        self._pending -= 1
        if self._pending == 0 and self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    # Finish

    async def finish(self) -> CallResults:
        """Wait until every call that was started has its result."""
        try:
            if self._pending and not task_start.STARTS_EAGERLY:
                await asyncio.sleep(0)  # most short tools end here: no timer, no listener for them
            if self._pending:
                self._watch_running()
                self._waiter = asyncio.get_running_loop().create_future()
                await self._waiter
        except asyncio.CancelledError:
            await self._stop_for_caller()
            self._share_out()
            raise
        finally:
            self._close()
        self._share_out()
        return self._results.all()

    def _watch_running(self) -> None:
        """From here on a timer and an abort listener watch the calls that still run."""
        if self._watch is None:
            if not self._pending:
                return
            self._watch = Watch(self._batch, self._deadline, self._settle_stopped)
            self._remove_abort_listener = self._batch.abort_signal.add_listener(self._abort)
        starting, self._starting = self._starting, []
        waiting = [] if self._slots is None else self._slots.waiting()
        for call in (*starting, *waiting):
            if not call.has_ended:
                self._watch.add(call)

    def _abort(self) -> None:
        """From any thread."""
        if self._watch is not None:
            self._batch.call_soon(self._watch.stop_all, "cancelled")

    async def _stop_for_caller(self) -> None:
        """The caller was cancelled: end the calls, in their grace, and answer the rest."""
        self._watch_running()
        if self._watch is None:
            return
        self._watch.stop_all("cancelled")
        if self._pending:
            self._waiter = asyncio.get_running_loop().create_future()
            with contextlib.suppress(asyncio.CancelledError):  # twice: the grace is over
                await self._waiter
        self._watch.abandon_all()

    def _abandon_batch(self) -> None:
        """The interpreter is being interrupted: cancel what runs, wait for nothing."""
        for call in self._starting:
            if call.task is not None:
                call.task.cancel()
        self._close()

    def _share_out(self) -> None:
        self._results.share_out(
            self._batch.context.result_budget_chars,
            is_filled=self._batch.options.budget_policy == "fill",
        )
        if self._report is not None:
            self._report.batch_finished()

    def _close(self) -> None:
        self._batch.close()
        if self._remove_abort_listener is not None:
            self._remove_abort_listener()
            self._remove_abort_listener = None
        self._watch = None


def _read(call: Any, index: int) -> ReadCall:
    """The call, or why it cannot be read; a call may be an object with code of its own."""
    try:
        read = read_call(call, index)
        tool_call_id, name, args, problem = read
        if type(name) is str and type(tool_call_id) is str:
            return read
        return str.__str__(tool_call_id), str.__str__(name), args, problem
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        return str(index), "", None, f"malformed call: {refusals.exception_text(error)}"


def _outcome_of(task: asyncio.Task[None]) -> BaseException:
    """Why a task ended without giving its call a result."""
    if task.cancelled():
        return asyncio.CancelledError()
    return task.exception() or RuntimeError("the call's task ended early")
