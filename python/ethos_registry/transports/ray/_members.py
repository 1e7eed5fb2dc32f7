"""Which actors a batch may go to."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import logging
import threading
import time
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from ethos_registry.transports._caller_queue import CallerQueue
from ethos_registry.transports._protocol import load_tools, offered_tools, registry_digest
from ethos_registry.transports.ray._actor import (
    ActorSettings,
    LostError,
    RayActor,
    UnavailableError,
    draining_nodes,
    worker_names,
)
from ethos_registry.types import _checks
from ethos_registry.types._settings import check_settings, setting

_logger = logging.getLogger("ethos_registry")

# Settings of tools that keep state for a session.


@dataclass(frozen=True, slots=True)
class RaySessions:
    """One actor for each `session_id`: for tools such as a browser or a shell.

    Raises:
        ConfigError: A value is of the wrong kind.

    >>> RaySessions(idle_seconds=60).is_serial
    True

    """

    idle_seconds: float = setting(_checks.finite_number, default=600.0)
    """An actor without calls for that time ends, and its state is lost."""
    is_serial: bool = setting(_checks.boolean, default=True)
    """Whether the calls of a session run one after another."""
    max_open: int = setting(_checks.whole_count, default=64)
    """The most sessions that this process keeps open; calls of others are `not_available`."""

    def __post_init__(self) -> None:
        check_settings(self)


def session_actor_name(pool: str, session_id: str) -> str:
    """The name of the actor of a session: the id itself may be personal data."""
    digest = hashlib.sha256(f"{pool}\0{session_id}".encode("utf-8", "surrogatepass")).hexdigest()
    return f"ethos-registry/session/{digest[:32]}"


_REFRESH_SECONDS = 1.0
_OTHERS_SECONDS = 1.0
"""How long a batch waits for further actors when the first one is ready."""


class Members(Protocol):
    """The actors of a pool, or of a session."""

    lost_problem: str
    """Why calls have no result when an actor is lost."""

    async def ready(self, seconds: float) -> list[RayActor]:
        """The actors that take a batch, at least one; `UnavailableError` if there is none."""

    def other(self, actor: RayActor) -> RayActor | None:
        """Where calls go that this actor did not run; `None` for nowhere."""


class _Pool:
    """Actors that are alike; none of a node that is being drained."""

    lost_problem = "its Ray worker was lost"

    def __init__(self) -> None:
        self._actors: list[RayActor] = []
        self._draining: frozenset[str] = frozenset()
        self._refreshed_at = 0.0
        self._is_closed = False
        self._lock = threading.Lock()

    async def ready(self, seconds: float) -> list[RayActor]:
        await self._refresh()
        usable = self._usable()
        ready = [actor for actor in usable if actor.is_ready]
        waiting = [actor for actor in usable if not actor.is_ready]
        if ready:
            await asyncio.gather(*(actor.look() for actor in waiting))
            return ready + [actor for actor in waiting if actor.is_ready]
        return await _first_ready(waiting, seconds)

    async def _refresh(self) -> None:
        if time.monotonic() - self._refreshed_at >= _REFRESH_SECONDS:
            self._refreshed_at = time.monotonic()
            await asyncio.get_running_loop().run_in_executor(None, self._look)

    def _look(self) -> None:
        self._draining = draining_nodes()

    def _usable(self) -> list[RayActor]:
        raise NotImplementedError

    def other(self, actor: RayActor) -> RayActor | None:
        with contextlib.suppress(UnavailableError):
            usable = [each for each in self._usable() if each is not actor and each.is_ready]
            found = min(usable, key=lambda each: each.open_calls, default=None)
            return found if found is not None or actor.is_draining else actor
        return None

    def groups(self, queue: CallerQueue, indexes: list[int]) -> list[tuple[Members, list[int]]]:
        return [(self, indexes)] if indexes else []

    def close(self) -> None:
        """End the actors, or the links to those of others."""
        with self._lock:
            self._is_closed = True
        for actor in self._actors:
            actor.close()


class OwnMembers(_Pool):
    """Actors that this process makes; one on a draining node is replaced by one elsewhere."""

    def __init__(self, settings: ActorSettings, count: int) -> None:
        super().__init__()
        self._settings = settings
        self._actors = [RayActor(settings) for _ in range(count)]

    def _usable(self) -> list[RayActor]:
        with self._lock:
            for place, actor in enumerate(self._actors):
                leaves = actor.is_draining or actor.node_id in self._draining
                if leaves and not self._is_closed:
                    self._actors[place] = RayActor(self._settings)
                    actor.retire()
            return list(self._actors)


class FoundMembers(_Pool):
    """The workers that `ethos-registry worker` serves under the name of a pool."""

    def __init__(self, pool: str, settings: ActorSettings) -> None:
        super().__init__()
        self._pool = pool
        self._settings = settings
        self._is_reported = False
        """Whether it was logged that there are no workers."""
        self._expected = ""

    def _look(self) -> None:
        super()._look()
        tools = self._settings.tools
        if tools and not self._expected:
            self._expected = registry_digest(offered_tools(load_tools(tools)))
        names = worker_names(self._pool, self._settings.namespace)
        with self._lock:
            known = {actor.name: actor for actor in self._actors}
            self._actors = [known.get(name) or self._found(name) for name in names]

    def _found(self, name: str) -> RayActor:
        return RayActor(self._settings, name, is_found=True, expected_digest=self._expected)

    def _usable(self) -> list[RayActor]:
        with self._lock:
            actors = list(self._actors)
        if not actors:
            self._refreshed_at = 0.0
            problem = f"no worker serves the pool `{self._pool}`"
            if not self._is_reported:  # models are not shown the way out
                self._is_reported = True
                namespace = self._settings.namespace
                way_out = f"in the namespace `{namespace}`; start `ethos-registry worker`"
                _logger.warning("%s %s", problem, way_out)
            raise UnavailableError(problem)
        self._is_reported = False
        usable = [
            actor
            for actor in actors
            if not actor.is_draining and actor.node_id not in self._draining
        ]
        if not usable:
            raise UnavailableError(f"every worker of the pool `{self._pool}` is being drained")
        return usable


class SessionMembers:
    """One actor for each session."""

    def __init__(self, settings: ActorSettings, sessions: RaySessions, pool: str) -> None:
        self._settings = settings
        self._sessions = sessions
        self._pool = pool
        self._lock = threading.Lock()
        self._known: OrderedDict[str, SessionMember] = OrderedDict()

    def groups(self, queue: CallerQueue, indexes: list[int]) -> list[tuple[Members, list[int]]]:
        """The requests that go to the same actors; those without are refused."""
        by_session: dict[str, list[int]] = {}
        for index in indexes:
            by_session.setdefault(queue.requests[index].context.session_id, []).append(index)
        groups: list[tuple[Members, list[int]]] = []
        for session_id, its in by_session.items():
            try:
                groups.append((self._of(session_id), its))
            except UnavailableError as error:
                for index in its:
                    queue.refuse(index, str(error))
        return groups

    def _of(self, session_id: str) -> SessionMember:
        if not session_id:
            raise UnavailableError("a tool with session state needs `session_id` in its context")
        with self._lock:
            member = self._known.get(session_id)
            if member is None:
                self._check_count()
                name = session_actor_name(self._pool, session_id)
                member = SessionMember(RayActor(self._settings, name))
                self._known[session_id] = member
            self._known.move_to_end(session_id)
            member.used_at = time.monotonic()
            return member

    def _check_count(self) -> None:
        most = self._sessions.max_open
        if len(self._known) < most:
            return
        now = time.monotonic()
        open_now = sum(
            member.actor.open_calls > 0 or now - member.used_at < self._sessions.idle_seconds
            for member in self._known.values()
        )
        if open_now >= most:
            _logger.warning("%d sessions are open; end one or raise `max_open`", open_now)
            raise UnavailableError("too many sessions are open")
        if len(self._known) >= most * 10:  # ended long ago
            self._known.popitem(last=False)

    def end(self, session_id: str) -> None:
        """End the actor of a session, if it has one."""
        with self._lock:
            member = self._known.pop(session_id, None)
        if member is not None:
            member.actor.close()

    def close(self) -> None:
        """End the actors, or the links to those of others."""
        for session_id in list(self._known):
            self.end(session_id)


class SessionMember:
    """The actor of a session. What it knows is lost with it, which is reported once."""

    lost_problem = "its Ray worker was lost and the session state was lost"

    def __init__(self, actor: RayActor) -> None:
        self.actor = actor
        self.used_at = time.monotonic()
        self._has_state = False

    async def ready(self, seconds: float) -> list[RayActor]:
        actor = self.actor
        if actor.was_lost:  # under calls, whose answers reported it
            actor.was_lost = self._has_state = False
            actor.forget()
        actor.recheck()  # it may have ended since the last batch
        try:
            await actor.ready(seconds)
        except LostError:
            if self._has_state:
                self._has_state = False
                raise UnavailableError(
                    "the session state was lost: its worker was idle for too long, or crashed; "
                    "the next call starts without it"
                ) from None
            await actor.ready(seconds)  # the one of another process had just ended
        self._has_state = True
        return [actor]

    def other(self, actor: RayActor) -> RayActor | None:
        return None


async def _first_ready(actors: Sequence[RayActor], seconds: float) -> list[RayActor]:
    """Those that are ready soon after the first one."""
    tasks = [asyncio.ensure_future(actor.ready(seconds)) for actor in actors]
    try:
        left = set(tasks)
        while left and not any(task.done() and task.exception() is None for task in tasks):
            _, left = await asyncio.wait(left, return_when=asyncio.FIRST_COMPLETED)
        if left:
            await asyncio.wait(left, timeout=_OTHERS_SECONDS)
    finally:
        for task in tasks:
            task.cancel()
        outcomes = await asyncio.gather(*tasks, return_exceptions=True)
    ready = [actor for actor in actors if actor.is_ready]
    if not ready:
        raise next(each for each in outcomes if isinstance(each, Exception))
    return ready
