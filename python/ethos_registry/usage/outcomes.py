"""How a call ended, in one word."""

from __future__ import annotations

from typing import Final

from ethos_registry.contract.result import ToolResult

__all__ = ["ANSWERED", "DRY_RUN", "FAILED", "OK", "is_refusal", "outcome_of"]

OK: Final = "ok"
FAILED: Final = "failed"
"""The tool itself returned an error."""
ANSWERED: Final = "answered"
"""A filter of the host succeeded in place of the tool."""
DRY_RUN: Final = "dry_run"
"""Only what would be called was reported."""
REFUSED: Final = "refused"
"""A filter of the host returned an error in place of the tool."""

_RUN_REASONS = frozenset({"raised", "timeout", "cancelled", "bad_result", "worker_lost"})


def is_refusal(outcome: str) -> bool:
    """Whether a call that ended like this never reached the implementation.

    >>> is_refusal("denied"), is_refusal("timeout"), is_refusal("timeout_before_start")
    (True, False, True)
    """
    return outcome != OK and outcome != FAILED and outcome not in _RUN_REASONS


def outcome_of(result: ToolResult, *, is_started: bool, is_dry_run: bool = False) -> str:
    """`ok`, `failed`, or the reason for which the registry refused or ended the call.

    A call that was stopped before its tool started ends in `..._before_start`; a success without a
    start is a `dry_run` or the answer of a filter.

    >>> from ethos_registry import ToolError, err, ok
    >>> outcome_of(ok(""), is_started=True), outcome_of(err("no such file"), is_started=True)
    ('ok', 'failed')
    >>> outcome_of(ToolError("", "not_available", "timeout"), is_started=False)
    'timeout_before_start'
    """
    if result.ok:
        if is_started:
            return OK
        return DRY_RUN if is_dry_run else ANSWERED
    reason = result.reason
    if reason is None:
        return FAILED if is_started else REFUSED
    if reason in _RUN_REASONS and not is_started:
        return f"{reason}_before_start"
    return reason
