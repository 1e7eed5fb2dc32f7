"""Credentials out of any text: the rule that results of tools pass."""

from __future__ import annotations

from ethos_registry import _core

__all__ = ["redact_text"]


def redact_text(text: str) -> str:
    """`text` with a label such as `[redacted: github token]` for each credential of a known shape.

    The same object if it has none. Hashes, ids and base64 stay: there is no rule for random
    strings.

    >>> redact_text("https://ada:correct-horse@example.org")
    'https://ada:[redacted: password]@example.org'
    """
    return _core.redact(text)
