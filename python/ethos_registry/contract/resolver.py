"""Protocols for objects that look up or make tools."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol, TypeAlias, runtime_checkable

from ethos_registry.contract.dispatch import DispatchContext
from ethos_registry.contract.tool import Tool

__all__ = ["ForgedTools", "ToolForge", "ToolResolver"]


@runtime_checkable
class ToolResolver(Protocol):
    """Tools by exact name, for code that only looks them up."""

    @property
    def size(self) -> int:
        """The number of tools."""

    def resolve(self, name: str) -> Tool | None:
        """The tool of exactly this name, or `None`. Never raises and never runs a tool."""

    def list(self) -> Sequence[str]:
        """The names, sorted by code point."""


ForgedTools: TypeAlias = Iterable[Tool] | ToolResolver
"""Tools made for one turn: a list of them, or a registry of them."""


class ToolForge(Protocol):
    """Makes tools for one turn, from what the turn has so far.

    A forge with an attribute `store` provides the turn's artifact store.
    """

    def forge_tools(self, context: DispatchContext) -> ForgedTools:
        """The tools of this iteration; an empty list for none."""
