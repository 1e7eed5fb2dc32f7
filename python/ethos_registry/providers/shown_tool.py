"""What a provider sees of a tool, and the order of the tools in a request."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, TypeVar, get_args

from ethos_registry.contract import checks
from ethos_registry.contract.errors import ConfigError
from ethos_registry.contract.registration import Segment
from ethos_registry.schema.compilation import NoteKind

__all__ = [
    "MAX_BREAKPOINTS",
    "DefinitionOrder",
    "SchemaNote",
    "ShownTool",
    "arranged",
    "breakpoint_positions",
    "ordered",
]

T = TypeVar("T")

DefinitionOrder: TypeAlias = Literal["segments", "name", "registration"]
"""`segments`: by name within built-in, plugin, MCP; `name`: one flat list by name; `registration`:
as given. Names are compared by code point."""

MAX_BREAKPOINTS = 2
"""How many cache markers the tools of one request may carry; four in all are shared with the system
block and the messages."""

_SEGMENTS: tuple[str, ...] = get_args(Segment)


@dataclass(frozen=True, slots=True)
class ShownTool:
    """One tool as a model is to see it."""

    definition: Mapping[str, Any]
    """`{name, description, parameters}`; never changed here."""
    segment: Segment = "built-in"
    strict: bool = False
    """The provider is asked to hold the model to the schema, where it takes the schema for that."""

    def __post_init__(self) -> None:
        checks.one_of(self.segment, _SEGMENTS, "segment")


@dataclass(frozen=True, slots=True)
class SchemaNote:
    """What a provider is sent of a tool in other words than its author's, or not at all."""

    tool: str
    provider: str
    """The name of the rules, such as `anthropic`."""
    kind: NoteKind
    """`renamed`: a property has another name; `rewritten`: the same in other words; `described`:
    the model reads it in a description; `plain`: not sent as strict; `left_out`: not sent."""
    path: str
    """Properties joined by `/`, `*` for items; empty for the whole schema."""
    message: str

    def __str__(self) -> str:
        place = f"{self.tool}: {self.path}: " if self.path else f"{self.tool}: "
        return f"{place}{self.message}"


def ordered(tools: Iterable[ShownTool], order: DefinitionOrder) -> list[ShownTool]:
    """The tools in the order of a request; see `arranged`."""
    return arranged(tools, order, lambda tool: (tool.segment, str(tool.definition["name"])))


def arranged(
    items: Iterable[T], order: DefinitionOrder, place: Callable[[T], tuple[Segment, str]]
) -> list[T]:
    """The items in the order of a request, by segment and name; `ConfigError` for an unknown order.

    Built-in tools come first by default, because a provider's cache ends at the first byte that
    differs: what changes from session to session comes last.
    """
    checks.one_of(order, get_args(DefinitionOrder), "order")
    if order == "registration":
        return list(items)
    if order == "name":
        return sorted(items, key=lambda item: place(item)[1])
    segments = {segment: index for index, segment in enumerate(_SEGMENTS)}

    def segment_and_name(item: T) -> tuple[int, str]:
        segment, name = place(item)
        return segments[segment], name

    return sorted(items, key=segment_and_name)


def breakpoint_positions(segments: Sequence[Segment], breakpoints: int) -> frozenset[int]:
    """Which of the ordered tools carry a cache marker, by their segments.

    `ConfigError` unless 0, 1 or 2 are wanted. One marks the last tool; two mark the end of the
    built-in tools that lead the list as well, so that a changed MCP server leaves them cached. Ends
    that coincide are marked once.
    """
    checks.finite_number(breakpoints, "breakpoints", whole=True)
    if breakpoints > MAX_BREAKPOINTS:
        raise ConfigError(
            f"`breakpoints` must be at most {MAX_BREAKPOINTS}: {checks.brief(breakpoints)}",
            context={"field": "breakpoints", "value": breakpoints},
        )
    positions = {len(segments) - 1} if segments and breakpoints else set()
    if breakpoints == MAX_BREAKPOINTS:
        stable = next(
            (index for index, segment in enumerate(segments) if segment != "built-in"),
            len(segments),
        )
        if stable:
            positions.add(stable - 1)
    return frozenset(positions)
