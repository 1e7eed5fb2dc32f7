"""Approval tokens: signed data that a call can be resumed with, in another process too."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import os
import secrets
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Final

from ethos_registry._persistence.files import make_private_file, make_private_folder
from ethos_registry._table.snapshot import Snapshot
from ethos_registry.execution import _refusals
from ethos_registry.execution._refusals import BadResultError
from ethos_registry.reduction._redaction import Redact
from ethos_registry.types import _checks
from ethos_registry.types._blocking import awaited
from ethos_registry.types._call import ApprovalStore, Pending, PendingApproval, ToolCall
from ethos_registry.types._errors import ApprovalError, ConfigError
from ethos_registry.types._result import ToolError

DEFAULT_EXPIRY_SECONDS: Final = 86_400.0
MIN_KEY_BYTES: Final = 16
_VERSION: Final = "erap1"
_CONTEXT: Final = b"ethos-registry approval 1\n"
_PRUNED_AT: Final = 1_024


class MemoryApprovalStore:
    """Remembers used approvals in this process.

    >>> store = MemoryApprovalStore()
    >>> store.claim("a1", None), store.claim("a1", None)
    (True, False)
    """

    def __init__(self) -> None:
        self._claimed: dict[str, float | None] = {}
        self._prune_at = _PRUNED_AT
        self._lock = threading.Lock()

    def claim(self, approval_id: str, expires_at_seconds: float | None) -> bool:
        """Whether this is the first claim of the id."""
        with self._lock:
            if approval_id in self._claimed:
                return False
            self._claimed[approval_id] = expires_at_seconds
            if len(self._claimed) >= self._prune_at:
                now = time.time()
                self._claimed = {
                    each: end for each, end in self._claimed.items() if end is None or end > now
                }
                self._prune_at = max(_PRUNED_AT, 2 * len(self._claimed))
            return True

    def __reduce__(self) -> tuple[Any, ...]:
        raise TypeError("a memory store belongs to its process; use `FileApprovalStore(folder)`")


@_checks.checked_class
class FileApprovalStore:
    """Remembers used approvals as empty files in a folder, for all processes that share it.

    Files of approvals that have expired may be deleted.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self._folder = Path(_checks.path(folder, "folder"))
        make_private_folder(self._folder)

    def __repr__(self) -> str:
        return f"FileApprovalStore({str(self._folder)!r})"

    def claim(self, approval_id: str, expires_at_seconds: float | None) -> bool:
        """Whether this is the first claim of the id; `OSError` if the folder cannot be written."""
        name = hashlib.sha256(approval_id.encode()).hexdigest()
        try:
            make_private_file(self._folder / name, is_new=True)
        except FileExistsError:
            return False
        return True


@_checks.checked_class
class Approvals:
    """Signs the tokens of calls that wait for approval: `ToolRegistry(approvals=Approvals(key))`.

    Args:
        key: At least 16 random bytes that only the application knows, the same in every process
            that resumes calls. Of a list the first signs, and all are accepted.
        expires_after_seconds: How long a token is valid; `None` for no limit. Default: one day.
        store: Where used approvals are remembered. Default: in this process, so another process
            that has the key could run the call once more; `FileApprovalStore(folder)`, or a
            store over your database, prevents that.

    Raises:
        ConfigError: An argument is of the wrong kind, or the key is too short.

    >>> Approvals(b"sixteen bytes or more")
    <Approvals, valid for 86400 s>

    """

    def __init__(
        self,
        key: bytes | Sequence[bytes],
        *,
        expires_after_seconds: float | None = DEFAULT_EXPIRY_SECONDS,
        store: ApprovalStore | None = None,
    ) -> None:
        keys = (key,) if isinstance(key, bytes) else key
        if isinstance(keys, str) or not isinstance(keys, Sequence) or not keys:
            raise ConfigError("`key` must be bytes; `secrets.token_bytes(32)` makes them")
        for each in keys:
            if not isinstance(each, bytes) or len(each) < MIN_KEY_BYTES:
                raise ConfigError(
                    f"`key` must be at least {MIN_KEY_BYTES} bytes; "
                    "`secrets.token_bytes(32)` makes them"
                )
        if expires_after_seconds is not None:
            _checks.finite_number(expires_after_seconds, "expires_after_seconds")
        if store is not None and not callable(getattr(store, "claim", None)):
            raise ConfigError(f"`store` must have `claim`, got {type(store).__name__}")
        self._keys = tuple(keys)
        self.expires_after_seconds = expires_after_seconds
        self.store: ApprovalStore = MemoryApprovalStore() if store is None else store

    def __repr__(self) -> str:
        seconds = self.expires_after_seconds
        limit = "without a limit" if seconds is None else f"for {seconds:.0f} s"
        return f"<Approvals, valid {limit}>"

    def expiry(self) -> float | None:
        """When a token that is made now expires, in Unix time."""
        seconds = self.expires_after_seconds
        return None if seconds is None else time.time() + seconds

    def sign(self, claims: dict[str, Any]) -> str:
        """A token of these JSON values. `TypeError` or `ValueError` for others."""
        text = json.dumps(claims, separators=(",", ":"), allow_nan=False)
        body = base64.urlsafe_b64encode(text.encode()).decode()
        return f"{_VERSION}.{body}.{_signature(self._keys[0], body)}"

    def read(self, token: str) -> dict[str, Any]:
        """The values of a token. `ApprovalError` if it was not signed here, or has expired."""
        parts = _checks.text(token, "token").split(".")
        if len(parts) != 3 or parts[0] != _VERSION or not token.isascii():
            raise ApprovalError("malformed", "the token is not an approval token")
        _, body, signature = parts
        expected = [_signature(key, body) for key in self._keys]
        if not any([hmac.compare_digest(signature, each) for each in expected]):  # noqa: C419
            raise ApprovalError("forged", "the token was changed, or signed with another key")
        try:
            claims: dict[str, Any] = json.loads(base64.urlsafe_b64decode(body))
        except (ValueError, binascii.Error):
            raise ApprovalError("malformed", "the token is not an approval token") from None
        except RecursionError:  # what can be signed depends on the depth of the stack there
            raise ApprovalError(
                "malformed",
                "the arguments in the token are nested too deeply to be read here; resume the "
                "call from a less deep stack",
            ) from None
        expires = claims.get("expires")
        if expires is not None and time.time() >= expires:
            raise ApprovalError("expired", "the approval has expired; the call needs a new one")
        return claims


def _signature(key: bytes, body: str) -> str:
    digest = hmac.digest(key, _CONTEXT + body.encode(), "sha256")
    return base64.urlsafe_b64encode(digest).decode().rstrip("=")


# Calls that wait for approval: how one is answered, and how it is resumed.


class PendingResult(Exception):  # noqa: N818 - it carries an answer, and nothing failed
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

    async def claim(self, call: Any) -> None:
        """Use the approval of a call.

        Raises `PendingResult` if it was used before, or if it is a refusal.
        """
        tool_name, redact = call.plan.name, call.plan.redact
        what = "the `claim` of the approval store"
        report = partial(call.batch.runtime.report_blocking, what)
        claim = self.approvals.store.claim
        if not await awaited(report, claim, self.approval_id, self.expires_at_seconds):
            self.is_used = True
            raise PendingResult(_refusals.not_approved(tool_name, "this approval was used before"))
        if not self.is_approved:
            because = f": {_redacted(self.reason, redact)}" if self.reason else ""
            raise PendingResult(_refusals.not_approved(tool_name, f"the user declined{because}"))


def fingerprint_of(snapshot: Snapshot, tool_name: str) -> str:
    """SHA-256 over the definitions of all tools that outlive a turn, and of this one.

    The order of registration, hiding and availability do not matter.
    """
    digest = hashlib.sha256()
    for entry in sorted(snapshot.all(), key=lambda entry: entry.name):
        if not entry.ephemeral or entry.name == tool_name:
            digest.update(hashlib.sha256(entry.definition.text).digest())
    return digest.hexdigest()


def pending_result(call: Any, pending: Pending, place: str) -> PendingResult:
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
        "session": batch.context.session_id,
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
    waiting = PendingApproval(
        token, pending.reason, call.tool_call_id, name, call.args, expires, call.repairs
    )
    reason = _redacted(pending.reason, call.plan.redact)
    return PendingResult(_refusals.pending(name, reason, waiting))


def _redacted(text: str, redact: Redact | None) -> str:
    """The text for the model, before it is cut: half a credential would not be recognised."""
    return text if redact is None else redact(text)


def resumed_call(
    request: Any,
    token: str,
    *,
    agent_id: str | None,
    is_approved: bool,
    edited_args: Any,
    reason: str | None,
) -> tuple[ToolCall, ResumedCall]:
    """The call of a token, and the decision. Agent and session are checked if they are given.

    `request` is that of the batch which continues the call. Raises `ApprovalError` for a token that
    is not valid there.
    """
    approvals: Approvals | None = request.runtime.approvals
    if approvals is None:
        raise ConfigError(
            "the registry has no `approvals`; create it with `ToolRegistry(approvals=...)`"
        )
    if edited_args is not None and not is_approved:
        raise ConfigError("`edited_args` belong to an approval: pass `approved=True` with them")
    claims = approvals.read(token)
    name = claims["tool"]
    if claims["registry"] != fingerprint_of(request.admission.snapshot, name):
        raise ApprovalError(
            "other_registry", f"tool `{name}` or its registry is not what was approved"
        )
    personality, session_id = request.personality, request.context.session_id
    personality_id = None if personality is None else personality.id
    is_other_agent = agent_id is not None and claims["agent"] != agent_id
    is_other_session = session_id != "" and claims.get("session", session_id) != session_id
    if claims["personality"] != personality_id or is_other_agent or is_other_session:
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
