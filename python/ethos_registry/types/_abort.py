"""Ending a turn early, from the event loop or from any thread."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import threading
from collections.abc import Callable
from typing import Any, Final

from ethos_registry.types._checks import guarded
from ethos_registry.types._loop_thread import resolve

_logger = logging.getLogger("ethos_registry")


class AbortSignal:
    """Shows whether a turn was aborted. Made by an `AbortController`; never fires twice.

    All methods are safe from any thread.
    """

    __slots__ = ("_aborted", "_listeners", "_lock", "_reason")

    def __init__(self) -> None:
        self._aborted = False
        self._reason: str | None = None
        self._lock = threading.RLock()  # a signal handler may abort inside `add_listener`
        self._listeners: dict[object, Callable[[], object]] = {}

    @property
    def aborted(self) -> bool:
        """Whether the signal has fired."""
        return self._aborted

    @property
    def reason(self) -> str | None:
        """What the controller gave as the reason, if anything."""
        return self._reason

    def add_listener(self, listener: Callable[[], object]) -> Callable[[], None]:
        """Call `listener` once when the signal fires, in the thread that fires it.

        If it has fired already the listener is called at once. Returns a function that removes the
        listener; calling it again does nothing. What a listener raises is logged; the
        others are still called.
        """
        token = object()
        with self._lock:
            # Stored first: a signal handler that aborts between two steps here finds it or not,
            # and the side that removes it from the dict calls it.
            self._listeners[token] = listener
            missed = self._aborted and self._listeners.pop(token, None) is not None
        if missed:
            guarded(_log, listener)

        def remove() -> None:
            with self._lock:
                self._listeners.pop(token, None)

        return remove

    async def wait(self) -> None:
        """Return when the signal has fired."""
        loop = asyncio.get_running_loop()
        fired = loop.create_future()

        def wake() -> None:
            with contextlib.suppress(RuntimeError):  # the loop of a turn that is over is closed
                loop.call_soon_threadsafe(resolve, fired)

        remove = self.add_listener(wake)
        try:
            await fired
        finally:
            remove()

    def __repr__(self) -> str:
        reason = "" if self._reason is None else f": {self._reason}"
        return f"<AbortSignal{f', aborted{reason}' if self._aborted else ''}>"

    def __copy__(self) -> AbortSignal:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> AbortSignal:
        return self

    def __reduce__(self) -> str | tuple[Any, ...]:
        raise TypeError("an abort signal belongs to its process: send the context's `to_wire()`")

    def _fire(self, reason: str | None) -> None:
        with self._lock:
            if self._aborted:
                return
            self._aborted, self._reason = True, reason
            listeners = list(self._listeners.values())
            self._listeners.clear()
        for listener in listeners:
            guarded(_log, listener)


def _log(error: BaseException) -> None:
    """A listener that raises must not keep others from being called."""
    _logger.warning("a listener of an abort signal raised", exc_info=error)


class _NeverAborted(AbortSignal):
    """The shared signal of turns that cannot be aborted; it stores no listeners."""

    __slots__ = ()

    def add_listener(self, listener: Callable[[], object]) -> Callable[[], None]:
        return _do_nothing

    def __reduce__(self) -> str:
        return "NEVER_ABORTED"


def _do_nothing() -> None:
    """Remove nothing."""


NEVER_ABORTED: Final[AbortSignal] = _NeverAborted()
"""The signal of a context that was created without one; it never fires."""


class AbortController:
    """Fires its `signal`: on the user's cancel, or when a turn's time is up.

    >>> controller = AbortController()
    >>> controller.abort("the user pressed escape")
    >>> controller.signal.aborted, controller.signal.reason
    (True, 'the user pressed escape')
    """

    __slots__ = ("signal",)

    def __init__(self) -> None:
        self.signal = AbortSignal()

    def __repr__(self) -> str:
        return f"<AbortController of {self.signal!r}>"

    def abort(self, reason: str | None = None) -> None:
        """Fire the signal; only the first call counts. Safe from any thread."""
        self.signal._fire(reason)
