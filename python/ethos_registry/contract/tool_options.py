"""The keywords of functions that make or change a tool, for type checkers."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Literal, TypeAlias, TypedDict

from ethos_registry.contract.capability import ToolCapabilities
from ethos_registry.contract.context import ToolContext
from ethos_registry.contract.reduction_policy import ReductionPolicy
from ethos_registry.contract.result import ToolResult
from ethos_registry.contract.retry import Retry

__all__ = [
    "CollisionPolicy",
    "DispatchMode",
    "Execute",
    "RegisterOptions",
    "ToolChanges",
    "ToolOptions",
]

CollisionPolicy: TypeAlias = Literal["throw", "replace", "keep"]
"""What a merge does when the name of an incoming tool is taken."""

DispatchMode: TypeAlias = Literal["confirmed", "eager"]
"""When a call of a streamed reply may start. `confirmed`: when the reply went on after it or ended
well. `eager`: as soon as it is closed and its arguments parse, though the reply may yet be cut."""

Execute: TypeAlias = Callable[
    [Any, ToolContext],
    ToolResult | Mapping[str, Any] | Awaitable[ToolResult | Mapping[str, Any]],
]
"""`execute(args, context)`: `async def`, or a plain function, which runs on a thread."""


class ToolOptions(TypedDict, total=False):
    """What `@tool` takes: the fields of a `Tool` but for `execute`."""

    name: str | None
    description: str | None
    schema: Mapping[str, Any] | None
    toolset: str | None
    max_result_chars: int | None
    capabilities: ToolCapabilities | Mapping[str, Any] | None
    is_available: Callable[[], bool] | None
    always_include: bool
    output_is_untrusted: bool
    ephemeral: bool
    on_collision: CollisionPolicy
    timeout_seconds: float | None
    idempotent: bool
    dispatch: DispatchMode
    reduction: ReductionPolicy | None
    retry: Retry | None
    max_concurrency: int | None
    calls_per_second: float | None
    strict: bool


class RegisterOptions(ToolOptions, total=False):
    """What `@registry.tool` takes."""

    overwrite: bool
    plugin_id: str | None
    owner: str | None


class ToolChanges(TypedDict, total=False):
    """What `Tool.replace` takes: the fields of a `Tool`."""

    name: str
    description: str
    schema: Mapping[str, Any]
    execute: Execute
    toolset: str | None
    max_result_chars: int | None
    capabilities: ToolCapabilities | Mapping[str, Any] | None
    is_available: Callable[[], bool] | None
    always_include: bool
    output_is_untrusted: bool
    ephemeral: bool
    on_collision: CollisionPolicy
    timeout_seconds: float | None
    idempotent: bool
    dispatch: DispatchMode
    reduction: ReductionPolicy | None
    retry: Retry | None
    max_concurrency: int | None
    calls_per_second: float | None
    strict: bool
