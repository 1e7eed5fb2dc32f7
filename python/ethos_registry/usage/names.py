"""Names as the ledger stores them."""

from __future__ import annotations

from ethos_registry import _core

__all__ = ["MAX_NAME_CHARS", "stored_name"]

MAX_NAME_CHARS = 200
"""A model may call anything; this much of a name is stored."""


def stored_name(name: str) -> str:
    r"""The name without what a database refuses: NUL, lone surrogates, endless length.

    >>> stored_name("a\0b\ud800") == "a\ufffdb\ufffd"
    True
    """
    if len(name) > MAX_NAME_CHARS:
        name = f"{name[:MAX_NAME_CHARS]}..."
    return _core.replace_surrogates(name).replace("\0", "\ufffd")
