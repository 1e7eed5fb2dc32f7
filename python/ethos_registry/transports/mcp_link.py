"""The connection of a transport to a gateway, and one call over it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ethos_registry.bridges.mcp.bridge.answers import (
    ConnectionLostError,
    SessionEndedError,
    session_ended,
)
from ethos_registry.bridges.mcp.bridge.connection import Connection
from ethos_registry.bridges.mcp.bridge.definition import RemoteDefinition
from ethos_registry.bridges.mcp.bridge.listing import Listing
from ethos_registry.bridges.mcp.bridge.log_file import LogFile
from ethos_registry.bridges.mcp.bridge.plain_text import one_line
from ethos_registry.bridges.mcp.bridge.secrets import SecretSource
from ethos_registry.bridges.mcp.bridge.server import McpServer
from ethos_registry.contract.execute_request import ToolExecuteRequest
from ethos_registry.contract.progress import ToolProgressEvent
from ethos_registry.contract.result import (
    ERROR_CODES,
    ERROR_REASONS,
    ToolError,
    ToolResult,
)
from ethos_registry.contract.transport import (
    TransportProgress,
    TransportReply,
    may_have_run,
    not_started,
)
from ethos_registry.transports.caller_queue import CallerQueue

__all__ = ["GatewayLink"]

_META = "ethos-registry/"


class GatewayLink(Connection):
    """Sends requests of a transport; on the loop where it was made."""

    def __init__(self, server: McpServer, secrets: SecretSource) -> None:
        self._digests: dict[str, str | None] = {}
        """The tools of the gateway, and the version of each that it states."""
        super().__init__(server, secrets, LogFile(None), self._listed)

    def _listed(self, listing: Listing) -> None:
        self._digests = {
            name: _stated_digest(definition) for name, definition in listing.definitions.items()
        }

    async def send(self, queue: CallerQueue, index: int, ready_seconds: float) -> None:
        """Send one request, and put its events and its reply."""
        request = queue.requests[index]
        problem = await self._obstacle(request, ready_seconds)
        if problem:
            queue.refuse(index, problem)
            return
        for is_last in (not request.idempotent, True):
            client = await self._next_client() if is_last and request.idempotent else self._client
            if client is None:
                break
            try:
                queue.put(await self._answer(client, queue, index))
            except SessionEndedError:
                self._lose(client)
                queue.refuse(index, session_ended(self.server.name))
                return
            except ConnectionLostError:
                self._lose(client)
                if is_last:
                    break
            else:
                return
        text = f"the connection to MCP server {self.server.name} was lost"
        queue.put(TransportReply(index, may_have_run(request.name, text)))

    async def _obstacle(self, request: ToolExecuteRequest, ready_seconds: float) -> str:
        """Why the request cannot be sent; empty if it can."""
        if request.obstacle is not None:
            return f"`{request.obstacle}` of the context cannot be sent to an MCP server"
        if not isinstance(request.args, Mapping):
            return "its arguments cannot be sent: MCP takes an object"
        if self._client is None:
            await self.wait_settled(ready_seconds)
            if self.state == "failed":  # perhaps it was lost, and pauses before the next attempt
                await self.reconnect()
        if self._client is None:
            return self._not_ready()
        if request.name not in self._digests:
            return f"MCP server {self.server.name} has no tool `{request.name}`"
        stated = self._digests[request.name]
        if request.tool_digest and stated is not None and stated != request.tool_digest:
            return f"MCP server {self.server.name} has another version of `{request.name}`"
        return ""

    async def _answer(self, client: Any, queue: CallerQueue, index: int) -> TransportReply:
        import anyio
        from mcp.shared.exceptions import MCPError
        from pydantic import ValidationError

        from ethos_registry.bridges.mcp.bridge.calls import invalid_result
        from ethos_registry.bridges.mcp.bridge.results import tool_result
        from ethos_registry.bridges.mcp.bridge.sdk_errors import raise_if_lost

        request = queue.requests[index]

        async def report(progress: float, total: float | None, message: str | None) -> None:
            percent = 100 * progress / total if total else None
            text = one_line(message) if message else f"{progress:g}"
            event = ToolProgressEvent(text, request.name, percent, "user")
            queue.put(TransportProgress(index, event))

        try:
            answer = await client.call_tool(
                request.name,
                dict(request.args),
                None,
                report,
                meta=_call_meta(request),
            )
        except MCPError as error:
            raise_if_lost(error)
            problem = f"MCP server {self.server.name}: {one_line(error.message, 500)}"
            return TransportReply(index, may_have_run(request.name, problem))
        except (anyio.BrokenResourceError, anyio.ClosedResourceError):
            raise ConnectionLostError from None
        except (RuntimeError, ValidationError) as error:
            return TransportReply(index, ToolError(f"Tool {request.name}: {invalid_result(error)}"))
        return _reply(index, request.name, tool_result(answer), dict(answer.meta or {}))


def _call_meta(request: ToolExecuteRequest) -> dict[str, str]:
    meta = {f"{_META}toolCallId": request.tool_call_id}
    if request.tool_digest:  # it is compared there too: the list may have changed since
        meta[f"{_META}toolDigest"] = request.tool_digest
    return meta


def _stated_digest(definition: RemoteDefinition) -> str | None:
    """The version of a tool that a gateway states; other servers state none."""
    stated = definition.meta.get(f"{_META}toolDigest")
    return stated if isinstance(stated, str) else None


def _reply(index: int, name: str, result: ToolResult, meta: dict[str, Any]) -> TransportReply:
    """The result with what the gateway reports about it."""
    code, reason = meta.get(f"{_META}code"), meta.get(f"{_META}reason")
    was_started = True
    if isinstance(result, ToolError) and code in ERROR_CODES:
        known = reason if reason in ERROR_REASONS else None
        was_started = code == "execution_failed"
        result = replace(result, code=code, reason=known)
        if code == "not_available" and known is None:
            result = replace(not_started(name, result.text), content=result.content)
    cut_from = meta.get(f"{_META}truncatedFrom")
    raw_chars = cut_from if type(cut_from) is int and cut_from >= 0 else None
    return TransportReply(index, result, was_started, raw_chars)
