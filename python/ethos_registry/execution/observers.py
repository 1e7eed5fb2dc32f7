"""The observers of a registry, sorted by what they want to know."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from ethos_registry.contract.callables import check_callback
from ethos_registry.contract.errors import ConfigError
from ethos_registry.contract.observer import AnyObserver

__all__ = ["Observers", "checked_observers"]

_METHODS = (
    "batch_finished",
    "call_started",
    "call_finished",
    "call_refused",
    "batch_recorded",
)
Callbacks = tuple[Callable[[Any], object], ...]


class Observers(NamedTuple):
    """The bound methods of all observers, by name."""

    given: tuple[AnyObserver, ...]
    batch_finished: Callbacks
    call_started: Callbacks
    call_finished: Callbacks
    call_refused: Callbacks
    batch_recorded: Callbacks


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
    callbacks: dict[str, list[Callable[[Any], object]]] = {name: [] for name in _METHODS}
    for observer in given:
        found = {name: getattr(observer, name, None) for name in _METHODS}
        present = {name: method for name, method in found.items() if method is not None}
        if not present or isinstance(observer, type):
            raise ConfigError(
                f"an observer has at least one of {', '.join(_METHODS)}, "
                f"got {type(observer).__name__}",
                context={"field": "observers", "value": observer},
            )
        for name, method in present.items():
            check_callback(method, name, "calls" if name.startswith("batch_") else "call")
            callbacks[name].append(method)
    return Observers(given, *(tuple(callbacks[name]) for name in _METHODS))
