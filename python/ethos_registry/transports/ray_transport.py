"""Running tools in actors of a Ray cluster."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import AsyncIterator, Mapping, Sequence
from functools import partial
from typing import Any, Self
from uuid import uuid4

from ethos_registry.contract import checks
from ethos_registry.contract.abort import NEVER_ABORTED, AbortSignal
from ethos_registry.contract.errors import ConfigError
from ethos_registry.contract.execute_request import ToolExecuteRequest, batch_to_wire
from ethos_registry.contract.progress import ToolProgressEvent
from ethos_registry.contract.transport import (
    LiveContext,
    ToolTransport,
    TransportItem,
    TransportProgress,
    TransportReply,
    TransportStarted,
    TransportTraits,
    may_have_run,
)
from ethos_registry.transports.caller_queue import CallerQueue
from ethos_registry.transports.json_lines import exact_json_bytes, read_line
from ethos_registry.transports.ray_actor import RayActor, UnavailableError
from ethos_registry.transports.tool_source import checked_references

__all__ = ["RayTransport"]

_connecting = threading.Lock()


class RayTransport(ToolTransport):
    """A pool of actors on a Ray cluster; needs the extra `ray`.

    Each actor imports the tools itself, so every node needs the same packages. The calls of a batch
    travel as one message to each actor, and results come back as they are ready. When an actor is
    lost, results that arrived stay, and the other calls of its message are answered with "it may
    have run"; those of tools that are `idempotent` are sent once more. Ray starts the actor again.

    A Ray cluster is one trust domain: everyone who reaches it can run code on every node. Take
    `address` from your own configuration only.

    Args:
        tools: What actors import: `module:attribute` or `entry_point:NAME`; see `ProcessTransport`.
        address: The cluster, if the program has not called `ray.init` itself. Default: `auto`.
        workers: How many actors.
        calls_per_worker: The most batches that one actor runs at once.
        num_gpus: GPUs of each actor.
        resources: Custom resources of each actor, such as `{"toolset:render": 1}`.
        label_selector: Labels of the nodes that may have actors.
        ready_timeout_seconds: How long a call waits for an actor before it is answered
            `not_available`.
        max_result_bytes: The middle of a longer text is left out, in UTF-8 bytes.

    Raises:
        ConfigError: A setting is wrong.

    >>> from ethos_registry import ToolRegistry
    >>> pool = RayTransport("ethos_registry:ready_tools", resources={"toolset:render": 1})
    >>> registry = ToolRegistry(transports={"toolset:render": pool})
    >>> pool.close()

    """

    def __init__(
        self,
        tools: str | Sequence[str],
        *,
        address: str | None = None,
        workers: int = 1,
        calls_per_worker: int = 64,
        num_gpus: float | None = None,
        resources: Mapping[str, float] | None = None,
        label_selector: Mapping[str, str] | None = None,
        ready_timeout_seconds: float = 30.0,
        max_result_bytes: int = 16 << 20,
    ) -> None:
        for name, value in (
            ("workers", workers),
            ("calls_per_worker", calls_per_worker),
            ("max_result_bytes", max_result_bytes),
        ):
            checks.finite_number(value, name, minimum=1, whole=True)
        if num_gpus is not None:
            checks.finite_number(num_gpus, "num_gpus")
        options: dict[str, Any] = {"num_gpus": num_gpus}
        for name, given in (("resources", resources), ("label_selector", label_selector)):
            if given is not None and not isinstance(given, Mapping):
                raise ConfigError(f"`{name}` must be a mapping, got {type(given).__name__}")
            options[name] = None if given is None else dict(given)
        options = {name: value for name, value in options.items() if value is not None}
        self._address = checks.optional_text(address, "address")
        self._ready_seconds = checks.finite_number(ready_timeout_seconds, "ready_timeout_seconds")
        self._tools = checked_references(tools)
        self._actors = [
            RayActor(self._tools, options, max_result_bytes, calls_per_worker)
            for _ in range(workers)
        ]
        self._traits = TransportTraits(
            "ray", cancels_running=False, reports_start=True, max_result_bytes=max_result_bytes
        )
        self._is_closed = False

    @property
    def traits(self) -> TransportTraits:
        """A plain function that was stopped may run on; a call runs at most once."""
        return self._traits

    def __repr__(self) -> str:
        return f"RayTransport({', '.join(self._tools)})"

    async def execute_many(
        self,
        requests: Sequence[ToolExecuteRequest],
        signal: AbortSignal,
        *,
        live: LiveContext | None = None,
    ) -> AsyncIterator[TransportItem]:
        """Run the requests in actors; see `ToolTransport.execute_many`."""
        queue = CallerQueue(requests)
        if signal.aborted or self._is_closed:
            problem = "the turn was aborted" if signal.aborted else "the transport was closed"
            for index in range(len(requests)):
                queue.refuse(index, problem)
        sendable = [] if signal.aborted or self._is_closed else _sendable(queue)
        signals = () if live is None else live.signals
        parts = [
            _Part(queue, indexes, actor, self._ready_seconds, self._connect)
            for indexes, actor in self._shares(sendable)
        ]
        loop = asyncio.get_running_loop()
        tasks = [loop.create_task(part.run()) for part in parts]
        unlinks = [signal.add_listener(partial(_soon, loop, part.abort)) for part in parts]
        for part in parts:
            for index in part.indexes:
                if index < len(signals) and signals[index] is not NEVER_ABORTED:
                    stop = partial(_soon, loop, part.stop, index)
                    unlinks.append(signals[index].add_listener(stop))
        try:
            async for item in queue.items():
                yield item
        finally:
            for unlink in unlinks:
                unlink()
            for part in parts:
                part.abort()
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    def _shares(self, indexes: list[int]) -> list[tuple[list[int], RayActor]]:
        """The requests of each actor: those with the fewest calls get them first."""
        actors = sorted(self._actors, key=lambda actor: actor.open_calls)[: len(indexes)]
        return [(indexes[place :: len(actors)], actor) for place, actor in enumerate(actors)]

    def _connect(self) -> None:
        """Connect to the cluster once; blocks."""
        import ray

        with _connecting:
            if not ray.is_initialized():
                ray.init(
                    address=self._address or "auto", log_to_driver=False, configure_logging=False
                )

    def close(self) -> None:
        """End the actors; calls that run are answered with "it may have run"."""
        self._is_closed = True
        for actor in self._actors:
            actor.close()

    async def aclose(self) -> None:
        """`close`, without blocking the loop."""
        await asyncio.get_running_loop().run_in_executor(None, self.close)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()


class _Part:
    """The requests of one batch that one actor gets, on the caller's loop."""

    def __init__(
        self,
        queue: CallerQueue,
        indexes: list[int],
        actor: RayActor,
        ready_seconds: float,
        connect: Any,
    ) -> None:
        self.indexes = indexes
        self._queue = queue
        self._actor = actor
        self._ready_seconds = ready_seconds
        self._connect = connect
        self._open = set(indexes)
        self._stopped: set[int] = set()
        self._is_aborted = False
        self._batch = ""
        self._sent: list[int] = []
        self._stream: Any = None

    async def run(self) -> None:
        """Send the requests, and answer each."""
        self._actor.open_calls += len(self.indexes)
        problem = "it was cancelled"
        try:
            problem = await self._send(self.indexes)
            again = [index for index in self._sent if self._may_send_again(index)]
            if problem and again:
                for index in self._open.difference(again):
                    self._lose(index, problem)
                problem = await self._send(again, is_second=True) or problem
        except Exception as error:  # every request has a reply, whatever Ray raises
            problem = f"its Ray worker failed with {type(error).__name__}"
        finally:
            for index in sorted(self._open):
                self._lose(index, problem)
            self._actor.open_calls -= len(self.indexes)

    def _may_send_again(self, index: int) -> bool:
        return (
            index in self._open
            and index not in self._stopped
            and not self._is_aborted
            and self._queue.requests[index].idempotent
        )

    def _lose(self, index: int, problem: str) -> None:
        if self._is_aborted or index in self._stopped:
            self._queue.stop(index)
        else:
            name = self._queue.requests[index].name
            self._queue.put(TransportReply(index, may_have_run(name, problem)))

    async def _send(self, indexes: list[int], *, is_second: bool = False) -> str:
        """Send requests and pass on what happens; how it ended if that was too early."""
        try:
            import ray

            if not ray.is_initialized():
                await asyncio.get_running_loop().run_in_executor(None, self._connect)
            offered = await self._actor.ready(self._ready_seconds)
        except (UnavailableError, ImportError, ConnectionError, RuntimeError) as error:
            return self._unsent(indexes, str(error), is_second)
        indexes = self._same_tools(indexes, offered, is_second)
        if not indexes or self._is_aborted:
            return ""
        from ray.exceptions import RayError

        self._sent = indexes
        self._batch = uuid4().hex
        wire = batch_to_wire([self._queue.requests[index] for index in indexes])
        try:
            payload = exact_json_bytes({"shared": wire.shared, "requests": wire.requests})
            self._stream = self._actor.run(self._batch, payload)
        except (UnavailableError, TypeError, ValueError) as error:
            return self._unsent(indexes, str(error), is_second)
        try:
            for index in self._stopped.intersection(indexes):
                self.stop(index)
            async for reference in self._stream:
                for item in read_line(await reference):
                    self._pass_on(item)
        except RayError:
            if not self._is_aborted:
                self._actor.lost()
            return "its Ray worker was lost"
        return "its Ray worker sent no result"

    def _unsent(self, indexes: list[int], problem: str, is_second: bool) -> str:
        """Answer requests that were not sent; those that were sent before may have run."""
        for index in () if is_second else indexes:
            self._refuse(index, problem)
        return problem

    def _same_tools(
        self, indexes: list[int], offered: Mapping[str, list[Any]], is_second: bool
    ) -> list[int]:
        same = []
        for index in indexes:
            request = self._queue.requests[index]
            known = offered.get(request.name)
            if self._is_aborted or index in self._stopped:
                problem = "it was stopped before it began"
            elif known is None:
                problem = f"the workers have no tool `{request.name}`"
            elif request.tool_digest and known[0] != request.tool_digest:
                problem = f"the worker has another version of `{request.name}`"
            else:
                same.append(index)
                continue
            if not is_second:
                self._refuse(index, problem)
        return same

    def _refuse(self, index: int, problem: str) -> None:
        if index in self._open:
            self._open.discard(index)
            self._queue.refuse(index, problem)

    def _pass_on(self, item: list[Any]) -> None:
        kind, place = item[0], item[1]
        index = self._sent[place]
        if kind == "started":
            self._queue.put(TransportStarted(index))
        elif kind == "event":
            event = ToolProgressEvent.from_wire(item[2])
            self._queue.put(TransportProgress(index, event))
        else:
            self._open.discard(index)
            self._queue.put(TransportReply.from_wire({**item[2], "index": index}))

    def stop(self, index: int) -> None:
        """Stop one call; the others go on."""
        self._stopped.add(index)
        if index not in self._open:
            return
        if index in self._sent:
            self._actor.cancel(self._batch, self._sent.index(index))
        elif self._stream is None:
            self._refuse(index, "it was stopped before it began")

    def abort(self) -> None:
        """Stop all calls; those that wait for a reply are answered now."""
        self._is_aborted = True
        if self._stream is None:
            for index in sorted(self._open):
                self._refuse(index, "it was stopped before it began")
        if not self._open:
            return
        import ray

        with contextlib.suppress(Exception):  # the cluster is gone
            ray.cancel(self._stream)
        for index in sorted(self._open):
            self._queue.stop(index)


def _sendable(queue: CallerQueue) -> list[int]:
    """The requests that have a JSON form; the others are answered."""
    sendable = []
    for index, request in enumerate(queue.requests):
        if request.obstacle is not None:
            queue.refuse(index, f"`{request.obstacle}` of the context cannot be sent to a worker")
            continue
        try:
            exact_json_bytes(request.args)
        except (TypeError, ValueError, RecursionError) as error:
            queue.refuse(index, f"its arguments cannot be sent: {error}")
        else:
            sendable.append(index)
    return sendable


def _soon(loop: asyncio.AbstractEventLoop, callback: Any, *arguments: Any) -> None:
    with contextlib.suppress(RuntimeError):  # the loop is closed: nothing waits any more
        loop.call_soon_threadsafe(callback, *arguments)
