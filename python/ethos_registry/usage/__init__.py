"""Counts by tool, agent and outcome that last: ledger, databases, report, page."""
