"""The tool `web_search`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from ethos_registry.capabilities.network.hosts import HostNotAllowedError
from ethos_registry.contract.capability import ToolCapabilities
from ethos_registry.contract.context import ToolContext
from ethos_registry.contract.errors import ConfigError
from ethos_registry.contract.result import ToolResult, ok
from ethos_registry.contract.tool import Tool
from ethos_registry.toolkit.arguments import (
    RefusalError,
    known_arguments,
    optional_whole_number,
    required_text,
    shown,
)
from ethos_registry.toolkit.web.search_port import SearchBackend, SearchError, SearchResult

__all__ = ["web_search_tool"]

_DEFAULT_COUNT = 5
_MAX_COUNT = 20
_MAX_QUERY_CHARS = 400

_SCHEMA = {
    "type": "object",
    "properties": {
        "query": {"type": "string", "description": "What to search for, in a few words."},
        "count": {
            "type": "integer",
            "minimum": 1,
            "maximum": _MAX_COUNT,
            "description": f"How many results. Default: {_DEFAULT_COUNT}.",
        },
    },
    "required": ["query"],
    "additionalProperties": False,
}


def web_search_tool(backend: SearchBackend) -> Tool:
    """The tool `web_search(query, count?)`, in the toolset `web`.

    Returns the title, URL, date and an extract of each result as numbered lines; `structured` holds
    `query` and `results`. The result is untrusted.

    The tool declares the host and the key of its backend: it needs the backends `network` and
    `secrets` of `standard_backends(secrets=...)`.

    Args:
        backend: `BraveSearch()`, `TavilySearch()`, `ScriptedSearch(...)` for tests, or an object of
            your own that follows `SearchBackend`.

    >>> from ethos_registry import ScriptedSearch, SearchResult, ToolRegistry
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

    async def execute(args: Any, context: ToolContext) -> ToolResult:
        try:
            return await _searched(args, context, backend)
        except RefusalError as refusal:
            return refusal.error

    return Tool(
        "web_search",
        "Search the web. Returns titles, addresses and extracts; read a page with fetch_url.",
        _SCHEMA,
        execute,
        toolset="web",
        max_result_chars=20_000,
        output_is_untrusted=True,
        idempotent=True,
        capabilities=ToolCapabilities(
            network={"allowedHosts": hosts} if hosts else None, secrets=secrets or None
        ),
    )


async def _searched(args: Any, context: ToolContext, backend: SearchBackend) -> ToolResult:
    values = known_arguments(args, ("query", "count"), "web_search")
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
            f"Nothing was found for {shown(query)}; use fewer or other words.",
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
