"""HTTP for tools: `context.scoped_fetch` (extra `network`)."""

from __future__ import annotations

import asyncio
import json as json_module
from collections.abc import Mapping
from typing import Any, TypedDict, Unpack

import httpcore

from ethos_registry.capabilities._address_guard import HostRules, Resolve
from ethos_registry.capabilities._network import (
    Body,
    ConnectionPools,
    Exchange,
    FetchLimits,
    FetchResponse,
    header_map,
)

DEFAULT_LIMITS = FetchLimits()


class FetchOptions(TypedDict, total=False):
    """The options of `ReachFetch.fetch`, which has their meaning and defaults."""

    method: str
    headers: Mapping[str, str] | None
    content: bytes | str | None
    json: Any


class SyncReachFetch:
    """HTTP for plain functions; see `ReachFetch`."""

    __slots__ = ("_fetch",)

    def __init__(self, fetch: ReachFetch) -> None:
        self._fetch = fetch

    def fetch(self, url: str, **options: Unpack[FetchOptions]) -> FetchResponse:
        """The reply; see `ReachFetch.fetch`."""
        return self._fetch._pools.wait(lambda: self._fetch.fetch(url, **options))

    __call__ = fetch


class ReachFetch:
    """HTTP for `async` tools to the hosts that are declared and permitted.

    Every address is checked before a connection is made, on each redirect too. Credentials are
    dropped when a redirect leads to another origin. Proxy variables of the environment are
    ignored. `sync` has the same methods for plain functions.
    """

    __slots__ = ("_limits", "_pools", "_rules")

    def __init__(
        self, rules: HostRules, pools: ConnectionPools, limits: FetchLimits = DEFAULT_LIMITS
    ) -> None:
        self._rules, self._pools, self._limits = rules, pools, limits

    @property
    def sync(self) -> SyncReachFetch:
        """The same for plain functions."""
        return SyncReachFetch(self)

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
        lines = dict(headers or {})
        if json is not None:
            content = json_module.dumps(json, ensure_ascii=False, separators=(",", ":"))
            lines.setdefault("Content-Type", "application/json")
        if isinstance(content, str):
            content = content.encode()
        exchange = Exchange(self._rules, self._limits, url, method, lines, content)
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
                        # The reply to HEAD names an encoding and has no body.
                        encoding = fields.get("content-encoding", "")
                        body = Body("" if exchange.method == "HEAD" else encoding, self._limits)
                        async for chunk in reply.aiter_stream():
                            body.feed(chunk)
                        if _has_more(pool, reply):
                            await reply.extensions["network_stream"].aclose()
                        found = exchange.target.url
                        return FetchResponse(reply.status, fields, found, body.content())
        except TimeoutError:
            if clock.expired():
                seconds = self._limits.total_seconds
                raise TimeoutError(f"the fetch took longer than {seconds:g} s") from None
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
    return httpcore.URL(
        scheme=target.scheme.encode(),
        host=target.host.encode(),
        port=target.port,
        target=target.path.encode("ascii"),
    )


def _has_more(pool: httpcore.AsyncConnectionPool, reply: httpcore.Response) -> bool:
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
