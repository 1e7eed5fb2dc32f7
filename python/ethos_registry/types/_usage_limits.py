"""What a view may use: calls, cost and tokens of a run, a day or a tenant."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import (
    Any,
    Literal,
    NamedTuple,
    Protocol,
    TypeAlias,
    TypedDict,
    get_args,
    runtime_checkable,
)

from ethos_registry.types import _checks
from ethos_registry.types._context import ToolContext
from ethos_registry.types._errors import ConfigError

LimitScope: TypeAlias = Literal["run", "day", "tenant", "tenant_day"]
"""One run (`run_id` of the context, else its `session_id`), a day (UTC), a tenant (`tenant_id`)
since the ledger began, or a tenant on one day."""


class UsageLimit(TypedDict, total=False):
    """What may be used in one scope; 0 permits nothing, what is left out has no limit."""

    calls: int
    """Calls whose tool is started."""
    cost_usd: float
    """The `cost_usd` of results, and what `View.report_usage` adds. Nothing starts once it is
    reached; what runs at that moment may exceed it."""
    tokens: int
    """What `View.report_usage` adds; as `cost_usd`."""


class UsageLimits(TypedDict, total=False):
    """The limits of a view, by what they are counted for."""

    run: UsageLimit
    day: UsageLimit
    tenant: UsageLimit
    tenant_day: UsageLimit


class UsageAmounts(NamedTuple):
    """What was used, in whole numbers: sums are exact."""

    calls: int = 0
    cost_nano_usd: int = 0
    tokens: int = 0


NANO_USD = 1_000_000_000
"""How many make one USD."""


class LimitKey(NamedTuple):
    """What something is counted for."""

    scope: LimitScope
    key: str
    """The id of the run or tenant."""
    day: int
    """Since 1970 in UTC; -1 for what is counted without end."""


class CheckedLimit(NamedTuple):
    """The limit of one amount in one scope."""

    scope: LimitScope
    amount: Literal["calls", "cost_usd", "tokens"]
    most: float


@runtime_checkable
class UsageCounter(Protocol):
    """Counts exactly, for all processes that share it; a `UsageLedger` is one."""

    def count_limits(
        self,
        keys: Sequence[LimitKey],
        decide: Callable[[Sequence[UsageAmounts]], UsageAmounts],
    ) -> None:
        """Add what `decide` returns to each key, given what was used; nothing comes in between.

        Blocks, for several seconds if another process locks the store; what cannot be stored
        raises.
        """


def checked_limits(limits: object) -> tuple[CheckedLimit, ...]:
    """The limits of a view; `ConfigError` for what cannot be meant."""
    return tuple(
        _checked(scope, amount, most)
        for scope, amounts in _items(limits, "limits", get_args(LimitScope))
        for amount, most in _items(amounts, f"limits[{scope!r}]", tuple(UsageLimit.__annotations__))
    )


def _items(given: object, what: str, known: tuple[str, ...]) -> list[tuple[Any, Any]]:
    if not isinstance(given, Mapping) or not given:
        raise ConfigError(
            f"`{what}` must map {', '.join(known)} to limits, got {_checks.brief(given)}"
        )
    for key in given:
        if key not in known:
            raise ConfigError(f"`{what}` has an unknown key {key!r}; it has {', '.join(known)}")
    return list(given.items())


def _checked(scope: LimitScope, amount: Any, most: Any) -> CheckedLimit:
    field = f"limits[{scope!r}][{amount!r}]"
    return CheckedLimit(
        scope, amount, _checks.finite_number(most, field, whole=amount != "cost_usd")
    )


def limit_keys(scopes: Sequence[LimitScope], context: ToolContext) -> list[LimitKey]:
    """What the calls of a context are counted for, but the day.

    Raises `ConfigError` for a context that does not name its run or tenant: it would count for
    everyone, or for no one.
    """
    return [LimitKey(scope, _id_in(context, scope), -1) for scope in scopes]


def _id_in(context: ToolContext, scope: LimitScope) -> str:
    if scope == "day":
        return ""
    found: str | None
    if scope == "run":
        found, fields = context.run_id or context.session_id, "`run_id` or `session_id`"
    else:
        found, fields = context.tenant_id, "`tenant_id`"
    if not found:
        raise ConfigError(
            f"the view has limits for each {scope.partition('_')[0]}, and the context names none; "
            f"give {fields} in `ToolContext`"
        )
    return found
