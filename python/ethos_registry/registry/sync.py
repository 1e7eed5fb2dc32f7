"""Running a batch from code that has no event loop of its own."""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

__all__ = ["run_sync"]

T = TypeVar("T")


def run_sync(make: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """The outcome of a coroutine: on a loop of its own, on a thread if this one runs a loop.

    A running loop (a notebook's, say) is blocked meanwhile, as any plain call blocks it.
    """
    if not _is_a_loop_running():
        return asyncio.run(make())
    outcome: list[T] = []
    failure: list[BaseException] = []

    def run() -> None:
        try:
            outcome.append(asyncio.run(make()))
        except BaseException as error:
            failure.append(error)

    context = contextvars.copy_context()
    thread = threading.Thread(
        target=context.run, args=(run,), name="ethos-registry-sync", daemon=True
    )
    thread.start()
    thread.join()
    if failure:
        raise failure[0]
    return outcome[0]


def _is_a_loop_running() -> bool:
    # Apart: what runs in an `except` block carries its exception into every traceback.
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True
