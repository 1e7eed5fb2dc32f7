"""The requests of one batch that go to one pool of actors, on the caller's loop."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable, Mapping
from typing import Any
from uuid import uuid4

from ethos_registry.transports._caller_queue import CallerQueue
from ethos_registry.transports._protocol import exact_json_bytes, read_line
from ethos_registry.transports.ray._actor import RayActor, UnavailableError, is_connected
from ethos_registry.transports.ray._members import Members
from ethos_registry.types._context import ToolProgressEvent
from ethos_registry.types._transport import (
    TransportProgress,
    TransportReply,
    batch_to_wire,
    may_have_run,
)

_NOT_JSON = (TypeError, ValueError, RecursionError)
_NOT_BEGUN = "it was stopped before it began"
_SILENT_SECONDS = 0.1
"""When an actor is asked first what it began, and, after doubling, how often at the least."""
_LONGEST_SILENT_SECONDS = 2.0


class RayBatch:
    """Waits for actors, and gives each its part of the requests."""

    def __init__(
        self,
        queue: CallerQueue,
        indexes: list[int],
        members: Members,
        ready_seconds: float,
        connect: Callable[[], None],
    ) -> None:
        self.queue = queue
        self.members = members
        self.ready_seconds = ready_seconds
        self._connect = connect
        self._waiting = set(indexes)
        """The requests that no actor has yet, and that have no reply."""
        self._parts: list[_Part] = []

    async def run(self) -> None:
        """Send the requests, and answer each."""
        problem = "it was cancelled"
        try:
            if not is_connected():
                await asyncio.get_running_loop().run_in_executor(None, self._connect)
            actors = await self.members.ready(self.ready_seconds)
            indexes = sorted(self._waiting)
            self._waiting.clear()
            actors = sorted(actors, key=lambda actor: actor.open_calls)[: len(indexes)]
            self._parts = [
                _Part(self, indexes[place :: len(actors)], actor)
                for place, actor in enumerate(actors)
            ]
            await asyncio.gather(*(part.run() for part in self._parts))
        except UnavailableError as error:
            problem = str(error)
        except Exception as error:  # every request has a reply, whatever Ray raises
            problem = f"its pool failed with {type(error).__name__}"
        finally:
            self._refuse_waiting(problem)

    def _refuse_waiting(self, problem: str) -> None:
        waiting, self._waiting = self._waiting, set()
        for index in sorted(waiting):
            self.queue.refuse(index, problem)

    def stop(self, index: int) -> None:
        """Stop one call; the others go on."""
        if index in self._waiting:
            self._waiting.discard(index)
            self.queue.refuse(index, _NOT_BEGUN)
        for part in self._parts:
            part.stop(index)

    def abort(self) -> None:
        """Stop all calls; those that wait for a reply are answered now."""
        self._refuse_waiting(_NOT_BEGUN)
        for part in self._parts:
            part.abort()


class _Part:
    """The requests that one actor gets."""

    def __init__(self, whole: RayBatch, indexes: list[int], actor: RayActor) -> None:
        self._queue = whole.queue
        self._members = whole.members
        self._ready_seconds = whole.ready_seconds
        self._indexes = indexes
        self._actor = actor
        self._open = set(indexes)
        self._stopped: set[int] = set()
        self._is_aborted = False
        self._batch = ""
        self._sent: list[int] = []
        self._running: Any = None
        self._is_sent_on = False
        self._is_second = False
        """Whether the requests were sent before, to an actor that was lost."""

    async def run(self) -> None:
        problem = "it was cancelled"
        try:
            problem = await self._send_to(self._actor, self._indexes)
            if self._is_sent_on and not self._is_aborted:
                self._is_sent_on = False
                problem = await self._send_remotely()
            again = [index for index in self._sent if self._may_send_again(index)]
            other = self._members.other(self._actor) if problem and again else None
            if other is not None:
                for index in self._open.difference(again):
                    self._lose(index, problem)
                self._actor = other
                self._is_second = True
                problem = await self._send_to(other, again) or problem
        except Exception as error:  # every request has a reply, whatever Ray raises
            problem = f"its Ray worker failed with {type(error).__name__}"
        finally:
            for index in sorted(self._open):
                self._lose(index, problem)

    async def _send_remotely(self) -> str:
        """The actor takes no more, or was replaced: what it was sent surely did not run."""
        other = self._members.other(self._actor)
        for index in sorted(self._open & self._stopped):
            self._refuse(index, _NOT_BEGUN)
        waiting, self._sent, self._running = sorted(self._open), [], None
        if other is not None:
            self._actor = other
            problem = await self._send_to(other, waiting)
            if not self._is_sent_on:
                return problem
        return self._unsent(waiting, "its Ray worker was drained or replaced")

    async def _send_to(self, actor: RayActor, indexes: list[int]) -> str:
        actor.open_calls += len(indexes)
        try:
            return await self._send(actor, indexes)
        finally:
            actor.release(len(indexes))

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

    async def _send(self, actor: RayActor, indexes: list[int]) -> str:
        """Send requests and pass on what happens; how it ended if that was too early."""
        from ray.exceptions import RayError

        try:
            offered = await actor.ready(self._ready_seconds)
            indexes = self._same_tools(indexes, offered)
            if not indexes or self._is_aborted:
                return ""
            indexes, message = self._message(indexes)
            if not indexes:
                return ""
            self._sent = indexes
            self._batch, sent_at = uuid4().hex, time.monotonic()
            self._running = actor.run(self._batch, message)
        except UnavailableError as error:
            return self._unsent(indexes, str(error))
        watching = asyncio.get_running_loop().create_task(self._watch(actor))
        try:
            for index in self._stopped.intersection(indexes):
                actor.cancel(self._batch, indexes.index(index))
            self._pass_on(await self._running)
            if self._is_sent_on:
                actor.is_draining = True
                return ""
            if self._open.intersection(indexes):
                await self._follow(actor)
        except RayError:
            if actor.never_started(self._batch, sent_at):
                self._is_sent_on = True
                return ""
            if not self._is_aborted:
                actor.lost()
            return self._members.lost_problem
        finally:
            watching.cancel()
        return "its Ray worker sent no result"

    def _message(self, indexes: list[int]) -> tuple[list[int], bytes]:
        """The requests as one message; those whose arguments are not JSON are answered."""
        try:
            return indexes, self._encoded(indexes)
        except _NOT_JSON:
            sendable = [index for index in indexes if self._is_json(index)]
            return sendable, self._encoded(sendable)

    def _encoded(self, indexes: list[int]) -> bytes:
        wire = batch_to_wire([self._queue.requests[index] for index in indexes])
        return exact_json_bytes({"shared": wire.shared, "requests": wire.requests})

    def _is_json(self, index: int) -> bool:
        try:
            self._encoded([index])
        except _NOT_JSON as error:
            self._refuse(index, f"its arguments cannot be sent: {error}")
            return False
        return True

    async def _watch(self, actor: RayActor) -> None:
        """Learn what the actor began while a tool keeps its loop from reporting it."""
        seconds = _SILENT_SECONDS
        with contextlib.suppress(Exception):  # it was lost, as the batch learns too
            while self._open:
                await asyncio.sleep(seconds)
                seconds = min(2 * seconds, _LONGEST_SILENT_SECONDS)
                begun = await actor.begun(self._batch)
                for index in self._sent if begun is None else map(self._sent.__getitem__, begun):
                    self._queue.start(index)

    async def _follow(self, actor: RayActor) -> None:
        """What takes longer than the first message."""
        if self._is_aborted:
            return
        self._running = actor.follow(self._batch)
        async for reference in self._running:
            self._pass_on(await reference)

    def _unsent(self, indexes: list[int], problem: str) -> str:
        for index in indexes:
            self._refuse(index, problem)
        return problem

    def _same_tools(self, indexes: list[int], offered: Mapping[str, list[Any]]) -> list[int]:
        same = []
        for index in indexes:
            request = self._queue.requests[index]
            known = offered.get(request.name)
            if self._is_aborted or index in self._stopped:
                problem = _NOT_BEGUN
            elif known is None:
                problem = f"the workers have no tool `{request.name}`"
            elif request.tool_digest and known[0] != request.tool_digest:
                problem = f"the worker has another version of `{request.name}`"
            else:
                same.append(index)
                continue
            self._refuse(index, problem)
        return same

    def _refuse(self, index: int, problem: str) -> None:
        """Answer a request that was not sent; one that was sent before may have run."""
        if index in self._open and not self._is_second:
            self._open.discard(index)
            self._queue.refuse(index, problem)

    def _pass_on(self, data: bytes) -> None:
        for item in read_line(data):
            kind = item[0]
            if kind == "draining":
                self._is_sent_on = True
                return
            index = self._sent[item[1]]
            if kind == "started":
                self._queue.start(index)
            elif kind == "event":
                event = ToolProgressEvent.from_wire(item[2])
                self._queue.put(TransportProgress(index, event))
            else:
                self._open.discard(index)
                self._queue.put(TransportReply.from_wire({**item[2], "index": index}))

    def stop(self, index: int) -> None:
        """Stop one call; the others go on."""
        if index not in self._open:
            return
        self._stopped.add(index)
        if index in self._sent:
            self._actor.cancel(self._batch, self._sent.index(index))
        elif self._running is None:
            self._refuse(index, _NOT_BEGUN)

    def abort(self) -> None:
        """Stop all calls; those that wait for a reply are answered now."""
        self._is_aborted = True
        if self._running is None:
            for index in sorted(self._open):
                self._refuse(index, _NOT_BEGUN)
        if not self._open:
            return
        import ray

        with contextlib.suppress(Exception):  # the cluster is gone
            ray.cancel(self._running)
            self._actor.cancel(self._batch, None)
        for index in sorted(self._open):
            self._queue.stop(index)
