"""HTTP for tools: `context.scoped_fetch` (extra `network`)."""

from __future__ import annotations

import asyncio
import json as json_module
from collections.abc import Mapping
from typing import Any

import httpcore

from ethos_registry.capabilities._address_guard import HostRules, Resolve
from ethos_registry.capabilities._guarded_connections import deadline_in, seconds_left
from ethos_registry.capabilities._network import (
    Body,
    ConnectionPools,
    Exchange,
    FetchLimits,
    FetchResponse,
    header_map,
)

__all__ = ["ConnectionPools", "ReachFetch", "SyncReachFetch"]


DEFAULT_LIMITS = FetchLimits()


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
        pool = self._pools.for_threads(self._rules)
        try:
            with deadline_in(self._limits.total_seconds):
                while True:
                    reply = _answered(pool, exchange)
                    if reply is not None:
                        return reply
        except httpcore.TimeoutException:
            raise _too_slow(self._limits) from None

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
        pool = await self._pools.for_loop(self._rules)
        clock = asyncio.timeout(self._limits.total_seconds)
        try:
            async with clock:
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
                        body = Body(_encoding(exchange, fields), self._limits)
                        async for chunk in reply.aiter_stream():
                            body.feed(chunk)
                        if _has_more(pool, reply):
                            await reply.extensions["network_stream"].aclose()
                        found = exchange.target.url
                        return FetchResponse(reply.status, fields, found, body.content())
        except TimeoutError:
            if clock.expired():
                raise _too_slow(self._limits) from None
            raise

    __call__ = fetch

    @property
    def rules(self) -> HostRules:
        """The hosts that are permitted."""
        return self._rules

    @property
    def resolve(self) -> Resolve:
        """Returns the addresses of a host."""
        return self._pools.resolve


def _core_url(exchange: Exchange) -> httpcore.URL:
    target = exchange.target
    host = f"[{target.host}]" if ":" in target.host else target.host
    return httpcore.URL(
        scheme=target.scheme.encode(),
        host=host.encode() if ":" not in target.host else target.host.encode(),
        port=target.port,
        target=target.path.encode("ascii"),
    )


def _answered(pool: httpcore.ConnectionPool, exchange: Exchange) -> FetchResponse | None:
    """The reply to the next request; `None` for a redirect."""
    timeouts = dict.fromkeys(("connect", "read", "write", "pool"), seconds_left())
    with pool.stream(
        exchange.method,
        _core_url(exchange),
        headers=exchange.headers(),
        content=exchange.content,
        extensions={"timeout": timeouts},
    ) as reply:
        fields = header_map(reply.headers)
        if exchange.redirect(reply.status, fields):
            return None
        body = Body(_encoding(exchange, fields), exchange.limits)
        for chunk in reply.iter_stream():
            body.feed(chunk)
        if _has_more(pool, reply):
            reply.extensions["network_stream"].close()
        return FetchResponse(reply.status, fields, exchange.target.url, body.content())


def _has_more(
    pool: httpcore.ConnectionPool | httpcore.AsyncConnectionPool, reply: httpcore.Response
) -> bool:
    """Whether bytes follow a reply that was read: they would be the reply to the next request.

    True also if that cannot be seen: httpcore has no public way to ask.
    """
    stream = reply.extensions.get("network_stream")
    for connection in pool.connections:
        inner = getattr(connection, "_connection", None)
        if getattr(inner, "_network_stream", None) is stream:
            state = getattr(inner, "_h11_state", None)
            return state is None or bool(state.trailing_data[0])
    return True


def _encoding(exchange: Exchange, fields: Mapping[str, str]) -> str:
    """The content encoding; the reply to HEAD names one and has no body."""
    return "" if exchange.method == "HEAD" else fields.get("content-encoding", "")


def _too_slow(limits: FetchLimits) -> TimeoutError:
    return TimeoutError(f"the fetch took longer than {limits.total_seconds:g} s")
