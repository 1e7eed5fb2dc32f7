"""Streamable HTTP: one path for each personality, as an ASGI application."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from typing import Any, TypeAlias
from urllib.parse import quote

import uvicorn
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.routing import Mount, Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.auto import AutoHTTPProtocol

from ethos_registry.mcp._gateway_access import Access
from ethos_registry.mcp._gateway_session import ServedPersonality
from ethos_registry.types._errors import ConfigError

CLOSE_SECONDS = 2
MAX_BODY_BYTES = 4 * 1024 * 1024
HEAD_SECONDS = 30.0
"""How long the headers of a request may take to arrive."""
BODY_SECONDS = 60.0
"""How long the body of a request may take to arrive."""
MAX_SESSIONS = 1_000
"""Of one personality, or of one user, at the same time; then a client is answered 503."""
SESSION_IDLE_SECONDS = 1_800.0
"""A session without a request for this long is ended; its client starts a new one."""

Running: TypeAlias = Callable[[], contextlib.AbstractAsyncContextManager[Any]]
"""Begins a block during which something runs."""


def path_of(personality_id: str) -> str:
    """Where a personality is served.

    >>> path_of("code reviewer")
    '/mcp/code%20reviewer'
    """
    return f"/mcp/{quote(personality_id, safe='')}"


def session_manager(served: ServedPersonality) -> StreamableHTTPSessionManager:
    return StreamableHTTPSessionManager(
        served.server,
        max_request_body_size=MAX_BODY_BYTES,
        max_sessions=MAX_SESSIONS,
        session_idle_timeout=SESSION_IDLE_SECONDS,
    )


def _in_time(receive: Receive) -> Receive:
    """Ends a request whose body does not arrive: it would occupy its session without end."""
    deadline = asyncio.get_running_loop().time() + BODY_SECONDS
    is_whole = False

    async def received() -> Message:
        nonlocal is_whole
        if is_whole:
            return await receive()
        try:
            async with asyncio.timeout_at(deadline):
                message = await receive()
        except TimeoutError:
            return {"type": "http.disconnect"}
        is_whole = not message.get("more_body", False)
        return message

    return received


def http_app(
    served: Mapping[str, ServedPersonality], access: Access, running: Running
) -> Starlette:
    """An application of `/mcp/{personality}`, and `/mcp` if there is one personality."""
    managers = {f"/mcp/{each}": session_manager(one) for each, one in served.items()}
    paths = dict(managers)
    if len(managers) == 1:
        paths["/mcp"] = next(iter(managers.values()))

    async def find(scope: Scope) -> ASGIApp:
        manager = paths.get(path_in(scope))
        return not_found(map(path_of, served)) if manager is None else manager.handle_request

    return application(access, find, [*(each.run for each in managers.values()), running])


def not_found(paths: Iterable[str]) -> ASGIApp:
    return PlainTextResponse(f"Not found. There is: {' '.join(paths)}\n", 404)


def application(
    access: Access,
    find: Callable[[Scope], Awaitable[ASGIApp]],
    blocks: Iterable[Running],
    routes: Iterable[Route] = (),
) -> Starlette:
    """An application of what `find` has for each request that is not denied.

    It starts by entering the blocks in their order, and ends by leaving the last one first.
    """

    @contextlib.asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        async with contextlib.AsyncExitStack() as stack:
            for block in blocks:
                await stack.enter_async_context(block())
            yield

    async def handle(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        denial = access.denial(Headers(scope=scope))
        if denial is None:
            answer = await find(scope)
        else:
            extra = {"WWW-Authenticate": "Bearer"} if denial.status == 401 else None
            answer = PlainTextResponse(f"{denial.reason}\n", denial.status, extra)
        await answer(scope, _in_time(receive), send)

    return Starlette(routes=[*routes, Mount("/", app=handle)], lifespan=lifespan)


def path_in(scope: Scope) -> str:
    path: str = scope["path"]
    root: str = scope.get("app_root_path", scope.get("root_path", ""))
    return path.removeprefix(root).rstrip("/")


def bound_socket(host: str, port: int) -> socket.socket:
    """A listening socket; port 0 takes one that is free. `ConfigError` if it cannot be had."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # With the default protocol 0 asyncio does not set TCP_NODELAY on the connections, and each
    # answer on one that is kept waits for about 40 ms.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(128)
    except (OSError, OverflowError) as error:
        listener.close()
        reason = getattr(error, "strerror", None) or error
        raise ConfigError(f"{host}:{port} cannot be used: {reason}") from None
    return listener


_Protocol: Any = AutoHTTPProtocol


class _Connection(_Protocol):  # type: ignore[misc]
    """Closed if the headers of a request do not arrive: uvicorn waits for them without end."""

    _timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        self._await_headers()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.cycle is None or self.cycle.response_complete:
            self._await_headers()
        else:
            self._stop_waiting()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        super().connection_lost(exc)

    def _await_headers(self) -> None:
        if self._timer is None and not self.transport.is_closing():
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(HEAD_SECONDS, self.transport.close)

    def _stop_waiting(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


class _Server(uvicorn.Server):
    """Leaves the signals to the program that it is a part of."""

    @contextlib.contextmanager
    def capture_signals(self):  # type: ignore[no-untyped-def]
        yield


async def serve_app(app: ASGIApp, listener: socket.socket, closing: asyncio.Event) -> None:
    """Serve until `closing` is set; closes the listener."""
    config = uvicorn.Config(
        app,
        http=_Connection,
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=CLOSE_SECONDS,
        lifespan="on",
    )
    server = _Server(config)

    async def watch() -> None:
        await closing.wait()
        server.should_exit = True

    watching = asyncio.create_task(watch())
    try:
        await server.serve(sockets=[listener])
    finally:
        watching.cancel()
        listener.close()
