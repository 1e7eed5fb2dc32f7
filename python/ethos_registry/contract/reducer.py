"""What shortens a tool's result before a model reads it (seed 001)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from ethos_registry.contract.result import ToolResult

__all__ = ["ToolReducerContext", "ToolResultReducer", "ToolResultReducerRegistry"]


@dataclass(frozen=True, slots=True)
class ToolReducerContext:
    """What a reducer knows of the call: the original arguments and the session's turn."""

    args: Any
    turn_count: int = 0


@runtime_checkable
class ToolResultReducer(Protocol):
    """Turns a result into a shorter one that says the same.

    Deterministic and synchronous; no I/O, no model. One that raises, or answers anything but a
    result, leaves the result as it was.
    """

    @property
    def tool_name(self) -> str:
        """The exact name of the tool whose results it reduces."""

    def reduce(self, result: ToolResult, context: ToolReducerContext, /) -> ToolResult:
        """The reduced result; the same object when there is nothing to do."""


class ToolResultReducerRegistry(Protocol):
    """Finds the reducer of a tool by its exact name."""

    def register(self, reducer: ToolResultReducer) -> Callable[[], None]:
        """Register, or raise when the tool has a reducer; returns an idempotent clean-up."""

    def get(self, tool_name: str) -> ToolResultReducer | None:
        """The reducer of a tool, or `None`."""
