"""Code of the host around each call: it may answer instead of the tool, or change the result."""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from time import monotonic
from typing import Any, Protocol, TypeAlias

from ethos_registry.contract import checks
from ethos_registry.contract.approval import Pending
from ethos_registry.contract.callables import check_takes
from ethos_registry.contract.context import ToolContext
from ethos_registry.contract.errors import ConfigError
from ethos_registry.contract.result import ToolResult
from ethos_registry.execution.blocking import watched
from ethos_registry.table.entry import Entry

__all__ = ["AFTER_SECONDS", "Invocation", "InvocationFilter", "checked_filters", "matching"]

AFTER_SECONDS = 5.0
"""How long the `after` of one filter may take; it does not count as the tool's time."""

Answer: TypeAlias = ToolResult | Mapping[str, Any] | None
AnswerBefore: TypeAlias = Answer | Pending
Before: TypeAlias = Callable[["Invocation"], AnswerBefore | Awaitable[AnswerBefore]]
After: TypeAlias = Callable[["Invocation", ToolResult], Answer | Awaitable[Answer]]


class PausableClock(Protocol):
    """A clock that can be stopped for a while."""

    def pause_clock(self) -> None:
        """Stop counting the tool's time."""

    def resume_clock(self) -> None:
        """Continue counting."""


class Invocation:
    """One call as a filter sees it, before and after the tool runs."""

    __slots__ = ("_clock", "args", "context", "is_approved", "tool_name", "toolset")

    def __init__(self, entry: Entry, args: Any, context: ToolContext, clock: PausableClock) -> None:
        self.tool_name: str = entry.name
        self.toolset: str | None = entry.toolset
        self.args: Any = args
        """The arguments that the tool receives; a `before` may change or replace them."""
        self.context = context
        """The call's own context."""
        self.is_approved = False
        """Whether this filter answered `Pending` before, and the call was approved since."""
        self._clock = clock

    def __repr__(self) -> str:
        return f"Invocation({self.tool_name!r}, {checks.brief(self.args)})"

    @contextlib.contextmanager
    def clock_paused(self) -> Iterator[None]:
        """Do not count the time inside against the tool's timeout: a person may be asked.

        The `deadline_seconds` of the batch still applies.
        """
        self._clock.pause_clock()
        try:
            yield
        finally:
            self._clock.resume_clock()


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
            names = (names,) if isinstance(names, str) else checks.strings(names, "tool_names")
            object.__setattr__(self, "tool_names", names)
        checks.optional_text(self.toolset, "toolset")
        checks.boolean(self.allow_unmatched, "allow_unmatched")

    def matches(self, entry: Entry) -> bool:
        """Whether the filter applies to this tool."""
        names, toolset = self.tool_names, self.toolset
        if toolset not in (None, entry.toolset):
            return False
        return names is None or entry.name in names or f"toolset:{entry.toolset}" in names


def checked_filters(filters: object) -> tuple[InvocationFilter, ...]:
    """The filters of a batch; `ConfigError` for anything but a list of them."""
    if isinstance(filters, InvocationFilter) or not isinstance(filters, Sequence):
        raise ConfigError(
            f"`filters` must be a list of filters, got {type(filters).__name__}; "
            "put a single filter in a list"
        )
    for item in filters:
        if not isinstance(item, InvocationFilter):
            raise ConfigError(
                f"`filters` must hold InvocationFilter values, got {type(item).__name__}; "
                "create one with `InvocationFilter(before=..., tool_names=[...])`"
            )
    return tuple(filters)


def matching(filters: Sequence[InvocationFilter], entry: Entry) -> tuple[InvocationFilter, ...]:
    """The filters that apply to this tool, in the order given."""
    return tuple(item for item in filters if item.matches(entry))


async def awaited(
    report: Callable[[float], object], function: Callable[..., Any], *arguments: Any
) -> Any:
    """What a filter's function returns, awaited if it is awaitable.

    `report` is called with the seconds in which it blocked the event loop.
    """
    begun = monotonic()
    try:
        answer = function(*arguments)
    finally:
        report(monotonic() - begun)
    return await watched(answer, report) if inspect.isawaitable(answer) else answer
