"""The options of one batch: their types for callers, and their checked values."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextvars import Context
from dataclasses import dataclass
from typing import Any, Literal, Protocol, TypeAlias, TypedDict, get_args

from ethos_registry.contract import checks
from ethos_registry.contract.attachment import Attachment
from ethos_registry.contract.call import CallResult
from ethos_registry.contract.callables import check_callback
from ethos_registry.contract.errors import ConfigError
from ethos_registry.contract.finish_elsewhere import FinishFacts, FinishOrder
from ethos_registry.contract.progress import ToolProgressEvent
from ethos_registry.contract.reduction_policy import ReductionPolicy, checked_reduction
from ethos_registry.contract.result import ToolResult
from ethos_registry.execution.control import BatchControl
from ethos_registry.execution.filters import InvocationFilter, checked_filters
from ethos_registry.execution.pending import ResumedCall

__all__ = [
    "DEFAULT_OPTIONS",
    "BatchOptions",
    "BudgetPolicy",
    "CheckedOptions",
    "OnResult",
    "ResultSink",
    "StreamOptions",
    "UntrustedPolicy",
    "checked_options",
]

BudgetPolicy: TypeAlias = Literal["even", "fill"]
"""`even`: every call has the same share, known before it starts. `fill`: tools may use the whole
budget, and when all have ended their results share it max-min fairly."""
UntrustedPolicy: TypeAlias = Literal["mark", "wrap"]
"""`mark`: results of untrusted tools are flagged and name their source. `wrap`: their text is also
cleaned of template tokens and put inside a fence that it cannot forge."""
OnResult: TypeAlias = Callable[[CallResult], object]


class StreamOptions(TypedDict, total=False):
    """The options of `View.stream`: those of a batch without `on_result`."""

    deadline_seconds: float | None
    """Bounds the whole batch. Default: `None`, only the tools' own timeouts."""
    max_concurrency: int | None
    """How many calls run at once. Default: `None`, all of them."""
    budget_policy: BudgetPolicy
    """How the results share `result_budget_chars`. Default: `"even"`."""
    untrusted: UntrustedPolicy
    """What happens to the output of untrusted tools. Default: `"mark"`."""
    filters: Sequence[InvocationFilter]
    """Code of the host around each call. Default: none."""
    reduction: ReductionPolicy | None
    """How much of reduced results is kept, instead of what their tools and the registry say.
    Default: `None`."""


class BatchOptions(StreamOptions, total=False):
    """The options of `execute_parallel` and `View.execute`."""

    on_result: OnResult | None
    """Called with each result when it is ready, on the loop's thread; with `budget_policy="fill"`
    at the end of the batch. Default: `None`."""
    control: BatchControl | None
    """Stops single calls while the batch runs. Default: `None`."""
    callers: Sequence[Context] | None
    """The context variables in a copy of which each call runs, by position, for a batch of several
    callers' calls. Default: `None`, those of the caller of the batch."""


class ResultSink(Protocol):
    """Receives what calls produce, by the position of the call."""

    def on_started(self, index: int) -> None:
        """A tool is about to run."""

    def on_event(self, index: int, event: ToolProgressEvent) -> None:
        """A tool emitted an event."""

    def on_result(self, index: int, result: ToolResult, *, was_started: bool) -> None:
        """A call has its result."""

    def finish_order(self, index: int) -> FinishOrder | None:
        """What is to be done with the result of a call; `None`: what the tool returned is sent."""

    def on_finished(self, index: int, result: ToolResult, facts: FinishFacts) -> None:
        """The order was carried out: if this is the call's result, these are its lengths."""

    @property
    def plain_chars(self) -> int:
        """No order changes text of at most this many characters, unless a reducer does."""


@dataclass(frozen=True, slots=True)
class CheckedOptions:
    """The options of one batch after the checks."""

    deadline_seconds: float | None = None
    max_concurrency: int | None = None
    budget_policy: BudgetPolicy = "even"
    untrusted: UntrustedPolicy = "mark"
    filters: tuple[InvocationFilter, ...] = ()
    on_result: OnResult | None = None
    turn_attachments: tuple[Attachment, ...] = ()
    resumed: ResumedCall | None = None
    """The decision that the only call of the batch waited for."""
    sink: ResultSink | None = None
    """Set where calls run for a registry elsewhere, which counts their time and finishes their
    results: neither happens here."""
    control: BatchControl | None = None
    callers: tuple[Context, ...] | None = None
    reduction: ReductionPolicy | None = None


DEFAULT_OPTIONS = CheckedOptions()

_NOT_OPTIONS = ("turn_attachments", "sink", "resumed")
OPTION_NAMES = tuple(name for name in CheckedOptions.__slots__ if name not in _NOT_OPTIONS)


def checked_options(
    options: Mapping[str, Any], turn_attachments: Iterable[Attachment] | None = None
) -> CheckedOptions:
    """The checked options of a batch.

    Raises `ConfigError` for a value of the wrong kind and `TypeError` for an unknown option.
    """
    if not options and turn_attachments is None:
        return DEFAULT_OPTIONS
    unknown = options.keys() - set(OPTION_NAMES)
    if unknown:
        name = min(unknown)
        raise TypeError(
            f"unknown option {name!r}{_did_you_mean(name)}; "
            f"the options are {', '.join(sorted(OPTION_NAMES))}"
        )
    return _checked_values(turn_attachments, **options)


def _checked_values(
    turn_attachments: Any,
    *,
    deadline_seconds: Any = None,
    max_concurrency: Any = None,
    budget_policy: Any = "even",
    untrusted: Any = "mark",
    filters: Any = (),
    on_result: Any = None,
    control: Any = None,
    callers: Any = None,
    reduction: Any = None,
) -> CheckedOptions:
    if deadline_seconds is not None:
        checks.finite_number(deadline_seconds, "deadline_seconds")
    if max_concurrency is not None:
        checks.finite_number(max_concurrency, "max_concurrency", minimum=1, whole=True)
    checks.one_of(budget_policy, get_args(BudgetPolicy), "budget_policy")
    checks.one_of(untrusted, get_args(UntrustedPolicy), "untrusted")
    if on_result is not None:
        check_callback(on_result, "on_result", "result")
    if control is not None and not isinstance(control, BatchControl):
        raise ConfigError(f"`control` must be a BatchControl, got {type(control).__name__}")
    return CheckedOptions(
        deadline_seconds=deadline_seconds,
        max_concurrency=max_concurrency,
        budget_policy=budget_policy,
        untrusted=untrusted,
        filters=checked_filters(filters),
        on_result=on_result,
        turn_attachments=_checked_attachments(turn_attachments),
        control=control,
        callers=_checked_callers(callers),
        reduction=checked_reduction(reduction, "reduction"),
    )


def _checked_callers(callers: Any) -> tuple[Context, ...] | None:
    if callers is None:
        return None
    if not isinstance(callers, Sequence) or not all(isinstance(each, Context) for each in callers):
        raise ConfigError(
            "`callers` must be a list of contextvars.Context, one for each call, "
            f"got {checks.brief(callers)}; `contextvars.copy_context()` makes one"
        )
    return tuple(callers)


def _checked_attachments(turn_attachments: Any) -> tuple[Attachment, ...]:
    if turn_attachments is None:
        return ()
    if not isinstance(turn_attachments, Iterable):
        raise ConfigError(
            "`turn_attachments` must be a list of Attachment values, "
            f"got {type(turn_attachments).__name__}"
        )
    attachments = tuple(turn_attachments)
    for item in attachments:
        if not isinstance(item, Attachment):
            raise ConfigError(
                f"`turn_attachments` must hold Attachment values, got {type(item).__name__}"
            )
    return attachments


def _did_you_mean(name: str) -> str:
    import difflib

    close = difflib.get_close_matches(name, OPTION_NAMES, n=1)
    return f" (did you mean {close[0]!r}?)" if close else ""
