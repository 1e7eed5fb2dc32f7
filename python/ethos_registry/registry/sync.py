"""Running a batch from code without an event loop."""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from ethos_registry.execution.task_start import is_stack_deep

__all__ = ["run_sync"]

T = TypeVar("T")


def run_sync(make: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Run a coroutine on a new loop; on another thread if this one runs a loop already.

    That running loop, as in a notebook, is blocked meanwhile. Near the recursion limit it is
    another thread too, whose stack is empty.
    """
    if not _is_a_loop_running() and not is_stack_deep():
        return _run(make())
    outcome: list[T] = []
    failure: list[BaseException] = []

    def run() -> None:
        try:
            outcome.append(_run(make()))
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


def _run(coroutine: Coroutine[Any, Any, T]) -> T:
    try:
        return asyncio.run(coroutine)
    finally:
        coroutine.close()  # if the loop could not start, near the recursion limit


def _is_a_loop_running() -> bool:
    # A function of its own: code in an `except` block adds its exception to every traceback.
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True
