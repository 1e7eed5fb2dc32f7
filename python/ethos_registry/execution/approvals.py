"""Approval tokens: signed data that a call can be resumed with, in another process too."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import os
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from ethos_registry.contract import checks
from ethos_registry.contract.approval import ApprovalStore
from ethos_registry.contract.errors import ApprovalError, ConfigError

__all__ = ["Approvals", "FileApprovalStore", "MemoryApprovalStore"]

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


class FileApprovalStore:
    """Remembers used approvals as empty files in a folder, for all processes that share it.

    Files of approvals that have expired may be deleted.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self._folder = Path(checks.path(folder, "folder"))
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)

    def __repr__(self) -> str:
        return f"FileApprovalStore({str(self._folder)!r})"

    def claim(self, approval_id: str, expires_at_seconds: float | None) -> bool:
        """Whether this is the first claim of the id; `OSError` if the folder cannot be written."""
        name = hashlib.sha256(approval_id.encode()).hexdigest()
        try:
            os.close(os.open(self._folder / name, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        except FileExistsError:
            return False
        return True


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
            checks.finite_number(expires_after_seconds, "expires_after_seconds")
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
        parts = checks.text(token, "token").split(".")
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
