"""Whether an allow list covers a declared host pattern."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["covers_host"]


def covers_host(allowed: Iterable[str], declared: str) -> bool:
    """Whether the allow list covers `declared`; `*` means all that is allowed.

    >>> covers_host(["*.github.com"], "api.github.com"), covers_host(["*.github.com"], "github.com")
    (True, False)
    """
    declared = declared.lower()
    if declared == "*":
        return True
    bare = declared.removeprefix("*.")
    for pattern in (pattern.lower() for pattern in allowed):
        if pattern in ("*", declared):
            return True
        if pattern.startswith("*.") and (f".{bare}").endswith(pattern[1:]):
            is_apex = bare == pattern[2:]
            if not is_apex or declared.startswith("*."):
                return True
    return False
