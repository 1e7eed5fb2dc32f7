"""A function on a thread of its own, awaited on an event loop."""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

__all__ = ["on_own_thread"]

T = TypeVar("T")


def on_own_thread(function: Callable[[], T]) -> asyncio.Future[T]:
    """Start `function` on a daemon thread: it waits for no other one, and delays no exit.

    The few threads of the loop's executor are for short work, such as reading a file; a program
    would occupy one for minutes. Cancelling the future does not stop the function.
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

    context = contextvars.copy_context()
    threading.Thread(
        target=context.run, args=(work,), name="ethos-registry-run", daemon=True
    ).start()
    return asyncio.wrap_future(done)
