"""Calls that wait for approval: how one is answered, and how it is resumed."""

from __future__ import annotations

import hashlib
import inspect
import secrets
from dataclasses import dataclass, field
from typing import Any

from ethos_registry.contract.approval import Pending, PendingApproval
from ethos_registry.contract.call import ToolCall
from ethos_registry.contract.errors import ApprovalError, ConfigError
from ethos_registry.contract.result import ToolError
from ethos_registry.execution import refusals
from ethos_registry.execution.approvals import Approvals
from ethos_registry.execution.returned import BadResultError
from ethos_registry.reduction.redaction import Redact
from ethos_registry.table.snapshot import Snapshot

__all__ = ["Answered", "ResumedCall", "answered_as_pending", "resumed_call"]


class Answered(Exception):  # noqa: N818 - it carries an answer, and nothing failed
    """A call is answered before its tool starts; the result is not that of a tool."""

    def __init__(self, result: ToolError) -> None:
        super().__init__()
        self.result = result


@dataclass(slots=True)
class ResumedCall:
    """A decision about a call that waited for approval."""

    approvals: Approvals
    approval_id: str
    expires_at_seconds: float | None
    granted: frozenset[str]
    """The filters whose question is answered, by their place."""
    is_approved: bool
    reason: str | None
    is_used: bool = field(default=False)
    """Whether another resume was first."""

    async def claim(self, tool_name: str, redact: Redact | None) -> None:
        """Use the approval: raises `Answered` if it was used before, or if it is a refusal.

        `redact` takes credentials out of the reason of a refusal, which the model reads.
        """
        first = self.approvals.store.claim(self.approval_id, self.expires_at_seconds)
        if not (await first if inspect.isawaitable(first) else first):
            self.is_used = True
            raise Answered(refusals.not_approved(tool_name, "this approval was used before"))
        if not self.is_approved:
            because = f": {_redacted(self.reason, redact)}" if self.reason else ""
            raise Answered(refusals.not_approved(tool_name, f"the user declined{because}"))


def fingerprint_of(snapshot: Snapshot, tool_name: str) -> str:
    """SHA-256 over the definitions of all tools that outlive a turn, and of this one.

    The order of registration, hiding and availability do not matter.
    """
    digest = hashlib.sha256()
    for entry in sorted(snapshot.all(), key=lambda entry: entry.name):
        if not entry.ephemeral or entry.name == tool_name:
            digest.update(hashlib.sha256(entry.definition.text).digest())
    return digest.hexdigest()


def answered_as_pending(call: Any, pending: Pending, place: str) -> Answered:
    """The answer to a call that a filter wants to be approved; to be raised."""
    batch, name = call.batch, call.plan.name
    approvals: Approvals | None = batch.runtime.approvals
    if approvals is None:
        raise BadResultError(
            "the filter before it answered `Pending`, and the registry has no `approvals`; "
            "create it with `ToolRegistry(approvals=Approvals(key))`"
        )
    resumed: ResumedCall | None = batch.options.resumed
    if resumed is None:
        approval_id, expires = secrets.token_hex(16), approvals.expiry()
        granted: frozenset[str] = frozenset()
    else:  # another filter asks: the same approval goes on, so that it is still used once
        approval_id, granted = resumed.approval_id, resumed.granted
        expires = resumed.expires_at_seconds
    claims = {
        "id": approval_id,
        "call": call.tool_call_id,
        "tool": name,
        "args": call.args,
        "registry": fingerprint_of(batch.admission.snapshot, name),
        "personality": batch.personality_id,
        "agent": batch.context.agent_id,
        "granted": sorted(granted),
        "asks": place,
        "expires": expires,
    }
    try:
        token = approvals.sign(claims)
    except (TypeError, ValueError, RecursionError):
        raise BadResultError(
            "the call needs approval, and its arguments are not JSON values"
        ) from None
    waiting = PendingApproval(token, pending.reason, call.tool_call_id, name, call.args, expires)
    reason = _redacted(pending.reason, call.plan.redact)
    return Answered(refusals.pending(name, reason, waiting))


def _redacted(text: str, redact: Redact | None) -> str:
    """The text for the model, before it is cut: half a credential would not be recognised."""
    return text if redact is None else redact(text)


def resumed_call(
    approvals: Approvals | None,
    token: str,
    snapshot: Snapshot,
    *,
    personality_id: str | None,
    agent_id: str | None,
    is_approved: bool,
    edited_args: Any,
    reason: str | None,
) -> tuple[ToolCall, ResumedCall]:
    """The call of a token, and the decision. `agent_id` is checked if it is given.

    Raises `ApprovalError` for a token that is not valid here.
    """
    if approvals is None:
        raise ConfigError(
            "the registry has no `approvals`; create it with `ToolRegistry(approvals=...)`"
        )
    if edited_args is not None and not is_approved:
        raise ConfigError("`edited_args` belong to an approval: pass `approved=True` with them")
    claims = approvals.read(token)
    name = claims["tool"]
    if claims["registry"] != fingerprint_of(snapshot, name):
        raise ApprovalError(
            "other_registry", f"tool `{name}` or its registry is not what was approved"
        )
    is_other_agent = agent_id is not None and claims["agent"] != agent_id
    if claims["personality"] != personality_id or is_other_agent:
        raise ApprovalError("other_caller", f"the call of tool `{name}` belongs to another caller")
    args = claims["args"] if edited_args is None else edited_args
    resumed = ResumedCall(
        approvals,
        claims["id"],
        claims["expires"],
        frozenset([*claims["granted"], claims["asks"]]),
        is_approved,
        reason,
    )
    return ToolCall(claims["call"], name, args), resumed
