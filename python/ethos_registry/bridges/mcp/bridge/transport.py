"""How each kind of server is reached."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from typing import Any

from ethos_registry.bridges.mcp.bridge.http_responses import checked_responses
from ethos_registry.bridges.mcp.bridge.log_file import LogFile
from ethos_registry.bridges.mcp.bridge.secrets import Scrubber, SecretSource, resolved
from ethos_registry.bridges.mcp.bridge.server import McpServer
from ethos_registry.bridges.mcp.bridge.stdio import MAX_LINE_BYTES, StdioTransport

__all__ = ["open_transport"]

_HTTP_SECONDS = 30.0
_EXTRA_READ_SECONDS = 30.0
_NO_LIMIT_SECONDS = 1e7


def open_transport(
    server: McpServer,
    secrets: SecretSource,
    scrub: Scrubber,
    log: LogFile,
    on_lost: Callable[[], object],
) -> Any:
    """What the SDK's client takes as its server: a new one for each connection."""
    if server.transport == "in-process":
        return server.server
    if server.transport == "stdio":
        from mcp.client.stdio import get_default_environment

        variables = resolved(server.env, secrets, server.name)
        scrub.learn(server.env, variables)
        assert server.command is not None
        return StdioTransport(
            [server.command, *server.args],
            environment=get_default_environment() | variables,
            directory=server.cwd,
            log=log,
            on_lost=on_lost,
        )
    headers = resolved(server.headers, secrets, server.name)
    scrub.learn(server.headers, headers)
    return _sse(server, headers) if server.transport == "sse" else _http(server, headers)


@contextlib.asynccontextmanager
async def _http(server: McpServer, headers: Mapping[str, str]) -> AsyncIterator[Any]:
    import httpx2
    from mcp.client.streamable_http import streamable_http_client

    assert server.url is not None
    async with contextlib.AsyncExitStack() as stack:
        client = server.http_client
        if client is None:
            client = await stack.enter_async_context(
                httpx2.AsyncClient(
                    headers=dict(headers),
                    timeout=httpx2.Timeout(_HTTP_SECONDS, read=_read_seconds(server)),
                )
            )
        await stack.enter_async_context(checked_responses(client, MAX_LINE_BYTES))
        yield await stack.enter_async_context(
            streamable_http_client(
                server.url, http_client=client, max_sse_event_size=MAX_LINE_BYTES
            )
        )


def _sse(server: McpServer, headers: Mapping[str, str]) -> AbstractAsyncContextManager[Any]:
    from mcp.client.sse import sse_client

    assert server.url is not None
    seconds = _read_seconds(server) or _NO_LIMIT_SECONDS
    return sse_client(server.url, dict(headers), sse_read_timeout=seconds)


def _read_seconds(server: McpServer) -> float | None:
    """No answer may come for the whole time of a call."""
    if server.timeout_seconds is None:
        return None
    return max(300.0, server.timeout_seconds + _EXTRA_READ_SECONDS)
