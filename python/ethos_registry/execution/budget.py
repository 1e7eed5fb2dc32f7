"""How the characters of a turn are shared among its calls (contract 3.8)."""

from __future__ import annotations

import math
import sys

__all__ = ["even_share"]


def even_share(budget_chars: float, call_count: int) -> int:
    """The same share for every call, known before any starts (seed 000).

    At most `sys.maxsize`: no text is longer.

    >>> even_share(9.9, 2)
    4
    """
    return min(math.floor(budget_chars // max(call_count, 1)), sys.maxsize)
