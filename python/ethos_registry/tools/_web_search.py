"""The tool `web_search`."""

from __future__ import annotations

import html
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any, Protocol
from urllib.parse import quote

from ethos_registry.capabilities._address_guard import HostNotAllowedError, target_of
from ethos_registry.tools._arguments import (
    RefusalError,
    argument_tool,
    optional_whole_number,
    quoted,
    required_text,
    string,
    whole_number,
)
from ethos_registry.tools._fetch_url import request_errors
from ethos_registry.types import _checks
from ethos_registry.types._context import ToolContext
from ethos_registry.types._errors import ConfigError, EthosRegistryError
from ethos_registry.types._policy import ToolCapabilities
from ethos_registry.types._ports import ScopedResponse
from ethos_registry.types._result import ToolResult, ok
from ethos_registry.types._tool import Tool

# What searches the web, behind one interface.


class SearchError(EthosRegistryError):
    """A search failed; the message is for the model and names the way out."""

    __module__ = "ethos_registry.tools"


@dataclass(frozen=True, slots=True)
class SearchResult:
    """One result of a search."""

    title: str
    url: str
    snippet: str = ""
    published: str | None = None
    """When it was published, as the search service writes it."""


class SearchBackend(Protocol):
    """A search service, for `web_search_tool`."""

    @property
    def allowed_hosts(self) -> Sequence[str]:
        """The hosts that a search requests; none if it makes no request."""

    @property
    def secrets(self) -> Sequence[str]:
        """The references of the secrets that a search uses."""

    async def search(self, query: str, count: int, context: ToolContext) -> Sequence[SearchResult]:
        """The best results, at most `count`.

        Requests go through `context.scoped_fetch`, keys come from `context.secrets_resolver`.
        Raises `SearchError` if the search fails.
        """


@_checks.checked_class
class ScriptedSearch:
    """Fixed results, for tests and examples: the query is compared in lower case.

    >>> import asyncio
    >>> search = ScriptedSearch({"ferry": [SearchResult("Timetable", "https://ferry.example/")]})
    >>> [found] = asyncio.run(search.search("Ferry", 5, ToolContext()))
    >>> found.title, search.queries
    ('Timetable', ['Ferry'])
    """

    allowed_hosts: Sequence[str] = ()
    secrets: Sequence[str] = ()

    def __init__(self, results: Mapping[str, Sequence[SearchResult]]) -> None:
        self._results = {query.lower(): list(found) for query, found in results.items()}
        self.queries: list[str] = []
        """The queries so far."""

    async def search(self, query: str, count: int, context: ToolContext) -> Sequence[SearchResult]:
        """The results of the query; none for any other."""
        self.queries.append(query)
        return self._results.get(query.lower(), [])[:count]


# Two search services, by their public documentation; not verified against the live services.

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


@_checks.checked_class
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


@_checks.checked_class
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


_DEFAULT_COUNT = 5
_MAX_COUNT = 20
_MAX_QUERY_CHARS = 400

_PROPERTIES = {
    "query": string("What to search for, in a few words."),
    "count": whole_number(f"How many results. Default: {_DEFAULT_COUNT}.", maximum=_MAX_COUNT),
}


@_checks.checked_signature
def web_search_tool(backend: SearchBackend) -> Tool:
    """The tool `web_search(query, count?)`, in the toolset `web`.

    Returns the title, URL, date and an extract of each result as numbered lines; `structured` holds
    `query` and `results`. The result is untrusted.

    The tool declares the host and the key of its backend: it needs the backends `network` and
    `secrets` of `standard_backends(secrets=...)`.

    Args:
        backend: `BraveSearch()`, `TavilySearch()`, `ScriptedSearch(...)` for tests, or an object of
            your own that follows `SearchBackend`.

    >>> from ethos_registry import ToolRegistry
    >>> from ethos_registry.tools import ScriptedSearch, SearchResult
    >>> search = ScriptedSearch({"ferry": [SearchResult("Timetable", "https://ferry.example/")]})
    >>> registry = ToolRegistry([web_search_tool(search)])
    >>> calls = [{"id": "1", "name": "web_search", "args": {"query": "ferry"}}]
    >>> print(registry.execute_parallel_sync(calls)[0].text)
    1. Timetable
       https://ferry.example/

    """
    if not callable(getattr(backend, "search", None)):
        raise ConfigError(
            "`backend` must be a search service such as BraveSearch(), "
            f"got {type(backend).__name__}"
        )
    hosts, secrets = list(backend.allowed_hosts), list(backend.secrets)

    return argument_tool(
        "web_search",
        "Search the web. Returns titles, addresses and extracts; read a page with fetch_url.",
        _PROPERTIES,
        partial(_searched, backend=backend),
        required=["query"],
        toolset="web",
        max_result_chars=20_000,
        output_is_untrusted=True,
        idempotent=True,
        capabilities=ToolCapabilities(
            network={"allowedHosts": hosts} if hosts else None, secrets=secrets or None
        ),
    )


async def _searched(
    values: Mapping[str, Any], context: ToolContext, backend: SearchBackend
) -> ToolResult:
    query = " ".join(required_text(values, "query", "opening hours of the harbour").split())
    if len(query) > _MAX_QUERY_CHARS:
        raise RefusalError(
            f"`query` has {len(query)} characters, more than {_MAX_QUERY_CHARS}; use a few words"
        )
    count = optional_whole_number(values, "count", minimum=1) or _DEFAULT_COUNT
    try:
        found = await backend.search(query, min(count, _MAX_COUNT), context)
    except HostNotAllowedError as error:
        raise RefusalError(
            f"{error}; work without a search, or ask the user to permit this host",
            "not_available",
        ) from None
    except SearchError as error:
        raise RefusalError(str(error), "execution_failed") from None
    results = list(found)[: min(count, _MAX_COUNT)]
    structured = {"query": query, "results": [asdict(result) for result in results]}
    if not results:
        return ok(
            f"Nothing was found for {quoted(query)}; use fewer or other words.",
            structured=structured,
        )
    return ok(_listed(results), structured=structured)


def _listed(results: Sequence[SearchResult]) -> str:
    lines = []
    for number, result in enumerate(results, 1):
        date = f" ({result.published})" if result.published else ""
        title = " ".join(result.title.split()) or result.url
        lines.append(f"{number}. {title}{date}\n   {' '.join(result.url.split())}")
        if result.snippet:
            lines.append(f"   {' '.join(result.snippet.split())}")
    return "\n".join(lines)
