"""The report of `demo` on a batch: one JSON document, made of its `CallResult`s."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypedDict

from ethos_registry import CallResult, ToolCall

__all__ = ["ReportedCall", "ReportedTotals", "Skipped", "TurnReport", "turn_report"]


class Skipped(TypedDict):
    """A call that was not made, and why."""

    call: str
    why: str


class ReportedCall(TypedDict):
    """One call and its `CallResult`; the figures have the names they have there."""

    tool_call_id: str
    name: str
    args: Any
    outcome: str
    """`ok`, or the code of the error."""
    reason: str | None
    raw_chars: int
    reduced_chars: int
    sent_chars: int
    truncated_from: int | None
    duration_seconds: float
    result: dict[str, Any]
    """The result as it goes to the model, in wire format."""


class ReportedTotals(TypedDict):
    """Sums over the calls."""

    raw_chars: int
    reduced_chars: int
    sent_chars: int
    duration_seconds: float


class TurnReport(TypedDict):
    """A turn: its budget in characters, its calls in order, their sums, the skipped calls."""

    budget_chars: int
    elapsed_seconds: float
    """From the start of the batch to its end; the calls run side by side."""
    calls: list[ReportedCall]
    totals: ReportedTotals
    skipped: list[Skipped]


def turn_report(
    calls: Sequence[ToolCall],
    results: Sequence[CallResult],
    *,
    budget_chars: int,
    elapsed_seconds: float,
    skipped: Sequence[Skipped],
) -> TurnReport:
    """The document of a batch; every figure of a call is that of its `CallResult`."""
    return {
        "budget_chars": budget_chars,
        "elapsed_seconds": elapsed_seconds,
        "calls": [_reported(call, result) for call, result in zip(calls, results, strict=True)],
        "totals": {
            "raw_chars": sum(result.raw_chars for result in results),
            "reduced_chars": sum(result.reduced_chars for result in results),
            "sent_chars": sum(result.sent_chars for result in results),
            "duration_seconds": sum(result.duration_seconds for result in results),
        },
        "skipped": list(skipped),
    }


def _reported(call: ToolCall, result: CallResult) -> ReportedCall:
    answer = result.result
    return {
        "tool_call_id": result.tool_call_id,
        "name": result.name,
        "args": call.args,
        "outcome": "ok" if answer.ok else answer.code,
        "reason": None if answer.ok else answer.reason,
        "raw_chars": result.raw_chars,
        "reduced_chars": result.reduced_chars,
        "sent_chars": result.sent_chars,
        "truncated_from": result.truncated_from,
        "duration_seconds": result.duration_seconds,
        "result": answer.to_wire(),
    }
