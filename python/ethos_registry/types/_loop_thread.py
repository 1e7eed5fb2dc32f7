"""Running coroutines from code that does not await."""

from __future__ import annotations

import asyncio
import contextlib
import sys
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from contextvars import ContextVar, copy_context
from typing import Any, TypeVar

T = TypeVar("T")

caller_loop_is_blocked: ContextVar[bool] = ContextVar("caller_loop_is_blocked", default=False)
"""Whether a coroutine runs on another thread because its caller blocks its own event loop."""
FRAMES_NEEDED = 200
"""A batch that has fewer frames left below the recursion limit runs in a task of its own."""


def is_stack_deep() -> bool:
    """Whether so few frames are left that the registry's own code could exceed the limit."""
    limit = sys.getrecursionlimit()
    try:
        sys._getframe(limit - FRAMES_NEEDED if limit > FRAMES_NEEDED else 0)
    except ValueError:
        return False
    return True


def run_sync(make: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Run a coroutine on a new loop; on another thread if this one runs a loop already.

    That running loop, as in a notebook, is blocked meanwhile. Near the recursion limit it is
    another thread too, whose stack is empty.
    """
    if not _is_a_loop_running() and not is_stack_deep():
        coroutine = make()
        try:
            return asyncio.run(coroutine)
        finally:
            coroutine.close()  # if the loop could not start, near the recursion limit
    thread = LoopThread()
    try:
        return thread.wait(make)
    finally:
        thread.close()


def on_own_thread(function: Callable[[], T]) -> asyncio.Future[T]:
    """Start `function` on a daemon thread: it waits for no other one, and delays no exit.

    The few threads of the loop's executor are for short work, such as reading a file; a program
    or a slow lookup would occupy one for minutes. Cancelling the future does not stop it.
    """
    done: Future[T] = Future()
    done.set_running_or_notify_cancel()

    def work() -> None:
        try:
            result = function()
        except BaseException as error:
            done.set_exception(error)
        else:
            done.set_result(result)

    context = copy_context()
    threading.Thread(
        target=context.run, args=(work,), name="ethos-registry-run", daemon=True
    ).start()
    return asyncio.wrap_future(done)


class LoopThread:
    """An event loop on a daemon thread of its own; what it holds open is closed with it.

    What `call` and `wait` run sees the caller's context variables of that moment.
    """

    def __init__(self, name: str = "ethos-registry-sync") -> None:
        self._started: Future[asyncio.AbstractEventLoop] = Future()
        self._ended: asyncio.Future[None] | None = None
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()
        self._loop = self._started.result()

    def _run(self) -> None:
        try:
            asyncio.run(self._serve())
        except BaseException as error:
            if not self._started.done():
                self._started.set_exception(error)

    async def _serve(self) -> None:
        loop = asyncio.get_running_loop()
        self._ended = loop.create_future()
        self._started.set_result(loop)
        await self._ended

    def submit(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    def call(self, function: Callable[..., T], *arguments: Any) -> T:

        async def called() -> T:
            return function(*arguments)

        return self.wait(called)

    def wait(self, make: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """The result of a coroutine that runs on the loop; it is cancelled if the wait ends."""
        outcome: Future[T] = Future()
        tasks: list[asyncio.Task[None]] = []

        async def settle() -> None:
            try:
                value = await make()
            except asyncio.CancelledError:
                raise
            except BaseException as error:
                outcome.set_exception(error)
            else:
                outcome.set_result(value)

        def start() -> None:
            task = self._loop.create_task(settle())
            # Cancelled, maybe before its first step: the end of a loop cancels what it runs.
            task.add_done_callback(lambda _: outcome.cancel())
            tasks.append(task)

        context = copy_context()
        if _is_a_loop_running():
            context.run(caller_loop_is_blocked.set, True)
        self._loop.call_soon_threadsafe(start, context=context)
        try:
            return outcome.result()
        finally:
            if not outcome.done():  # the caller was interrupted
                self._loop.call_soon_threadsafe(lambda: [task.cancel() for task in tasks])

    def end(self) -> None:
        """End the loop and its thread soon; what it still runs is cancelled."""
        if self._ended is not None:
            with contextlib.suppress(RuntimeError):  # it is closed
                self._loop.call_soon_threadsafe(resolve, self._ended)

    def close(self, wait_seconds: float | None = None) -> None:
        """End the loop and wait for it."""
        self.end()
        self._thread.join(wait_seconds)


def resolve(future: asyncio.Future[None]) -> None:
    """End a future that nothing has ended yet."""
    if not future.done():
        future.set_result(None)


def _is_a_loop_running() -> bool:
    # A function of its own: code in an `except` block adds its exception to every traceback.
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True
