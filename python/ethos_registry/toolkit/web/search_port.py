"""What searches the web, behind one interface."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from ethos_registry.contract.context import ToolContext
from ethos_registry.contract.errors import EthosRegistryError

__all__ = ["ScriptedSearch", "SearchBackend", "SearchError", "SearchResult"]


class SearchError(EthosRegistryError):
    """A search failed; the message is for the model and names the way out."""


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
