"""Running tools in actors of a Ray cluster."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Mapping, Sequence
from functools import partial
from typing import Any

from ethos_registry.transports._caller_queue import CallerQueue, stopping
from ethos_registry.transports._protocol import checked_references
from ethos_registry.transports.ray._actor import (
    DEFAULT_NAMESPACE,
    ActorSettings,
    UnavailableError,
    connect,
    placement_options,
)
from ethos_registry.transports.ray._batch import RayBatch
from ethos_registry.transports.ray._members import (
    FoundMembers,
    OwnMembers,
    RaySessions,
    SessionMembers,
)
from ethos_registry.types import _checks
from ethos_registry.types._abort import AbortSignal
from ethos_registry.types._closing import AsyncClosing
from ethos_registry.types._errors import ConfigError, EthosRegistryError
from ethos_registry.types._settings import checked_settings
from ethos_registry.types._transport import (
    LiveContext,
    ToolExecuteRequest,
    ToolTransport,
    TransportItem,
    TransportTraits,
)


class RayTransport(AsyncClosing, ToolTransport):
    """A pool of actors on a Ray cluster; needs the extra `ray`.

    Each actor imports the tools itself, so every node needs the same packages. The calls of a batch
    travel as one message to each actor, and results come back as they are ready. When an actor is
    lost, results that arrived stay, and the other calls of its message are answered with "it may
    have run"; those of tools that are `idempotent` are sent once more. Ray starts the actor again.
    A node that Ray drains gets no new batches; what runs there may finish.

    A Ray cluster is one trust domain: everyone who reaches it can run code on every node. Take
    `address` from your own configuration only.

    Args:
        tools: What actors import: `module:attribute` or `entry_point:NAME`; see `ProcessTransport`.
            With `pool` it may be left out; if given, this process imports it too, and calls are
            refused unless the workers serve the same registry.
        address: The cluster, if the program has not called `ray.init` itself. Default: `auto`.
        pool: Use the workers that `ethos-registry worker` serves under that name, and start none.
        namespace: Of the named actors of `pool` and `sessions`.
        workers: How many actors.
        calls_per_worker: The most batches that one actor runs at once.
        num_cpus: CPUs of each actor. Default: 0, for tools that wait for something.
        num_gpus: GPUs of each actor.
        resources: Custom resources of each actor, such as `{"toolset:render": 1}`.
        label_selector: Labels of the nodes that may have actors.
        sessions: Give each `session_id` an actor of its own, for tools that keep state.
        ready_timeout_seconds: How long a call waits for an actor before it is answered
            `not_available`.
        max_result_bytes: The middle of a longer text is left out, in UTF-8 bytes.

    Raises:
        ConfigError: A setting is wrong.

    >>> from ethos_registry import ToolRegistry
    >>> pool = RayTransport("ethos_registry.tools:ready_tools", resources={"toolset:render": 1})
    >>> registry = ToolRegistry(transports={"toolset:render": pool})
    >>> pool.close()

    """

    def __init__(
        self,
        tools: str | Sequence[str] = (),
        *,
        address: str | None = None,
        pool: str | None = None,
        namespace: str = DEFAULT_NAMESPACE,
        workers: int = 1,
        calls_per_worker: int = 64,
        num_cpus: float | None = None,
        num_gpus: float | None = None,
        resources: Mapping[str, float] | None = None,
        label_selector: Mapping[str, str] | None = None,
        sessions: RaySessions | None = None,
        ready_timeout_seconds: float = 30.0,
        max_result_bytes: int = 16 << 20,
    ) -> None:
        _checks.whole_count(workers, "workers")
        options = placement_options(num_cpus, num_gpus, resources, label_selector)
        if sessions is not None and not isinstance(sessions, RaySessions):
            raise ConfigError(f"`sessions` must be RaySessions, got {type(sessions).__name__}")
        self._address = _checks.optional_text(address, "address")
        self._pool_name = _checks.optional_text(pool, "pool")
        self._ready_seconds = _checks.finite_number(ready_timeout_seconds, "ready_timeout_seconds")
        if pool is None or tools:
            self._tools = checked_references(tools)
        else:
            self._tools = ()
        if pool is not None and (options or sessions is not None or workers != 1):
            raise ConfigError(
                "`pool` uses workers that run already: give `workers`, placement and `sessions` "
                "where they are started"
            )
        settings = checked_settings(
            ActorSettings,
            {
                "calls_per_worker": calls_per_worker,
                "max_result_bytes": max_result_bytes,
                "namespace": namespace,
            },
            tools=self._tools,
            options=options,
            is_detached=sessions is not None,
            is_restarted=sessions is None,
            idle_seconds=None if sessions is None else sessions.idle_seconds,
            is_serial=sessions is not None and sessions.is_serial,
        )
        self._members: OwnMembers | FoundMembers | SessionMembers
        if pool is not None:
            self._members = FoundMembers(pool, settings)
        elif sessions is not None:
            self._members = SessionMembers(settings, sessions, ",".join(self._tools))
        else:
            self._members = OwnMembers(settings, workers)
        self._traits = TransportTraits(
            "ray",
            cancels_running=False,
            reports_start=True,
            start_seconds=None,
            finishes_results=True,
            max_result_bytes=max_result_bytes,
        )
        self._is_closed = False

    @property
    def traits(self) -> TransportTraits:
        """A plain function that was stopped may run on; a call runs at most once."""
        return self._traits

    def __repr__(self) -> str:
        shown = ", ".join(self._tools) or f"pool={self._pool_name!r}"
        return f"RayTransport({shown})"

    async def start(self) -> None:
        """Connect now, and wait until an actor is ready; with `sessions` only connect.

        Raises:
            EthosRegistryError: There is no cluster or no worker, with the reason.

        """
        if self._is_closed:
            raise EthosRegistryError("the transport was closed")
        try:
            await asyncio.get_running_loop().run_in_executor(None, self._connect)
            if not isinstance(self._members, SessionMembers):
                await self._members.ready(self._ready_seconds)
        except UnavailableError as error:
            raise EthosRegistryError(str(error)) from None

    async def execute_many(
        self,
        requests: Sequence[ToolExecuteRequest],
        signal: AbortSignal,
        *,
        live: LiveContext | None = None,
    ) -> AsyncIterator[TransportItem]:
        """Run the requests in actors; see `ToolTransport.execute_many`."""
        queue = CallerQueue(requests)
        indexes = list(range(len(requests)))
        if signal.aborted or self._is_closed:
            problem = "the turn was aborted" if signal.aborted else "the transport was closed"
            for index in indexes:
                queue.refuse(index, problem)
            indexes = []
        batches = [
            RayBatch(queue, its, members, self._ready_seconds, self._connect)
            for members, its in self._members.groups(queue, indexes)
        ]
        loop = asyncio.get_running_loop()
        tasks = [loop.create_task(batch.run()) for batch in batches]

        def abort() -> None:
            for batch in batches:
                batch.abort()

        def stop(index: int) -> None:
            for batch in batches:
                batch.stop(index)

        try:
            with stopping(signal, live, partial(_soon, loop, abort), partial(_soon, loop, stop)):
                async for item in queue.items():
                    yield item
        finally:
            abort()
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    def _connect(self) -> None:
        """Connect to the cluster once; blocks."""
        connect(self._address, self._ready_seconds)

    def end_session(self, session_id: str) -> None:
        """End the actor of a session; its calls that run are answered with "it may have run".

        Call it where the session or the turn ends, such as in `DispatchContext.on_ack`. The next
        call of this session gets a new actor. Without `sessions` it does nothing.
        """
        if isinstance(self._members, SessionMembers):
            self._members.end(session_id)

    def close(self) -> None:
        """End the actors; calls that run are answered with "it may have run".

        Workers of a `pool` are left to those who serve them.
        """
        self._is_closed = True
        self._members.close()


def _soon(loop: asyncio.AbstractEventLoop, callback: Any, *arguments: Any) -> None:
    with contextlib.suppress(RuntimeError):  # the loop is closed: nothing waits any more
        loop.call_soon_threadsafe(callback, *arguments)
