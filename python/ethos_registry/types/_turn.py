"""One turn of an agent: its end, its abort signal and the hooks of its calls."""

from __future__ import annotations

import logging
import threading
from collections import Counter, deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Any, NoReturn, Protocol, Self, TypeAlias, runtime_checkable

from ethos_registry.types import _checks
from ethos_registry.types._abort import AbortController, AbortSignal
from ethos_registry.types._blocking import called
from ethos_registry.types._checks import check_callback, guarded
from ethos_registry.types._errors import ConfigError, EthosRegistryError, TurnAlreadySignalledError
from ethos_registry.types._json_values import call_checksum
from ethos_registry.types._ports import ArtifactStore
from ethos_registry.types._tool import Tool

_logger = logging.getLogger("ethos_registry")

_MOST_UNCOUNTED = 1_024
"""Calls whose checksums are not computed yet."""


@dataclass(frozen=True, slots=True)
class ToolExecution:
    """A call that reached its tool, as the hooks of a turn receive it."""

    tool_name: str
    tool_call_id: str
    sent_args: Any
    """The arguments as the model sent them."""
    args: Mapping[str, Any] | Any
    """What the tool receives: for a function its keyword arguments, converted."""
    is_error: bool | None = None
    """Whether the result is an error; `None` while the tool runs."""

    @property
    def checksum(self) -> str | None:
        """See `call_checksum`; `None` for arguments that are not JSON values."""
        return _checksum(self.tool_name, self.sent_args)


def _checksum(tool_name: str, args: Any) -> str | None:
    try:
        return call_checksum(tool_name, args)
    except ConfigError:  # a program may call a tool with any value
        return None


@_checks.checked_class
class DispatchContext:
    """One turn of an agent, which ends once: with `ack`, or with `nack` and an error.

    On `ack` everything that is bound to the turn is dropped before `ack` returns: see
    `ToolRegistry.bind_context` and `ToolRegistry.turn`. After `nack` it stays, for inspection.
    `abort` stops the running calls and leaves the turn open. Safe from threads.

    As a context manager it acknowledges the turn at the end of the block, or ends it with the
    block's exception. A turn that the block ended itself stays as it is.

    >>> with DispatchContext() as context:
    ...     unsubscribe = context.on_ack(lambda: print("over"))
    over
    >>> context.is_acked, context.is_signalled, context.aborted
    (True, True, False)
    """

    __slots__ = (
        "__weakref__",
        "_abort",
        "_ack_handlers",
        "_counts",
        "_end_hooks",
        "_is_acked",
        "_lock",
        "_nack_error",
        "_start_hooks",
        "_uncounted",
        "artifact_store",
    )

    artifact_store: ArtifactStore | None
    """Where calls of the turn store the full text of results that were cut, unless the caller's
    `ToolContext` has a store of its own. `ToolRegistry.turn` sets it from the forge."""

    def __init__(self) -> None:
        self._abort = AbortController()
        self._ack_handlers: dict[object, Callable[[], object]] = {}
        self._start_hooks: dict[object, Callable[[ToolExecution], object]] = {}
        self._end_hooks: dict[object, Callable[[ToolExecution], object]] = {}
        self._counts: Counter[str] = Counter()
        self._uncounted: deque[tuple[str, Any]] = deque()
        self.artifact_store = None
        self._is_acked = False
        self._nack_error: BaseException | None = None
        self._lock = threading.RLock()  # a signal handler may end the turn inside a method

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self.is_signalled:
            return
        if error is None:
            self.ack()
        else:
            self.nack(error)

    def __repr__(self) -> str:
        if self._is_acked:
            state = "acknowledged"
        elif self._nack_error is not None:
            state = "failed"
        else:
            state = "aborted" if self.aborted else "open"
        return f"<DispatchContext, {state}>"

    # The signal

    @property
    def is_signalled(self) -> bool:
        """Whether the turn has ended, either way."""
        return self._is_acked or self._nack_error is not None

    @property
    def is_acked(self) -> bool:
        """Whether the turn was acknowledged."""
        return self._is_acked

    @property
    def nack_error(self) -> BaseException | None:
        """Why the turn failed, or `None`."""
        return self._nack_error

    def ack(self) -> None:
        """Acknowledge the turn: call each `on_ack` handler, in order, before this returns.

        What a handler raises is logged and stops neither the others nor this. A handler that is
        added meanwhile is called too. `TurnAlreadySignalledError` when the turn has ended.
        """
        with self._lock:
            self._check_open()
            self._is_acked = True
        while True:
            with self._lock:
                handler = self._ack_handlers.pop(next(iter(self._ack_handlers), None), None)
            if handler is None:
                return
            _guarded("an `on_ack` handler", handler)

    def nack(self, error: BaseException | None = None) -> None:
        """End the turn with an error; no `on_ack` handler is called.

        Without `error`, `nack_error` is a generic one. `TurnAlreadySignalledError` if the turn has
        ended.
        """
        if error is not None and not isinstance(error, BaseException):
            raise ConfigError(f"`error` must be an exception, got {_checks.brief(error)}")
        with self._lock:
            self._check_open()
            self._nack_error = EthosRegistryError("the turn failed") if error is None else error
            self._ack_handlers.clear()

    def _check_open(self) -> None:
        if self._is_acked:
            raise TurnAlreadySignalledError("acknowledged")
        if self._nack_error is not None:
            raise TurnAlreadySignalledError("not acknowledged")

    def on_ack(self, handler: Callable[[], object]) -> Callable[[], None]:
        """Call `handler` when the turn is acknowledged; returns an idempotent unsubscribe.

        On a turn that has ended the handler is never called.
        """
        return self._subscribe(self._ack_handlers, handler, "on_ack")

    # Abort

    @property
    def abort_signal(self) -> AbortSignal:
        """Fires when the turn is aborted; the calls of the turn's registry listen to it."""
        return self._abort.signal

    @property
    def aborted(self) -> bool:
        """Whether the turn was aborted."""
        return self._abort.signal.aborted

    def abort(self, reason: str | None = None) -> None:
        """Stop the calls of the turn; only the first abort counts, and `ack` is still possible."""
        self._abort.abort(_checks.optional_text(reason, "reason"))

    # Executions

    def on_tool_start(self, hook: Callable[[ToolExecution], object]) -> Callable[[], None]:
        """Call `hook` before each tool of the turn runs; returns an idempotent unsubscribe.

        A call with invalid arguments never starts. Hooks are called on the event loop's thread;
        what one raises is logged.
        """
        return self._subscribe(self._start_hooks, hook, "on_tool_start", "execution")

    def on_tool_end(self, hook: Callable[[ToolExecution], object]) -> Callable[[], None]:
        """Call `hook` once for each call that started, with `is_error` set."""
        return self._subscribe(self._end_hooks, hook, "on_tool_end", "execution")

    def tool_call_count(self, checksum: str) -> int:
        """How often a call of this `call_checksum` has started in this turn.

        A count that grows shows that an agent repeats itself. Checksums are computed when they are
        first asked for, of the arguments as they are then.
        """
        _checks.text(checksum, "checksum")
        with self._lock:
            self._count_started()
            return self._counts[checksum]

    def _count_started(self) -> None:
        while self._uncounted:
            tool_name, args = self._uncounted.popleft()
            found = _checksum(tool_name, args)
            if found is not None:
                self._counts[found] += 1

    @property
    def has_hooks(self) -> bool:
        """Whether anything receives the calls of the turn."""
        return bool(self._start_hooks or self._end_hooks)

    def starts_of(self, tool_name: str) -> Callable[[str, Any, Any], ToolExecution | None]:
        """A function that counts a call of this tool and passes it to the hooks.

        It takes the call's id, the arguments as sent and those that the tool receives, and returns
        what `call_ended` takes, `None` if the turn has no hooks. For the code that runs tools.
        """
        # A closure: a turn's calls pay no attribute lookups.
        uncounted, start_hooks, end_hooks = self._uncounted, self._start_hooks, self._end_hooks

        def started(tool_call_id: str, sent_args: Any, args: Any) -> ToolExecution | None:
            uncounted.append((tool_name, sent_args))
            if len(uncounted) > _MOST_UNCOUNTED:  # bounds the arguments that are held
                with self._lock:
                    self._count_started()
            if not start_hooks and not end_hooks:
                return None
            execution = ToolExecution(tool_name, tool_call_id, sent_args, args)
            self._notify(start_hooks, "an `on_tool_start` hook", execution)
            return execution

        return started

    def call_ended(self, execution: ToolExecution, *, is_error: bool) -> None:
        """Pass the end of a call to the hooks; for the code that runs tools."""
        ended = replace(execution, is_error=is_error)
        self._notify(self._end_hooks, "an `on_tool_end` hook", ended)

    def _notify(
        self,
        hooks: dict[object, Callable[[ToolExecution], object]],
        what: str,
        execution: ToolExecution,
    ) -> None:
        with self._lock:
            listed = list(hooks.values())
        for hook in listed:
            _guarded(what, hook, execution)

    def _subscribe(
        self, handlers: dict[object, Any], handler: object, what: str, *given: str
    ) -> Callable[[], None]:
        check_callback(handler, what, *given)
        token = object()
        with self._lock:
            handlers[token] = handler

        def unsubscribe() -> None:
            with self._lock:
                handlers.pop(token, None)

        return unsubscribe

    def __reduce__(self) -> NoReturn:
        raise TypeError("a dispatch context belongs to its process and its turn")


def _guarded(what: str, function: Callable[..., object], *arguments: Any) -> None:
    """A handler that raises must not keep the turn from ending, nor others from being called."""
    guarded(
        lambda error: _logger.warning("%s raised", what, exc_info=error),
        *(called, what, function, *arguments),
    )


# Protocols for objects that look up or make tools.


@runtime_checkable
class ToolResolver(Protocol):
    """Tools by exact name, for code that only looks them up."""

    @property
    def size(self) -> int:
        """The number of tools."""

    def resolve(self, name: str) -> Tool | None:
        """The tool of exactly this name, or `None`. Never raises and never runs a tool."""

    def list(self) -> Sequence[str]:
        """The names, sorted by code point."""


ForgedTools: TypeAlias = Iterable[Tool] | ToolResolver
"""Tools made for one turn: a list of them, or a registry of them."""


class ToolForge(Protocol):
    """Makes tools for one turn, from what the turn has so far.

    A forge with an attribute `store` provides the turn's artifact store.
    """

    def forge_tools(self, context: DispatchContext) -> ForgedTools:
        """The tools of this iteration; an empty list for none."""
