"""Reading a ledger that another process writes."""

from __future__ import annotations

import os

from ethos_registry.usage.ledger import default_place
from ethos_registry.usage.report import UsageReport, make_report, usage_filter
from ethos_registry.usage.store import store_at

__all__ = ["read_usage"]


def read_usage(
    place: str | os.PathLike[str] | None = None,
    *,
    days: int | None = None,
    agent: str | None = None,
    tool: str | None = None,
    dead_after_days: float = 30,
    dead_after_calls: int = 1_000,
) -> UsageReport:
    """The report of a ledger that other processes write; nothing is made or changed.

    `place` is a path or a PostgreSQL URL, by default that of `UsageLedger.default()`; the other
    parameters are those of `UsageLedger.report`.

    Raises:
        UsageStoreError: there is no ledger, or it cannot be read.

    """
    wanted = usage_filter(days=days, agent=agent, tool=tool)
    store = store_at(default_place() if place is None else place, is_read_only=True)
    return make_report(
        store.read(wanted),
        wanted,
        place=store.place,
        dead_after_days=dead_after_days,
        dead_after_calls=dead_after_calls,
    )
