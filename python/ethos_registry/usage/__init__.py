"""Counts by tool, agent and outcome that last: ledger, databases, report, page."""

from typing import TYPE_CHECKING

from ethos_registry._lazy import lazy

if TYPE_CHECKING:
    from ethos_registry.usage._ledger import UsageLedger, read_usage
    from ethos_registry.usage._record import UsageStoreError
    from ethos_registry.usage._report import AgentUsage, DayUsage, ToolUsage, UsageReport

__all__ = [
    "AgentUsage",
    "DayUsage",
    "ToolUsage",
    "UsageLedger",
    "UsageReport",
    "UsageStoreError",
    "read_usage",
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = lazy(
        __name__,
        {
            "usage._ledger": "UsageLedger read_usage",
            "usage._record": "UsageStoreError",
            "usage._report": "AgentUsage DayUsage ToolUsage UsageReport",
        },
    )
