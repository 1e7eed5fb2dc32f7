"""A batch of counts as the rows of each table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

from ethos_registry.usage.buckets import NOT_REACHED
from ethos_registry.usage.record import CountedCalls, KnownTool, Totals
from ethos_registry.usage.spans import first_days

__all__ = ["Rows", "cells", "days", "durations", "span_durations", "spans", "tools", "totals"]

Rows: TypeAlias = list[tuple[Any, ...]]
Sums: TypeAlias = dict[tuple[int, ...], Totals]


def cells(counts: CountedCalls, ids: Mapping[str, int]) -> Rows:
    """Calls of one agent, tool, day, outcome and duration."""
    return [
        (
            ids[key.agent],
            ids[key.tool],
            key.day,
            ids[key.owner],
            ids[key.outcome],
            key.bucket,
            *totals,
        )
        for key, totals in counts.items()
    ]


def totals(counts: CountedCalls, ids: Mapping[str, int]) -> Rows:
    """Calls of all days, whatever their duration."""
    sums: dict[tuple[int, ...], Any] = {}
    for key, totals in counts.items():
        reached = int(key.bucket != NOT_REACHED)
        _add(
            sums, (ids[key.agent], ids[key.tool], ids[key.owner], ids[key.outcome], reached), totals
        )
    return [(*row, *totals) for row, totals in sums.items()]


def durations(counts: CountedCalls, ids: Mapping[str, int]) -> Rows:
    """Calls by tool and duration."""
    sums: dict[tuple[int, ...], int] = {}
    for key, totals in counts.items():
        if key.bucket != NOT_REACHED:
            row = (ids[key.tool], key.bucket)
            sums[row] = sums.get(row, 0) + totals.calls
    return [(*row, calls) for row, calls in sums.items()]


def days(counts: CountedCalls, ids: Mapping[str, int]) -> Rows:
    """Calls by day, agent and outcome."""
    sums: dict[tuple[int, ...], int] = {}
    for key, totals in counts.items():
        reached = int(key.bucket != NOT_REACHED)
        row = (key.day, ids[key.agent], ids[key.outcome], reached)
        sums[row] = sums.get(row, 0) + totals.calls
    return [(*row, calls) for row, calls in sums.items()]


def spans(counts: CountedCalls, ids: Mapping[str, int]) -> Rows:
    """Calls by agent, tool and outcome, for each span of days that the day is in."""
    by_day: Sums = {}
    for key, sums in counts.items():
        reached = int(key.bucket != NOT_REACHED)
        called = (ids[key.tool], ids[key.agent], ids[key.owner], ids[key.outcome], reached)
        _add(by_day, (key.day, *called), sums)
    by_span: Sums = {}
    for row, sums in by_day.items():
        for width, first_day in first_days(row[0]):
            _add(by_span, (width, first_day, *row[1:]), sums)
    return [(*row, *sums) for row, sums in by_span.items()]


def span_durations(counts: CountedCalls, ids: Mapping[str, int]) -> Rows:
    """Calls by tool and duration, for each span of days that the day is in."""
    sums: dict[tuple[int, ...], int] = {}
    for key, totals in counts.items():
        if key.bucket != NOT_REACHED:
            for width, first_day in first_days(key.day):
                row = (width, first_day, ids[key.tool], key.bucket)
                sums[row] = sums.get(row, 0) + totals.calls
    return [(*row, calls) for row, calls in sums.items()]


def _add(sums: Sums, row: tuple[int, ...], totals: Totals) -> None:
    present = sums.get(row)
    sums[row] = totals if present is None else present.plus(totals)


def tools(tools: Iterable[KnownTool], ids: Mapping[str, int]) -> Rows:
    """Tools that were registered."""
    return [
        (
            ids[tool.name],
            ids[tool.owner],
            tool.description,
            tool.parameter_count,
            tool.registered_at_seconds,
        )
        for tool in tools
    ]
