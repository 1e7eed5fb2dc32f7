"""Progress events of a tool, as notifications whose value only grows."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable
from typing import TypeAlias

from ethos_registry.contract.progress import ToolProgressEvent

__all__ = ["Growing", "ProgressSender", "ReportProgress"]

_logger = logging.getLogger("ethos_registry")

ReportProgress: TypeAlias = Callable[[float, float | None, str | None], Awaitable[None]]
_WHOLE = 100.0
_MAX_WAITING = 1_000
"""Events that may wait for a client that reads slowly; more are dropped."""


class Growing:
    """Turns the percentages of events into values that grow strictly, as the protocol demands.

    Until an event has a percentage the events are counted, without a total. Later events that do
    not go beyond the last value close a thousandth of the gap to 100.

    >>> growing = Growing()
    >>> [growing.next(percent) for percent in (0.0, 50.0, None, 100.0, 100.0)]
    [(0.0, 100.0), (50.0, 100.0), (50.05, 100.0), (100.0, 100.0), None]
    """

    def __init__(self) -> None:
        self._last: float | None = None
        self._has_percent = False

    def next(self, percent: float | None) -> tuple[float, float | None] | None:
        """The value and the total to report; `None` if nothing larger is left to report."""
        last = self._last
        if percent is None and not self._has_percent:
            self._last = 1.0 if last is None else last + 1
            return self._last, None
        self._has_percent = True
        value = percent
        if last is not None and (value is None or value <= last):
            value = last + (_WHOLE - last) / 1000
            if value <= last:
                return None
        self._last = value
        return (0.0 if value is None else value), _WHOLE


class ProgressSender:
    """Sends the events of one call in order; `emit` is safe from any thread.

    Events for the user of this process only are not sent.
    """

    __slots__ = ("_loop", "_queue", "_report", "_task")

    def __init__(self, report: ReportProgress) -> None:
        self._report = report
        self._loop = asyncio.get_running_loop()
        self._queue: asyncio.Queue[ToolProgressEvent | None] | None = None
        self._task: asyncio.Task[None] | None = None

    def emit(self, event: ToolProgressEvent) -> None:
        """Take an event of the running tool."""
        if event.audience != "user":
            with contextlib.suppress(RuntimeError):  # the loop is closed
                self._loop.call_soon_threadsafe(self._put, event)

    def _put(self, event: ToolProgressEvent) -> None:
        queue = self._queue
        if queue is None:
            queue = self._queue = asyncio.Queue()
            self._task = self._loop.create_task(self._send(queue))
        if queue.qsize() < _MAX_WAITING:
            queue.put_nowait(event)

    async def _send(self, queue: asyncio.Queue[ToolProgressEvent | None]) -> None:
        growing = Growing()
        while (event := await queue.get()) is not None:
            step = growing.next(event.percent)
            if step is None:
                continue
            try:
                await self._report(*step, event.message)
            except Exception:
                _logger.debug("a progress notification could not be sent", exc_info=True)
                return

    async def finish(self) -> None:
        """Send what was emitted so far; nothing is sent after the call's result."""
        if self._queue is not None and self._task is not None:
            self._queue.put_nowait(None)
            await self._task

    def cancel(self) -> None:
        """Send no more."""
        if self._task is not None:
            self._task.cancel()
