"""Stopping calls: at their timeout, at the deadline, on abort, and when no thread is free."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic

from ethos_registry.execution.batch import Batch
from ethos_registry.execution.call import Call
from ethos_registry.execution.refusals import StopReason

__all__ = ["Watch"]

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
