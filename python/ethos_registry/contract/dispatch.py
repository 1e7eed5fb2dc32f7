"""One turn of an agent: acknowledged or not, once (seed 003: `DispatchContext`)."""

from __future__ import annotations

import logging
import threading
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

from ethos_registry.contract import checks
from ethos_registry.contract.abort import AbortController, AbortSignal
from ethos_registry.contract.callables import check_callback
from ethos_registry.contract.errors import (
    ConfigError,
    EthosRegistryError,
    TurnAlreadySignalledError,
)

__all__ = ["DispatchContext", "ToolExecution"]

_logger = logging.getLogger("ethos_registry")


@dataclass(frozen=True, slots=True)
class ToolExecution:
    """A call that reached its tool, as the hooks of a turn are told of it."""

    tool_name: str
    tool_call_id: str
    checksum: str | None
    """See `call_checksum`; `None` for arguments that are no JSON values."""
    args: Mapping[str, Any] | Any
    """What the tool gets: for a function its keyword arguments, converted."""
    is_error: bool | None = None
    """Whether the result is an error; `None` while the tool runs."""


class DispatchContext:
    """The life of one turn: `ack` ends it well, `nack` with an error; either only once.

    On `ack` whatever was bound to the turn is dropped, before `ack` returns: see
    `ToolRegistry.bind_context` and `ToolRegistry.turn`. After `nack` it stays, to be looked at.
    `abort` stops the calls that run and leaves the turn open. Safe from threads.

    >>> context = DispatchContext()
    >>> unsubscribe = context.on_ack(lambda: print("over"))
    >>> context.ack()
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
    )

    def __init__(self) -> None:
        self._abort = AbortController()
        self._ack_handlers: dict[object, Callable[[], object]] = {}
        self._start_hooks: dict[object, Callable[[ToolExecution], object]] = {}
        self._end_hooks: dict[object, Callable[[ToolExecution], object]] = {}
        self._counts: Counter[str] = Counter()
        self._is_acked = False
        self._nack_error: BaseException | None = None
        self._lock = threading.RLock()  # a signal handler may end the turn inside a method

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
        """Whether the turn has ended well."""
        return self._is_acked

    @property
    def nack_error(self) -> BaseException | None:
        """Why the turn failed, or `None`."""
        return self._nack_error

    def ack(self) -> None:
        """End the turn well: call each `on_ack` handler, in order, before this returns.

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

        Without an error `nack_error` is one that says so. `TurnAlreadySignalledError` when the turn
        has ended.
        """
        if error is not None and not isinstance(error, BaseException):
            raise ConfigError(f"`error` must be an exception, got {checks.brief(error)}")
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
        self._abort.abort(checks.optional_text(reason, "reason"))

    # Executions

    def on_tool_start(self, hook: Callable[[ToolExecution], object]) -> Callable[[], None]:
        """Call `hook` before each tool of the turn runs; returns an idempotent unsubscribe.

        A call with wrong arguments never starts (ADK-70). Hooks are called on the event loop's
        thread; what one raises is logged.
        """
        return self._subscribe(self._start_hooks, hook, "on_tool_start", "execution")

    def on_tool_end(self, hook: Callable[[ToolExecution], object]) -> Callable[[], None]:
        """Call `hook` once for each call that started, with `is_error` set (ADK-71)."""
        return self._subscribe(self._end_hooks, hook, "on_tool_end", "execution")

    def tool_call_count(self, checksum: str) -> int:
        """How often a call of this `call_checksum` has started in this turn.

        It tells that an agent goes round in circles; nothing is left out because of it.
        """
        return self._counts[checks.text(checksum, "checksum")]

    def tool_started(self, execution: ToolExecution) -> None:
        """Count a call and tell the hooks; for the code that runs tools."""
        if execution.checksum is not None:
            with self._lock:
                self._counts[execution.checksum] += 1
        self._tell(self._start_hooks, "an `on_tool_start` hook", execution)

    def tool_ended(self, execution: ToolExecution) -> None:
        """Tell the hooks that a call has its result; for the code that runs tools."""
        self._tell(self._end_hooks, "an `on_tool_end` hook", execution)

    def _tell(
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
    """Handlers are strangers to each other: one that raises must not keep the turn from ending."""
    try:
        function(*arguments)
    except KeyboardInterrupt:
        raise
    except BaseException:
        _logger.warning("%s raised", what, exc_info=True)
