"""Spans of days: calls are also summed up by 4 and by 16 days, for reports over the last days.

The days from one day on are a few spans: some single days up to the next multiple of 4, some spans
of 4 days up to the next multiple of 16, and spans of 16 days from there on. The last span may end
in the future, where nothing was counted.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

__all__ = ["WIDTHS", "SpanRange", "first_days", "spans_from"]

WIDTHS = (1, 4, 16)
"""In days; each divides the next."""


class SpanRange(NamedTuple):
    """The spans of one width whose first day is in a range."""

    width: int
    start: int
    end: int | None
    """Not in the range; `None` for no end."""


def first_days(day: int) -> list[tuple[int, int]]:
    """The width and first day of each span that the day is in."""
    return [(width, day - day % width) for width in WIDTHS]


def spans_from(day: int) -> list[SpanRange]:
    """The spans that together are all days from this one on, each day once."""
    ranges = []
    for width, wider in pairwise(WIDTHS):
        end = -(-day // wider) * wider
        if day < end:
            ranges.append(SpanRange(width, day, end))
        day = end
    return [*ranges, SpanRange(WIDTHS[-1], day, None)]
