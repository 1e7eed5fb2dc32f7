"""Reducers: they shorten the result of a tool before a model reads it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from ethos_registry.contract.reduction_policy import ReductionPolicy
from ethos_registry.contract.result import ToolResult

__all__ = ["ToolReducerContext", "ToolResultReducer", "ToolResultReducerRegistry"]


@dataclass(frozen=True, slots=True)
class ToolReducerContext:
    """The original arguments of the call, the turn of the session, and how much to keep."""

    args: Any
    turn_count: int = 0
    policy: ReductionPolicy | None = None
    """How long the reduced text may be; `None` to reduce as far as possible."""


@runtime_checkable
class ToolResultReducer(Protocol):
    """Turns a result into a shorter one with the same facts.

    It is deterministic and synchronous, without I/O and without a model. If it raises, or returns
    anything but a result, the result stays as it was.

    A reducer may have a string `version`: a worker of a transport that has the same class in the
    same version then reduces results before it sends them. Without one, results travel whole and
    are reduced by the caller.
    """

    @property
    def tool_name(self) -> str:
        """The exact name of the tool whose results it reduces."""

    def reduce(self, result: ToolResult, context: ToolReducerContext, /) -> ToolResult:
        """The reduced result; the same object if there is nothing to do."""


class ToolResultReducerRegistry(Protocol):
    """Finds the reducer of a tool by its exact name."""

    def register(self, reducer: ToolResultReducer) -> Callable[[], None]:
        """Register a reducer; raises if the tool has one. Returns an idempotent clean-up."""

    def get(self, tool_name: str) -> ToolResultReducer | None:
        """The reducer of a tool, or `None`."""
