"""Times that can be compared: for ratios within one run, never against a clock."""

from __future__ import annotations

import gc
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


def seconds(action: Callable[[], object], repeats: int) -> float:
    """The shortest of seven runs of `repeats` calls, a call; the collector rests meanwhile."""
    gc.disable()
    try:
        return min(_run_seconds(action, repeats) for _ in range(7)) / repeats
    finally:
        gc.enable()


def _run_seconds(action: Callable[[], object], repeats: int) -> float:
    start = time.perf_counter()
    for _ in range(repeats):
        action()
    return time.perf_counter() - start
