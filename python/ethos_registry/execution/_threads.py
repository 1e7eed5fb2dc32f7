"""Daemon threads for tools that are plain functions.

The event loop's default executor is never used: a hung tool there would delay DNS lookups and the
exit of the interpreter. These threads are daemons and end when idle. The slot of an abandoned
function is released at once, so a hung function blocks neither the pool nor the process.
"""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import os
import sys
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable, Coroutine
from functools import partial
from types import CoroutineType
from typing import Any, NamedTuple, TypeAlias

# Starting the task of a call: at once where Python can.

STARTS_EAGERLY = sys.version_info >= (3, 12)
"""Whether a task runs up to its first wait when it is created."""

TaskStarter: TypeAlias = "Callable[..., asyncio.Task[None]]"
"""Called with a coroutine, its `loop` and a `name`."""


def task_starter(loop: asyncio.AbstractEventLoop) -> TaskStarter:
    """A function that creates the task of a coroutine.

    From Python 3.12 the task starts at once, whatever task factory the loop has: a factory that
    does not take `eager_start` cannot do that and is not used.
    """
    factory = loop.get_task_factory()
    if not STARTS_EAGERLY:
        # Without a factory: what `create_task` does, without its Python frame.
        return asyncio.Task if factory is None else _create_task
    if factory is None or factory is getattr(asyncio, "eager_task_factory", None):
        return _start_task
    return partial(_start_by_factory, factory)


def _create_task(
    coroutine: Coroutine[Any, Any, None], *, loop: asyncio.AbstractEventLoop, name: str
) -> asyncio.Task[None]:
    return loop.create_task(coroutine, name=name)


_start_task: TaskStarter = partial(asyncio.Task, eager_start=True)  # type: ignore[call-arg, unused-ignore]


def _start_by_factory(
    factory: Callable[..., Any],
    coroutine: Coroutine[Any, Any, None],
    *,
    loop: asyncio.AbstractEventLoop,
    name: str,
) -> asyncio.Task[None]:
    try:
        task = factory(loop, coroutine, name=name, eager_start=True)
    except TypeError:  # it does not take these keywords
        task = None
    return task if isinstance(task, asyncio.Task) else _start_task(coroutine, loop=loop, name=name)


DEFAULT_MAX_THREADS = 1024
"""How many functions a pool runs at once at most."""
PREFERRED_THREADS = 64
"""The pool grows past this number only if no function has ended for `STALL_SECONDS`."""
STALL_SECONDS = 0.1
IDLE_SECONDS = 10.0
"""How long a thread waits for work before it ends."""


class NoThreadError(RuntimeError):
    """The pool has no thread, and the system starts none: the function was not queued."""


class ThreadResult(NamedTuple):
    """What a function returned or raised."""

    value: Any
    error: BaseException | None


class Job:
    """One function for one thread; `future` belongs to the loop that submitted it.

    The future resolves to an `Outcome`, never to an exception: asyncio inspects exceptions, and
    code of an exception's class must not run on the loop.
    """

    __slots__ = (
        "_function",
        "future",
        "has_thread",
        "is_abandoned",
        "is_running",
        "loop",
        "started_at",
        "submitted_at",
    )

    def __init__(self, loop: asyncio.AbstractEventLoop, function: Callable[[], Any]) -> None:
        self.loop = loop
        self.future: asyncio.Future[ThreadResult] = loop.create_future()
        self.has_thread = False
        """Whether a thread was free for it, which takes it at once."""
        self.is_running = False
        self.is_abandoned = False
        self.submitted_at = time.monotonic()
        self.started_at: float | None = None
        """When a thread took it (monotonic seconds); `None` while it waits for one."""
        self._function = function

    def run(self) -> ThreadResult:
        """Run the function on this thread."""
        try:
            return ThreadResult(self._function(), None)
        except BaseException as error:
            return ThreadResult(None, error)

    def pass_on(self, outcome: ThreadResult) -> None:
        """Pass the outcome to the loop."""
        try:
            self.loop.call_soon_threadsafe(_resolve, self.future, outcome)
        except RuntimeError:  # the loop is closed: nothing waits any more
            _close_coroutine(outcome.value)


def _resolve(future: asyncio.Future[ThreadResult], outcome: ThreadResult) -> None:
    if not future.done():
        future.set_result(outcome)
    else:
        _close_coroutine(outcome.value)


def _close_coroutine(value: Any) -> None:
    """What a function returned to be awaited will not be."""
    if type(value) is CoroutineType:  # not `isinstance`, which runs code of the value's class
        value.close()


class DaemonThreads:
    """A bounded pool of daemon threads that hung functions cannot block.

    `max_threads` bounds the functions that run at once. The threads of abandoned functions do not
    count, but there are at most `max_threads` of those too: beyond that, the slot of an abandoned
    function is released only when the function ends.
    """

    def __init__(self, max_threads: int = DEFAULT_MAX_THREADS) -> None:
        self.max_threads = max_threads
        self._reset()
        _pools.add(self)

    def _reset(self) -> None:
        self._condition = threading.Condition()
        self._queue: deque[Job] = deque()
        self._threads = 0
        self._idle = 0
        """Threads without a job: those that wait for one, and those that were just started."""
        self._is_growing = False
        self._taken = 0
        self.abandoned_threads = 0
        """Threads that still run an abandoned function."""

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Job:
        """Queue `function(*arguments)` in a copy of the caller's context variables.

        Raises `NoThreadError` if there is no thread that could ever run it.
        """
        run = contextvars.copy_context().run
        job = Job(asyncio.get_running_loop(), lambda: run(function, *arguments))
        with self._condition:
            if self._idle <= len(self._queue):
                if self._threads < min(PREFERRED_THREADS, self.max_threads):
                    self._start_thread()
                    if self._threads == 0:
                        raise NoThreadError("the system starts no more threads")
                elif self._threads < self.max_threads and not self._is_growing:
                    self._start_growing()
            job.has_thread = self._idle > len(self._queue)
            self._queue.append(job)
            self._condition.notify()
        return job

    async def outcome(self, job: Job) -> ThreadResult:
        """What the job's function returned or raised; the job is abandoned on cancellation."""
        try:
            return await job.future
        finally:
            if not job.future.done() or job.future.cancelled():
                self.abandon(job)

    def abandon(self, job: Job) -> bool:
        """Stop waiting for a job; returns whether it had started. A queued job never starts."""
        with self._condition:
            if not job.is_abandoned:
                job.is_abandoned = True
                if job.is_running and self.abandoned_threads < self.max_threads:
                    job.is_running = False
                    self.abandoned_threads += 1
                    self._threads -= 1
                    if self._queue:
                        self._start_thread()
            return job.started_at is not None

    def _start_thread(self) -> None:
        self._threads += 1
        self._idle += 1
        try:
            threading.Thread(target=self._work, name="ethos-registry", daemon=True).start()
        except RuntimeError:  # the system has no more threads: the running ones take the queue
            self._threads -= 1
            self._idle -= 1

    def _start_growing(self) -> None:
        # A thread, not a timer of the loop: a closed or busy loop must not stop the pool's growth.
        growing = threading.Thread(target=self._grow, name="ethos-registry-growth", daemon=True)
        with contextlib.suppress(RuntimeError):
            growing.start()
            self._is_growing = True

    def _grow(self) -> None:
        """Start threads for waiting jobs when no job has been taken for a while."""
        condition = self._condition
        taken_before = -1
        while True:
            with condition:
                missing = min(len(self._queue), self.max_threads - self._threads)
                if missing <= 0:
                    self._is_growing = False
                    return
                if self._taken == taken_before:
                    for _ in range(missing):
                        self._start_thread()
                taken_before = self._taken
            time.sleep(STALL_SECONDS)

    def _work(self) -> None:
        while self._work_once():
            pass

    def _work_once(self) -> bool:
        """Run one job; returns whether this thread goes on. Drops the job's values in between."""
        job = self._next_job()
        if job is None:
            return False
        outcome = job.run()
        with self._condition:
            goes_on = self._ended(job)
        job.pass_on(outcome)  # last: code that receives it may need the thread, which is free now
        return goes_on

    def _ended(self, job: Job) -> bool:
        """The function of a job has ended; returns whether its thread goes on."""
        if not job.is_running:  # abandoned, and its slot was released
            self.abandoned_threads -= 1
            return False
        job.is_running = False
        if self._threads > PREFERRED_THREADS and not self._queue:
            self._threads -= 1
            return False
        self._idle += 1
        return True

    def _next_job(self) -> Job | None:
        with self._condition:
            while True:
                while self._queue:
                    job = self._queue.popleft()
                    self._taken += 1
                    if not job.is_abandoned:
                        self._idle -= 1
                        job.is_running = True
                        job.started_at = time.monotonic()
                        return job
                is_notified = self._condition.wait(IDLE_SECONDS)
                if not is_notified and not self._queue:
                    self._idle -= 1
                    self._threads -= 1
                    return None


_pools: weakref.WeakSet[DaemonThreads] = weakref.WeakSet()

tool_threads = DaemonThreads()
"""The pool of all registries that set no `max_threads`."""
finish_threads = DaemonThreads(PREFERRED_THREADS)
"""Where long results are finished: apart, so that hung tools cannot delay them."""


def _reset_pools() -> None:
    for pool in list(_pools):
        pool._reset()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_reset_pools)
