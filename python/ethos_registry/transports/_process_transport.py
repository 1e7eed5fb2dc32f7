"""Running tools in worker processes of this machine."""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from collections.abc import AsyncIterator, Mapping, Sequence
from concurrent.futures import Future

from ethos_registry.capabilities._sandbox import CommandSandbox, SandboxPolicy
from ethos_registry.transports._caller_queue import stopping
from ethos_registry.transports._limits import PoolSettings, WorkerLimits
from ethos_registry.transports._pool import WorkerPool
from ethos_registry.transports._worker_link import PoolBatch
from ethos_registry.types import _checks
from ethos_registry.types._abort import AbortSignal
from ethos_registry.types._closing import AsyncClosing, Closing
from ethos_registry.types._errors import ConfigError, EthosRegistryError
from ethos_registry.types._settings import checked_settings
from ethos_registry.types._transport import (
    LiveContext,
    ToolExecuteRequest,
    ToolTransport,
    TransportItem,
    TransportReply,
    TransportTraits,
    not_started,
)

_NO_LIMITS = WorkerLimits()


@_checks.checked_class
class ProcessTransport(Closing, AsyncClosing, ToolTransport):
    """A pool of worker processes: a crash ends a worker, not the agent.

    Workers import the tools themselves, and get calls as JSON lines. An async tool shares its
    worker with up to `calls_per_worker` others; a plain function has a worker of its own while it
    runs, so that stopping it ends that worker and nothing else; others wait in its queue, and go to
    another worker if one is free. A worker that ends is replaced. Its calls are answered
    `execution_failed` with "it may have run"; those of tools that are `idempotent` are sent once
    more, and those in its queue, which have not started, go to another worker.

    Workers start with the first call, or in `start`. They, and everything that they start, end with
    this process, in whatever way it ends. Use the transport as a context manager, or `aclose` it.
    One transport may serve many registries, loops and threads.

    Args:
        tools: What workers import: `module:attribute`, or `entry_point:NAME` of the group
            `ethos_registry.tools`. It names a registry, a tool, a list of tools or a function that
            returns one. Capabilities and reducers are those of that registry.
        workers: The most processes. Default: the number of cores.
        calls_per_worker: The most async calls that one worker runs at once.
        max_pending: The most calls that wait for a worker (default 16,384); more are answered
            `not_available`.
        queue_seconds: How long a call waits for a worker before it is answered `not_available`;
            `None` for no limit.
        start_seconds: How long a worker may take to load its tools.
        cancel_grace_seconds: How long a tool that was stopped may take to end before its worker is
            ended.
        max_result_bytes: The middle of a longer text is left out, in UTF-8 bytes.
        limits: Memory, CPU time and files of each worker.
        sandbox: What workers may access; calls are refused where this machine cannot confine them.
        command_sandbox: What confines them. Default: `CommandSandbox()`.
        directory: The working directory of the workers. Default: that of this process.
        environment: All their environment variables. Default: those of this process.

    Raises:
        ConfigError: A setting is wrong, or this system has no process groups.

    >>> from ethos_registry import ToolRegistry
    >>> pool = ProcessTransport("ethos_registry.tools:ready_tools", workers=2)
    >>> registry = ToolRegistry(transports={"toolset:render": pool})
    >>> pool.close()

    """

    def __init__(
        self,
        tools: str | Sequence[str],
        *,
        workers: int | None = None,
        calls_per_worker: int = 64,
        max_pending: int = 16_384,
        queue_seconds: float | None = 30.0,
        start_seconds: float = 30.0,
        cancel_grace_seconds: float = 0.5,
        max_result_bytes: int = 16 << 20,
        limits: WorkerLimits = _NO_LIMITS,
        sandbox: SandboxPolicy | None = None,
        command_sandbox: CommandSandbox | None = None,
        directory: str | os.PathLike[str] | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        if sys.platform == "win32":
            raise ConfigError("worker processes need a POSIX system")
        self._settings = checked_settings(
            PoolSettings,
            {
                "tools": tools,
                "workers": workers,
                "calls_per_worker": calls_per_worker,
                "max_pending": max_pending,
                "queue_seconds": queue_seconds,
                "start_seconds": start_seconds,
                "cancel_grace_seconds": cancel_grace_seconds,
                "max_result_bytes": max_result_bytes,
                "limits": limits,
                "sandbox": sandbox,
                "command_sandbox": command_sandbox,
                "directory": directory,
                "environment": environment,
            },
        )
        self._traits = TransportTraits(
            "process",
            reports_start=True,
            start_seconds=None,
            finishes_results=True,
            max_result_bytes=max_result_bytes,
        )
        self._lock = threading.Lock()
        self._pool: WorkerPool | None = None
        self._process_id = 0
        self._is_closed = False

    @property
    def traits(self) -> TransportTraits:
        """Plain functions that were stopped really end; a call runs at most once."""
        return self._traits

    def __repr__(self) -> str:
        return f"ProcessTransport({', '.join(self._settings.tools)})"

    def _running_pool(self) -> WorkerPool | None:
        with self._lock:
            if self._is_closed:
                return None
            if self._pool is None or self._process_id != os.getpid():  # a fork has no threads
                self._pool = WorkerPool(self._settings)
                self._process_id = os.getpid()
            return self._pool

    async def start(self) -> None:
        """Start all workers now, and wait until they have loaded their tools.

        Raises:
            EthosRegistryError: A worker cannot start, with its reason.

        """
        pool = self._running_pool()
        if pool is None:
            raise EthosRegistryError("the transport was closed")
        ready: Future[str] = Future()
        ready.set_running_or_notify_cancel()  # the answer may come after a cancellation
        pool.post(pool.start_all, ready.set_result)
        problem = await asyncio.wrap_future(ready)
        if problem:
            raise EthosRegistryError(problem)

    async def execute_many(
        self,
        requests: Sequence[ToolExecuteRequest],
        signal: AbortSignal,
        *,
        live: LiveContext | None = None,
    ) -> AsyncIterator[TransportItem]:
        """Run the requests in workers; see `ToolTransport.execute_many`."""
        pool = self._running_pool()
        batch = PoolBatch(requests)
        if signal.aborted or pool is None or not pool.post(pool.submit, batch):
            problem = "the turn was aborted" if signal.aborted else "the transport was closed"
            for index, request in enumerate(requests):
                result = not_started(request.name, problem)
                yield TransportReply(index, result, was_started=False)
            return
        try:
            with stopping(
                signal,
                live,
                lambda: pool.post(pool.stop, batch.calls),
                lambda index: pool.post(pool.stop, (batch.calls[index],)),
            ):
                async for item in batch.items():
                    yield item
        finally:
            if batch.missing:
                pool.post(pool.stop, batch.calls)

    def close(self) -> None:
        """End all workers; calls that run are answered with "it may have run"."""
        with self._lock:
            pool, self._pool = self._pool, None
            self._is_closed = True
        if pool is not None and self._process_id == os.getpid():
            pool.close()
