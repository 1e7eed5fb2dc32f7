"""Code of the host that blocks the event loop: nothing stops it, so it is measured and named."""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import logging
from collections.abc import Awaitable, Callable, Generator, Iterator
from time import monotonic
from types import coroutine
from typing import Any

BLOCKING_SECONDS = 0.25
"""Code that runs longer without awaiting is reported."""

_logger = logging.getLogger("ethos_registry")
_named: set[str] = set()
_MAX_NAMED = 10_000


def report_blocking(
    what: str, seconds: float, way_out: str = "", *, named: set[str] = _named, key: str = ""
) -> None:
    """Log, once for each code, that it kept the event loop of this thread from its other work.

    `named` holds the keys of what was logged, by default `what`; on a thread without a loop
    nothing is logged.
    """
    key = f"{key or what} blocks"
    if seconds <= BLOCKING_SECONDS or key in named or asyncio._get_running_loop() is None:
        return
    if len(named) < _MAX_NAMED:
        named.add(key)
        way = f"; {way_out}" if way_out else ""
        with contextlib.suppress(Exception):  # a handler of the host
            _logger.warning("%s", f"{what} blocked the event loop for {seconds:.1f} s{way}")


@contextlib.contextmanager
def measured(report: Callable[[float], object]) -> Iterator[None]:
    """Call `report` with the seconds that a block of code took."""
    begun = monotonic()
    try:
        yield
    finally:
        report(monotonic() - begun)


def called(what: str, function: Callable[..., Any], *arguments: Any) -> Any:
    """What a function of the host returns; the function is named if it blocks the event loop."""
    name = getattr(function, "__qualname__", type(function).__qualname__)
    key = f"{what} {getattr(function, '__module__', '')}.{name}"
    with measured(lambda seconds: report_blocking(what, seconds, key=key)):
        return function(*arguments)


async def awaited(
    report: Callable[[float], object], function: Callable[..., Any], *arguments: Any
) -> Any:
    """What a function of the host returns, awaited if it is awaitable.

    `report` is called with the seconds in which it blocked the event loop.
    """
    begun = monotonic()
    try:
        answer = function(*arguments)
    finally:
        report(monotonic() - begun)
    return await watched(answer, report) if inspect.isawaitable(answer) else answer


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
