"""One call: the context that its tool receives, its clock and its state."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from operator import attrgetter
from time import monotonic
from types import MappingProxyType
from typing import Any, Literal

from ethos_registry import _core
from ethos_registry._table.admission import Admission
from ethos_registry._table.entry import Entry, FailingPlaces
from ethos_registry.capabilities._files import DEFAULT_PROTECTION, Protection
from ethos_registry.capabilities._resolver import current_personality, joined_network_policy
from ethos_registry.capabilities._secrets import IssuedSecrets, SecretByteStream, SecretStream
from ethos_registry.execution._arguments import is_same_json, repaired
from ethos_registry.execution._full_text import ArtifactWriter, FullText
from ethos_registry.execution._options import CheckedOptions, InvocationFilter
from ethos_registry.execution._refusals import StopReason
from ethos_registry.execution._runtime import Observers, Runtime
from ethos_registry.execution._threads import Job
from ethos_registry.reduction._finish import Finished
from ethos_registry.reduction._redaction import Redact
from ethos_registry.types._abort import NEVER_ABORTED, AbortController, AbortSignal
from ethos_registry.types._blocking import BLOCKING_SECONDS
from ethos_registry.types._call import Repair, RepairLevel
from ethos_registry.types._context import Audience, ToolContext, ToolProgressEvent
from ethos_registry.types._errors import ConfigError
from ethos_registry.types._loop_thread import caller_loop_is_blocked
from ethos_registry.types._observer import FinishedRow, StartedBatch
from ethos_registry.types._policy import NetworkPolicy, Personality
from ethos_registry.types._reducer import ReductionPolicy, ToolResultReducer
from ethos_registry.types._remote_finish import FinishFacts, FinishOrder
from ethos_registry.types._result import ToolError, ToolResult
from ethos_registry.types._turn import DispatchContext, ToolExecution

# Progress text that waits, because it may be the start of a secret that was handed out.


class ProgressRedaction:
    """The progress of one call: each audience's messages are read as one stream of text.

    No text is lost or reordered within an audience. Text that waited is an event of its own, with
    the details of the event that it belongs to, unless the next message completed a value.
    """

    __slots__ = ("_issued_secrets", "_last", "_streams")

    def __init__(self, issued_secrets: IssuedSecrets) -> None:
        self._issued_secrets = issued_secrets
        self._streams: dict[Audience, SecretStream] = {}
        self._last: dict[Audience, ToolProgressEvent] = {}

    def passed(self, event: ToolProgressEvent) -> Iterator[ToolProgressEvent]:
        """The events to deliver now: `event` without what must wait, after what waited."""
        audience = event.audience
        stream = self._streams.get(audience)
        if stream is None:
            stream = self._streams[audience] = SecretStream(self._issued_secrets)
        if not event.message:
            yield from self._flushed(audience, stream)
            yield event
            return
        waited = stream.waiting
        ready = stream.add(event.message)
        if waited:
            if ready.startswith(waited):
                yield dataclasses.replace(self._last[audience], message=waited)
                ready = ready[len(waited) :]
            elif ready and waited.startswith(ready):
                yield dataclasses.replace(self._last[audience], message=ready)
                ready = ""
        self._last[audience] = event
        if ready is event.message:
            yield event
        elif ready or event.percent is not None:
            yield dataclasses.replace(event, message=ready)

    def flush(self) -> Iterator[ToolProgressEvent]:
        """What still waits, at the end of the call."""
        for audience, stream in self._streams.items():
            yield from self._flushed(audience, stream)

    def _flushed(self, audience: Audience, stream: SecretStream) -> Iterator[ToolProgressEvent]:
        if stream.waiting:
            yield dataclasses.replace(self._last[audience], message=stream.flush())


# What the calls of one tool share in a batch.


@dataclasses.dataclass(slots=True, init=False, eq=False, repr=False)
class CallPlan:
    """Computed once per tool and batch, so that a call costs only what differs between calls."""

    entry: Entry
    name: str
    execute: Callable[..., Any]
    cap: int
    """Characters that the result may have."""
    trim_cap: int
    """Characters to which a result is trimmed when its tool ends."""
    timeout_seconds: float | None
    checks: tuple[Callable[[Any], ToolResult | None], ...]
    """The steps before the tool that can answer a call whose arguments are text or unusual."""
    parsed_checks: tuple[Callable[[Any], ToolResult | None], ...]
    """The same for a call whose arguments are a dict."""
    run: Callable[[Any], Awaitable[Any]]
    """The execute step."""
    run_tool: Callable[[Any], Awaitable[Any]]
    """The tool itself inside that step: here, as often as its `retry` permits, or elsewhere."""
    finish: Callable[[Any, Any], Awaitable[Finished]]
    """The finish step."""
    finish_order: FinishOrder | None
    """What a worker is asked to do with the results; `None` if they are finished here."""
    filters: tuple[InvocationFilter, ...]
    reducer: ToolResultReducer | None
    reduction: ReductionPolicy | None
    """How much of a reduced result is kept: set by the batch, the tool or the registry."""
    redact: Redact | None
    """Takes credentials out of results; `None` if they stay."""
    repair_level: RepairLevel
    """Which wrong arguments are repaired."""
    binds_early: bool
    """Whether something reads the arguments of a function before they are bound."""
    has_fast_call: bool
    """An `async def` without filters or observers of its start."""
    fast_path_chars: int
    """A success of ASCII text with at most this many characters needs no finish step: no reducer
    can change it and nothing trims or fences it. -1 if every result needs one."""
    has_fast_finish: bool
    """A result is only stored: nothing observes, trims, marks or waits for it."""


# What the calls of one batch share.

MAX_NAMES_COMPARED = 250
"""Over all unknown names of a batch: some 30 ms."""


@dataclasses.dataclass(slots=True)
class BatchRequest:
    """A checked batch: its calls, and what they run with."""

    calls: list[Any] | None
    """`None` if calls are added while others run."""
    context: ToolContext
    """The caller's."""
    options: CheckedOptions
    admission: Admission
    runtime: Runtime
    personality: Personality | None = None
    """Of the view that runs the batch."""
    turn: DispatchContext | None = None


class Batch:
    """What a running call needs of its batch."""

    __slots__ = (
        "_links",
        "_names_left",
        "abort_signal",
        "admission",
        "artifacts",
        "attempts",
        "availability",
        "blocks_caller_loop",
        "call_count",
        "can_abort",
        "context",
        "exception_types",
        "kept_plans",
        "loop",
        "observers",
        "options",
        "personality",
        "remote_batches",
        "request",
        "runtime",
        "share_chars",
        "started_at_monotonic",
        "started_at_seconds",
        "trims_at_end",
        "turn",
        "was_cancelled",
    )

    timeouts: Any
    """Of a batch that runs: made for the first call that outlives a turn of the loop."""

    def __init__(self, request: BatchRequest) -> None:
        self.request = request
        self.loop = asyncio.get_running_loop()
        self.admission = request.admission
        self.runtime = runtime = request.runtime
        self.context = context = request.context
        self.options = options = request.options
        self.turn = turn = request.turn
        self.personality = request.personality
        """Of the view that runs the batch, or its current version."""
        if runtime.backends is not None:
            policies = getattr(runtime.backends, "policies", None)
            if policies is not None:
                self.personality = current_personality(
                    policies, request.personality, context.personality_id
                )
        calls = request.calls
        self.call_count = None if calls is None else len(calls)
        """`None` if calls are added while others run."""
        self.trims_at_end = calls is None or options.budget_policy == "fill"
        """Results are trimmed together when all are ready."""
        self.share_chars = 0
        """The characters of one result, before its tool's own limit."""
        self.kept_plans: dict[int, CallPlan] | None = None
        """By slot, the plans of batches that are like this one; `None` if it is unusual."""
        store = context.artifact_store
        if store is None and turn is not None:
            store = turn.artifact_store
        if options.sink is not None:
            store = None
        self.artifacts = (
            None if store is None else ArtifactWriter(store, self.admission, runtime, turn)
        )
        self.remote_batches: dict[int, Any] = {}
        """What was given to each transport, by its `id`."""
        self.availability: dict[str, ToolError | Literal[False]] = {}
        """Why tools are not available, or `False`; each is asked once, if the calls have one
        caller."""
        self._names_left = MAX_NAMES_COMPARED
        self.blocks_caller_loop = caller_loop_is_blocked.get()
        self._links: list[Callable[[], None]] = []
        self.abort_signal: AbortSignal = context.abort_signal
        if turn is not None:
            self._follow(turn.abort_signal)
        self.can_abort = self.abort_signal is not NEVER_ABORTED
        # A caller that is cancelled already gets its CancelledError at its next wait, which is
        # after the first step of every call that would start.
        task: Any = asyncio.current_task(self.loop)
        self.was_cancelled = bool(getattr(task, "_must_cancel", False))
        self.observers: Observers | None = None
        if runtime.observers is not None:
            self._observe(runtime.observers)

    @property
    def personality_id(self) -> str | None:
        """The personality of the view that runs the batch."""
        personality = self.request.personality
        return None if personality is None else personality.id

    @property
    def is_dry_run(self) -> bool:
        """Whether no tool runs."""
        return bool(self.context.dry_run)

    @property
    def wraps_untrusted(self) -> bool:
        """Whether untrusted output is put inside a fence."""
        return self.options.untrusted == "wrap"

    @property
    def can_be_stopped(self) -> bool:
        """Whether it may end before all of its calls have started."""
        return self.can_abort or self.was_cancelled

    def _observe(self, observers: Observers) -> None:
        """Keep what the observers of this batch will read."""
        if observers.are_idle():
            return
        if observers.batch_started:
            named = self.context.personality_id
            batch = StartedBatch(
                self.context,
                self.personality_id if named is None else named,
                self.runtime.redact,
                self.options.callers is not None,
            )
            wanted = observers.of_batch(batch, self.runtime.guard)
            if wanted is None:
                return
            observers = wanted
        self.observers = observers
        self.started_at_seconds = time.time()
        self.started_at_monotonic = time.monotonic()
        self.exception_types: dict[int, str] = {}
        self.attempts: list[FinishedRow] = []

    @property
    def answers_interrupts(self) -> bool:
        """Whether the `KeyboardInterrupt` of a tool ends its call alone."""
        sink = self.options.sink
        return sink is not None and sink.answers_interrupts

    def names_to_compare(self) -> list[str]:
        """Permitted names for the answer to an unknown one, as far as the batch may compare."""
        names = [entry.name for entry in self.admission.visible()[: self._names_left]]
        self._names_left -= len(names)
        return names

    def wall_clock(self, moment: float) -> float:
        """A moment of the monotonic clock in seconds since the Unix epoch."""
        return self.started_at_seconds + (moment - self.started_at_monotonic)

    # Abort and events: from any thread.

    def _follow(self, signal: AbortSignal) -> None:
        """Stop for this signal too."""
        if self.abort_signal is NEVER_ABORTED:
            self.abort_signal = signal
            return
        either = AbortController()
        for one in (signal, self.abort_signal):
            self._links.append(one.add_listener(either.abort))
        self.abort_signal = either.signal

    def link(self, listener: Callable[[], object]) -> None:
        """Call `listener` when the batch is aborted, until the batch is closed."""
        self._links.append(self.abort_signal.add_listener(listener))

    def wake_at(self, moment: float | None) -> None:
        """Look at the calls no later than at `moment` (monotonic seconds), if it is one.

        Before the timer is made no call can be over; it looks at all of them when it is.
        """
        if self.timeouts is not None:
            self.timeouts.wake_at(moment)

    def call_soon(self, callback: Callable[..., object], *arguments: Any) -> None:
        """Run a callback on the loop's thread; does nothing if the loop is closed."""
        with contextlib.suppress(RuntimeError):
            self.loop.call_soon_threadsafe(callback, *arguments)

    @property
    def is_on_loop_thread(self) -> bool:
        """Whether this is the thread of the batch's loop."""
        return asyncio._get_running_loop() is self.loop


class Call(ToolContext):
    """A `ToolContext` of one call, and the call itself; created by its batch, never by hand.

    One object instead of two: a call that simply works pays for a task, this object, its result
    and its `CallResult`.
    """

    # Class-level defaults: a call stores what differs, and what every call reads.
    batch: Batch
    plan: CallPlan
    index: int
    """The position of the call in its batch."""
    args: Any
    """The arguments as they were sent, parsed."""
    tool_args: Any
    """The tool's own copy of them."""
    task: asyncio.Task[None] | None = None
    started: float | None
    """When the tool was started (monotonic seconds); `None` before that."""
    clock_started: float | None = None
    """When the tool's timeout began to count, if not with `started`."""
    has_ended: bool
    """Whether the call has its result."""
    stop_reason: StopReason | None
    abandon_at: float | None = None
    """When a call that was stopped is abandoned (monotonic seconds)."""
    limit: float | None = None
    """When the time of an `after` filter ends (monotonic seconds)."""
    job: Job | None = None
    """The thread's job while a plain function waits or runs."""
    controller: AbortController | None = None
    """Of the call's own signal; `None` if the tool never asked for it."""
    execution: ToolExecution | None
    """What the hooks of the turn received."""
    full_text: FullText | None = None
    """The output that an artifact stores if part of it is not sent."""
    raw_text: str | None = None
    """What the tool returned, for recorders, if the result is not the same."""
    progress_redaction: ProgressRedaction | None
    """Progress text that waits; `None` if no secret was handed out."""
    worker_raw_chars: int | None = None
    """Characters of a result before it was reduced where its tool ran."""
    has_registry_error = False
    """Whether the error that arrived was made by the registry there, as for an exception."""
    blocked_seconds: float
    """The longest time in which the tool kept the event loop from running anything else."""
    callback_seconds = 0.0
    """How long callbacks took since the last step that blocked the loop."""
    repairs: tuple[Repair, ...]
    """What was repaired in the arguments."""
    exception: BaseException | None
    """What the tool, a filter before it or a backend raised."""
    finish_facts: FinishFacts | None
    """What the worker did with the result that arrived."""
    _scoped: Mapping[str, Any] = MappingProxyType({})
    _is_clock_stopped = False
    _paused_at: float | None = None
    _uncounted_seconds = 0.0
    _is_over_limit = False
    _cancellations = 0

    def __init__(
        self, batch: Batch, plan: CallPlan, index: int, tool_call_id: str, args: Any
    ) -> None:
        # The fields of the batch's context were checked when it was created.
        self._facts = batch.context._facts
        self._tool_call_id = tool_call_id
        self.batch = batch
        self.plan = plan
        self.index = index
        self.args = args
        self.started = self.stop_reason = self.execution = self.progress_redaction = None
        self.exception = self.finish_facts = None
        self.has_ended = False
        self.blocked_seconds = 0.0
        self.repairs = ()

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
        if runtime.issued_secrets is None or runtime.redact_of(self.plan.name) is None:
            return None
        return SecretByteStream(runtime.issued_secrets)

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
        if not self.has_ended:
            self.batch.runtime.guard("`emit`", self._redacted_event, event, is_searched)

    def _redacted_event(self, event: Any, is_searched: bool) -> None:
        """Pass on an event under the name and the id of the call; what may start a secret waits."""
        runtime, name = self.batch.runtime, self.plan.name
        if self.progress_redaction is None and runtime.issued_secrets:
            self.progress_redaction = ProgressRedaction(runtime.issued_secrets)
        if isinstance(event, Mapping):
            event = ToolProgressEvent.from_wire({"message": ""} | dict(event))
        if not isinstance(event, ToolProgressEvent):
            raise ConfigError(f"`emit` takes a ToolProgressEvent, got {type(event).__name__}")
        event = dataclasses.replace(event, tool_name=name, tool_call_id=self._tool_call_id)
        held, redact = self.progress_redaction, runtime.redact_of(name)
        parts = (event,) if redact is None or held is None or is_searched else held.passed(event)
        for part in parts:
            self._pass_on(part, redact)

    def flush_progress(self) -> None:
        """Pass on the text that waits, at the end of the call."""
        if self.progress_redaction is not None:
            redact = self.batch.runtime.redact_of(self.plan.name)
            for event in self.progress_redaction.flush():
                self.batch.runtime.guard("`emit`", self._pass_on, event, redact)

    def _pass_on(self, event: ToolProgressEvent, redact: Redact | None) -> None:
        if redact is not None and (message := redact(event.message)) is not event.message:
            event = dataclasses.replace(event, message=message)
        sink = self.batch.options.sink
        if sink is None:
            self.batch.context.emit(event)
        else:
            sink.on_event(self.index, event)

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
        if self.batch.options.sink is not None:
            self.batch.options.sink.on_blocked(self.index, self.blocked_seconds)
        self.batch.runtime.report_blocking(
            f"tool `{self.plan.name}`", seconds, "make it a plain `def`, which runs on a thread"
        )

    def _repaired(self, args: Any, failing: FailingPlaces) -> Any:
        found = repaired(self.plan.entry, args, failing, self.plan.repair_level)
        if found is None:
            return None
        self.args, self.repairs = found
        return _core.isolated_arguments(self.args)

    def _taken_bound(self, args: Any) -> dict[str, Any] | None:
        bound, self._bound = self._bound, None
        if bound is None or not is_same_json(args, self.args):  # a filter changed them
            return None
        return bound

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
        timeout, deadline = self.plan.timeout_seconds, self.deadline()
        if timeout is not None and self.blocked_seconds >= timeout:
            return True  # its start may have been reported when the loop was free again
        return deadline is not None and monotonic() >= deadline

    def thread_deadline(self) -> float | None:
        """When a function has waited too long for a thread; `None` if it does not wait."""
        job, wait_seconds = self.job, self.batch.runtime.thread_wait_seconds
        if job is None or job.has_thread or job.started_at is not None or wait_seconds is None:
            return None
        return job.submitted_at + wait_seconds

    def pause_clock(self) -> None:
        """Stop counting the tool's time: a person is asked."""
        if self._paused_at is None:
            self._paused_at = monotonic()

    def resume_clock(self) -> None:
        """Continue counting."""
        paused_at, self._paused_at = self._paused_at, None
        if paused_at is not None:
            self.leave_out(monotonic() - paused_at)

    def leave_out(self, seconds: float) -> None:
        """Do not count some seconds that have passed."""
        self._uncounted_seconds += seconds
        self.batch.wake_at(self.deadline())  # no one knew it while the seconds passed

    def stop_clock(self) -> None:
        """The tool has ended: what follows does not count as its time."""
        self._is_clock_stopped = True

    def begin_limit(self, seconds: float) -> None:
        """Cancel the call's task once if `seconds` pass before `end_limit`."""
        task = asyncio.current_task()
        self._cancellations = 0 if task is None else task.cancelling()
        self._is_over_limit = False
        self.limit = monotonic() + seconds
        self.batch.wake_at(self.limit)

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
