"""The settings of a pool of worker processes."""

from __future__ import annotations

import dataclasses
import json
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ethos_registry.capabilities.sandbox.command_sandbox import CommandSandbox, CommandSandboxPort
from ethos_registry.capabilities.sandbox.policy import PreparedCommand, SandboxPolicy
from ethos_registry.transports.limits import WorkerLimits

__all__ = ["PoolSettings"]


@dataclass(frozen=True, slots=True)
class PoolSettings:
    """What `ProcessTransport` was given, checked."""

    tools: tuple[str, ...]
    workers: int
    calls_per_worker: int
    max_pending: int
    queue_seconds: float | None
    start_seconds: float
    cancel_grace_seconds: float
    max_result_bytes: int
    limits: WorkerLimits
    sandbox: SandboxPolicy | None
    command_sandbox: CommandSandboxPort | None
    directory: str | None
    environment: Mapping[str, str] | None

    def for_worker(self) -> str:
        """What the worker reads, as JSON."""
        return json.dumps(
            {
                "path": self.import_path(),
                "tools": self.tools,
                "limits": dataclasses.asdict(self.limits),
                "max_result_bytes": self.max_result_bytes,
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
