"""What outlives a batch: a registry's settings for execution, and its counters."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Any

from ethos_registry.capabilities.resolver import CapabilityBackends
from ethos_registry.contract.reducer import ToolResultReducerRegistry

__all__ = ["Runtime"]

_logger = logging.getLogger("ethos_registry")


class Runtime:
    """Settings that all batches of one registry share; nothing of a single batch stands here."""

    __slots__ = (
        "_abandoned_tasks",
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
        self._abandoned_tasks: set[asyncio.Task[Any]] = set()
        self._logged: set[str] = set()

    def abandon(self, task: asyncio.Task[Any] | None) -> None:
        """Count a call that still runs, and keep its task alive until it ends by itself.

        `asyncio.run` waits at its end for every task it knows; one that swallows its cancellation
        would hold the process for ever, so it is taken off that list.
        """
        self.abandoned_calls += 1
        if task is not None and not task.done():
            self._abandoned_tasks.add(task)
            task.add_done_callback(self._forget)
            asyncio._unregister_task(task)
            task._log_destroy_pending = False  # type: ignore[attr-defined]

    def _forget(self, task: asyncio.Task[Any]) -> None:
        self._abandoned_tasks.discard(task)
        if not task.cancelled():
            task.exception()

    def guard(self, what: str, function: Callable[..., object], *arguments: Any) -> None:
        """Call somebody's callback; its exception is logged once and breaks nothing."""
        try:
            function(*arguments)
        except Exception:
            if what not in self._logged:
                self._logged.add(what)
                _logger.warning("%s raised; later exceptions are not logged", what, exc_info=True)
