"""The calls of a batch that run, and their time: one timer for all of them."""

from __future__ import annotations

import asyncio
from time import monotonic

from ethos_registry.execution.clock import HEARTBEAT_SECONDS
from ethos_registry.execution.refusals import StopReason
from ethos_registry.execution.running import RunningCall

__all__ = ["GRACE_SECONDS", "Watch"]

GRACE_SECONDS = 2.0
"""How long a call that was stopped may take to end before it is abandoned."""
TICK_SECONDS = 0.01
"""The timer never fires more often: the cost of many different clocks stays linear."""


class Watch:
    """Looks at the running calls when one may be over its time; never a timer object a call."""

    __slots__ = ("_deadline", "_loop", "_timer", "_timer_at", "running")

    def __init__(self, loop: asyncio.AbstractEventLoop, deadline_seconds: float | None) -> None:
        self.running: dict[int, RunningCall] = {}
        self._loop = loop
        self._deadline = None if deadline_seconds is None else monotonic() + deadline_seconds
        self._timer: asyncio.TimerHandle | None = None
        self._timer_at = 0.0

    def begin(self) -> None:
        """Look at the calls from now on, at least at each heartbeat."""
        if self._deadline is None:
            self.at(monotonic() + HEARTBEAT_SECONDS)
        else:
            self.at(self._deadline)

    def at(self, moment: float) -> None:
        """Look at the running calls no later than at `moment` (monotonic seconds)."""
        if self._timer is not None:
            if self._timer_at <= moment:
                return
            self._timer.cancel()
        self._timer_at = moment
        self._timer = self._loop.call_later(max(moment - monotonic(), 0.0), self._sweep)

    def end(self) -> None:
        """Look no more."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def stop_all(self, reason: StopReason) -> None:
        """Ask every running call to end, and give up in time those that do not."""
        give_up_at = monotonic() + GRACE_SECONDS
        for running in list(self.running.values()):
            running.stop(reason, give_up_at)
        if self.running:
            self.at(give_up_at)

    def give_up_all(self) -> None:
        """Wait for no call any longer."""
        for running in list(self.running.values()):
            running.give_up()

    def _sweep(self) -> None:
        self._timer = None
        now = monotonic()
        if self._deadline is not None and now >= self._deadline:
            self._deadline = None
            self.stop_all("deadline")
        soonest = now + HEARTBEAT_SECONDS
        for running in list(self.running.values()):
            moment = _look_at(running, now)
            if moment is not None and moment < soonest:
                soonest = moment
        if self._deadline is not None:
            soonest = min(soonest, self._deadline)
        if self.running:
            self.at(max(soonest, now + TICK_SECONDS))


def _look_at(running: RunningCall, now: float) -> float | None:
    """Stop or give up what is over its time; when to look again."""
    task = running.task
    if task is not None and task.done():
        # Cancelled by somebody else before its first step, or ended by KeyboardInterrupt.
        if not task.cancelled():
            task.exception()
        running.end_stopped()
        return None
    if running.give_up_at is not None:
        if now >= running.give_up_at:
            running.give_up()
        return running.give_up_at
    if running.limit is not None:
        if now < running.limit:
            return running.limit
        running.strike_limit()
        return None
    if running.deadline is None:
        return None
    if now >= running.deadline and now >= running.clock_ends(now):
        running.stop("timeout", now + GRACE_SECONDS)
        return running.give_up_at
    return running.deadline
