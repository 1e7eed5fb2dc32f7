"""A report's tools as CSV."""

from __future__ import annotations

import csv
import io

from ethos_registry import UsageReport

__all__ = ["csv_text"]

_COLUMNS = (
    "name",
    "owner",
    "description",
    "parameter_count",
    "calls",
    "invocations",
    "refusals",
    "failures",
    "median_seconds",
    "p95_seconds",
    "total_seconds",
    "raw_chars",
    "sent_chars",
    "saved_chars",
    "cost_usd",
    "is_dead",
    "is_hot",
    "registered_at",
)
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


def csv_text(report: UsageReport) -> str:
    """One line for each tool, with a heading (RFC 4180)."""
    file = io.StringIO()
    writer = csv.writer(file)
    writer.writerow(_COLUMNS)
    for tool in report.tools:
        writer.writerow(_cell(getattr(tool, column)) for column in _COLUMNS)
    return file.getvalue().replace("\r\n", "\n")


def _cell(value: object) -> object:
    """A value; spreadsheets run text that starts like a formula, and models choose names."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str) and value.startswith(_FORMULA_STARTS):
        return f"'{value}"
    return value
