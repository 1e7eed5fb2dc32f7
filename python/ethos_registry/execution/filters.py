"""Code of the host around each call: it may answer instead of the tool, or change its answer.

An approval is a `before` that asks a person (contract 3.13).
"""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

from ethos_registry.contract import checks
from ethos_registry.contract.callables import check_takes
from ethos_registry.contract.context import ToolContext
from ethos_registry.contract.errors import ConfigError
from ethos_registry.contract.result import ToolResult
from ethos_registry.table.entry import Entry

__all__ = ["AFTER_SECONDS", "Invocation", "InvocationFilter", "checked_filters", "matching"]

AFTER_SECONDS = 5.0
"""How long the `after` of one filter may take; its time is not the tool's."""

Answer: TypeAlias = ToolResult | Mapping[str, Any] | None
Before: TypeAlias = Callable[["Invocation"], Answer | Awaitable[Answer]]
After: TypeAlias = Callable[["Invocation", ToolResult], Answer | Awaitable[Answer]]


class Clock(Protocol):
    """The clock of a running call."""

    def pause_clock(self) -> None:
        """Stop counting the tool's time."""

    def resume_clock(self) -> None:
        """Go on counting where it stopped."""


class Invocation:
    """One call as a filter sees it, before and after it runs."""

    __slots__ = ("_clock", "args", "context", "tool_name", "toolset")

    def __init__(self, entry: Entry, args: Any, context: ToolContext, clock: Clock) -> None:
        self.tool_name: str = entry.name
        self.toolset: str | None = entry.toolset
        self.args: Any = args
        """The arguments as the tool gets them; a `before` may change them, or put others there."""
        self.context = context
        """The call's own context."""
        self._clock = clock

    def __repr__(self) -> str:
        return f"Invocation({self.tool_name!r}, {checks.brief(self.args)})"

    @contextlib.contextmanager
    def clock_paused(self) -> Iterator[None]:
        """Do not count what happens inside against the tool's time: a person may think it over.

        The deadline of the batch goes on.
        """
        self._clock.pause_clock()
        try:
            yield
        finally:
            self._clock.resume_clock()


@dataclass(frozen=True, slots=True)
class InvocationFilter:
    """What runs around the calls of some tools.

    `before` answers `None` to let the call go on, or a result that stands for the tool's; the
    filters after it are then not asked. `after` gets the result and answers `None` to keep it, or
    another. Both may be `async def`. A `before` that fails refuses the call; an `after` that fails
    is logged, and the result stays.
    """

    before: Before | None = None
    after: After | None = None
    tool_names: str | Sequence[str] | None = None
    """The tools it is for, by exact name; `None` for all."""
    toolset: str | None = None
    """The group it is for; `None` for all. Both must match where both are given."""

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

    def matches(self, entry: Entry) -> bool:
        """Whether the filter is for this tool."""
        names, toolset = self.tool_names, self.toolset
        return (names is None or entry.name in names) and toolset in (None, entry.toolset)


def checked_filters(filters: object) -> tuple[InvocationFilter, ...]:
    """The filters of a batch; `ConfigError` for anything but a list of them."""
    if isinstance(filters, InvocationFilter) or not isinstance(filters, Sequence):
        raise ConfigError(
            f"`filters` must be a list of filters, got {type(filters).__name__}; put one in a list"
        )
    for item in filters:
        if not isinstance(item, InvocationFilter):
            raise ConfigError(
                f"`filters` holds InvocationFilter values, got {type(item).__name__}; "
                "`InvocationFilter(before=..., tool_names=[...])` makes one"
            )
    return tuple(filters)


def matching(filters: Sequence[InvocationFilter], entry: Entry) -> list[InvocationFilter]:
    """The filters that are for this tool, in the order they were given."""
    return [item for item in filters if item.matches(entry)]


async def answer_of(function: Callable[..., Any], *arguments: Any) -> Any:
    """What a filter's function answers, awaited if need be."""
    answer = function(*arguments)
    return await answer if inspect.isawaitable(answer) else answer
