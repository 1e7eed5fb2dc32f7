"""Daemon threads for tools that are plain functions.

The loop's default executor is never used: a hung tool there would delay DNS look-ups and the exit
of the interpreter. Threads are daemons, idle ones end, and the slot of an abandoned job is given
back at once, so that hung functions neither fill the pool nor hold the process.
"""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import os
import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Any

__all__ = ["DaemonThreads", "Job", "shared_threads"]

THREAD_LIMIT = 64
"""How many jobs run at once while they keep ending."""
STALLED_THREAD_LIMIT = 1024
"""How many when jobs hang: then a waiting job gets a thread of its own."""
STALL_SECONDS = 0.1
"""How long a job waits before the pool grows past `THREAD_LIMIT`."""
IDLE_SECONDS = 10.0
"""How long a thread without work lives on."""


class Job:
    """One function on one thread; `future` is of the loop that submitted it."""

    __slots__ = ("_call", "abandoned", "future", "loop", "running", "started_at")

    def __init__(self, loop: asyncio.AbstractEventLoop, call: Callable[[], Any]) -> None:
        self.loop = loop
        self.future: asyncio.Future[Any] = loop.create_future()
        self.running = False
        self.abandoned = False
        self.started_at: float | None = None
        """When a thread took it (monotonic seconds); `None` while it waits for one."""
        self._call = call

    def run(self) -> None:
        """Run the function on this thread and hand its outcome to the loop."""
        value: Any = None
        error: BaseException | None = None
        try:
            value = self._call()
        except BaseException as raised:
            error = raised
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits any more
            self.loop.call_soon_threadsafe(_resolve, self.future, value, error)


def _resolve(future: asyncio.Future[Any], value: Any, error: BaseException | None) -> None:
    if future.done():
        if asyncio.iscoroutine(value):  # nobody will await it
            value.close()
        return
    if error is None:
        future.set_result(value)
    elif isinstance(error, StopIteration):
        future.set_exception(RuntimeError(f"StopIteration: {error}"))
    else:
        future.set_exception(error)


class DaemonThreads:
    """A bounded pool of daemon threads that hung jobs cannot block."""

    def __init__(self) -> None:
        self._reset()

    def _reset(self) -> None:
        self._condition = threading.Condition()
        self._queue: deque[Job] = deque()
        self._threads = 0
        self._idle = 0
        self._relieving = False
        self._taken = 0

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Job:
        """Queue `function(*arguments)` in a copy of the caller's context variables."""
        run = contextvars.copy_context().run
        job = Job(asyncio.get_running_loop(), lambda: run(function, *arguments))
        with self._condition:
            if self._idle > len(self._queue):
                self._condition.notify()
            elif self._threads < THREAD_LIMIT:
                self._start_thread()
            elif not self._relieving:
                self._start_relief()
            self._queue.append(job)
        return job

    async def outcome(self, job: Job) -> Any:
        """What the job's function returns or raises; the job is abandoned if nobody waits."""
        try:
            return await job.future
        finally:
            if not job.future.done() or job.future.cancelled():
                self.abandon(job)

    def abandon(self, job: Job) -> bool:
        """Stop waiting for a job: its slot is free, and its thread ends when it does.

        Whether the job was started; one that was not never will be.
        """
        with self._condition:
            if not job.abandoned:
                job.abandoned = True
                if job.running:
                    self._threads -= 1
                    if self._queue:
                        self._start_thread()
            return job.started_at is not None

    def _start_thread(self) -> None:
        self._threads += 1
        try:
            threading.Thread(target=self._work, name="ethos-registry", daemon=True).start()
        except RuntimeError:  # the system has no more threads: those at work take the queue
            self._threads -= 1
            if self._threads == 0:
                raise

    def _start_relief(self) -> None:
        # A thread, not a timer of the loop: a loop that is closed or busy must not stop relief.
        relief = threading.Thread(target=self._relieve, name="ethos-registry-relief", daemon=True)
        with contextlib.suppress(RuntimeError):
            relief.start()
            self._relieving = True

    def _relieve(self) -> None:
        """Give waiting jobs threads of their own when none has been taken for a while."""
        condition = self._condition
        taken_before = -1
        while True:
            with condition:
                if not self._queue:
                    self._relieving = False
                    return
                if self._taken == taken_before:
                    for _ in range(min(len(self._queue), STALLED_THREAD_LIMIT - self._threads)):
                        self._start_thread()
                taken_before = self._taken
            time.sleep(STALL_SECONDS)

    def _work(self) -> None:
        while self._work_once():
            pass

    def _work_once(self) -> bool:
        """Run one job; whether this thread goes on. The job's values are let go between two."""
        job = self._next_job()
        if job is None:
            return False
        job.run()
        with self._condition:
            job.running = False
            if job.abandoned:
                return False
            if self._threads > THREAD_LIMIT and not self._queue:
                self._threads -= 1
                return False
        return True

    def _next_job(self) -> Job | None:
        with self._condition:
            while True:
                while self._queue:
                    job = self._queue.popleft()
                    self._taken += 1
                    if not job.abandoned:
                        job.running = True
                        job.started_at = time.monotonic()
                        return job
                self._idle += 1
                woken = self._condition.wait(IDLE_SECONDS)
                self._idle -= 1
                if not woken and not self._queue:
                    self._threads -= 1
                    return None


shared_threads = DaemonThreads()
"""The pool of the process: all registries share it."""

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=shared_threads._reset)
