"""The observers of a registry, sorted by what they want to know."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from ethos_registry.contract.callables import check_callback
from ethos_registry.contract.errors import ConfigError
from ethos_registry.contract.observer import AnyObserver, StartedBatch

__all__ = ["Observers", "checked_observers"]

_ASKED = "batch_started"
_METHODS = (
    "batch_finished",
    "call_started",
    "call_finished",
    "call_refused",
    "batch_recorded",
    _ASKED,
)
_PARAMETERS = {"batch_finished": "calls", "batch_recorded": "calls", "batch_started": "batch"}
Guard = Callable[..., None]
Callbacks = tuple[Callable[[Any], Any], ...]


class Observers(NamedTuple):
    """The bound methods of all observers, by name."""

    given: tuple[AnyObserver, ...]
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
        given: list[AnyObserver] = []
        for batch_started in self.batch_started:
            guard("the `batch_started` of an observer", _ask, batch_started, batch, given)
        if not given and self.is_asked_only:
            return None
        own = _sorted(given)
        return Observers(
            self.given,
            self.batch_finished + own.batch_finished,
            self.call_started + own.call_started,
            self.call_finished + own.call_finished,
            self.call_refused + own.call_refused,
            self.batch_recorded + own.batch_recorded,
            (),
            False,
            (),
        )


def checked_observers(observers: Iterable[AnyObserver]) -> Observers | None:
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
        if callable(is_idle := getattr(observer, "is_idle", None)):
            check_callback(is_idle, "is_idle")
    return _sorted(given)


def _ask(
    batch_started: Callable[[StartedBatch], AnyObserver | None],
    batch: StartedBatch,
    given: list[AnyObserver],
) -> None:
    observer = batch_started(batch)
    if observer is not None:
        _methods_of(observer)
        given.append(observer)


def _methods_of(observer: object) -> dict[str, Callable[[Any], Any]]:
    found = {name: getattr(observer, name, None) for name in _METHODS}
    present = {name: method for name, method in found.items() if method is not None}
    if not present or isinstance(observer, type):
        raise ConfigError(
            f"an observer has at least one of {', '.join(_METHODS)}, got {type(observer).__name__}",
            context={"field": "observers", "value": observer},
        )
    return present


def _sorted(given: Iterable[AnyObserver]) -> Observers:
    callbacks: dict[str, list[Callable[[Any], Any]]] = {name: [] for name in _METHODS}
    for observer in given:
        for name, method in _methods_of(observer).items():
            callbacks[name].append(method)
    sorted_callbacks = {name: tuple(methods) for name, methods in callbacks.items()}
    is_asked_only = not any(methods for name, methods in callbacks.items() if name != _ASKED)
    idle: list[Any] = [getattr(observer, "is_idle", None) for observer in given]
    return Observers(
        given=tuple(given),
        is_asked_only=is_asked_only,
        idle=tuple(idle) if is_asked_only and all(map(callable, idle)) else (),
        **sorted_callbacks,
    )
