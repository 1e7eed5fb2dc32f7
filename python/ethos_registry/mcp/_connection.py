"""The connection to one server: one task owns it from the first attempt to the end."""

from __future__ import annotations

import asyncio
import contextlib
import json
import random
from collections.abc import AsyncIterator, Callable, Mapping
from functools import partial
from http.client import responses
from time import monotonic
from typing import TYPE_CHECKING, Any

from ethos_registry._core import __version__
from ethos_registry.capabilities._secrets import SecretSource
from ethos_registry.mcp._callbacks import OpenRequests, ServerCallbacks
from ethos_registry.mcp._definitions import (
    McpServerStatus,
    RemoteDefinition,
    ServerState,
    ServerTools,
    list_tools,
)
from ethos_registry.mcp._resources import (
    READ_RESOURCE,
    READ_RESOURCE_DEFINITION,
    list_items,
    list_resources,
    read_resource,
    resource_lines,
)
from ethos_registry.mcp._results import ConnectionLostError, NotSentError
from ethos_registry.mcp._server import McpServer, Scrubber, resolved
from ethos_registry.mcp._server_text import cleaned, one_line
from ethos_registry.mcp._stdio import MAX_LINE_BYTES, LogFile, StdioTransport, within
from ethos_registry.types._context import ToolContext
from ethos_registry.types._errors import ConfigError
from ethos_registry.types._result import ToolError, ToolOk, ToolResult
from ethos_registry.types._transport import not_started

if TYPE_CHECKING:
    from mcp.client.client import Client

# Bounds and clear errors for HTTP responses, which the SDK's client reads without either.

_INTERNAL_ERROR = -32603


@contextlib.asynccontextmanager
async def checked_responses(client: Any) -> AsyncIterator[None]:
    """Check each response of an `httpx2.AsyncClient`, until the block ends.

    A connection that is refused becomes an error of its request, which was not sent. A JSON body of
    more than `MAX_LINE_BYTES` is not read further. An error that is not one of JSON-RPC
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
            response._content = _status_error(response.status_code)  # so the body is not read
            return
        if kind.startswith("application/json"):
            response.aread = partial(_bounded_body, response)
        elif kind.startswith("text/event-stream") and _is_listing(response.request):
            response.aiter_text = partial(_without_deep_lines, response)

    hooks: list[Any] = client.event_hooks["response"]
    hooks.append(check)
    client.send = partial(_send_or_refuse, client.send)
    try:
        yield
    finally:
        hooks.remove(check)
        del client.send


async def _send_or_refuse(send: Any, request: Any, **options: Any) -> Any:
    """Send a request; that a message did not reach the server is an answer, to that one alone."""
    import httpx2

    from ethos_registry.mcp._sdk_calls import REFUSED_MESSAGE

    try:
        return await send(request, **options)
    except (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout):
        if not _is_message(request):
            raise
        return httpx2.Response(503, json=_error(REFUSED_MESSAGE), request=request)


def _is_message(request: Any) -> bool:
    try:
        return b'"jsonrpc"' in request.content
    except RuntimeError:  # a body that is sent in parts
        return False


def _is_listing(request: Any) -> bool:
    return b'/list"' in request.content


async def _without_deep_lines(response: Any) -> AsyncIterator[str]:
    """The text of an event stream, its lines without values that the client cannot parse."""
    from ethos_registry.mcp._json_rpc import without_deep_values

    waiting = ""
    async for text in type(response).aiter_text(response):
        waiting += text
        whole, end, waiting = waiting.rpartition("\n")
        if end:
            yield without_deep_values(whole.encode("utf-8", "replace")).decode() + end
    if waiting:
        yield waiting


async def _bounded_body(response: Any) -> bytes:
    """Read a body, decoded, up to a size."""
    import httpx2

    from ethos_registry.mcp._json_rpc import without_deep_values

    parts: list[bytes] = []
    size = 0
    async for part in response.aiter_bytes():
        size += len(part)
        if size > MAX_LINE_BYTES:
            raise httpx2.StreamError(f"it is larger than {MAX_LINE_BYTES >> 20} MiB")
        parts.append(part)
    body = b"".join(parts)
    if _is_listing(response.request):
        body = without_deep_values(body)
    is_other_error = response.status_code >= 400 and b'"jsonrpc"' not in body
    # As `aread` does: authorization reads the body before the client.
    response._content = _status_error(response.status_code) if is_other_error else body
    content: bytes = response.content
    return content


def _status_error(status: int) -> bytes:
    return json.dumps(_error(f"HTTP {status} {responses.get(status, '')}".strip())).encode()


def _error(message: str) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": None, "error": {"code": _INTERNAL_ERROR, "message": message}}


# How each kind of server is reached.

_HTTP_SECONDS = 30.0
_EXTRA_READ_SECONDS = 30.0
_NO_LIMIT_SECONDS = 1e7


@contextlib.asynccontextmanager
async def _http(server: McpServer, headers: Mapping[str, str]) -> AsyncIterator[Any]:
    import httpx2
    from mcp.client.streamable_http import streamable_http_client

    assert server.url is not None
    timeout = httpx2.Timeout(_HTTP_SECONDS, read=_read_seconds(server))
    own: Any = contextlib.nullcontext(server.http_client)
    if server.http_client is None:
        own = httpx2.AsyncClient(headers=dict(headers), timeout=timeout)
    async with (
        own as client,
        checked_responses(client),
        streamable_http_client(
            server.url, http_client=client, max_sse_event_size=MAX_LINE_BYTES
        ) as streams,
    ):
        yield streams


def _read_seconds(server: McpServer) -> float | None:
    """No answer may come for the whole time of a call."""
    if server.timeout_seconds is None:
        return None
    return max(300.0, server.timeout_seconds + _EXTRA_READ_SECONDS)


FIRST_DELAY_SECONDS = 0.5
LONGEST_DELAY_SECONDS = 30.0
STABLE_SECONDS = 60.0
"""A connection that lived this long starts again with the shortest delay."""
DEBOUNCE_SECONDS = 0.25
RESEND_WAIT_SECONDS = 10.0
_CLOSE_SECONDS = 12.0


class Connection:
    """Connects, lists, serves calls, lists again after a change, and connects again.

    The SDK's client is entered and left by the task of `run`; other tasks only send calls.
    """

    def __init__(
        self,
        server: McpServer,
        secrets: SecretSource,
        log: LogFile,
        on_listing: Callable[[ServerTools], object],
        callbacks: ServerCallbacks | None = None,
    ) -> None:
        self.server = server
        self.instructions: str | None = None
        """What the server said of itself when it was connected last; not cleaned."""
        self._listings: dict[str, list[Any]] = {}
        """What was listed beside tools, until it changes."""
        self._callbacks = callbacks or ServerCallbacks(server.name)
        self.scrub = Scrubber()
        self.refresh_problem = ""
        self.log = log
        self._secrets = secrets
        self._on_listing = on_listing
        self._client: Client | None = None
        self._transport: Any = None
        self._requests: OpenRequests | None = None
        self.state: ServerState = "connecting"
        self.reason = ""
        """Why it failed; what it waits for otherwise."""
        self.protocol = ""
        """The revision that was agreed on last; empty before the first time."""
        self._connections = 0
        self._lost_at = 0.0
        self._mode = server.protocol
        self.offers_resources = False
        """Whether the tool `read_resource` is ours."""
        self._is_closing = self._is_lost = self._must_refresh = self._must_retry = False
        self._refreshes = 0
        self._limit: asyncio.Timeout | None = None
        self._loop = asyncio.get_running_loop()
        self._wake = asyncio.Event()
        self._changed = asyncio.Event()
        self._task = self._loop.create_task(self._run(), name=f"mcp server {server.name}")

    # For the bridge

    @property
    def client(self) -> Client:
        """The client while it is connected; `ConfigError` otherwise."""
        if self._client is None:
            raise ConfigError(f"MCP server {self.server.name!r} is not connected")
        return self._client

    async def listed(self, kind: str, *, again: bool) -> list[Any]:
        """`resources`, `resource_templates` or `prompts`, as the server listed them last.

        They are listed if `again`, and after the server announced a change or was connected again.
        """
        listings = self._listings
        if again or kind not in listings:
            listings[kind] = await list_items(self.client, kind)
        return listings[kind]

    def status(self, tools: int) -> McpServerStatus:
        transport = self._transport
        return McpServerStatus(
            self.server.name,
            self.state,
            self.reason if self.state == "failed" else "",
            self.scrub(self.log.tail),
            self.protocol,
            tools,
            transport.process_id() if isinstance(transport, StdioTransport) else None,
            self._connections,
        )

    async def wait_settled(self, seconds: float) -> None:
        """Wait until it is ready or has failed; after `seconds` it counts as failed."""
        await within(seconds, self._until(lambda: self.state != "connecting"))
        if self.state == "connecting":
            self._set("failed", f"no answer within {seconds:g} s")

    async def refresh(self) -> None:
        """List the tools now; returns when that is done, or when it is not connected."""
        before = self._refreshes
        self._ask_for_refresh()
        await self._until(lambda: self._client is None or self._refreshes != before)

    async def _until(self, is_so: Callable[[], bool]) -> None:
        while not is_so():
            self._changed.clear()
            await self._changed.wait()

    async def reconnect(self) -> None:
        """Try again now if it is not connected; returns when it is ready or has failed."""
        if self._client is None and not self._is_closing:
            self._set("connecting", self.reason)
            self._must_retry = True
            self._wake.set()
            await self.wait_settled(self.server.connect_timeout_seconds)

    async def close(self) -> None:
        """End the connection; returns when its process and its task have ended."""
        self._is_closing = True
        self._client = None
        self._wake.set()
        limit = self._limit
        if limit is not None and not limit.expired():  # it waits for the server's first answers
            limit.reschedule(self._loop.time())
        _, running = await asyncio.wait([self._task], timeout=_CLOSE_SECONDS)
        if running:
            self._task.cancel()
            await asyncio.wait([self._task], timeout=_CLOSE_SECONDS)
        self._set("closed", "the bridge is closed")

    # Calls

    async def call(
        self,
        tool: str,
        definition: RemoteDefinition,
        args: Any,
        context: ToolContext,
        *,
        may_resend: bool,
    ) -> ToolResult:
        """Send one call, once; a trusted idempotent one once more after a lost connection."""
        if asyncio.get_running_loop() is not self._loop:
            if self._loop.is_closed():
                return not_started(tool, "the event loop of the MCP bridge has ended")
            sending = self.call(tool, definition, args, context, may_resend=may_resend)
            return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(sending, self._loop))
        client = self._client
        if client is None and (seconds := self._reconnect_seconds()) > 0:
            client = await self._next_client(seconds)
        if client is None:
            return not_started(tool, self._not_ready())
        arguments: dict[str, Any] = args if type(args) is dict else dict(args or {})
        timeout = self.server.timeout_seconds
        if definition.name == READ_RESOURCE and self.offers_resources:
            return await self._read_resource(client, arguments)
        try:
            return await self._send_call(client, definition, arguments, context, timeout)
        except NotSentError as error:
            self._lose(client)
            return not_started(tool, error.reason(self.server.name))
        except ConnectionLostError:
            self._lose(client)
        if may_resend and (client := await self._next_client(RESEND_WAIT_SECONDS)) is not None:
            with contextlib.suppress(ConnectionLostError, NotSentError):
                return await self._send_call(client, definition, arguments, context, timeout)
        server = self.server.name
        text = f"Tool {tool}: the connection to MCP server {server} was lost during the call"
        return ToolError(f"{text}; it may have run", "execution_failed")

    async def _read_resource(self, client: Client, args: Mapping[str, Any]) -> ToolResult:
        from mcp.shared.exceptions import MCPError

        uri = args.get("uri")
        try:
            if isinstance(uri, str) and uri:
                return await read_resource(client, uri)
            return ToolOk(resource_lines(await list_resources(client, self.server.name)))
        except MCPError as error:
            return ToolError(cleaned(error.message, 4000) or f"error {error.code}")
        except Exception as error:  # the SDK raises errors of several kinds for odd answers
            return ToolError(f"the resource cannot be read: {one_line(_leaf(error), 500)}")

    def _not_ready(self) -> str:
        """For a model; why is for the operator, in the problems of the bridge."""
        is_closed = self.state == "closed" or self._is_closing
        return f"MCP server {self.server.name} is {'closed' if is_closed else 'not connected'}"

    def _reconnect_seconds(self) -> float:
        """How long a call may wait for a connection that was lost a moment ago."""
        if self._is_closing or not self._connections:
            return 0.0
        return self._lost_at + self.server.reconnect_wait_seconds - monotonic()

    async def _next_client(self, seconds: float) -> Client | None:
        await within(seconds, self._until(lambda: self._client is not None or self._is_closing))
        return self._client

    # The owner's task

    def _set(self, state: ServerState, reason: str = "") -> None:
        self.state, self.reason = state, self.scrub(reason)
        self._changed.set()

    def _lose(self, client: Client | None = None) -> None:
        """Refuse calls from now on; the owner connects again."""
        if client is None or client is self._client:
            was_connected = self._client is not None
            self._client = None
            self._is_lost = True
            if was_connected:
                self._lost_at = monotonic()
            if was_connected and not self._is_closing:
                self._set("connecting", "the connection was lost")
            self._wake.set()

    def _ask_for_refresh(self) -> None:
        self._must_refresh = True
        self._wake.set()

    async def _run(self) -> None:
        delay = FIRST_DELAY_SECONDS
        while not self._is_closing:
            self._is_lost = False
            self._wake.clear()
            started = monotonic()
            try:
                self._set("connecting", self.reason)
                await self._connect()
                reason = self._loss()
            except Exception as error:
                reason = await self._failure(error)
                if self._choose_handshake() and not self._is_closing:
                    continue
            finally:
                self._client = None
            if self._is_closing:
                break
            if monotonic() - started > STABLE_SECONDS:
                delay = FIRST_DELAY_SECONDS
            self._set("failed", reason)
            await self._pause(delay * random.uniform(0.75, 1.25))
            delay = min(delay * 2, LONGEST_DELAY_SECONDS)

    def _choose_handshake(self) -> bool:
        """After a failed start: whether to start again now, by the older handshake.

        Servers of the earlier revisions may exit at a request that they do not know.
        """
        if self.server.protocol != "auto":
            return False
        transport = self._transport
        if self._mode == "auto" and isinstance(transport, StdioTransport) and transport.was_probed:
            self._mode = "legacy"
            return True
        if not self._connections:
            self._mode = "auto"
        return False

    async def _pause(self, seconds: float) -> None:
        end = monotonic() + seconds
        while not (self._is_closing or self._must_retry) and (left := end - monotonic()) > 0:
            self._wake.clear()
            await within(left, self._wake.wait())
        self._must_retry = False

    async def _connect(self) -> None:
        """One connection, from its start to its loss."""
        from mcp.client.client import Client
        from mcp_types import Implementation

        from ethos_registry.mcp._request_tasks import answer_as_tasks
        from ethos_registry.mcp._sdk_calls import read_unknown_blocks, send_call

        self._send_call = send_call
        listening: asyncio.Task[None] | None = None
        transport = self._transport = self._open_transport()
        is_stream = self.server.transport != "in-process"
        self._requests = OpenRequests(transport, self._lose) if is_stream else None
        client = Client(
            self._requests or transport,
            mode=self._mode,
            message_handler=self._on_message,
            client_info=Implementation(name="ethos-registry", version=__version__),
            cache=None,
            **self._callbacks.options(),
        )
        answer_as_tasks(client)
        try:
            async with asyncio.timeout(self.server.connect_timeout_seconds) as limit:
                self._limit = limit
                async with client:
                    read_unknown_blocks(client)
                    if isinstance(transport, StdioTransport):
                        transport.is_initialized = True
                    listing = await self._listing(client)
                    if limit.expired():
                        raise TimeoutError
                    limit.reschedule(None)
                    self._limit = None
                    self.protocol = client.protocol_version
                    if self.server.protocol == "auto" and self.protocol < "2026":
                        self._mode = "legacy"
                    self._on_listing(listing)
                    self._connections += 1
                    self._listings = {}
                    self._refreshes += 1
                    self._must_refresh = False
                    self._client = None if self._is_lost else client
                    self._set("ready")
                    if self.protocol >= "2026":
                        listening = self._loop.create_task(self._listen(client))
                    try:
                        await self._serve(client)
                    finally:
                        self._lose(client)
                        if listening is not None:
                            listening.cancel()
        finally:
            self._limit = None
            if listening is not None:
                await asyncio.wait([listening])

    def _open_transport(self) -> Any:
        """What the SDK's client takes as its server: a new one for each connection."""
        given, server = self.server, self.server.expanded()
        if server.transport == "in-process":
            return server.server
        pairs = zip((*given.args, given.url), (*server.args, server.url), strict=True)
        self.scrub.hide([after for before, after in pairs if after is not None and after != before])
        if server.transport == "stdio":
            from mcp.client.stdio import get_default_environment

            variables = resolved(server.env, self._secrets, server)
            self.scrub.learn(server.env, variables)
            assert server.command is not None
            return StdioTransport(
                [server.command, *server.args],
                environment=get_default_environment() | variables,
                directory=server.cwd,
                log=self.log,
                on_lost=self._lose,
            )
        headers = resolved(server.headers, self._secrets, server)
        self.scrub.learn(server.headers, headers)
        if server.transport == "http":
            return _http(server, headers)
        from mcp.client.sse import sse_client

        assert server.url is not None
        seconds = _read_seconds(server) or _NO_LIMIT_SECONDS
        return sse_client(server.url, headers, sse_read_timeout=seconds)

    async def _serve(self, client: Client) -> None:
        """Until the connection is lost or the bridge is closed."""
        while not (self._is_lost or self._is_closing):
            if self._must_refresh:
                await asyncio.sleep(DEBOUNCE_SECONDS)
                self._must_refresh = False
                await self._refresh(client)
                continue
            self._wake.clear()
            await self._wake.wait()

    async def _listing(self, client: Client) -> ServerTools:
        listing = await list_tools(client)
        self.instructions = client.instructions
        offers = self.server.resources and client.server_capabilities.resources is not None
        self.offers_resources = offers and READ_RESOURCE not in listing.definitions
        if self.offers_resources:
            listing.definitions[READ_RESOURCE] = RemoteDefinition(READ_RESOURCE_DEFINITION)
        return listing

    async def _refresh(self, client: Client) -> None:
        from ethos_registry.mcp._sdk_calls import lost_connection

        try:
            async with asyncio.timeout(self.server.connect_timeout_seconds):
                self._on_listing(await self._listing(client))
            self.refresh_problem = ""
        except Exception as error:
            self.refresh_problem = self.scrub(
                f"its tools could not be listed: {one_line(_leaf(error), 500)}"
            )
            if lost_connection(_first(error)) is not None:
                self._lose(client)
        self._refreshes += 1
        self._changed.set()

    async def _on_message(self, message: Any) -> None:
        method = getattr(message, "method", None)
        if method == "notifications/tools/list_changed":
            self._ask_for_refresh()
        elif method in _OTHER_LISTS:
            self._listings = {}

    async def _listen(self, client: Client) -> None:
        """Servers of the later revision announce changes only to those who listen."""
        from mcp.client.subscriptions import ListenNotSupportedError, SubscriptionLost
        from mcp.shared.exceptions import MCPError
        from mcp.shared.subscriptions import ToolsListChanged

        offered = client.server_capabilities
        announced: dict[str, Any] = {
            f"{kind}_list_changed": True
            for kind in ("tools", "resources", "prompts")
            if getattr(getattr(offered, kind), "list_changed", False)
        }
        delay = FIRST_DELAY_SECONDS
        while announced and not (self._is_lost or self._is_closing):
            started = monotonic()
            try:
                async with client.listen(**announced) as subscription:
                    async for event in subscription:
                        if isinstance(event, ToolsListChanged):
                            self._ask_for_refresh()
                        else:
                            self._listings = {}
            except ListenNotSupportedError:
                return
            except MCPError as error:
                if error.code in (-32601, -32602):  # the server has no subscriptions
                    return
            except (SubscriptionLost, TimeoutError):
                self._listings = {}  # what happened in between was not announced
                if "tools_list_changed" in announced:
                    self._ask_for_refresh()
            if monotonic() - started > STABLE_SECONDS:
                delay = FIRST_DELAY_SECONDS
            await asyncio.sleep(delay)
            delay = min(delay * 2, LONGEST_DELAY_SECONDS)

    def _loss(self) -> str:
        """Why a connection that worked ended."""
        transport, why = self._transport, self._requests and self._requests.problem
        if not why and isinstance(transport, StdioTransport):
            why = transport.exit_text()
        return f"the connection was lost: {why}" if why else "the connection was lost"

    async def _failure(self, error: Exception) -> str:
        """Why the connection failed, in one line."""
        from ethos_registry.mcp._sdk_calls import is_answer, lost_connection

        transport, first = self._transport, _first(error)
        if isinstance(not_sent := lost_connection(first), NotSentError):
            return not_sent.reason(self.server.name)
        if isinstance(error, TimeoutError):
            return f"no answer within {self.server.connect_timeout_seconds:g} s"
        if isinstance(transport, StdioTransport) and transport.process and not is_answer(first):
            await transport.wait_exit(0.5)
            ended = transport.exit_text()
            if ended is not None:
                return one_line(f"{self.server.place}: {ended}", 500)
        return one_line(_leaf(error), 500)


_OTHER_LISTS = ("notifications/resources/list_changed", "notifications/prompts/list_changed")


def _first(error: BaseException) -> BaseException:
    """The first error inside groups."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def _leaf(error: BaseException) -> str:
    """The class and message of the first error inside groups; a server's error is its message."""
    from ethos_registry.mcp._sdk_calls import is_answer

    error = _first(error)
    if is_answer(error):
        return f"it answered with an error: {getattr(error, 'message', '')}"
    text = str(error)
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
