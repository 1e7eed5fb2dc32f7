"""How the characters of a turn are shared among its calls."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence

__all__ = ["even_share", "fill_shares"]


def even_share(budget_chars: float, call_count: int) -> int:
    """The same share for every call, known before any starts.

    At most `sys.maxsize`: no text is longer.

    >>> even_share(9.9, 2)
    4
    """
    return min(math.floor(budget_chars // max(call_count, 1)), sys.maxsize)


def fill_shares(budget_chars: float, bodies_chars: Sequence[int]) -> list[int]:
    """How many characters each body keeps when all share one budget, max-min fair.

    A body that needs less than an equal share keeps all of it, and the rest is shared among the
    others: no body could keep more without taking from one that keeps less. Characters that do not
    divide evenly go to the bodies that come first.

    >>> fill_shares(100, [10, 80, 70])
    [10, 45, 45]
    """
    left = math.floor(budget_chars)
    shares = [0] * len(bodies_chars)
    by_size = sorted(range(len(bodies_chars)), key=bodies_chars.__getitem__)
    for place, index in enumerate(by_size):
        waiting = len(by_size) - place
        if bodies_chars[index] * waiting > left:
            share, extra = divmod(left, waiting)
            for order, cut in enumerate(sorted(by_size[place:])):
                shares[cut] = share + (order < extra)
            break
        shares[index] = bodies_chars[index]
        left -= bodies_chars[index]
    return shares
