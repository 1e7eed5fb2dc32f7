"""A registry's settings for execution, and its counters: what outlives a batch."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable
from time import monotonic
from typing import Any, ClassVar

from ethos_registry import _core
from ethos_registry.capabilities.handed_out import HandedOutSecrets
from ethos_registry.capabilities.resolver import CapabilityBackends
from ethos_registry.contract.reducer import ToolResultReducer, ToolResultReducerRegistry
from ethos_registry.contract.reduction_policy import ReductionPolicy
from ethos_registry.execution.approvals import Approvals
from ethos_registry.execution.blocking import BLOCKING_SECONDS
from ethos_registry.execution.filters import InvocationFilter
from ethos_registry.execution.logged import log_exception, log_line
from ethos_registry.execution.observers import Observers
from ethos_registry.execution.shared_slots import SharedSlots
from ethos_registry.execution.threads import DaemonThreads, tool_threads
from ethos_registry.execution.transports import Transports
from ethos_registry.reduction.redaction import Redact

__all__ = [
    "DEFAULT_ABANDON_AFTER_SECONDS",
    "DEFAULT_THREAD_WAIT_SECONDS",
    "Runtime",
]

DEFAULT_ABANDON_AFTER_SECONDS = 2.0
"""How long a call that was stopped may take to end before it is abandoned."""
DEFAULT_THREAD_WAIT_SECONDS = 5.0
"""How long a plain function may wait for a thread."""

_MAX_LOGGED = 10_000

_logger = logging.getLogger("ethos_registry")


class Runtime:
    """Settings that all batches of one registry share; nothing of a single batch is stored here."""

    __slots__ = (
        "_abandoned_tasks",
        "_lock",
        "_logged",
        "_slots",
        "abandon_after_seconds",
        "abandoned_calls",
        "approvals",
        "backends",
        "default_timeout_seconds",
        "filters",
        "handed_out",
        "has_checked_reducers",
        "max_concurrency",
        "observers",
        "redact",
        "redact_recorded",
        "reducers",
        "reduction",
        "thread_wait_seconds",
        "threads",
        "transports",
        "unmatched_policies",
        "unredacted_tools",
    )

    SETTINGS: ClassVar[tuple[str, ...]] = (
        "backends",
        "reducers",
        "default_timeout_seconds",
        "observers",
        "threads",
        "thread_wait_seconds",
        "abandon_after_seconds",
        "redact",
        "redact_recorded",
        "handed_out",
        "unredacted_tools",
        "filters",
        "max_concurrency",
        "approvals",
        "transports",
        "reduction",
    )

    def __init__(
        self,
        *,
        backends: CapabilityBackends | None,
        reducers: ToolResultReducerRegistry | None,
        default_timeout_seconds: float | None,
        observers: Observers | None = None,
        threads: DaemonThreads = tool_threads,
        thread_wait_seconds: float | None = DEFAULT_THREAD_WAIT_SECONDS,
        abandon_after_seconds: float = DEFAULT_ABANDON_AFTER_SECONDS,
        redact: Redact | None = None,
        redact_recorded: Redact = _core.redact,
        handed_out: HandedOutSecrets | None = None,
        unredacted_tools: frozenset[str] = frozenset(),
        filters: tuple[InvocationFilter, ...] = (),
        max_concurrency: int | None = None,
        approvals: Approvals | None = None,
        transports: Transports | None = None,
        reduction: ReductionPolicy | None = None,
    ) -> None:
        self.backends = backends
        self.reducers = reducers
        self.default_timeout_seconds = default_timeout_seconds
        self.observers = observers
        self.threads = threads
        self.thread_wait_seconds = thread_wait_seconds
        self.abandon_after_seconds = abandon_after_seconds
        self.redact = redact
        """Takes credentials out of text; `None` if the registry keeps them."""
        self.redact_recorded = redact_recorded
        """The same for recorders, who never receive them."""
        self.handed_out = handed_out
        """The secrets that tools were given; `None` if no backend hands any out."""
        self.unredacted_tools = unredacted_tools
        self.filters = filters
        """Run around those of each batch."""
        self.max_concurrency = max_concurrency
        """How many calls of all batches run at once on one loop."""
        self.approvals = approvals
        """Signs the tokens of calls that wait for approval."""
        self.transports = transports
        """Where tools run; `None` if all run in this process."""
        self.reduction = reduction
        """How much of reduced results is kept; `None` if they are as short as can be."""
        self.abandoned_calls = 0
        self.unmatched_policies: set[tuple[str, str]] = set()
        """What allow lists and filters named that no tool had: the list, and the name."""
        self.has_checked_reducers = False
        self._abandoned_tasks: dict[asyncio.AbstractEventLoop, set[asyncio.Task[Any]]] = {}
        self._lock = threading.Lock()
        self._slots: dict[asyncio.AbstractEventLoop, SharedSlots] = {}
        self._logged: set[str] = set()

    def copy(self) -> Runtime:
        """The same settings with counters of their own."""
        return Runtime(**{name: getattr(self, name) for name in self.SETTINGS})

    def slots_on(self, loop: asyncio.AbstractEventLoop) -> SharedSlots:
        """The slots of the calls that run on a loop."""
        slots = self._slots.get(loop)
        if slots is None:
            assert self.max_concurrency is not None
            with self._lock:
                for closed in [each for each in self._slots if each.is_closed()]:
                    del self._slots[closed]
                slots = self._slots[loop] = SharedSlots(self.max_concurrency)
        return slots

    def abandon(self, task: asyncio.Task[Any] | None) -> None:
        """Count a call that still runs, and keep its task alive until it ends by itself.

        `asyncio.run` waits at its end for every task it knows; one that swallows its cancellation
        would keep the process alive forever, so it is removed from that list.
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

    def redact_of(self, tool_name: str) -> Redact | None:
        """What takes credentials out of a tool's results; `None` if they stay."""
        return None if tool_name in self.unredacted_tools else self.redact

    def reducer_of(self, tool_name: str) -> ToolResultReducer | None:
        """The reducer for a tool's results; `None` if there is none, or the registry raises."""
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
        """Call a callback of the host; its exception is logged once and changes nothing."""
        begun = monotonic()
        try:
            function(*arguments)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # SystemExit in a callback of the loop would end the loop
            self.log_once(what, error)
        self.report_blocking(what, monotonic() - begun)

    def report_blocking(self, what: str, seconds: float, way_out: str = "") -> None:
        """Log once for each code that it blocked the event loop."""
        if seconds > BLOCKING_SECONDS and (key := f"{what} blocks") not in self._logged:
            self._logged.add(key)
            way = f"; {way_out}" if way_out else ""
            log_line(logging.WARNING, f"{what} blocked the event loop for {seconds:.1f} s{way}")

    def warn_once(self, message: str) -> None:
        """Log a warning once for each message."""
        if message not in self._logged:
            self._logged.add(message)
            log_line(logging.WARNING, message)

    def log_mistake(self, message: str) -> None:
        """Log a mistake of the program as an error, once for each message."""
        if message not in self._logged and len(self._logged) < _MAX_LOGGED:
            self._logged.add(message)
            log_line(logging.ERROR, message)

    def log_once(self, what: str, error: BaseException) -> None:
        """Log one warning for each kind of failure, with its traceback."""
        if what in self._logged:
            return
        self._logged.add(what)
        try:
            message = f"{what} raised; later exceptions are not logged"
            log_exception(_logger, logging.WARNING, message, error, self.redact)
        except KeyboardInterrupt:
            raise
        except BaseException:  # a handler asks the exception for its text, which is foreign code
            log_line(logging.WARNING, f"{what} raised; later exceptions are not logged")
