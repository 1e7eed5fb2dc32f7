"""Two search services, by their public documentation; not verified against the live services."""

from __future__ import annotations

import html
import re
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote

from ethos_registry.capabilities.network.hosts import HostNotAllowedError
from ethos_registry.capabilities.network.url import target_of
from ethos_registry.contract.context import ToolContext
from ethos_registry.contract.errors import ConfigError
from ethos_registry.contract.scoped_ports import ScopedResponse
from ethos_registry.toolkit.network_errors import request_errors
from ethos_registry.toolkit.web.search_port import SearchError, SearchResult

__all__ = ["BraveSearch", "TavilySearch"]

_TAG = re.compile(r"<[^<>]{1,200}>")
_MAX_SNIPPET_CHARS = 1_000


class _Service:
    """What both services share: one host, one key."""

    name = ""

    def __init__(self, base_url: str, secret: str) -> None:
        try:
            target = target_of(base_url)
        except HostNotAllowedError:
            raise ConfigError(
                f"`base_url` must be an http or https URL, got {base_url!r}"
            ) from None
        self._base_url = base_url.rstrip("/")
        self.allowed_hosts: Sequence[str] = (target.host,)
        self.secrets: Sequence[str] = (secret,)

    async def _key(self, context: ToolContext) -> str:
        resolver = context.secrets_resolver
        assert resolver is not None
        try:
            return await resolver.get(self.secrets[0])
        except LookupError:
            raise SearchError(
                f"{self.name} has no key here: work without a search, or ask the user to set the "
                f"secret `{self.secrets[0]}`"
            ) from None

    async def _reply(self, context: ToolContext, path: str, **request: Any) -> ScopedResponse:
        fetch = context.scoped_fetch
        assert fetch is not None
        try:
            reply = await fetch.fetch(f"{self._base_url}{path}", **request)
        except HostNotAllowedError:
            raise
        except request_errors() as error:
            raise SearchError(
                f"{self.name} cannot be reached: {str(error) or type(error).__name__}; try again "
                "later, or open a page that you know"
            ) from None
        if reply.ok:
            return reply
        if reply.status in (401, 403):
            way_out = f"ask the user to check the secret `{self.secrets[0]}`"
        elif reply.status in (402, 429, 432, 433):
            way_out = "its limit is reached; wait, or open a page that you know"
        elif reply.status in (400, 422):
            way_out = "write a shorter and simpler query"
        else:
            way_out = "try again later, or open a page that you know"
        raise SearchError(f"{self.name} answered with HTTP {reply.status}; {way_out}")

    def _results(self, reply: ScopedResponse, *path: str) -> list[Mapping[str, Any]]:
        """The list at `path` of the JSON reply; empty if the service found nothing."""
        try:
            value = reply.json()
        except ValueError:
            raise SearchError(
                f"{self.name} answered with something other than JSON; try again later"
            ) from None
        for name in path:
            value = value.get(name) if isinstance(value, Mapping) else None
        found = value if isinstance(value, list) else []
        return [
            item for item in found if isinstance(item, Mapping) and isinstance(item.get("url"), str)
        ]


class BraveSearch(_Service):
    """The web search API of Brave: `GET /res/v1/web/search`, key in `X-Subscription-Token`.

    Written from the public documentation; not verified against the live service.

    Args:
        secret: The reference of the API key.
        base_url: Where the service is; change it for a gateway or a test.

    """

    name = "Brave Search"

    def __init__(
        self,
        *,
        secret: str = "search/brave",
        base_url: str = "https://api.search.brave.com",
    ) -> None:
        super().__init__(base_url, secret)

    async def search(self, query: str, count: int, context: ToolContext) -> Sequence[SearchResult]:
        """The best results, at most `count` (the service returns at most 20)."""
        headers = {
            "Accept": "application/json",
            "X-Subscription-Token": await self._key(context),
        }
        path = f"/res/v1/web/search?q={quote(query, safe='')}&count={min(count, 20)}"
        reply = await self._reply(context, path, headers=headers)
        return [
            SearchResult(
                _plain(item.get("title")),
                item["url"],
                _plain(item.get("description")),
                _optional(item.get("page_age") or item.get("age")),
            )
            for item in self._results(reply, "web", "results")[:count]
        ]


class TavilySearch(_Service):
    """The search API of Tavily: `POST /search`, key as a bearer token.

    Written from the public documentation; not verified against the live service.

    Args:
        secret: The reference of the API key.
        base_url: Where the service is; change it for a gateway or a test.

    """

    name = "Tavily"

    def __init__(
        self,
        *,
        secret: str = "search/tavily",
        base_url: str = "https://api.tavily.com",
    ) -> None:
        super().__init__(base_url, secret)

    async def search(self, query: str, count: int, context: ToolContext) -> Sequence[SearchResult]:
        """The best results, at most `count` (the service returns at most 20)."""
        reply = await self._reply(
            context,
            "/search",
            method="POST",
            headers={"Authorization": f"Bearer {await self._key(context)}"},
            json={"query": query, "max_results": min(count, 20), "search_depth": "basic"},
        )
        return [
            SearchResult(
                _plain(item.get("title")),
                item["url"],
                _plain(item.get("content")),
                _optional(item.get("published_date")),
            )
            for item in self._results(reply, "results")[:count]
        ]


def _plain(value: object) -> str:
    """Text on one line, without the tags that mark the words of the query."""
    if not isinstance(value, str):
        return ""
    text = html.unescape(_TAG.sub("", value[: 4 * _MAX_SNIPPET_CHARS]))
    return " ".join(text.split())[:_MAX_SNIPPET_CHARS]


def _optional(value: object) -> str | None:
    return value[:100] if isinstance(value, str) and value else None
