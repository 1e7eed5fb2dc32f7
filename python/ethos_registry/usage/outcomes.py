"""How a call ended, in one word."""

from __future__ import annotations

from typing import Final

from ethos_registry.contract.result import ToolResult

__all__ = ["FAILED", "OK", "is_refusal", "outcome_of"]

OK: Final = "ok"
FAILED: Final = "failed"
"""The tool itself returned an error."""
DRY_RUN: Final = "dry_run"
"""Only what would be called was reported."""
REFUSED: Final = "refused"
"""Code of the host answered in place of the tool."""

_RUN_REASONS = frozenset({"raised", "timeout", "cancelled", "bad_result"})


def is_refusal(outcome: str) -> bool:
    """Whether a call that ended like this never reached the implementation.

    >>> is_refusal("denied"), is_refusal("timeout"), is_refusal("timeout_before_start")
    (True, False, True)
    """
    return outcome != OK and outcome != FAILED and outcome not in _RUN_REASONS


def outcome_of(result: ToolResult, *, is_started: bool) -> str:
    """`ok`, `failed`, or the reason for which the registry refused or ended the call.

    A call that was stopped before its tool started ends in `..._before_start`; a success without a
    start is a `dry_run`.

    >>> from ethos_registry import ToolError, err, ok
    >>> outcome_of(ok(""), is_started=True), outcome_of(err("no such file"), is_started=True)
    ('ok', 'failed')
    >>> outcome_of(ToolError("", "not_available", "timeout"), is_started=False)
    'timeout_before_start'
    """
    if result.ok:
        return OK if is_started else DRY_RUN
    reason = result.reason
    if reason is None:
        return FAILED if is_started else REFUSED
    if reason in _RUN_REASONS and not is_started:
        return f"{reason}_before_start"
    return reason
