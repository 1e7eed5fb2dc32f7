"""The time of one call: when its tool must have ended, and what does not count."""

from __future__ import annotations

import asyncio
from time import monotonic

from ethos_registry.execution.batch import Batch
from ethos_registry.execution.threads import Job

__all__ = ["HEARTBEAT_SECONDS", "CallClock"]

HEARTBEAT_SECONDS = 1.0
"""The batch looks at its calls at least this often: clocks that are longer need no timer, and a
task that somebody else cancelled is noticed."""


class CallClock:
    """The clock of a running call, which is one: an object of its own each call would pay for."""

    # Class-level defaults: a call that runs through stores only what is its own.
    timeout: float | None = None
    started: float | None = None
    deadline: float | None = None
    """When the tool's time is up (monotonic seconds); `None`: it has ended, or has no clock."""
    limit: float | None = None
    """When the time of what runs after the tool is up."""
    task: asyncio.Task[None] | None = None
    batch: Batch
    _job: Job | None = None
    _seconds_left: float | None = None
    _limit_struck = False
    _cancellations = 0

    def start_clock(self) -> None:
        """The tool begins."""
        self.started = started = monotonic()
        timeout = self.timeout
        if timeout is not None:
            self.deadline = deadline = started + timeout
            if timeout < HEARTBEAT_SECONDS:
                self.batch.watch_at(deadline)

    def pause_clock(self) -> None:
        """Stop counting the tool's time: a person is asked."""
        if self.deadline is not None:
            self._seconds_left = self.deadline - monotonic()
            self.deadline = None

    def resume_clock(self) -> None:
        """Go on counting where it stopped."""
        if self._seconds_left is not None:
            self.deadline = monotonic() + self._seconds_left
            self._seconds_left = None
            self.batch.watch_at(self.deadline)

    def stop_clock(self) -> None:
        """The tool has ended: what follows is not its time."""
        self.deadline = self._seconds_left = None

    def clock_ends(self, now: float) -> float:
        """When the tool's time is up: a plain function's clock starts when it has a thread."""
        assert self.timeout is not None
        assert self.deadline is not None
        if self._job is not None:
            started = self._job.started_at
            self.deadline = (now if started is None else started) + self.timeout
        return self.deadline

    def begin_limit(self, seconds: float) -> None:
        """Cancel the task of this call once when `seconds` have gone by before `end_limit`."""
        task = asyncio.current_task()
        self._cancellations = 0 if task is None else task.cancelling()
        self._limit_struck = False
        self.limit = monotonic() + seconds
        if seconds < HEARTBEAT_SECONDS:
            self.batch.watch_at(self.limit)

    def end_limit(self) -> bool:
        """Whether the limit was over, and it alone cancelled the task; that is taken back."""
        self.limit = None
        if not self._limit_struck:
            return False
        task = asyncio.current_task()
        return task is not None and task.uncancel() <= self._cancellations

    def strike_limit(self) -> None:
        """The limit is over: cancel what runs."""
        self.limit = None
        if self.task is not None:
            self._limit_struck = True
            self.task.cancel()
