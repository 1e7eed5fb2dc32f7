"""A session: start calls, then finish all of them.

A batch is started at once; a stream is the same session, fed call by call. The steps of a call and
their order are the table in `steps`; this module walks it.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Coroutine, Sequence
from time import monotonic
from typing import Any

from ethos_registry.contract.call import CallResult, ToolCall
from ethos_registry.contract.context import ToolContext
from ethos_registry.contract.dispatch import DispatchContext
from ethos_registry.contract.errors import ConfigError
from ethos_registry.contract.policy import Personality
from ethos_registry.contract.result import ToolResult
from ethos_registry.execution import refusals, task_start
from ethos_registry.execution.batch import Batch
from ethos_registry.execution.batch_report import BatchReport
from ethos_registry.execution.call import Call
from ethos_registry.execution.collected_results import CollectedResults
from ethos_registry.execution.options import CheckedOptions
from ethos_registry.execution.plan import CallPlan
from ethos_registry.execution.read_call import ReadCall, read_call
from ethos_registry.execution.results import CallResults
from ethos_registry.execution.runner import Runner
from ethos_registry.execution.runtime import Runtime
from ethos_registry.execution.steps import call_plan, share_budget, verdict_answer
from ethos_registry.execution.task_start import is_stack_deep, task_starter
from ethos_registry.providers.wire_value import EchoingId
from ethos_registry.reduction.redaction import redacted_text
from ethos_registry.table.admission import Admission

__all__ = ["Session", "execute_batch"]

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
                f"{'a stream' if call_count is None else call_count}"
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
                    refusals.bad_arguments(problem),
                    args=args,
                )
                continue
            plan = plans.get(code)
            if plan is None:
                if code < 0:
                    name = str.__str__(name)
                    self._refuse(index, tool_call_id, name, verdict_answer(name, code), args=args)
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
                    self._refuse(index, tool_call_id, plan.name, answer, plan, call.args)
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
            if runner.pending and not task_start.STARTS_EAGERLY:
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
        return str(index), "", None, f"malformed call: {refusals.exception_text(error)}"
