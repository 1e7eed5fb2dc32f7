"""The options of one batch: their types for callers, and their checked values."""

from __future__ import annotations

import contextlib
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextvars import Context
from dataclasses import dataclass
from typing import Any, Literal, Protocol, TypeAlias, TypedDict

from ethos_registry._table.entry import Entry
from ethos_registry.execution._approvals import ResumedCall
from ethos_registry.types import _checks
from ethos_registry.types._call import CallResult, Pending, Repair, ToolCall
from ethos_registry.types._checks import check_callback, check_takes
from ethos_registry.types._content import Attachment
from ethos_registry.types._context import ToolContext, ToolProgressEvent
from ethos_registry.types._errors import ConfigError
from ethos_registry.types._reducer import ReductionPolicy, checked_reduction
from ethos_registry.types._remote_finish import FinishFacts, FinishOrder
from ethos_registry.types._result import ToolResult
from ethos_registry.types._settings import (
    checked_settings,
    choice,
    instance_of,
    optional,
    setting,
    setting_names,
)

# Stopping single calls of a batch that runs.


class BatchControl:
    """Stops single calls of the batch that it is passed to as `control=`; use one per batch.

    >>> async def run(view, calls):
    ...     control = BatchControl()
    ...     batch = asyncio.create_task(view.execute(calls, control=control))
    ...     await asyncio.sleep(1)
    ...     control.stop(0)  # the first call; the others continue
    ...     return await batch
    """

    __slots__ = ("_stop",)

    def __init__(self) -> None:
        self._stop: Callable[[int], None] | None = None

    def stop(self, position: int) -> None:
        """Stop the call at this position of the batch, on the thread of its event loop.

        The call is answered as one of an aborted turn is. Does nothing for a call that has its
        result, and before and after the batch.
        """
        if self._stop is not None:
            self._stop(position)

    def attach(self, stop: Callable[[int], None] | None) -> None:
        """For the registry: what stops a call while the batch runs, `None` at its end."""
        self._stop = stop


# Code of the host around each call: it may answer instead of the tool, or change the result.

AFTER_SECONDS = 5.0
"""How long the `after` of one filter may take; it does not count as the tool's time."""

Answer: TypeAlias = ToolResult | Mapping[str, Any] | None
AnswerBefore: TypeAlias = Answer | Pending
Before: TypeAlias = Callable[["Invocation"], AnswerBefore | Awaitable[AnswerBefore]]
After: TypeAlias = Callable[["Invocation", ToolResult], Answer | Awaitable[Answer]]


class Invocation:
    """One call as a filter sees it, before and after the tool runs."""

    __slots__ = ("_call", "args", "context", "is_approved", "tool_name", "toolset")

    def __init__(self, call: Any) -> None:
        self.tool_name: str = call.plan.name
        self.toolset: str | None = call.plan.entry.toolset
        self.args: Any = call.tool_args
        """The arguments that the tool receives; a `before` may change or replace them."""
        self.context: ToolContext = call
        """The call's own context."""
        self.is_approved = False
        """Whether this filter answered `Pending` before, and the call was approved since."""
        self._call = call

    @property
    def repairs(self) -> tuple[Repair, ...]:
        """What was repaired in the arguments, because the model sent others."""
        found: tuple[Repair, ...] = self._call.repairs
        return found

    def __repr__(self) -> str:
        return f"Invocation({self.tool_name!r}, {_checks.brief(self.args)})"

    @contextlib.contextmanager
    def clock_paused(self) -> Iterator[None]:
        """Do not count the time inside against the tool's timeout: a person may be asked.

        The `deadline_seconds` of the batch still applies.
        """
        self._call.pause_clock()
        try:
            yield
        finally:
            self._call.resume_clock()


@_checks.checked_class
@dataclass(frozen=True, slots=True)
class InvocationFilter:
    """Code that runs around the calls of some tools.

    `before(invocation)` returns `None` to let the call continue, or a result in place of the
    tool's; the `before` of later filters is then not called. `Pending(reason)` answers the call as
    waiting for approval; `View.resume` continues it later. `after(invocation, result)` returns
    `None` to keep the result, or another result. Both may be `async def`. A `before` that raises
    refuses the call. An `after` that raises is logged once, and the result stays.

    Filters nest like the layers of an onion: `before` runs in the order given, `after` in the
    reverse order, so the first filter is the outermost.

    >>> from ethos_registry import ToolRegistry, ok
    >>> registry = ToolRegistry()
    >>> @registry.tool
    ... def greet(name: str) -> str: return f"hello {name}"
    >>> def shout(invocation, result): return ok(result.text.upper())
    >>> calls = [{"id": "1", "name": "greet", "args": {"name": "Ada"}}]
    >>> filters = [InvocationFilter(after=shout, tool_names="greet")]
    >>> registry.execute_parallel_sync(calls, filters=filters)[0].text
    'HELLO ADA'
    """

    before: Before | None = None
    after: After | None = None
    tool_names: str | Sequence[str] | None = None
    """The tools it applies to, by exact name or as `toolset:<group>`. Default: all."""
    toolset: str | None = None
    """The toolset it applies to. Default: all. If both are given, both must match."""
    allow_unmatched: bool = False
    """Whether it may name tools that are not registered; else a batch with it raises `ConfigError`,
    because a filter with a typo would let every call pass."""

    def __post_init__(self) -> None:
        if self.before is None and self.after is None:
            raise ConfigError("a filter needs `before`, `after` or both")
        if self.before is not None:
            check_takes(self.before, "before", "the invocation")
        if self.after is not None:
            check_takes(self.after, "after", "the invocation", "the result")
        names = self.tool_names
        if names is not None:
            names = (names,) if isinstance(names, str) else _checks.strings(names, "tool_names")
            object.__setattr__(self, "tool_names", names)
        _checks.optional_text(self.toolset, "toolset")
        _checks.boolean(self.allow_unmatched, "allow_unmatched")

    def matches(self, entry: Entry) -> bool:
        """Whether the filter applies to this tool."""
        names, toolset = self.tool_names, self.toolset
        if toolset not in (None, entry.toolset):
            return False
        return names is None or entry.name in names or f"toolset:{entry.toolset}" in names


def checked_filters(filters: Any, name: str = "filters") -> tuple[InvocationFilter, ...]:
    """The filters of a batch; `ConfigError` for anything but a list of them."""
    _checks.instance(filters, Sequence, name, "a list of filters", "put a single filter in a list")
    for item in filters:
        if not isinstance(item, InvocationFilter):
            raise ConfigError(
                f"`{name}` must hold InvocationFilter values, got {type(item).__name__}; "
                "create one with `InvocationFilter(before=..., tool_names=[...])`"
            )
    return tuple(filters)


def matching(filters: Sequence[InvocationFilter], entry: Entry) -> tuple[InvocationFilter, ...]:
    """The filters that apply to this tool, in the order given."""
    return tuple(item for item in filters if item.matches(entry))


BudgetPolicy: TypeAlias = Literal["even", "fill"]
"""`even`: every call has the same share, known before it starts. `fill`: tools may use the whole
budget, and when all have ended their results share it max-min fairly."""
UntrustedPolicy: TypeAlias = Literal["mark", "wrap"]
"""`mark`: results of untrusted tools are flagged and name their source. `wrap`: their text is also
cleaned of template tokens and put inside a fence that it cannot forge."""
OnResult: TypeAlias = Callable[[CallResult], object]
OnStart: TypeAlias = Callable[[ToolCall], object]


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
    """The context variables that each call runs in a copy of, by position, for a batch of several
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

    def on_blocked(self, index: int, seconds: float) -> None:
        """A tool kept the event loop from running anything else."""

    @property
    def answers_interrupts(self) -> bool:
        """Whether the `KeyboardInterrupt` of a tool is its failure: no one interrupts a worker."""

    @property
    def fast_path_chars(self) -> int:
        """No order changes text of at most this many characters, unless a reducer does."""


class StartLimits(Protocol):
    """Lets a call start, or refuses it."""

    async def run(self, run_tool: Callable[[Any], Awaitable[Any]], call: Any) -> Any:
        """What the tool returns if the limits let it start."""


def _on_result(value: Any, name: str) -> OnResult:
    check_callback(value, name, "result")
    on_result: OnResult = value
    return on_result


def _callers(value: Any, name: str) -> tuple[Context, ...]:
    if not isinstance(value, Sequence) or not all(isinstance(each, Context) for each in value):
        raise ConfigError(
            f"`{name}` must be a list of contextvars.Context, one for each call, "
            f"got {_checks.brief(value)}; `contextvars.copy_context()` makes one"
        )
    return tuple(value)


@dataclass(frozen=True, slots=True)
class CheckedOptions:
    """The options of one batch after the checks."""

    deadline_seconds: float | None = setting(optional(_checks.finite_number), default=None)
    max_concurrency: int | None = setting(optional(_checks.whole_count), default=None)
    budget_policy: BudgetPolicy = setting(choice(BudgetPolicy), default="even")
    untrusted: UntrustedPolicy = setting(choice(UntrustedPolicy), default="mark")
    filters: tuple[InvocationFilter, ...] = setting(checked_filters, default=())
    on_result: OnResult | None = setting(optional(_on_result), default=None)
    turn_attachments: tuple[Attachment, ...] = ()
    resumed: ResumedCall | None = None
    """The decision that the only call of the batch waited for."""
    sink: ResultSink | None = None
    """Set where calls run for a registry elsewhere, which counts their time and finishes their
    results: neither happens here."""
    control: BatchControl | None = setting(
        optional(instance_of(BatchControl, "a BatchControl")), default=None
    )
    callers: tuple[Context, ...] | None = setting(optional(_callers), default=None)
    reduction: ReductionPolicy | None = setting(checked_reduction, default=None)
    limits: StartLimits | None = None
    """What the calls may use, of the view that runs them."""
    on_start: OnStart | None = None
    """Called with each call of a stream when its tool starts."""


DEFAULT_OPTIONS = CheckedOptions()
OPTION_NAMES = setting_names(CheckedOptions)


def checked_options(
    options: Mapping[str, Any], turn_attachments: Iterable[Attachment] | None = None
) -> CheckedOptions:
    """The checked options of a batch.

    Raises `ConfigError` for a value of the wrong kind and `SignatureError` for an unknown option.
    """
    if not options and turn_attachments is None:
        return DEFAULT_OPTIONS
    if unknown := options.keys() - set(OPTION_NAMES):
        raise _checks.unknown_option("execute", min(unknown), sorted(OPTION_NAMES))
    attachments = _checked_attachments(turn_attachments)
    return checked_settings(CheckedOptions, options, turn_attachments=attachments)


def _checked_attachments(turn_attachments: Any) -> tuple[Attachment, ...]:
    if turn_attachments is None:
        return ()
    _checks.instance(turn_attachments, Iterable, "turn_attachments", "a list of Attachment values")
    attachments = tuple(turn_attachments)
    for item in attachments:
        if not isinstance(item, Attachment):
            raise ConfigError(
                f"`turn_attachments` must hold Attachment values, got {type(item).__name__}"
            )
    return attachments
