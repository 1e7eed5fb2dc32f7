"""HTTP for tools: `context.scoped_fetch` (extra `network`)."""

from __future__ import annotations

import asyncio
import json as json_module
import ssl
import threading
import time
from collections.abc import Mapping
from typing import Any

import httpcore

from ethos_registry.capabilities.network.exchange import (
    Body,
    Exchange,
    FetchLimits,
    FetchResponse,
    header_map,
)
from ethos_registry.capabilities.network.hosts import HostRules
from ethos_registry.capabilities.network.judged_backend import (
    AsyncJudgedBackend,
    JudgedBackend,
    Resolve,
    system_addresses,
)

__all__ = ["ConnectionPools", "ReachFetch", "SyncReachFetch"]


DEFAULT_LIMITS = FetchLimits()


class ConnectionPools:
    """The connections of one application: one pool per policy and event loop.

    A connection made under one policy is never reused under another.
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
        self._async: dict[tuple[HostRules, int], httpcore.AsyncConnectionPool] = {}
        self._sync: dict[HostRules, httpcore.ConnectionPool] = {}

    def _tls(self) -> ssl.SSLContext:
        if self._ssl_context is None:
            self._ssl_context = ssl.create_default_context()
        return self._ssl_context

    def for_loop(self, rules: HostRules) -> httpcore.AsyncConnectionPool:
        """The pool of a policy on the running event loop."""
        key = rules, id(asyncio.get_running_loop())
        with self._lock:
            pool = self._async.get(key)
            if pool is None:
                pool = self._async[key] = httpcore.AsyncConnectionPool(
                    ssl_context=self._tls(),
                    max_connections=self._max_connections,
                    network_backend=AsyncJudgedBackend(
                        allow_private=rules.allow_private_urls, resolve=self._resolve
                    ),
                )
            return pool

    def for_threads(self, rules: HostRules) -> httpcore.ConnectionPool:
        """The pool of a policy for code that may block."""
        with self._lock:
            pool = self._sync.get(rules)
            if pool is None:
                pool = self._sync[rules] = httpcore.ConnectionPool(
                    ssl_context=self._tls(),
                    max_connections=self._max_connections,
                    network_backend=JudgedBackend(
                        allow_private=rules.allow_private_urls, resolve=self._resolve
                    ),
                )
            return pool

    async def aclose(self) -> None:
        """Close every connection of this loop and of plain functions."""
        loop = id(asyncio.get_running_loop())
        with self._lock:
            mine = [key for key in self._async if key[1] == loop]
            pools = [self._async.pop(key) for key in mine]
            blocking = list(self._sync.values())
            self._sync.clear()
        for pool in pools:
            await pool.aclose()
        for closing in blocking:
            closing.close()


def _exchange(
    rules: HostRules,
    limits: FetchLimits,
    url: str,
    method: str,
    headers: Mapping[str, str] | None,
    content: bytes | str | None,
    json: Any,
) -> Exchange:
    lines = dict(headers or {})
    if json is not None:
        content = json_module.dumps(json, ensure_ascii=False, separators=(",", ":"))
        lines.setdefault("Content-Type", "application/json")
    if isinstance(content, str):
        content = content.encode()
    return Exchange(rules, limits, url, method, lines, content)


class SyncReachFetch:
    """HTTP for plain functions; see `ReachFetch`."""

    __slots__ = ("_limits", "_pools", "_rules")

    def __init__(
        self, rules: HostRules, pools: ConnectionPools, limits: FetchLimits = DEFAULT_LIMITS
    ) -> None:
        self._rules, self._pools, self._limits = rules, pools, limits

    def fetch(
        self,
        url: str,
        *,
        method: str = "GET",
        headers: Mapping[str, str] | None = None,
        content: bytes | str | None = None,
        json: Any = None,
    ) -> FetchResponse:
        """The reply; see `ReachFetch.fetch`."""
        exchange = _exchange(self._rules, self._limits, url, method, headers, content, json)
        deadline = time.monotonic() + self._limits.total_seconds
        pool = self._pools.for_threads(self._rules)
        while True:
            left = _left(deadline, self._limits)
            timeouts = dict.fromkeys(("connect", "read", "write", "pool"), left)
            with pool.stream(
                exchange.method,
                _core_url(exchange),
                headers=exchange.headers(),
                content=exchange.content,
                extensions={"timeout": timeouts},
            ) as reply:
                fields = header_map(reply.headers)
                if exchange.redirect(reply.status, fields):
                    continue
                body = Body(fields.get("content-encoding", ""), self._limits)
                for chunk in reply.iter_stream():
                    _left(deadline, self._limits)
                    body.feed(chunk)
                return FetchResponse(reply.status, fields, exchange.target.url, body.content())

    __call__ = fetch


class ReachFetch:
    """HTTP for `async` tools to the hosts that are declared and permitted.

    Every address is checked before a connection is made, on each redirect too. Credentials are
    dropped when a redirect leads to another origin. Proxy variables of the environment are
    ignored. `sync` has the same methods for plain functions.
    """

    __slots__ = ("_limits", "_pools", "_rules", "sync")

    sync: SyncReachFetch

    def __init__(
        self, rules: HostRules, pools: ConnectionPools, limits: FetchLimits = DEFAULT_LIMITS
    ) -> None:
        self._rules, self._pools, self._limits = rules, pools, limits
        self.sync = SyncReachFetch(rules, pools, limits)

    async def fetch(
        self,
        url: str,
        *,
        method: str = "GET",
        headers: Mapping[str, str] | None = None,
        content: bytes | str | None = None,
        json: Any = None,
    ) -> FetchResponse:
        """The reply to a request, whatever its status.

        `json` is sent as the body with its content type. Raises `HostNotAllowedError` if the URL,
        a redirect or an address is not permitted, `ResponseTooLargeError` and `TimeoutError`
        beyond the limits, other `OSError`s or httpcore's errors if the exchange fails.
        """
        exchange = _exchange(self._rules, self._limits, url, method, headers, content, json)
        pool = self._pools.for_loop(self._rules)
        async with asyncio.timeout(self._limits.total_seconds):
            while True:
                async with pool.stream(
                    exchange.method,
                    _core_url(exchange),
                    headers=exchange.headers(),
                    content=exchange.content,
                ) as reply:
                    fields = header_map(reply.headers)
                    if exchange.redirect(reply.status, fields):
                        continue
                    body = Body(fields.get("content-encoding", ""), self._limits)
                    async for chunk in reply.aiter_stream():
                        body.feed(chunk)
                    return FetchResponse(reply.status, fields, exchange.target.url, body.content())

    __call__ = fetch


def _core_url(exchange: Exchange) -> httpcore.URL:
    target = exchange.target
    host = f"[{target.host}]" if ":" in target.host else target.host
    return httpcore.URL(
        scheme=target.scheme.encode(),
        host=host.encode() if ":" not in target.host else target.host.encode(),
        port=target.port,
        target=target.path.encode("ascii"),
    )


def _left(deadline: float, limits: FetchLimits) -> float:
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError(f"the fetch took longer than {limits.total_seconds} s")
    return left
