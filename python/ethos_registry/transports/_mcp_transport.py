"""Running tools behind an MCP gateway: in another trust domain."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import threading
from collections.abc import AsyncIterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import replace
from typing import Any

from ethos_registry.capabilities._secrets import SecretSource
from ethos_registry.mcp._connection import RESEND_WAIT_SECONDS, Connection
from ethos_registry.mcp._definitions import RemoteDefinition, ServerState, ServerTools
from ethos_registry.mcp._results import (
    META_PREFIX,
    ConnectionLostError,
    NotSentError,
    from_mcp_result,
)
from ethos_registry.mcp._server import McpServer
from ethos_registry.mcp._server_text import one_line
from ethos_registry.mcp._stdio import LogFile, StdioTransport
from ethos_registry.transports._caller_queue import CallerQueue, stopping
from ethos_registry.transports._protocol import RESPOND_SECONDS
from ethos_registry.types import _checks
from ethos_registry.types._abort import AbortSignal
from ethos_registry.types._closing import AsyncClosing
from ethos_registry.types._context import ToolProgressEvent
from ethos_registry.types._loop_thread import LoopThread
from ethos_registry.types._result import ERROR_CODES, ERROR_REASONS, ToolError, ToolResult
from ethos_registry.types._transport import (
    LiveContext,
    ToolExecuteRequest,
    ToolTransport,
    TransportItem,
    TransportProgress,
    TransportReply,
    TransportTraits,
    may_have_run,
    not_started,
)

_logger = logging.getLogger("ethos_registry")

# The connection of a transport to a gateway, and one call over it.


class GatewayLink(Connection):
    """Sends requests of a transport; on the loop where it was made."""

    def __init__(self, server: McpServer, secrets: SecretSource) -> None:
        self._digests: dict[str, str | None] = {}
        """The tools of the gateway, and the version of each that it states."""
        self._logged_reason = ""
        self._checking: asyncio.Task[None] | None = None
        super().__init__(server, secrets, LogFile(None), self._listed)

    def _set(self, state: ServerState, reason: str = "") -> None:
        """Log why it failed, once: models are not shown it, and a transport lists no problems."""
        super()._set(state, reason)
        if state == "failed" and self.reason != self._logged_reason:
            self._logged_reason = self.reason
            _logger.warning("MCP server `%s` is not connected: %s", self.server.name, self.reason)

    def _listed(self, listing: ServerTools) -> None:
        self._digests = {
            name: _stated_digest(definition) for name, definition in listing.definitions.items()
        }

    async def send(self, queue: CallerQueue, index: int, ready_seconds: float) -> None:
        """Send one request, and put its events and its reply."""
        request = queue.requests[index]
        if problem := await self._obstacle(request, ready_seconds):
            queue.refuse(index, problem)
            return
        client: Any = self.client
        try:
            queue.put(await self._answer(client, queue, index))
            return
        except NotSentError as error:
            self._lose(client)
            queue.refuse(index, error.reason(self.server.name))
            return
        except ConnectionLostError:
            self._lose(client)
        client = await self._next_client(RESEND_WAIT_SECONDS) if request.idempotent else None
        if client is not None:
            try:
                queue.put(await self._answer(client, queue, index))
                return
            except (ConnectionLostError, NotSentError):
                self._lose(client)
        text = f"the connection to MCP server {self.server.name} was lost"
        queue.put(TransportReply(index, may_have_run(request.name, text)))

    async def _obstacle(self, request: ToolExecuteRequest, ready_seconds: float) -> str:
        """Why the request cannot be sent; empty if it can."""
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

    def check_soon(self) -> None:
        """A call was stopped: start the gateway again unless it still answers.

        One that this process did not start is left alone: a new connection would not help it.
        """
        client = self._client
        is_checked = self._checking is not None and not self._checking.done()
        if client is not None and isinstance(self._transport, StdioTransport) and not is_checked:
            self._checking = self._loop.create_task(self._check(client))

    async def _check(self, client: Any) -> None:
        try:
            async with asyncio.timeout(RESPOND_SECONDS):
                await client.list_tools()
        except TimeoutError:
            self._lose(client)
        except Exception:  # it answered, or was lost, which its calls learn
            return

    async def _answer(self, client: Any, queue: CallerQueue, index: int) -> TransportReply:
        from mcp.shared.exceptions import MCPError
        from pydantic import ValidationError

        from ethos_registry.mcp._sdk_calls import BROKEN, invalid_result, raise_if_lost

        request = queue.requests[index]

        async def report(progress: float, total: float | None, message: str | None) -> None:
            percent = 100 * progress / total if total else None
            text = one_line(message) if message else f"{progress:g}"
            event = ToolProgressEvent(text, request.name, percent, "user")
            queue.put(TransportProgress(index, event))

        queue.start(index)
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
        except BROKEN:
            raise ConnectionLostError from None
        except (RuntimeError, ValidationError) as error:
            return TransportReply(index, ToolError(f"Tool {request.name}: {invalid_result(error)}"))
        return _reply(index, request.name, from_mcp_result(answer), dict(answer.meta or {}))


def _call_meta(request: ToolExecuteRequest) -> dict[str, str]:
    meta = {f"{META_PREFIX}toolCallId": request.tool_call_id}
    if request.tool_digest:  # it is compared there too: the list may have changed since
        meta[f"{META_PREFIX}toolDigest"] = request.tool_digest
    return meta


def _stated_digest(definition: RemoteDefinition) -> str | None:
    """The version of a tool that a gateway states; other servers state none."""
    stated = definition.meta.get(f"{META_PREFIX}toolDigest")
    return stated if isinstance(stated, str) else None


def _reply(index: int, name: str, result: ToolResult, meta: dict[str, Any]) -> TransportReply:
    """The result with what the gateway reports about it."""
    code, reason = meta.get(f"{META_PREFIX}code"), meta.get(f"{META_PREFIX}reason")
    was_started = True
    if isinstance(result, ToolError) and code in ERROR_CODES:
        known = reason if reason in ERROR_REASONS else None
        was_started = code == "execution_failed"
        result = replace(result, code=code, reason=known)
        if code == "not_available" and known is None:
            result = replace(not_started(name, result.text), content=result.content)
    cut_from = meta.get(f"{META_PREFIX}truncatedFrom")
    raw_chars = cut_from if type(cut_from) is int and cut_from >= 0 else None
    return TransportReply(index, result, was_started, raw_chars)


_CLOSE_SECONDS = 15.0


@_checks.checked_class
class McpTransport(AsyncClosing, ToolTransport):
    """Runs tools of a registry that another process or machine serves; needs the extra `mcp`.

    The other side is `ethos-registry serve`, or an `McpGateway`. The gates of this registry are
    judged here; the gateway judges its own personality again. Only the tool's name, its arguments
    and the id of the call are sent: session, working directory and secrets stay here. A call whose
    connection is lost is answered "it may have run"; a tool that is `idempotent` is sent once more.
    Timeouts are those of this registry, and begin when the call is sent. A gateway that this
    process started, and that answers nothing for 5 s after a call was stopped, is started again.

    Args:
        server: Where the gateway is: a command, a URL or a server object.
        secrets: The values of `secret:NAME` in its environment and headers.
        ready_timeout_seconds: How long a call waits for the connection before it is answered
            `not_available`.

    Raises:
        ConfigError: A setting is wrong.

    >>> from ethos_registry import ToolRegistry
    >>> from ethos_registry.mcp import McpServer
    >>> far = McpTransport(McpServer(name="render", url="https://render.example/mcp/agent"))
    >>> registry = ToolRegistry(transports={"toolset:render": far})
    >>> far.close()

    """

    def __init__(
        self,
        server: McpServer,
        *,
        secrets: SecretSource | None = None,
        ready_timeout_seconds: float = 30.0,
    ) -> None:
        _checks.instance(server, McpServer, "server", "an McpServer")
        self._server = server
        self._secrets = secrets
        self._ready_seconds = _checks.finite_number(ready_timeout_seconds, "ready_timeout_seconds")
        self._traits = TransportTraits(
            "mcp", reports_start=True, start_seconds=None, reduces_results=True
        )
        self._lock = threading.Lock()
        self._link: _LinkThread | None = None
        self._is_closed = False

    @property
    def traits(self) -> TransportTraits:
        """Remote; results may have been reduced by the gateway."""
        return self._traits

    def __repr__(self) -> str:
        return f"McpTransport({self._server!r})"

    def _send(self, queue: CallerQueue, index: int) -> Future[None] | None:
        """Send a request on the thread of the connection; `None` if the transport is closed."""
        with self._lock:
            if self._is_closed:
                return None
            if self._link is None or self._link.process_id != os.getpid():
                self._link = _LinkThread(self._server, self._secrets or _no_secrets)
            return self._link.thread.submit(self._link.send(queue, index, self._ready_seconds))

    async def execute_many(
        self,
        requests: Sequence[ToolExecuteRequest],
        signal: AbortSignal,
        *,
        live: LiveContext | None = None,
    ) -> AsyncIterator[TransportItem]:
        """Send the requests to the gateway; see `ToolTransport.execute_many`."""
        queue = CallerQueue(requests)
        closed = "the transport was closed" if self._is_closed else ""
        problem = "the turn was aborted" if signal.aborted else closed
        running: dict[int, Future[None]] = {}
        for index, request in enumerate(requests):
            why = problem or _not_json(request)
            sent = None if why else self._send(queue, index)
            if sent is None:
                queue.refuse(index, why or "the transport was closed")
            else:
                running[index] = sent

        def stop(index: int) -> None:
            # The reply comes first: the cancelled task may take a moment.
            if index in queue.started:
                queue.stop(index)
            if index in running:
                running[index].cancel()

        def stop_all() -> None:
            for index in running:
                stop(index)

        try:
            with stopping(signal, live, stop_all, stop):
                async for item in queue.items():
                    yield item
        finally:
            for future in running.values():
                future.cancel()

    def close(self) -> None:
        """End the connection; calls that run are answered with "it may have run"."""
        with self._lock:
            link, self._link = self._link, None
            self._is_closed = True
        if link is not None and link.process_id == os.getpid():
            link.close()


class _LinkThread:
    """A loop of its own, so that one connection serves the loops of all callers."""

    def __init__(self, server: McpServer, secrets: SecretSource) -> None:
        self.process_id = os.getpid()
        self._link: GatewayLink | None = None
        self._server, self._secrets = server, secrets
        self.thread = LoopThread(f"mcp transport {server.name}")

    async def send(self, queue: CallerQueue, index: int, ready_seconds: float) -> None:
        """Send a request, and answer it whatever happens; on the thread."""
        try:
            if self._link is None:
                self._link = GatewayLink(self._server, self._secrets)
            await self._link.send(queue, index, ready_seconds)
        except asyncio.CancelledError:
            if index in queue.started:
                queue.stop(index)
                assert self._link is not None
                self._link.check_soon()
            else:
                queue.refuse(index, "it was stopped before it was sent")
            raise
        except Exception:  # the package `mcp` is missing, a setting is wrong
            name = self._server.name
            _logger.exception("MCP server `%s` cannot be used", name)
            queue.refuse(index, f"MCP server {name} cannot be used")

    def close(self) -> None:
        """End the connection, its process and the thread."""
        try:
            self.thread.submit(self._close()).result(_CLOSE_SECONDS)
        finally:
            self.thread.close(_CLOSE_SECONDS)

    async def _close(self) -> None:
        if self._link is not None:
            await self._link.close()


def _not_json(request: ToolExecuteRequest) -> str:
    """Why the arguments cannot be sent; empty if they can."""
    try:
        json.dumps(request.args, allow_nan=False)
    except (TypeError, ValueError) as error:
        return f"its arguments cannot be sent: {error}"
    return ""


def _no_secrets(reference: str, /) -> str | None:
    return None
