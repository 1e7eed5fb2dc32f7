"""What a source of further attributes receives of a call."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple, TypeAlias

from ethos_registry.contract.observer import FinishedCall
from ethos_registry.contract.tool import Tool

__all__ = ["AttributeSource", "AttributeValue", "TracedCall"]

AttributeValue: TypeAlias = str | bool | int | float


class TracedCall(NamedTuple):
    """A call that has its result, for functions that add attributes to its span."""

    call: FinishedCall
    tool: Tool | None
    """The tool; `None` for a name that is not registered."""
    tool_name: str
    """Its name; `_unknown` for a name that is not registered."""
    error_type: str | None
    """The kind of the failure; `None` for a success."""
    arguments: str | None
    """The arguments as JSON, without credentials; `None` unless content is captured."""
    result: str | None
    """The text that the model reads, without credentials; `None` unless content is captured."""


AttributeSource: TypeAlias = Callable[[TracedCall], Mapping[str, AttributeValue]]
