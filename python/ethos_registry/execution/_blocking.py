"""Code of the host that blocks the event loop: nothing stops it, so it is measured and named."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator
from time import monotonic
from types import coroutine
from typing import Any

__all__ = ["BLOCKING_SECONDS", "watched", "watched_rest"]


BLOCKING_SECONDS = 0.25
"""Code that runs longer without awaiting is reported."""


@coroutine
def watched(
    awaitable: Awaitable[Any], report: Callable[[float], object]
) -> Generator[Any, Any, Any]:
    """Await something; `report` is called with the seconds of each step that blocked the loop."""
    steps: Any = awaitable if hasattr(awaitable, "send") else awaitable.__await__()
    if not hasattr(steps, "send"):
        return (yield from steps)
    begun = monotonic()
    try:
        waits_for = steps.send(None)
    except StopIteration as stop:
        return stop.value
    finally:
        if (seconds := monotonic() - begun) > BLOCKING_SECONDS:
            report(seconds)
    return (yield from watched_rest(steps, waits_for, report))


@coroutine
def watched_rest(
    steps: Any, waits_for: Any, report: Callable[[float], object]
) -> Generator[Any, Any, Any]:
    """The same for a coroutine that took its first step already, and waits for something."""
    while True:
        try:
            step, value = steps.send, (yield waits_for)
        except GeneratorExit:
            steps.close()
            raise
        except BaseException as error:
            step, value = steps.throw, error
        begun = monotonic()
        try:
            waits_for = step(value)
        except StopIteration as stop:
            return stop.value
        finally:
            if (seconds := monotonic() - begun) > BLOCKING_SECONDS:
                report(seconds)
