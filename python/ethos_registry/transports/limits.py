"""What one worker process may use."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, fields
from typing import Any

from ethos_registry.contract import checks

__all__ = ["WorkerLimits", "apply_limits", "begin_cpu_limit"]


@dataclass(frozen=True, slots=True)
class WorkerLimits:
    """Limits that the system enforces on each worker process; `None` for no limit.

    >>> WorkerLimits(memory_bytes=2 << 30, cpu_seconds=60).open_files
    """

    memory_bytes: int | None = None
    """Address space. What does not fit raises `MemoryError` in the tool, or ends the worker."""
    cpu_seconds: int | None = None
    """CPU time from the start of a call; the worker is ended when it is used up."""
    open_files: int | None = None
    file_bytes: int | None = None
    """The largest file that a tool may write."""

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if value is not None:
                checks.finite_number(value, field.name, minimum=1, whole=True)


def apply_limits(limits: dict[str, Any]) -> None:
    """Limit this process, which is a worker."""
    import resource

    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    for name, number in (
        ("memory_bytes", resource.RLIMIT_AS),
        ("open_files", resource.RLIMIT_NOFILE),
        ("file_bytes", resource.RLIMIT_FSIZE),
    ):
        value = limits.get(name)
        if value is not None:
            resource.setrlimit(number, (value, value))


def begin_cpu_limit(seconds: int | None) -> None:
    """From now on this process may use so much CPU time."""
    if seconds is None:
        return
    import resource

    usage = resource.getrusage(resource.RUSAGE_SELF)
    soft = int(usage.ru_utime + usage.ru_stime) + seconds + 1
    hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
    resource.setrlimit(resource.RLIMIT_CPU, (soft, hard))
