"""What outlives a batch: a registry's settings for execution, and its counters."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable
from typing import Any

from ethos_registry.capabilities.resolver import CapabilityBackends
from ethos_registry.contract.reducer import ToolResultReducer, ToolResultReducerRegistry

__all__ = ["Runtime"]

_logger = logging.getLogger("ethos_registry")


class Runtime:
    """Settings that all batches of one registry share; nothing of a single batch stands here."""

    __slots__ = (
        "_abandoned_tasks",
        "_lock",
        "_logged",
        "abandoned_calls",
        "backends",
        "default_timeout_seconds",
        "reducers",
    )

    def __init__(
        self,
        *,
        backends: CapabilityBackends | None,
        reducers: ToolResultReducerRegistry | None,
        default_timeout_seconds: float | None,
    ) -> None:
        self.backends = backends
        self.reducers = reducers
        self.default_timeout_seconds = default_timeout_seconds
        self.abandoned_calls = 0
        self._abandoned_tasks: dict[asyncio.AbstractEventLoop, set[asyncio.Task[Any]]] = {}
        self._lock = threading.Lock()
        self._logged: set[str] = set()

    def abandon(self, task: asyncio.Task[Any] | None) -> None:
        """Count a call that still runs, and keep its task alive until it ends by itself.

        `asyncio.run` waits at its end for every task it knows; one that swallows its cancellation
        would hold the process for ever, so it is taken off that list.
        """
        with self._lock:
            self.abandoned_calls += 1
            for loop in [loop for loop in self._abandoned_tasks if loop.is_closed()]:
                del self._abandoned_tasks[loop]
            if task is not None and not task.done():
                self._abandoned_tasks.setdefault(task.get_loop(), set()).add(task)
        if task is not None and not task.done():
            task.add_done_callback(self._forget)
            asyncio._unregister_task(task)
            task._log_destroy_pending = False  # type: ignore[attr-defined]

    def _forget(self, task: asyncio.Task[Any]) -> None:
        with self._lock:
            loop = task.get_loop()
            tasks = self._abandoned_tasks.get(loop, set())
            tasks.discard(task)
            if not tasks:
                self._abandoned_tasks.pop(loop, None)
        if not task.cancelled():
            task.exception()

    def reducer_of(self, tool_name: str) -> ToolResultReducer | None:
        """What reduces the results of a tool, if anything; a registry that raises gives nothing."""
        if self.reducers is None:
            return None
        try:
            return self.reducers.get(tool_name)
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            self.log_once("the reducer registry", error)
            return None

    def guard(self, what: str, function: Callable[..., object], *arguments: Any) -> None:
        """Call somebody's callback; its exception is logged once and breaks nothing."""
        try:
            function(*arguments)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # SystemExit in a callback of the loop would end the loop
            self.log_once(what, error)

    def warn_once(self, message: str) -> None:
        """One warning for each message."""
        if message not in self._logged:
            self._logged.add(message)
            _logger.warning("%s", message)

    def log_once(self, what: str, error: BaseException) -> None:
        """One warning for each kind of failure, with its traceback."""
        if what not in self._logged:
            self._logged.add(what)
            _logger.warning("%s raised; later exceptions are not logged", what, exc_info=error)
