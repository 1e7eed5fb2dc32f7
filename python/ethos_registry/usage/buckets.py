"""Durations as counts in buckets, each 12 % wider than the one before."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Final

from ethos_registry import _core

__all__ = ["BUCKET_GROWTH", "LAST_BUCKET", "NOT_REACHED", "bucket_of", "bucket_seconds", "quantile"]

BUCKET_GROWTH = 1.12
LAST_BUCKET = 255
"""Bucket 0 ends at one microsecond, the last one holds everything above 35 days."""
NOT_REACHED = -1
"""The bucket of calls that did not reach the implementation: they have no duration."""

_FIRST_SECONDS = 1e-6


bucket_of: Final = _core.usage_bucket
"""The bucket of a duration in seconds.

>>> bucket_of(0.0), bucket_of(1e-6), bucket_of(0.1), bucket_of(1e12)
(0, 0, 102, 255)
"""


def bucket_seconds(bucket: int) -> float:
    """The representative duration of a bucket: its geometric middle, at most 6 % off.

    >>> 0.094 < bucket_seconds(bucket_of(0.1)) < 0.106
    True
    """
    return _FIRST_SECONDS * math.pow(BUCKET_GROWTH, bucket - 0.5)


def quantile(counts: Iterable[tuple[int, int]], fraction: float) -> float | None:
    """The duration in seconds below which a `fraction` of all calls stay; `None` without any.

    `counts` are pairs of bucket and number of calls.

    >>> median = quantile([(bucket_of(0.010), 3), (bucket_of(5.0), 1)], 0.5)
    >>> f"{median:.3f}"
    '0.010'
    """
    ordered = sorted(counts)
    total = sum(number for _, number in ordered)
    rank = max(math.ceil(total * fraction), 1)
    for bucket, number in ordered:
        rank -= number
        if rank <= 0:
            return bucket_seconds(bucket)
    return None
