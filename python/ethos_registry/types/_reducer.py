"""Reducers: they shorten the result of a tool before a model reads it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, Protocol, TypeAlias, get_args, runtime_checkable

from ethos_registry.types import _checks
from ethos_registry.types._errors import ConfigError
from ethos_registry.types._result import ToolResult

# How long the reduced text of a result may be.

ReductionLevel: TypeAlias = Literal["lossless", "facts", "verdict"]
"""What of a longer text is kept. `lossless`: everything but escapes, overwritten progress and exact
repeats. `facts`: failures, verdicts, counts and places, and as much of the rest as fits.
`verdict`: verdicts, counts and the names of failures alone."""


DefaultPolicy: TypeAlias = Literal["default"]
"""A target of 16,000 characters for the output of commands, and the fixed limits of a reducer for
other results: 200 lines of a file, ten tickets."""


@_checks.checked_class
@dataclass(frozen=True, slots=True)
class ReductionPolicy:
    """Reduce as much as needed: text that fits in the target stays whole.

    Longer text loses what is lost without harm first. If the rest is longer than the target, it is
    filled with the lines that matter most. Text under the limits of its reducer (1,023 characters
    of a terminal) is never cut.

    Args:
        target_chars: Characters that the reduced text may have; `None` for what the call has in the
            budget of its batch.
        level: What of a longer text is kept.

    Raises:
        ConfigError: An argument is of the wrong kind.

    >>> ReductionPolicy(4_000).level
    'facts'

    """

    target_chars: int | None = 16_000
    level: ReductionLevel = "facts"

    def __post_init__(self) -> None:
        if self.target_chars is not None:
            _checks.whole_count(self.target_chars, "target_chars")
            object.__setattr__(self, "target_chars", int(self.target_chars))
        _checks.one_of(self.level, get_args(ReductionLevel), "level")


def checked_reduction(policy: object, what: str) -> ReductionPolicy | None:
    """`policy` itself; raises `ConfigError` if it is neither a `ReductionPolicy` nor `None`."""
    if policy is None or isinstance(policy, ReductionPolicy):
        return policy
    raise ConfigError(
        f"`{what}` must be a ReductionPolicy, got {type(policy).__name__}; "
        "`ReductionPolicy(8_000)` is one"
    )


@dataclass(frozen=True, slots=True)
class ToolReducerContext:
    """The original arguments of the call, the turn of the session, and how much to keep."""

    args: Any
    turn_count: int = 0
    policy: ReductionPolicy | None = None
    """How long the reduced text may be; with `None` the policy of the reducer decides."""


@runtime_checkable
class ToolResultReducer(Protocol):
    """Turns a result into a shorter one with the same facts.

    It is deterministic and synchronous, without I/O and without a model. If it raises, or returns
    anything but a result, the result stays as it was.

    A reducer may have a string `version`: a worker of a transport that has the same class in the
    same version then reduces results before it sends them. Without one, results travel whole and
    are reduced by the caller.
    """

    @property
    def tool_name(self) -> str:
        """The exact name of the tool whose results it reduces."""

    def reduce(self, result: ToolResult, context: ToolReducerContext, /) -> ToolResult:
        """The reduced result; the same object if there is nothing to do."""


class ToolResultReducerRegistry(Protocol):
    """Finds the reducer of a tool by its exact name."""

    def register(self, reducer: ToolResultReducer) -> Callable[[], None]:
        """Register a reducer; raises if the tool has one. Returns an idempotent clean-up."""

    def get(self, tool_name: str) -> ToolResultReducer | None:
        """The reducer of a tool, or `None`."""
