"""A session: start every call, then finish all (contract 3).

A stream dispatcher is the same session, fed call by call. The steps of a call stand in `steps`, its
run in `running`; here stands what the calls of one batch share: the verdicts, the share, one timer,
the abort signal, the results in order.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable, Sequence
from functools import partial
from time import monotonic
from typing import Any

from ethos_registry.contract.abort import NEVER_ABORTED, AbortController, AbortSignal
from ethos_registry.contract.call import CallResult
from ethos_registry.contract.context import ToolContext
from ethos_registry.contract.dispatch import DispatchContext
from ethos_registry.contract.result import ToolResult
from ethos_registry.contract.tool import REGISTRY_DEFAULT
from ethos_registry.execution import dry_run, observed, refusals, steps
from ethos_registry.execution.answers import Answers
from ethos_registry.execution.batch import SettledCall
from ethos_registry.execution.budget import even_share
from ethos_registry.execution.call_context import BackendContext
from ethos_registry.execution.events import event_of
from ethos_registry.execution.options import BatchOptions
from ethos_registry.execution.read_call import ReadCall, read_call
from ethos_registry.execution.results import CallResults
from ethos_registry.execution.running import RunningCall
from ethos_registry.execution.runtime import Runtime
from ethos_registry.execution.slots import Slots
from ethos_registry.execution.watch import Watch
from ethos_registry.execution.whole_text import Keeper
from ethos_registry.table.admission import Admission, is_available
from ethos_registry.table.entry import Entry

__all__ = ["Session", "execute_batch"]


async def execute_batch(
    calls: Sequence[Any],
    admission: Admission,
    runtime: Runtime,
    context: ToolContext,
    options: BatchOptions,
    personality_id: str | None = None,
    turn: DispatchContext | None = None,
) -> CallResults:
    """Answer every call, in order; the caller's own cancellation is all that leaves.

    `personality_id` is told to tools where the context names none; `turn` is told of the calls, and
    its abort stops them.
    """
    session = Session(admission, runtime, context, options, personality_id, len(calls), turn)
    session.start(calls)
    return await session.finish()


class Session:
    """The shared state of one batch; nothing of it is ever stored on the registry."""

    __slots__ = (
        "_admission",
        "_answers",
        "_availability",
        "_is_cancelled",
        "_is_dry_run",
        "_linked",
        "_loop",
        "_new_task",
        "_pending",
        "_remove_abort_listener",
        "_share",
        "_slots",
        "_waiter",
        "_watch",
        "context",
        "filters",
        "finishes_plainly",
        "keeper",
        "personality_id",
        "runtime",
        "thread_id",
        "trims_together",
        "turn",
        "turn_attachments",
        "turn_signal",
        "wraps_untrusted",
    )

    def __init__(
        self,
        admission: Admission,
        runtime: Runtime,
        context: ToolContext,
        options: BatchOptions,
        personality_id: str | None,
        call_count: int,
        turn: DispatchContext | None = None,
    ) -> None:
        self.context = context
        self.personality_id = personality_id
        self.runtime = runtime
        self.thread_id = threading.get_ident()
        self._admission = admission
        is_filled = options.budget_policy == "fill"
        budget_chars = context.result_budget_chars
        self._share = even_share(budget_chars, 1 if is_filled else call_count)
        self._answers = Answers(runtime, options.on_result, budget_chars if is_filled else None)
        self.trims_together = is_filled
        self.filters = options.filters
        self.turn_attachments = options.turn_attachments
        self.wraps_untrusted = options.untrusted == "wrap"
        store = context.artifact_store
        self.keeper = None if store is None else Keeper(store, admission, runtime, turn)
        self.finishes_plainly = (
            runtime.reducers is None
            and not self.wraps_untrusted
            and (store is None or not is_filled)
        )
        self._loop = loop = asyncio.get_running_loop()
        # What `create_task` of a loop without a factory does, without its Python frame.
        self._new_task: Callable[..., asyncio.Task[None]] = (
            partial(asyncio.Task, loop=loop)
            if loop.get_task_factory() is None
            else loop.create_task
        )
        self._watch = Watch(loop, options.deadline_seconds)
        # A caller that is cancelled already is told at its next wait, which is after the first step
        # of every call that would start.
        self._is_cancelled = bool(getattr(asyncio.current_task(), "_must_cancel", False))
        self._is_dry_run: bool = context.dry_run
        self.turn = turn
        self.turn_signal: AbortSignal = context.abort_signal
        self._pending = 0
        most = options.max_concurrency
        self._slots = None if most is None else Slots(most)
        self._availability: dict[str, bool] = {}
        self._waiter: asyncio.Future[None] | None = None
        self._linked: list[Callable[[], None]] = []
        if turn is not None:
            self._hear(turn.abort_signal)
        self._remove_abort_listener: Callable[[], None] | None = None

    # Start: admit, prepare, run.

    def start(self, calls: Sequence[Any]) -> None:
        """Admit the calls in one native crossing, and start or answer each of them."""
        first = self._answers.reserve(len(calls))
        read = [read_call(call, index) for index, call in enumerate(calls, first)]
        verdicts = self._admission.admit([call[1] for call in read])
        for index, (call, verdict) in enumerate(zip(read, verdicts, strict=True), first):
            refusal = self._prepare(index, call, verdict)
            if refusal is not None:
                self._answer(index, call, refusal)

    def _prepare(self, index: int, call: ReadCall, verdict: Entry | int) -> ToolResult | None:
        """The steps of contract 3.2 up to execute: start the call, or say why it does not run."""
        tool_call_id, name, args, problem = call
        if problem is not None:
            return refusals.bad_arguments(problem)
        if isinstance(verdict, int):
            return refusals.verdict_refusal(name, verdict)
        entry = verdict
        if entry.is_available is not None and not self._is_available(entry):
            return refusals.unavailable(name)
        if isinstance(args, str):
            try:
                args = steps.parsed_arguments(args)
            except steps.BadArgumentsError as error:
                return refusals.bad_arguments(str(error))
        if entry.argument_check is not None and (wrong := entry.argument_check.problems(args)):
            return wrong
        declares = entry.declares_capabilities
        if declares and (refusal := steps.check_backends(entry, self.runtime.backends)):
            return refusal
        if self._is_dry_run:
            return dry_run.dry_run_answer(entry, args, self.context)
        if self.turn_signal.aborted or self._is_cancelled:
            return refusals.aborted_before_start(name)
        limit = entry.max_result_chars
        cap = self._share if limit is None else steps.call_cap(limit, self._share)
        running = RunningCall(self, index, tool_call_id, entry, args, cap)
        if declares and (failure := self._inject(running)):
            return failure
        self._execute(running)
        return None

    def _is_available(self, entry: Entry) -> bool:
        """The tool's probe, asked once a batch."""
        available = self._availability.get(entry.name)
        if available is None:
            available = self._availability[entry.name] = is_available(entry)
        return available

    def _inject(self, running: RunningCall) -> ToolResult | None:
        backends = self.runtime.backends
        assert backends is not None
        try:
            running.scoped = steps.resolve_capabilities(
                running.entry, backends, BackendContext(self.context, running)
            )
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            return refusals.backend_failed(running.entry.name, refusals.raised(error))
        return None

    def _execute(self, running: RunningCall) -> None:
        timeout = running.entry.timeout_seconds
        running.timeout = (
            self.runtime.default_timeout_seconds if timeout is REGISTRY_DEFAULT else timeout
        )
        self._pending += 1
        self._watch.running[running.index] = running
        if self._slots is None:
            self._begin(running)
        else:
            self._slots.run(running, self._begin)

    def _begin(self, running: RunningCall) -> None:
        running.task = self._new_task(running.run(), name=running.entry.name)

    # Finish: wait, settle, stop.

    async def finish(self) -> CallResults:
        """Wait until every call that was started has its answer."""
        try:
            if self._pending:
                await asyncio.sleep(0)  # most short tools end here: no timer, no listener for them
            if self._pending:
                self._watch_batch()
                self._waiter = self._loop.create_future()
                await self._waiter
        except asyncio.CancelledError:
            await self._stop_for_caller()
            self._answers.share_out()
            raise
        finally:
            self._close()
        self._answers.share_out()
        return self._answers.all()

    def _watch_batch(self) -> None:
        self._remove_abort_listener = self.turn_signal.add_listener(self._abort)
        self._watch.begin()

    def _close(self) -> None:
        self._watch.end()
        if self._remove_abort_listener is not None:
            self._remove_abort_listener()
        for remove in self._linked:
            remove()
        self._linked.clear()

    async def _stop_for_caller(self) -> None:
        """The caller was cancelled: end the calls, in their grace, and answer the rest."""
        self._watch.stop_all("cancelled")
        if self._pending:
            self._waiter = self._loop.create_future()
            with contextlib.suppress(asyncio.CancelledError):  # twice: the grace is over
                await self._waiter
        self._watch.give_up_all()

    def _answer(self, index: int, call: ReadCall, result: ToolResult) -> None:
        """The answer to a call that does not run."""
        chars = len(result.text)
        self._answers.put(
            index,
            CallResult(
                call[0],
                call[1],
                result,
                raw_chars=chars,
                reduced_chars=chars,
                sent_chars=chars,
            ),
        )

    def settle_running(
        self,
        running: SettledCall,
        result: ToolResult,
        raw_chars: int,
        reduced_chars: int,
        sent_chars: int,
        truncated_from: int | None,
        *,
        is_body: bool = True,
    ) -> None:
        """The answer to a call that ran, or was stopped; a body is what its tool said."""
        entry = running.entry
        source = running.source() if entry.output_is_untrusted else None
        started = running.started
        index = running.index
        del self._watch.running[index]
        if running.execution is not None and self.turn is not None:
            observed.end(self.turn, running.execution, result)
        answer = CallResult(
            running.tool_call_id,
            entry.name,
            result,
            source is not None,
            source,
            raw_chars,
            reduced_chars,
            sent_chars,
            truncated_from,
            0.0 if started is None else monotonic() - started,
        )
        if is_body and self.trims_together:
            self._answers.hold(index, answer, running.cap, running.fence(), running.whole)
        else:
            self._answers.put(index, answer)
        if self._slots is not None:
            self._slots.call_ended(self._begin, had_slot=running.has_slot)
        self._pending -= 1
        if self._pending == 0 and self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    def watch_at(self, moment: float) -> None:
        """Look at the running calls no later than at `moment` (monotonic seconds)."""
        self._watch.at(moment)

    # Abort and events: from any thread.

    def _abort(self) -> None:
        self.call_soon(self._watch.stop_all, "cancelled")

    def _hear(self, signal: AbortSignal) -> None:
        """Stop for the turn as for the caller."""
        if self.turn_signal is NEVER_ABORTED:
            self.turn_signal = signal
            return
        either = AbortController()
        for one in (signal, self.turn_signal):
            self._linked.append(one.add_listener(either.abort))
        self.turn_signal = either.signal

    def link(self, controller: AbortController) -> None:
        """Fire a call's own signal with the turn's."""
        self._linked.append(self.turn_signal.add_listener(controller.abort))

    def call_soon(self, callback: Callable[..., object], *arguments: Any) -> None:
        """Run a callback on the loop's thread; nothing happens once the loop is closed."""
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(callback, *arguments)

    def deliver(self, tool_name: str, event: Any) -> None:
        """Hand one event to the caller's `emit`, under the name of the tool that runs."""
        self.runtime.guard("`emit`", self._emit, tool_name, event)

    def _emit(self, tool_name: str, event: Any) -> None:
        self.context.emit(event_of(tool_name, event))
