"""Counts that `.ci/run --long` raises."""

from __future__ import annotations

import os


def long_count(usual: int, long: int) -> int:
    """`usual`, or `long` when `ETHOS_REGISTRY_LONG` is set."""
    return long if os.environ.get("ETHOS_REGISTRY_LONG") else usual
