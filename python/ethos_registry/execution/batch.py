"""What the calls of one batch share."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import threading
import time
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any, Literal

from ethos_registry.capabilities.policies import current_personality
from ethos_registry.contract.abort import NEVER_ABORTED, AbortController, AbortSignal
from ethos_registry.contract.context import ToolContext
from ethos_registry.contract.dispatch import DispatchContext
from ethos_registry.contract.observer import FinishedRow, StartedBatch
from ethos_registry.contract.policy import Personality
from ethos_registry.contract.progress import ToolProgressEvent
from ethos_registry.contract.result import ToolError
from ethos_registry.execution.events import event_of
from ethos_registry.execution.full_text import ArtifactWriter
from ethos_registry.execution.held_progress import HeldProgress
from ethos_registry.execution.observers import Observers
from ethos_registry.execution.options import CheckedOptions
from ethos_registry.execution.runtime import Runtime
from ethos_registry.execution.shared_slots import SharedSlots
from ethos_registry.execution.timer import BatchTimer
from ethos_registry.reduction.redaction import Redact
from ethos_registry.table.admission import Admission

__all__ = ["Batch", "caller_loop_is_blocked"]

caller_loop_is_blocked: ContextVar[bool] = ContextVar("caller_loop_is_blocked", default=False)
"""Whether the calls run on another thread because their caller blocks its own event loop."""


class Batch:
    """The caller's context and options, and what a running call needs of its batch."""

    __slots__ = (
        "_links",
        "_loop",
        "_thread_id",
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
        "is_dry_run",
        "lanes",
        "observers",
        "options",
        "personality",
        "personality_id",
        "runtime",
        "share_chars",
        "started_at_monotonic",
        "started_at_seconds",
        "timer",
        "trims_at_end",
        "turn",
        "was_cancelled",
        "wraps_untrusted",
    )

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        admission: Admission,
        runtime: Runtime,
        context: ToolContext,
        options: CheckedOptions,
        personality: Personality | None,
        turn: DispatchContext | None,
        call_count: int | None,
    ) -> None:
        self.admission = admission
        self.runtime = runtime
        self.context = context
        """The caller's."""
        self.options = options
        self.personality = personality
        """Of the view that runs the batch, or its current version."""
        policies = getattr(runtime.backends, "policies", None)
        if policies is not None:
            self.personality = current_personality(policies, personality, context.personality_id)
        self.personality_id = None if personality is None else personality.id
        self.turn = turn
        self.call_count = call_count
        """`None` if calls are added while others run."""
        self.trims_at_end = call_count is None or options.budget_policy == "fill"
        """Results are trimmed together when all are ready."""
        self.share_chars = 0
        """The characters of one result, before its tool's own limit."""
        self.wraps_untrusted = options.untrusted == "wrap"
        store = context.artifact_store
        if store is None and turn is not None:
            store = turn.artifact_store
        if options.sink is not None:
            store = None
        self.artifacts = None if store is None else ArtifactWriter(store, admission, runtime, turn)
        self.is_dry_run: bool = context.dry_run
        self.lanes: dict[int, Any] = {}
        """What was given to each transport, by its `id`."""
        self.availability: dict[str, ToolError | Literal[False]] = {}
        """Why tools are not available, or `False`; each is asked once, if the calls have one
        caller."""
        self.blocks_caller_loop = caller_loop_is_blocked.get()
        self._loop = loop
        self._thread_id = threading.get_ident()
        self.timer = BatchTimer(loop)
        self._links: list[Callable[[], None]] = []
        self.abort_signal: AbortSignal = context.abort_signal
        if turn is not None:
            self._follow(turn.abort_signal)
        self.can_abort = self.abort_signal is not NEVER_ABORTED
        # A caller that is cancelled already gets its CancelledError at its next wait, which is
        # after the first step of every call that would start.
        self.was_cancelled = bool(getattr(asyncio.current_task(loop), "_must_cancel", False))
        self.started_at_seconds = self.started_at_monotonic = 0.0
        self.observers: Observers | None = runtime.observers
        if runtime.observers is not None:
            self._observe(runtime.observers)

    def _observe(self, observers: Observers) -> None:
        """Keep what the observers of this batch will read."""
        if observers.are_idle():
            self.observers = None
            return
        if observers.batch_started:
            named = self.context.personality_id
            batch = StartedBatch(
                self.context,
                self.personality_id if named is None else named,
                self.runtime.redact,
                self.options.callers is not None,
            )
            self.observers = observers.of_batch(batch, self.runtime.guard)
            if self.observers is None:
                return
        self.started_at_seconds = time.time()
        self.started_at_monotonic = time.monotonic()
        self.exception_types: dict[int, str] = {}
        self.attempts: list[FinishedRow] = []

    def shared_slots(self) -> SharedSlots:
        """The slots of the registry on this loop, if it has a limit."""
        return self.runtime.slots_on(self._loop)

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

    def close(self) -> None:
        """Release the timer and the abort listeners."""
        self.timer.stop()
        for remove in self._links:
            remove()
        self._links.clear()

    def call_soon(self, callback: Callable[..., object], *arguments: Any) -> None:
        """Run a callback on the loop's thread; does nothing if the loop is closed."""
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(callback, *arguments)

    @property
    def is_on_loop_thread(self) -> bool:
        """Whether this is the thread of the batch's loop."""
        return threading.get_ident() == self._thread_id

    def deliver(
        self, index: int, tool_name: str, tool_call_id: str, event: Any, held: HeldProgress | None
    ) -> None:
        """Pass one event to the caller's `emit`, under the name and the id of its call.

        `held` keeps what may be the start of a secret, for the next event of the call.
        """
        self.runtime.guard("`emit`", self._emit, index, tool_name, tool_call_id, event, held)

    def deliver_held(self, index: int, tool_name: str, held: HeldProgress) -> None:
        """Pass on what was kept, at the end of its call."""
        redact = self.runtime.redact_of(tool_name)
        for event in held.flush():
            self.runtime.guard("`emit`", self._pass_on, index, event, redact)

    def _emit(
        self, index: int, tool_name: str, tool_call_id: str, event: Any, held: HeldProgress | None
    ) -> None:
        shown = event_of(tool_name, tool_call_id, event)
        redact = self.runtime.redact_of(tool_name)
        parts = (shown,) if redact is None or held is None else held.passed(shown)
        for part in parts:
            self._pass_on(index, part, redact)

    def _pass_on(self, index: int, event: ToolProgressEvent, redact: Redact | None) -> None:
        if redact is not None and (message := redact(event.message)) is not event.message:
            event = dataclasses.replace(event, message=message)
        sink = self.options.sink
        if sink is None:
            self.context.emit(event)
        else:
            sink.on_event(index, event)
