"""A registry's settings for execution, and its counters: what outlives a batch."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field, fields, replace
from functools import partial
from time import monotonic
from typing import Any, NamedTuple, Protocol

from ethos_registry import _core
from ethos_registry._table.entry import Entry
from ethos_registry._table.snapshot import Snapshot
from ethos_registry.artifacts._store import ArtifactTool
from ethos_registry.capabilities._resolver import CapabilityBackends
from ethos_registry.capabilities._secrets import IssuedSecrets
from ethos_registry.execution._approvals import Approvals
from ethos_registry.execution._options import InvocationFilter, checked_filters
from ethos_registry.execution._refusals import log_exception, log_line
from ethos_registry.execution._threads import DaemonThreads, tool_threads
from ethos_registry.reduction._redaction import Redact
from ethos_registry.types import _checks
from ethos_registry.types._blocking import report_blocking
from ethos_registry.types._call import RepairLevel, checked_repair_level
from ethos_registry.types._checks import check_callback, guarded
from ethos_registry.types._errors import ConfigError
from ethos_registry.types._observer import Observer, StartedBatch
from ethos_registry.types._reducer import (
    ReductionPolicy,
    ToolResultReducer,
    ToolResultReducerRegistry,
    checked_reduction,
)
from ethos_registry.types._settings import instance_of, optional, setting
from ethos_registry.types._transport import ToolTransport, TransportTraits

# The observers of a registry, sorted by what they want to know.

_METHODS = (
    "batch_finished",
    "call_started",
    "call_finished",
    "call_refused",
    "batch_recorded",
    "batch_started",
)
_PARAMETERS = {"batch_finished": "calls", "batch_recorded": "calls", "batch_started": "batch"}
Guard = Callable[..., None]
Callbacks = tuple[Callable[[Any], Any], ...]


class Observers(NamedTuple):
    """The bound methods of all observers, by name."""

    given: tuple[object, ...]
    batch_finished: Callbacks
    call_started: Callbacks
    call_finished: Callbacks
    call_refused: Callbacks
    batch_recorded: Callbacks
    batch_started: Callbacks
    is_asked_only: bool
    """Whether all observers decide for each batch."""
    idle: tuple[Callable[[], bool], ...]
    """The `is_idle` of all observers; empty unless each decides for each batch and has one."""

    def are_idle(self) -> bool:
        """Whether surely no observer wants the batch; answers before anything is made for them."""
        try:
            for is_idle in self.idle:
                if not is_idle():
                    return False
        except Exception:  # `batch_started` is asked then, and logged if it raises
            return False
        return bool(self.idle)

    def of_batch(self, batch: StartedBatch, guard: Guard) -> Observers | None:
        """The observers of one batch, with those that `batch_started` returns; `None` for none."""
        given: list[object] = []
        for batch_started in self.batch_started:
            guard("the `batch_started` of an observer", _ask, batch_started, batch, given)
        if not given and self.is_asked_only:
            return None
        own = _sorted(given)
        both = {name: getattr(self, name) + getattr(own, name) for name in _METHODS}
        return self._replace(**both | {"batch_started": ()}, is_asked_only=False, idle=())


def checked_observers(observers: Iterable[object]) -> Observers | None:
    """The observers of a registry; `None` for none. Raises `ConfigError` for other objects."""
    if isinstance(observers, str | bytes) or not isinstance(observers, Iterable):
        raise ConfigError(
            f"`observers` must be a list of observers, got {type(observers).__name__}; "
            "put a single observer in a list"
        )
    given = tuple(observers)
    if not given:
        return None
    for observer in given:
        for name, method in _methods_of(observer).items():
            check_callback(method, name, _PARAMETERS.get(name, "call"))
        if callable(is_idle := _own(observer, "is_idle")):
            check_callback(is_idle, "is_idle")
    return _sorted(given)


def _ask(
    batch_started: Callable[[StartedBatch], object | None],
    batch: StartedBatch,
    given: list[object],
) -> None:
    observer = batch_started(batch)
    if observer is not None:
        _methods_of(observer)
        given.append(observer)


def _methods_of(observer: object) -> dict[str, Callable[[Any], Any]]:
    found = {name: _own(observer, name) for name in _METHODS}
    present = {name: method for name, method in found.items() if method is not None}
    if not present or isinstance(observer, type):
        raise ConfigError(
            f"an observer has at least one of {', '.join(_METHODS)}, got {type(observer).__name__}",
            context={"field": "observers", "value": observer},
        )
    return present


def _own(observer: object, name: str) -> Any:
    """A method of an observer; `None` if it has none, or that of `Observer`, which does nothing."""
    method = getattr(observer, name, None)
    is_base = getattr(method, "__func__", None) is getattr(Observer, name)
    return None if is_base else method


def _sorted(given: Iterable[object]) -> Observers:
    methods = [_methods_of(observer) for observer in given]
    callbacks = {name: tuple(each[name] for each in methods if name in each) for name in _METHODS}
    is_asked_only = all(each.keys() == {"batch_started"} for each in methods)
    idle: list[Any] = [_own(observer, "is_idle") for observer in given]
    return Observers(
        given=tuple(given),
        is_asked_only=is_asked_only,
        idle=tuple(idle) if is_asked_only and all(map(callable, idle)) else (),
        **callbacks,
    )


# How many calls run at once: those of one batch, and on one loop those of a registry.


class SlotCall(Protocol):
    """A call of a batch; it may have its answer before it gets a slot."""

    batch: Any
    has_ended: bool


class Slots:
    """The slots of some calls, which `start` starts; calls that find none wait, in order."""

    __slots__ = ("_free", "_held", "_is_starting", "_start", "_waiting")

    def __init__(self, count: int, start: Callable[[Any], object]) -> None:
        self._free = count
        self._start = start
        self._is_starting = False
        self._waiting: deque[SlotCall] = deque()
        self._held: dict[int, SlotCall] = {}

    def run(self, call: SlotCall) -> None:
        """Start a call now, or when a slot is free."""
        if self._free == 0 or self._is_starting:
            self._waiting.append(call)
        else:
            self._take(call)

    def _take(self, call: SlotCall) -> None:
        self._free -= 1
        self._held[id(call)] = call
        self._start(call)

    def call_ended(self, call: SlotCall) -> None:
        """Give the slot of a call to the one that waits longest."""
        if self._held.pop(id(call), None) is None:
            return
        self._free += 1
        if self._is_starting:  # a task ended in its first step; the loop below continues
            return
        self._is_starting = True
        try:
            while self._waiting and self._free:
                waiting = self._waiting.popleft()
                if not waiting.has_ended:
                    self._take(waiting)
        finally:
            self._is_starting = False

    def waiting_of(self, batch: object) -> list[Any]:
        """The calls of one batch that have no slot yet."""
        return [call for call in self._waiting if call.batch is batch]

    def forget(self, batch: object) -> None:
        """A batch has ended: no call of it waits or holds a slot any more."""
        if self.waiting_of(batch):
            self._waiting = deque(each for each in self._waiting if each.batch is not batch)
        for call in list(self._held.values()):
            if call.batch is batch:
                self.call_ended(call)


HELD: ContextVar[tuple[Slots, ...]] = ContextVar("HELD", default=())
"""The slots that the running call holds: what it calls itself runs inside them, else calls that
wait for each other could never end."""


# Which transport runs a tool.

_TOOL, _TOOLSET, _ALL = "tool:", "toolset:", "*"


class Transports:
    """The transports of a registry by tool, by toolset and for the rest."""

    __slots__ = ("_given",)

    def __init__(self, given: Mapping[str, ToolTransport]) -> None:
        self._given = dict(given)

    def of(self, entry: Entry) -> ToolTransport | None:
        """The transport that runs a tool; `None` if the registry calls its function itself.

        Tools that read the artifacts of a turn always run here: their store is in this process.
        """
        if isinstance(entry.tool, ArtifactTool):
            return None
        for key in (f"{_TOOL}{entry.name}", f"{_TOOLSET}{entry.toolset or ''}", _ALL):
            if (found := self._given.get(key)) is not None:
                return None if found.traits.in_place else found
        return None

    def idle_keys(self, snapshot: Snapshot) -> Iterator[str]:
        """The keys that name no registered tool or toolset: those tools would run here."""
        for key in self._given:
            kind, _, name = key.partition(":")
            if kind == "tool" and snapshot.get(name) is None:
                yield key
            if kind == "toolset" and not snapshot.group(name):
                yield key


def checked_transports(given: Any) -> Transports | None:
    """The transports of a registry; `ConfigError` for a wrong key or value."""
    if given is None:
        return None
    if not isinstance(given, Mapping):
        raise ConfigError(
            f"`transports` must map tools to transports, got {type(given).__name__}; "
            'for all tools: `{"*": transport}`'
        )
    for key, transport in given.items():
        is_named = isinstance(key, str) and any(
            key.startswith(prefix) and len(key) > len(prefix) for prefix in (_TOOL, _TOOLSET)
        )
        if not is_named and key != _ALL:
            raise ConfigError(
                f"`transports` has an unknown key {key!r}; use `tool:NAME`, `toolset:NAME` or `*`"
            )
        traits = getattr(transport, "traits", None)
        if not isinstance(transport, ToolTransport) or not isinstance(traits, TransportTraits):
            raise ConfigError(
                f"`transports[{key!r}]` must be a ToolTransport, got {type(transport).__name__}"
            )
    return Transports(given) if given else None


DEFAULT_ABANDON_AFTER_SECONDS = 2.0
"""How long a call that was stopped may take to end before it is abandoned."""

_MAX_LOGGED = 10_000


@dataclass(slots=True, eq=False, repr=False)
class Counters:
    """What changes while a registry runs calls; nothing of a single batch is stored here."""

    abandoned_calls: int = 0
    unmatched_policies: set[tuple[str, str]] = field(default_factory=set)
    """What allow lists and filters named that no tool had: the list, and the name."""
    has_checked_reducers: bool = False
    abandoned_tasks: dict[asyncio.AbstractEventLoop, set[asyncio.Task[Any]]] = field(
        default_factory=dict
    )
    lock: threading.Lock = field(default_factory=threading.Lock)
    slots: dict[asyncio.AbstractEventLoop, Slots] = field(default_factory=dict)
    logged: set[str] = field(default_factory=set)


def _reduction(value: object, name: str) -> ReductionPolicy | None:
    policy = checked_reduction(value, name)
    return None if policy is None else replace(policy)  # which no one else can reach


_seconds = optional(_checks.finite_number)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Runtime:
    """Settings that all batches of one registry share, and its counters."""

    counters: Counters
    backends: CapabilityBackends | None
    reducers: ToolResultReducerRegistry | None
    default_timeout_seconds: float | None = setting(_seconds)
    observers: Observers | None = setting(lambda value, _: checked_observers(value), default=None)
    threads: DaemonThreads = tool_threads
    thread_wait_seconds: float | None = setting(_seconds, default=5.0)
    abandon_after_seconds: float = setting(
        _checks.finite_number, default=DEFAULT_ABANDON_AFTER_SECONDS
    )
    redact: Redact | None = None
    """Takes credentials out of text; `None` if the registry keeps them."""
    redact_recorded: Redact = _core.redact
    """The same for recorders, who never receive them."""
    issued_secrets: IssuedSecrets | None = None
    """The secrets that tools were given; `None` if no backend hands any out."""
    unredacted_tools: frozenset[str] = setting(
        lambda value, name: frozenset(_checks.strings(value, name)), default=frozenset()
    )
    filters: tuple[InvocationFilter, ...] = setting(checked_filters, default=())
    """Run around those of each batch."""
    max_concurrency: int | None = setting(optional(_checks.whole_count), default=None)
    """How many calls of all batches run at once on one loop."""
    approvals: Approvals | None = setting(
        optional(instance_of(Approvals, "Approvals")), default=None
    )
    """Signs the tokens of calls that wait for approval."""
    transports: Transports | None = setting(
        lambda value, _: checked_transports(value), default=None
    )
    """Where tools run; `None` if all run in this process."""
    reduction: ReductionPolicy | None = setting(_reduction, default=None)
    """How much of reduced results is kept; `None` if they are as short as can be."""
    repair_arguments: RepairLevel = setting(
        lambda value, _: checked_repair_level(value), default="safe"
    )
    """Which wrong arguments of tools without a level of their own are repaired."""
    repair_note: bool = setting(_checks.boolean, default=False)
    """Whether the model reads what was repaired."""

    def settings(self) -> tuple[Any, ...]:
        """What another `Runtime` takes after its counters."""
        return tuple([getattr(self, name) for name in _SETTINGS])

    def slots_on(self, loop: asyncio.AbstractEventLoop) -> Slots:
        """The slots of the calls that run on a loop."""
        counters = self.counters
        slots = counters.slots.get(loop)
        if slots is None:
            assert self.max_concurrency is not None
            with counters.lock:
                for closed in [each for each in counters.slots if each.is_closed()]:
                    del counters.slots[closed]
                slots = Slots(self.max_concurrency, lambda call: call.batch.begin(call))
                counters.slots[loop] = slots
        return slots

    def abandon(self, task: asyncio.Task[Any] | None) -> None:
        """Count a call that still runs, and keep its task alive until it ends by itself.

        `asyncio.run` waits at its end for every task it knows; one that swallows its cancellation
        would keep the process alive forever, so it is removed from that list.
        """
        counters = self.counters
        with counters.lock:
            counters.abandoned_calls += 1
            for loop in [loop for loop in counters.abandoned_tasks if loop.is_closed()]:
                del counters.abandoned_tasks[loop]
            if task is not None and not task.done():
                counters.abandoned_tasks.setdefault(task.get_loop(), set()).add(task)
        if task is not None and not task.done():
            task.add_done_callback(self._forget)
            asyncio._unregister_task(task)
            task._log_destroy_pending = False  # type: ignore[attr-defined]

    def _forget(self, task: asyncio.Task[Any]) -> None:
        counters = self.counters
        with counters.lock:
            loop = task.get_loop()
            tasks = counters.abandoned_tasks.get(loop, set())
            tasks.discard(task)
            if not tasks:
                counters.abandoned_tasks.pop(loop, None)
        if not task.cancelled():
            task.exception()

    def redact_of(self, tool_name: str) -> Redact | None:
        """What takes credentials out of a tool's results; `None` if they stay."""
        return None if tool_name in self.unredacted_tools else self.redact

    def reducer_of(self, tool_name: str) -> ToolResultReducer | None:
        """The reducer for a tool's results; `None` if there is none, or the registry raises."""
        if self.reducers is None:
            return None
        return guarded(partial(self.log_once, "the reducer registry"), self.reducers.get, tool_name)

    def guard(self, what: str, function: Callable[..., object], *arguments: Any) -> None:
        """Call a callback of the host; its exception is logged once and changes nothing."""
        begun = monotonic()
        # SystemExit in a callback of the loop would end the loop.
        guarded(partial(self.log_once, what), function, *arguments)
        self.report_blocking(what, monotonic() - begun)

    def report_blocking(self, what: str, seconds: float, way_out: str = "") -> None:
        """Log once for each code that it blocked the event loop."""
        report_blocking(what, seconds, way_out, named=self.counters.logged)

    def log_message(self, message: str, *, is_mistake: bool = False) -> None:
        """Log each message once: as a warning, or as an error for a mistake of the program."""
        if message not in self.counters.logged and len(self.counters.logged) < _MAX_LOGGED:
            self.counters.logged.add(message)
            log_line(logging.ERROR if is_mistake else logging.WARNING, message)

    def log_once(self, what: str, error: BaseException) -> None:
        """Log one warning for each kind of failure, with its traceback."""
        if what not in self.counters.logged:
            self.counters.logged.add(what)
            message = f"{what} raised; later exceptions are not logged"
            log_exception(message, error, self.redact)


_SETTINGS = tuple(each.name for each in fields(Runtime) if each.name != "counters")
