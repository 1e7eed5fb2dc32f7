"""When a call of a tool that failed is tried again."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

from ethos_registry.contract import checks
from ethos_registry.contract.callables import check_callback
from ethos_registry.contract.errors import ConfigError
from ethos_registry.contract.result import ToolError

__all__ = ["Backoff", "Retry", "RetryOn", "RetryRule"]

Backoff: TypeAlias = float | Sequence[float] | Callable[[int], float]
"""Seconds before the second attempt, which double for each further one; or the seconds before each
further attempt; or a function of the number of attempts that failed."""
RetryOn: TypeAlias = (
    type[Exception] | Iterable[type[Exception]] | Callable[[Exception | ToolError], bool]
)
"""Classes of exceptions, or a function that decides for each exception and each `ToolError`."""

_MAX_DOUBLINGS = 20


class RetryRule(NamedTuple):
    """A `Retry` as a registry stores it: a tuple, which nothing can change."""

    attempts: int
    backoff: float | tuple[float, ...] | Callable[[int], float]
    on: tuple[type[Exception], ...] | Callable[[Exception | ToolError], bool]

    def wants(self, failure: Exception | ToolError) -> bool:
        """Whether this failure is tried again."""
        if isinstance(self.on, tuple):
            return isinstance(failure, self.on)
        return bool(self.on(failure))

    def delay_seconds(self, failed: int) -> float:
        """How long to wait after this number of failed attempts."""
        backoff = self.backoff
        if isinstance(backoff, tuple):
            return backoff[min(failed, len(backoff)) - 1]
        if callable(backoff):
            return checks.finite_number(backoff(failed), "backoff")
        return backoff * 2.0 ** min(failed - 1, _MAX_DOUBLINGS)


@dataclass(frozen=True, slots=True)
class Retry:
    """Try a call again when its tool fails: `Tool(..., idempotent=True, retry=Retry(3, 0.5))`.

    Only for tools with `idempotent=True`: an attempt that failed may have done its work. All
    attempts and the waits between them run inside the tool's timeout, and an abort ends them. By
    default every exception is tried again, and an error that the tool returns is not.

    Args:
        attempts: How often the tool is called at most, the first time included.
        backoff: Seconds to wait before the second attempt; the wait doubles for each further one. A
            list has the seconds before each further attempt, its last item for all that follow. A
            function takes the number of attempts that failed and returns the seconds.
        on: The classes of exceptions that are tried again, or a function that takes the exception,
            or the `ToolError` that the tool returned, and returns whether to try again.

    Raises:
        ConfigError: An argument is of the wrong kind.

    >>> Retry(3, 0.5, on=(TimeoutError, ConnectionError)).attempts
    3

    """

    attempts: int = 3
    backoff: Backoff = 0.5
    on: RetryOn = Exception

    def __post_init__(self) -> None:
        checks.finite_number(self.attempts, "attempts", minimum=1, whole=True)
        object.__setattr__(self, "backoff", _checked_backoff(self.backoff))
        object.__setattr__(self, "on", _checked_on(self.on))

    def rule(self) -> RetryRule:
        """The same as a tuple."""
        backoff: Any = self.backoff
        on: Any = self.on
        return RetryRule(int(self.attempts), backoff, on)


def _checked_backoff(backoff: object) -> object:
    if callable(backoff):
        check_callback(backoff, "backoff", "failed")
        return backoff
    if isinstance(backoff, Sequence) and not isinstance(backoff, str | bytes):
        seconds = tuple(float(checks.finite_number(each, "backoff")) for each in backoff)
        if not seconds:
            raise ConfigError("`backoff` must name at least one wait; `0` waits for nothing")
        return seconds
    return float(checks.finite_number(backoff, "backoff"))


def _checked_on(on: object) -> object:
    if not isinstance(on, type) and callable(on):
        check_callback(on, "on", "failure")
        return on
    kinds = tuple(on) if isinstance(on, Iterable) and not isinstance(on, str) else (on,)
    for kind in kinds:
        if not (isinstance(kind, type) and issubclass(kind, Exception)):
            raise ConfigError(
                f"`on` must be classes of exceptions or a function, got {checks.brief(kind)}"
            )
    return kinds
