"""One call: the context that its tool receives, its clock and its state."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from operator import attrgetter
from time import monotonic
from types import MappingProxyType
from typing import Any

from ethos_registry.capabilities.policies import joined_network_policy
from ethos_registry.capabilities.protected import DEFAULT_PROTECTION, Protection
from ethos_registry.capabilities.secret_stream import SecretByteStream
from ethos_registry.contract.abort import AbortController, AbortSignal
from ethos_registry.contract.context import ToolContext
from ethos_registry.contract.dispatch import ToolExecution
from ethos_registry.contract.finish_elsewhere import FinishFacts
from ethos_registry.contract.policy import NetworkPolicy, Personality
from ethos_registry.contract.progress import ToolProgressEvent
from ethos_registry.execution.batch import Batch
from ethos_registry.execution.blocking import BLOCKING_SECONDS
from ethos_registry.execution.full_text import FullText
from ethos_registry.execution.held_progress import HeldProgress
from ethos_registry.execution.plan import CallPlan
from ethos_registry.execution.refusals import StopReason
from ethos_registry.execution.threads import Job

__all__ = ["BackendContext", "Call"]


class Call(ToolContext):
    """A `ToolContext` of one call, and the call itself; created by the session, never by hand.

    One object instead of two: a call that simply works pays for a task, this object, its result
    and its `CallResult`.
    """

    # Class-level defaults: a call that simply works stores only what differs between calls.
    batch: Batch
    plan: CallPlan
    index: int
    """The position of the call in its batch."""
    args: Any
    """The arguments as they were sent, parsed."""
    tool_args: Any
    """The tool's own copy of them."""
    task: asyncio.Task[None] | None = None
    started: float | None = None
    """When the tool was started (monotonic seconds); `None` before that."""
    clock_started: float | None = None
    """When the tool's timeout began to count, if not with `started`."""
    has_ended = False
    """Whether the call has its result."""
    has_slot = False
    stop_reason: StopReason | None = None
    abandon_at: float | None = None
    """When a call that was stopped is abandoned (monotonic seconds)."""
    limit: float | None = None
    """When the time of an `after` filter ends (monotonic seconds)."""
    job: Job | None = None
    """The thread's job while a plain function waits or runs."""
    controller: AbortController | None = None
    """Of the call's own signal; `None` if the tool never asked for it."""
    execution: ToolExecution | None = None
    """What the hooks of the turn received."""
    full_text: FullText | None = None
    """The output that an artifact stores if part of it is not sent."""
    raw_text: str | None = None
    """What the tool returned, for recorders, if the result is not the same."""
    held_progress: HeldProgress | None = None
    """Progress text that waits; `None` if no secret was handed out."""
    worker_raw_chars: int | None = None
    """Characters of a result before it was reduced where its tool ran."""
    has_registry_error = False
    """Whether the error that arrived was made by the registry there, as for an exception."""
    blocked_seconds = 0.0
    """The longest time in which the tool kept the event loop from running anything else."""
    callback_seconds = 0.0
    """How long callbacks took since the last step that blocked the loop."""
    exception: BaseException | None = None
    """What the tool, a filter before it or a backend raised."""
    finish_facts: FinishFacts | None = None
    """What the worker did with the result that arrived."""
    _scoped: Mapping[str, Any] = MappingProxyType({})
    _is_clock_stopped = False
    _paused_at: float | None = None
    _uncounted_seconds = 0.0
    _is_over_limit = False
    _cancellations = 0

    def __init__(self, batch: Batch, plan: CallPlan, index: int, tool_call_id: str) -> None:
        # The fields of the batch's context were checked when it was created.
        self._facts = batch.context._facts
        self._tool_call_id = tool_call_id
        self.batch = batch
        self.plan = plan
        self.index = index

    # The context

    result_budget_chars = property(
        attrgetter("plan.cap"), doc="Characters that the call's result may hold."
    )

    @property
    def personality_id(self) -> str | None:
        """The personality that the caller named, else that of the view which runs the call."""
        named: str | None = self._facts.personality_id
        return self.batch.personality_id if named is None else named

    @property
    def personality(self) -> Personality | None:
        """The personality of the view that runs the call."""
        return self.batch.personality

    @property
    def protection(self) -> Protection:
        """Files that remain closed inside permitted directories."""
        given: Protection | None = getattr(self.batch.runtime.backends, "protection", None)
        return DEFAULT_PROTECTION if given is None else given

    @property
    def network_policy(self) -> NetworkPolicy | None:
        """The policy of the call: the caller's and the personality's together."""
        given: NetworkPolicy | None = self._facts.network_policy
        personality = self.batch.personality
        return joined_network_policy(given, None if personality is None else personality.network)

    @property
    def emit(self) -> Callable[[ToolProgressEvent], object]:
        """Takes a `ToolProgressEvent`; safe from threads, silent once the call has ended."""
        return self._emit_event

    @property
    def abort_signal(self) -> AbortSignal:
        """Fires when the turn is aborted, and when this call is stopped."""
        controller = self.controller
        if controller is None:
            controller = AbortController()
            if not self.has_ended:
                self.batch.link(controller.abort)
            self.controller = controller
            if self.stop_reason is not None:
                controller.abort("the call was stopped")
        return controller.signal

    def report(self, message: str, **details: Any) -> None:
        """Emit one progress event; the registry sets the tool's name."""
        self._emit_event(ToolProgressEvent(message, **details))

    def report_searched(self, message: str, **details: Any) -> None:
        """Emit text in which `secret_stream` found the secrets already: none of it waits."""
        self._emit_event(ToolProgressEvent(message, **details), is_searched=True)

    def secret_stream(self) -> SecretByteStream | None:
        """What takes secrets out of output that is reported in pieces; `None` if they stay."""
        runtime = self.batch.runtime
        if runtime.handed_out is None or runtime.redact_of(self.plan.name) is None:
            return None
        return SecretByteStream(runtime.handed_out)

    def _emit_event(
        self, event: ToolProgressEvent | Mapping[str, Any], *, is_searched: bool = False
    ) -> None:
        if self.has_ended:
            return
        if self.batch.is_on_loop_thread:
            begun = monotonic()
            self._deliver(event, is_searched)
            self.callback_seconds += monotonic() - begun
        else:
            self.batch.call_soon(self._deliver, event, is_searched)

    def _deliver(self, event: Any, is_searched: bool) -> None:
        if self.has_ended:
            return
        held, handed_out = self.held_progress, self.batch.runtime.handed_out
        if held is None and handed_out:
            held = self.held_progress = HeldProgress(handed_out)
        self.batch.deliver(
            self.index,
            self.plan.name,
            self._tool_call_id,
            event,
            None if is_searched else held,
        )

    def set_scoped(self, scoped: Mapping[str, Any]) -> None:
        """Give the tool the objects that it declared."""
        self._scoped = scoped

    def report_blocking(self, seconds: float) -> None:
        """The tool ran for some seconds without awaiting anything."""
        seconds -= self.callback_seconds  # reported as that of the callback
        self.callback_seconds = 0.0
        if seconds <= BLOCKING_SECONDS:
            return
        self.blocked_seconds = max(seconds, self.blocked_seconds)
        self.batch.runtime.report_blocking(
            f"tool `{self.plan.name}`", seconds, "make it a plain `def`, which runs on a thread"
        )

    # The clock

    def deadline(self) -> float | None:
        """When the tool's time is over (monotonic seconds); `None` while no time counts."""
        timeout = self.plan.timeout_seconds
        begun = self.started if self.clock_started is None else self.clock_started
        if timeout is None or begun is None or self._is_clock_stopped:
            return None
        uncounted, job = self._uncounted_seconds, self.job
        if job is not None:
            if job.started_at is None:
                return None
            uncounted += job.started_at - job.submitted_at
        return None if self._paused_at is not None else begun + timeout + uncounted

    def is_overdue(self) -> bool:
        """Whether the tool's time is over, though no timer could end it."""
        deadline = self.deadline()
        return deadline is not None and monotonic() >= deadline

    def thread_deadline(self) -> float | None:
        """When a function has waited too long for a thread; `None` if it does not wait."""
        job, wait_seconds = self.job, self.batch.runtime.thread_wait_seconds
        if job is None or job.has_thread or job.started_at is not None or wait_seconds is None:
            return None
        return job.submitted_at + wait_seconds

    def watch_thread_wait(self) -> None:
        """Wake the timer when the function has waited too long for a thread.

        Before the function a filter or an attempt may have run: the timer sleeps longer then.
        """
        deadline = self.thread_deadline()
        if deadline is not None:
            self.batch.timer.wake_at(deadline)

    def pause_clock(self) -> None:
        """Stop counting the tool's time: a person is asked."""
        if self._paused_at is None:
            self._paused_at = monotonic()

    def resume_clock(self) -> None:
        """Continue counting."""
        if self._paused_at is not None:
            self.leave_out(monotonic() - self._paused_at)
            self._paused_at = None
            self._wake_timer()

    def leave_out(self, seconds: float) -> None:
        """Do not count some seconds that have passed."""
        self._uncounted_seconds += seconds

    def stop_clock(self) -> None:
        """The tool has ended: what follows does not count as its time."""
        self._is_clock_stopped = True

    def _wake_timer(self) -> None:
        deadline = self.deadline()
        if deadline is not None:
            self.batch.timer.wake_at(deadline)

    def begin_limit(self, seconds: float) -> None:
        """Cancel the call's task once if `seconds` pass before `end_limit`."""
        task = asyncio.current_task()
        self._cancellations = 0 if task is None else task.cancelling()
        self._is_over_limit = False
        self.limit = monotonic() + seconds
        self.batch.timer.wake_at(self.limit)

    def end_limit(self) -> bool:
        """Whether only the limit cancelled the task; the cancellation is then taken back."""
        self.limit = None
        if not self._is_over_limit:
            return False
        task = asyncio.current_task()
        return task is not None and task.uncancel() <= self._cancellations

    def exceed_limit(self) -> None:
        """The limit is over: cancel what runs."""
        self.limit = None
        if self.task is not None:
            self._is_over_limit = True
            self.task.cancel()


class BackendContext(ToolContext):
    """What a backend receives that makes a scoped object for a call."""

    __slots__ = ("_call",)

    def __init__(self, call: Call) -> None:
        self._facts = call._facts
        self._scoped = {}
        self._call = call

    tool_call_id = property(attrgetter("_call.tool_call_id"), doc="The id of the call.")
    result_budget_chars = property(
        attrgetter("_call.result_budget_chars"), doc="Characters that the result may hold."
    )
    personality_id = property(attrgetter("_call.personality_id"), doc="The active personality.")
    personality = property(
        attrgetter("_call.batch.personality"), doc="The personality of the view, or `None`."
    )
    protection = property(attrgetter("_call.protection"), doc="Files that remain closed.")
    emit = property(attrgetter("_call.emit"), doc="Takes a `ToolProgressEvent`.")
    abort_signal = property(
        attrgetter("_call.abort_signal"), doc="Fires when the turn is aborted or the call stopped."
    )
    turn_attachments = property(
        attrgetter("_call.batch.options.turn_attachments"), doc="The files of the turn."
    )

    def report(self, message: str, **details: Any) -> None:
        """Emit one progress event."""
        self._call.report(message, **details)
