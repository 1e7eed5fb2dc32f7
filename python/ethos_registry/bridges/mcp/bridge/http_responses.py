"""Bounds and clear errors for HTTP responses, which the SDK's client reads without either."""

from __future__ import annotations

import contextlib
import json
from collections.abc import AsyncIterator
from http.client import responses
from typing import Any

__all__ = ["checked_responses"]

_INTERNAL_ERROR = -32603


@contextlib.asynccontextmanager
async def checked_responses(client: Any, max_bytes: int) -> AsyncIterator[None]:
    """Check each response of an `httpx2.AsyncClient`, until the block ends.

    A JSON body of more than `max_bytes` is not read further. An error that is not one of JSON-RPC
    becomes one that states the HTTP status. For a session that the server does not know any more,
    the client's own answer is kept, whatever the body is.
    """

    async def check(response: Any) -> None:
        if not _is_message(response.request):
            return  # of the authorization, which reads bodies and errors of its own
        kind = response.headers.get("content-type", "").lower()
        if response.status_code == 404:
            if "mcp-session-id" in response.request.headers:
                response.headers["content-type"] = "text/plain"
                return
        elif response.status_code >= 400 and not kind.startswith("application/json"):
            response.headers["content-type"] = "application/json"
            response.aread = _status_body(response)
            return
        if kind.startswith("application/json"):
            response.aread = _bounded_body(response, max_bytes)

    hooks: list[Any] = client.event_hooks["response"]
    hooks.append(check)
    try:
        yield
    finally:
        hooks.remove(check)


def _is_message(request: Any) -> bool:
    try:
        return b'"jsonrpc"' in request.content
    except RuntimeError:  # a body that is sent in parts
        return False


def _status_body(response: Any) -> Any:
    async def read() -> bytes:
        response._content = _status_error(response.status_code)
        content: bytes = response.content
        return content

    return read


def _bounded_body(response: Any, max_bytes: int) -> Any:
    """Reads a body, decoded, up to a size."""
    import httpx2

    async def read() -> bytes:
        parts: list[bytes] = []
        size = 0
        async for part in response.aiter_bytes():
            size += len(part)
            if size > max_bytes:
                raise httpx2.StreamError(f"it is larger than {max_bytes >> 20} MiB")
            parts.append(part)
        body = b"".join(parts)
        is_other_error = response.status_code >= 400 and b'"jsonrpc"' not in body
        # As `aread` does: authorization reads the body before the client.
        response._content = _status_error(response.status_code) if is_other_error else body
        content: bytes = response.content
        return content

    return read


def _status_error(status: int) -> bytes:
    phrase = responses.get(status, "")
    error = {"code": _INTERNAL_ERROR, "message": f"HTTP {status} {phrase}".strip()}
    return json.dumps({"jsonrpc": "2.0", "id": None, "error": error}).encode()
