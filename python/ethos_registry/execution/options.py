"""The options of one batch, checked before any tool starts."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

from ethos_registry.contract import checks
from ethos_registry.contract.attachment import Attachment
from ethos_registry.contract.call import CallResult
from ethos_registry.contract.callables import check_callback
from ethos_registry.contract.errors import ConfigError
from ethos_registry.execution.filters import InvocationFilter, checked_filters

__all__ = ["BatchOptions", "BudgetPolicy", "OnResult", "UntrustedPolicy"]

BudgetPolicy: TypeAlias = Literal["even", "fill"]
"""`even`: every call has the same share, known before it starts. `fill`: tools may use the whole
budget, and when all have ended their results share it max-min fairly."""
UntrustedPolicy: TypeAlias = Literal["mark", "wrap"]
"""`mark`: results of untrusted tools say so and name their source. `wrap`: besides, the text is
freed of template tokens and put in a fence that it cannot forge."""
OnResult: TypeAlias = Callable[[CallResult], object]


@dataclass(frozen=True, slots=True)
class BatchOptions:
    """How a batch runs; the defaults are those of `execute_parallel`."""

    deadline_seconds: float | None = None
    """Bounds the whole batch; `None` leaves the tools' own clocks."""
    max_concurrency: int | None = None
    """How many calls run at once; `None` for all."""
    budget_policy: BudgetPolicy = "even"
    untrusted: UntrustedPolicy = "mark"
    on_result: OnResult | None = None
    """Called with each result as it comes, on the loop's thread; under `fill`, at the end."""
    filters: tuple[InvocationFilter, ...] = ()
    """Code of the host around each call."""
    turn_attachments: tuple[Attachment, ...] = ()

    @classmethod
    def checked(
        cls,
        *,
        deadline_seconds: Any,
        max_concurrency: Any,
        budget_policy: Any,
        untrusted: Any,
        on_result: Any,
        filters: Any,
        turn_attachments: Any,
    ) -> BatchOptions:
        """The options; `ConfigError` for one of the wrong kind."""
        if (
            deadline_seconds is max_concurrency is on_result is turn_attachments is None
            and budget_policy == "even"
            and untrusted == "mark"
            and filters == ()
        ):
            return DEFAULT_OPTIONS
        if deadline_seconds is not None:
            checks.finite_number(deadline_seconds, "deadline_seconds")
        if max_concurrency is not None:
            checks.finite_number(max_concurrency, "max_concurrency", minimum=1, whole=True)
        checks.one_of(budget_policy, get_args(BudgetPolicy), "budget_policy")
        checks.one_of(untrusted, get_args(UntrustedPolicy), "untrusted")
        if on_result is not None:
            check_callback(on_result, "on_result", "result")
        if turn_attachments is None:
            turn_attachments = ()
        if not isinstance(turn_attachments, Iterable):
            raise ConfigError(
                "`turn_attachments` must be a list of Attachment values, "
                f"got {type(turn_attachments).__name__}"
            )
        attachments = tuple(turn_attachments)
        for item in attachments:
            if not isinstance(item, Attachment):
                raise ConfigError(
                    f"`turn_attachments` holds Attachment values, got {type(item).__name__}"
                )
        return cls(
            deadline_seconds,
            max_concurrency,
            budget_policy,
            untrusted,
            on_result,
            checked_filters(filters),
            attachments,
        )


DEFAULT_OPTIONS = BatchOptions()
