"""How long the reduced text of a result may be."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from ethos_registry.contract import checks
from ethos_registry.contract.errors import ConfigError

__all__ = ["ReductionLevel", "ReductionPolicy", "checked_reduction"]

ReductionLevel: TypeAlias = Literal["lossless", "facts", "verdict"]
"""What of a longer text is kept. `lossless`: everything but escapes, overwritten progress and exact
repeats. `facts`: failures, verdicts, counts and places, and as much of the rest as fits.
`verdict`: verdicts, counts and the names of failures alone."""


@dataclass(frozen=True, slots=True)
class ReductionPolicy:
    """Reduce as much as needed: text that fits in the target stays whole.

    Without a policy a reducer shortens text as far as it can. With one it removes what is lost
    without harm first; if the rest is longer than the target, it fills the target with the rows
    that matter most, and then with lines from the gaps between them. Text under the limits of its
    reducer (1,023 characters of a terminal) is never cut.

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
            checks.finite_number(self.target_chars, "target_chars", minimum=1, whole=True)
            object.__setattr__(self, "target_chars", int(self.target_chars))
        checks.one_of(self.level, get_args(ReductionLevel), "level")


def checked_reduction(policy: object, what: str) -> ReductionPolicy | None:
    """`policy` itself; raises `ConfigError` if it is neither a `ReductionPolicy` nor `None`."""
    if policy is None or isinstance(policy, ReductionPolicy):
        return policy
    raise ConfigError(
        f"`{what}` must be a ReductionPolicy, got {type(policy).__name__}; "
        "`ReductionPolicy(8_000)` is one"
    )
