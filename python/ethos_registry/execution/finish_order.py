"""Shortening results where their tools run: what is asked for, done there, and taken here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ethos_registry import _core
from ethos_registry.artifacts.shared_file import write_shared
from ethos_registry.contract.finish_elsewhere import FinishFacts, FinishOrder
from ethos_registry.contract.reducer import ToolResultReducer
from ethos_registry.contract.reduction_policy import ReductionPolicy
from ethos_registry.contract.result import ToolResult
from ethos_registry.contract.transport import TransportTraits
from ethos_registry.execution.batch import Batch
from ethos_registry.execution.full_text import FRAME_CHARS
from ethos_registry.execution.plan import CallPlan
from ethos_registry.reduction.finish import Fence, Finished, finish_result, sanitized
from ethos_registry.reduction.identity import reducer_identity
from ethos_registry.reduction.parts import with_text
from ethos_registry.reduction.redaction import (
    Redact,
    Redactor,
    redacted_parts,
    redacted_start,
    redacted_text,
)

__all__ = [
    "STORED_FROM_CHARS",
    "finish_order",
    "finished_here",
    "is_within_order",
    "needs_full_text",
    "shortened",
]

STORED_FROM_CHARS = 64 * 1024
"""Shorter text is not written to a shared folder: it travels, and the caller stores it."""


def finish_order(batch: Batch, plan: CallPlan, traits: TransportTraits) -> FinishOrder | None:
    """What a worker is asked to do with the results of a tool.

    `None` if their full text is needed here: for a filter, a recorder, a reduction policy, a
    reducer or a redaction that the worker does not have, or an artifact store that it cannot reach.
    """
    observers, entry = batch.observers, plan.entry
    reducer = reducer_identity(plan.reducer)
    fences = batch.wraps_untrusted and entry.output_is_untrusted
    if (
        not traits.finishes_results
        or plan.filters
        or batch.options.resumed is not None
        or reducer is None
        or (observers is not None and observers.batch_recorded)
        or (fences and entry.mcp_server is not None)
        or (batch.trims_at_end and not reducer)
        or (plan.reduction is not None and reducer)
        or not _is_standard(plan.redact, batch)
    ):
        return None
    folder = None
    if batch.artifacts is not None:
        folder = batch.artifacts.shared_folder()
        if folder is None:
            return None
    return FinishOrder(
        plan.cap, not batch.trims_at_end, reducer, plan.redact is not None, fences, folder
    )


def _is_standard(redact: Redact | None, batch: Batch) -> bool:
    """Whether credentials are recognised by their shape alone: no secret was handed out here."""
    if redact is None or redact is _core.redact:
        return True
    return type(redact) is Redactor and redact.own is None and redact.known is None


def shortened(
    result: ToolResult,
    cap: int,
    reducer: ToolResultReducer | None,
    args: Any,
    turn_count: int,
    fence: Fence | None,
    redact: Redact | None,
    policy: ReductionPolicy | None = None,
    *,
    keeps_text: bool = True,
) -> tuple[Finished, str]:
    """A result without credentials, reduced, trimmed and fenced; and its text before that.

    The text before has no credentials either: it may be stored. Unless the caller `keeps_text`,
    only the part is searched that a trim leaves, and the text before is that part.
    """
    raw_chars, is_start = len(result.text), False
    if redact is not None:
        start = None
        if not keeps_text and reducer is None and fence is None:
            start = redacted_start(result.text, cap, redact)
        if start is None:
            result = redacted_text(result, redact)
        else:
            result, is_start = with_text(result, start), True
    finished = finish_result(
        result,
        cap,
        reducer,
        args,
        turn_count,
        fence,
        policy,
        redact=redact,
        raw_chars=raw_chars,
        is_start=is_start,
    )
    if redact is not None and (result.structured is not None or result.extra):
        finished.result = redacted_parts(finished.result, redact)
    return finished, result.text


def needs_full_text(finished: Finished, cap: int, *, is_reduced: bool, trims: bool) -> bool:
    """Whether the model does not receive the whole text."""
    if is_reduced:
        return True
    if trims:
        return finished.truncated_from == finished.reduced_chars
    return finished.sent_chars > cap


def finished_here(
    order: FinishOrder,
    result: ToolResult,
    reducer: ToolResultReducer | None,
    args: Any,
    turn_count: int,
    fence: Fence | None,
    known_secrets: Redact | None,
) -> tuple[Finished, FinishFacts] | None:
    """A result as the registry of the caller would finish it; `None` if it has to travel whole.

    `reducer` is that of this registry; `None` for a result that no reducer may change.
    """
    is_stored = order.folder is not None
    if is_stored and len(result.text) < STORED_FROM_CHARS:
        return None
    redact = _joined(known_secrets) if order.redacts else known_secrets
    cap = order.cap if order.trims else _NO_TRIM
    now = fence if order.trims else None
    finished, text = shortened(result, cap, reducer, args, turn_count, now, redact)
    file = None
    if order.folder is not None:
        is_reduced = reducer is not None and finished.reduced_chars < len(text)
        is_cut = needs_full_text(finished, order.cap, is_reduced=is_reduced, trims=order.trims)
        if is_cut:
            file = write_shared(order.folder, text)
        if file is None and (is_cut or not order.trims):
            return None
    if not order.trims and fence is not None:
        finished = sanitized(finished)
    facts = FinishFacts(finished.raw_chars, finished.reduced_chars, finished.truncated_from, file)
    return finished, facts


def is_within_order(order: FinishOrder | None, result: ToolResult) -> bool:
    """Whether the text keeps to what was asked for; other text is finished here."""
    if order is None:
        return False
    return not order.trims or len(result.text) <= order.cap + 2 * FRAME_CHARS


def _joined(known_secrets: Callable[[str], str] | None) -> Redact:
    return _core.redact if known_secrets is None else Redactor(own=known_secrets)


_NO_TRIM = 2**63 - 1
