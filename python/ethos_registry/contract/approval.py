"""Approvals that outlive a batch: what a filter answers, and what the application gets."""

from __future__ import annotations

from collections.abc import Awaitable
from dataclasses import dataclass
from typing import Any, Protocol

from ethos_registry.contract import checks

__all__ = ["ApprovalStore", "Pending", "PendingApproval"]


@dataclass(frozen=True, slots=True)
class Pending:
    """What the `before` of a filter returns when a person decides later.

    The call is then answered at once, as waiting for approval: see `CallResult.pending` and
    `View.resume`. The registry needs `approvals=Approvals(key)`.

    >>> Pending("deletes a folder").reason
    'deletes a folder'
    """

    reason: str
    """Why the call needs approval, for the person and for the model."""

    def __post_init__(self) -> None:
        checks.unicode_text(self.reason, "reason")


@dataclass(frozen=True, slots=True)
class PendingApproval:
    """A call that waits for approval: what to show to a person, and the token to resume it."""

    token: str
    """Signed, not encrypted: it holds the arguments. Keep it from models and from other users."""
    reason: str
    tool_call_id: str
    tool_name: str
    arguments: Any
    """The arguments as the model sent them."""
    expires_at_seconds: float | None
    """Unix time from which on the token is refused; `None` for never."""

    def __repr__(self) -> str:  # without the token, which may end in a log
        return f"<PendingApproval of {self.tool_name}: {checks.brief(self.reason)}>"


class ApprovalStore(Protocol):
    """Remembers which approvals were used, so that each is used once."""

    def claim(self, approval_id: str, expires_at_seconds: float | None) -> bool | Awaitable[bool]:
        """Whether this is the first claim of the id: atomic, and durable if tokens are.

        An id may be forgotten after `expires_at_seconds` (Unix time).
        """
