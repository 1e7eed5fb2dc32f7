"""What one worker process may use."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ethos_registry.capabilities._sandbox import (
    CommandSandbox,
    PreparedCommand,
    SandboxPolicy,
)
from ethos_registry.transports._protocol import checked_references
from ethos_registry.types import _checks
from ethos_registry.types._settings import (
    check_settings,
    instance_of,
    optional,
    setting,
    settings_to_wire,
)

_limit = optional(_checks.whole_count)


@_checks.checked_class
@dataclass(frozen=True, slots=True)
class WorkerLimits:
    """Limits that the system enforces on each worker process; `None` for no limit.

    >>> WorkerLimits(memory_bytes=2 << 30, cpu_seconds=60).open_files
    """

    memory_bytes: int | None = setting(_limit, wire="memory_bytes", default=None)
    """Address space. What does not fit raises `MemoryError` in the tool, or ends the worker."""
    cpu_seconds: int | None = setting(_limit, wire="cpu_seconds", default=None)
    """CPU time from the start of a call; the worker is ended when it is used up."""
    open_files: int | None = setting(_limit, wire="open_files", default=None)
    file_bytes: int | None = setting(_limit, wire="file_bytes", default=None)
    """The largest file that a tool may write."""

    def __post_init__(self) -> None:
        check_settings(self)


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


# The settings of a pool of worker processes.

_OTHER_LINE_BYTES = 16 << 20
"""For structured values, content blocks and the list of tools."""


def _workers(value: object, name: str) -> int:
    return os.cpu_count() or 1 if value is None else _checks.whole_count(value, name)


@dataclass(frozen=True, slots=True)
class PoolSettings:
    """What `ProcessTransport` was given, checked."""

    tools: tuple[str, ...] = setting(lambda value, _: checked_references(value), wire="tools")
    workers: int = setting(_workers)
    calls_per_worker: int = setting(_checks.whole_count)
    max_pending: int = setting(_checks.whole_count)
    queue_seconds: float | None = setting(optional(_checks.finite_number))
    start_seconds: float = setting(_checks.finite_number)
    cancel_grace_seconds: float = setting(_checks.finite_number)
    max_result_bytes: int = setting(_checks.whole_count, wire="max_result_bytes")
    limits: WorkerLimits = setting(instance_of(WorkerLimits, "WorkerLimits"), wire="limits")
    sandbox: SandboxPolicy | None = setting(optional(instance_of(SandboxPolicy, "a SandboxPolicy")))
    command_sandbox: CommandSandbox | None = setting(lambda value, _: value)
    directory: str | None = setting(optional(lambda value, _: os.fspath(value)))
    environment: Mapping[str, str] | None = setting(lambda value, _: value)

    @property
    def max_line_bytes(self) -> int:
        """The longest line of a worker. JSON writes a byte as up to six."""
        return 6 * self.max_result_bytes + _OTHER_LINE_BYTES

    def for_worker(self) -> str:
        """What the worker reads, as JSON."""
        return json.dumps(
            {
                **settings_to_wire(self),
                "path": self.import_path(),
                "limits": settings_to_wire(self.limits),
                "max_line_bytes": self.max_line_bytes,
            }
        )

    def import_path(self) -> list[str]:
        """Where this process imports from, as absolute paths."""
        return [os.path.abspath(entry) for entry in sys.path]

    def wrapped(self, argv: Sequence[str]) -> PreparedCommand:
        """The command of a worker inside the sandbox."""
        assert self.sandbox is not None
        sandbox = CommandSandbox() if self.command_sandbox is None else self.command_sandbox
        imported = [path for path in self.import_path() if os.path.exists(path)]
        policy = dataclasses.replace(self.sandbox, read=[*self.sandbox.read, *imported])
        return sandbox.wrap(
            argv,
            policy,
            directory=self.directory or os.getcwd(),
            environment=os.environ if self.environment is None else self.environment,
        )
