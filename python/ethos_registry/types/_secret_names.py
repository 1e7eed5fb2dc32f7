"""Which argument and field names announce a secret value."""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import pairwise

_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")

_SECRET_WORDS = frozenset(
    {
        "auth",
        "authorization",
        "bearer",
        "cookie",
        "cookies",
        "cred",
        "creds",
        "credential",
        "credentials",
        "jwt",
        "otp",
        "pass",
        "passcode",
        "passphrase",
        "passwd",
        "password",
        "passwords",
        "pin",
        "pwd",
        "secret",
        "secrets",
        "token",
        "totp",
    }
)
_KEY_WORDS = frozenset(
    {
        "access",
        "account",
        "api",
        "auth",
        "client",
        "encryption",
        "master",
        "private",
        "secret",
        "service",
        "shared",
        "signing",
        "ssh",
        "storage",
    }
)
"""Before `key`, they make a secret of it."""
_ABOUT_WORDS = frozenset(
    {
        "budget",
        "count",
        "counts",
        "estimate",
        "expires",
        "expiry",
        "field",
        "format",
        "kind",
        "length",
        "limit",
        "max",
        "maximum",
        "method",
        "min",
        "minimum",
        "mode",
        "name",
        "number",
        "policy",
        "rate",
        "scheme",
        "size",
        "total",
        "type",
        "types",
        "url",
        "usage",
        "used",
    }
)
"""With one of these, a name is about a secret and holds none: `token_count`, `auth_type`."""
_ENDINGS = ("password", "passwd", "passphrase", "secret", "token", "apikey", "accesskey")
_ANYWHERE = ("password", "passphrase", "credential", "privatekey", "secretkey")


@lru_cache(maxsize=4_096)
def is_secret_name(name: str) -> bool:
    """Whether a value under this name is to be hidden in logs, dry runs and stored outputs.

    Names are read word by word, whatever joins the words.

    >>> [is_secret_name(name) for name in ("db_pwd", "x-auth", "apiKey", "account key")]
    [True, True, True, True]
    >>> [is_secret_name(name) for name in ("max_tokens", "token_count", "bypass", "secretary")]
    [False, False, False, False]
    """
    words = [word.lower() for word in _WORDS.findall(name)]
    if not words or _ABOUT_WORDS.intersection(words):
        return False
    if _SECRET_WORDS.intersection(words):
        return True
    pairs = pairwise(words)
    if any(second in ("key", "keys") and first in _KEY_WORDS for first, second in pairs):
        return True
    return any(word.endswith(_ENDINGS) or any(part in word for part in _ANYWHERE) for word in words)
