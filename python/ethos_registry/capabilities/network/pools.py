"""The connections of scoped fetches, kept for reuse."""

from __future__ import annotations

import asyncio
import contextlib
import ssl
import threading
import weakref
from collections.abc import AsyncGenerator, MutableMapping
from typing import TYPE_CHECKING, Any

from ethos_registry.capabilities.network.hosts import HostRules
from ethos_registry.capabilities.network.lookup import Resolve, system_addresses

if TYPE_CHECKING:
    import httpcore

__all__ = ["ConnectionPools"]

Closing = AsyncGenerator[None, None]

_CLOSING: set[asyncio.Task[None]] = set()


class ConnectionPools:
    """The connections of one application: one pool per policy and event loop.

    A connection made under one policy is never reused under another. The connections of an event
    loop are closed when `asyncio.run` ends, and by `aclose()`. Needs the extra `network`.

    Args:
        ssl_context: How TLS certificates are verified. Default: by the system's authorities.
        resolve: Returns the addresses of a host. Default: the system's resolver.
        max_connections: Of one policy at the same time; more requests wait.

    """

    def __init__(
        self,
        *,
        ssl_context: ssl.SSLContext | None = None,
        resolve: Resolve = system_addresses,
        max_connections: int = 20,
    ) -> None:
        self._ssl_context = ssl_context
        self._resolve = resolve
        self._max_connections = max_connections
        self._lock = threading.Lock()
        # The loop itself and not its `id()`, which the next loop may get.
        self._async: dict[
            tuple[HostRules, asyncio.AbstractEventLoop],
            tuple[httpcore.AsyncConnectionPool, Closing],
        ] = {}
        self._sync: dict[HostRules, httpcore.ConnectionPool] = {}
        # It also keeps the connections alive until then: none is found open by the collector.
        weakref.finalize(self, _abandon, self._sync, self._async)

    @property
    def resolve(self) -> Resolve:
        """Returns the addresses of a host."""
        return self._resolve

    def _tls(self) -> ssl.SSLContext:
        if self._ssl_context is None:
            self._ssl_context = ssl.create_default_context()
        return self._ssl_context

    async def for_loop(self, rules: HostRules) -> httpcore.AsyncConnectionPool:
        """The pool of a policy on the running event loop."""
        import httpcore

        from ethos_registry.capabilities.network.judged_backend import AsyncJudgedBackend

        loop = asyncio.get_running_loop()
        with self._lock:
            found = self._async.get((rules, loop))
            if found is not None:
                return found[0]
            pool = httpcore.AsyncConnectionPool(
                ssl_context=self._tls(),
                max_connections=self._max_connections,
                network_backend=AsyncJudgedBackend(
                    allow_private=rules.allow_private_urls,
                    denied=rules.denied_addresses,
                    resolve=self._resolve,
                ),
            )
            for key in [key for key in self._async if key[1].is_closed()]:
                del self._async[key]
            closing = _closed_with_the_loop(pool, self._async, (rules, loop))
            self._async[rules, loop] = pool, closing
        await anext(closing)
        return pool

    def for_threads(self, rules: HostRules) -> httpcore.ConnectionPool:
        """The pool of a policy for code that may block."""
        import httpcore

        from ethos_registry.capabilities.network.judged_backend import JudgedBackend

        with self._lock:
            pool = self._sync.get(rules)
            if pool is None:
                pool = self._sync[rules] = httpcore.ConnectionPool(
                    ssl_context=self._tls(),
                    max_connections=self._max_connections,
                    network_backend=JudgedBackend(
                        allow_private=rules.allow_private_urls,
                        denied=rules.denied_addresses,
                        resolve=self._resolve,
                    ),
                )
            return pool

    async def aclose(self) -> None:
        """Close every connection of this loop and of plain functions."""
        loop = asyncio.get_running_loop()
        with self._lock:
            mine = [pool for key, pool in self._async.items() if key[1] is loop]
        for _, closing in mine:
            await closing.aclose()
        _close_all(self._sync)


async def _closed_with_the_loop(
    pool: httpcore.AsyncConnectionPool, pools: MutableMapping[Any, Any], key: Any
) -> Closing:
    """A generator that an event loop finishes when it ends: the connections end with the loop."""
    try:
        yield
    finally:
        pools.pop(key, None)
        await pool.aclose()


def _abandon(
    blocking: dict[HostRules, httpcore.ConnectionPool], pools: dict[Any, tuple[Any, Closing]]
) -> None:
    """Close what an object that is gone has left, each pool on its own loop."""
    _close_all(blocking)
    for (_, loop), (_, closing) in [*pools.items()]:
        with contextlib.suppress(RuntimeError):  # the loop is closed
            loop.call_soon_threadsafe(_start_closing, loop, closing)
    pools.clear()


def _start_closing(loop: asyncio.AbstractEventLoop, closing: Closing) -> None:
    task = loop.create_task(_close(closing))
    _CLOSING.add(task)
    task.add_done_callback(_CLOSING.discard)


async def _close(closing: Closing) -> None:
    await closing.aclose()


def _close_all(pools: dict[HostRules, httpcore.ConnectionPool]) -> None:
    while pools:
        pools.popitem()[1].close()
