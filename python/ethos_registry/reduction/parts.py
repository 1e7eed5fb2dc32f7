"""Results with one part changed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ethos_registry.contract.reduction_policy import ReductionPolicy
from ethos_registry.contract.result import ToolError, ToolOk, ToolResult

__all__ = ["exit_code_of", "length_of", "rebuilt", "with_text"]


def exit_code_of(result: ToolResult) -> int | None:
    """The exit code that a tool reports, or `None`.

    It is a field of `structured` of a success, and an extra field of an error.
    """
    reported = result.structured if result.ok else result.extra
    exit_code = reported.get("exit_code") if reported else None
    return exit_code if isinstance(exit_code, int) else None


def with_text(result: ToolResult, text: str) -> ToolResult:
    """`result` with another text."""
    return rebuilt(result, text, result.structured, result.cost_usd, result.extra)


def rebuilt(
    result: ToolResult,
    text: str,
    structured: Mapping[str, Any] | None,
    cost_usd: float | None,
    extra: Mapping[str, Any],
) -> ToolResult:
    """A result of the same type, code and reason with these parts."""
    if isinstance(result, ToolOk):
        return ToolOk(text, structured, cost_usd, extra, result.content)
    return ToolError(text, result.code, result.reason, structured, cost_usd, extra, result.content)


def length_of(policy: ReductionPolicy | None, used_chars: int = 0) -> tuple[int | None, str | None]:
    """The target and the level for the native core, after `used_chars` of the target are spent."""
    if policy is None:
        return None, None
    target_chars = policy.target_chars
    return None if target_chars is None else max(1, target_chars - used_chars), policy.level
