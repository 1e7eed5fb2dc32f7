"""What the providers share: a list of definitions out of single ones."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar, Generic, TypeVar, cast

from ethos_registry.providers.rendered import MARKER
from ethos_registry.providers.shown_tool import (
    DefinitionOrder,
    ShownTool,
    breakpoint_positions,
    ordered,
)

__all__ = ["WireFormat"]

DefinitionT = TypeVar("DefinitionT")
MessageT = TypeVar("MessageT")


class WireFormat(Generic[DefinitionT, MessageT]):
    """One wire format; the types are those of an item of `tools` and of a message."""

    name: ClassVar[str]
    has_markers: ClassVar[bool] = False
    frame: ClassVar[str | None] = None

    def __repr__(self) -> str:
        return f"provider({self.name!r})"

    def definition(self, tool: ShownTool) -> dict[str, Any]:
        """One tool as the model is shown it, without a marker; plain values."""
        raise NotImplementedError

    def calls(self, reply: object) -> list[Any]:
        """The calls of one whole reply."""
        raise NotImplementedError

    def messages(self, results: Iterable[Any]) -> list[MessageT]:
        """The messages that answer the calls."""
        raise NotImplementedError

    def definitions(
        self,
        tools: Iterable[ShownTool],
        *,
        order: DefinitionOrder = "segments",
        breakpoints: int = 1,
    ) -> list[DefinitionT]:
        """The `tools` of a request: fresh dicts over the schemas that were given.

        `breakpoints` (0, 1 or 2) counts cache markers where the format has them.
        """
        shown = ordered(tools, order)
        marked = breakpoint_positions([tool.segment for tool in shown], breakpoints)
        definitions: list[Any] = [self.definition(tool) for tool in shown]
        if self.has_markers:
            for position in marked:
                definitions[position]["cache_control"] = dict(MARKER)
        if self.frame is not None and definitions:
            return cast("list[DefinitionT]", [{self.frame: definitions}])
        return definitions
