"""Several users of one gateway: each has gates, sessions and a context of its own.

Imports the package `mcp`: what serves over HTTP imports this module when it does.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from mcp.server.auth.middleware.bearer_auth import BearerAuthBackend
from mcp.server.auth.provider import principal_components
from mcp.server.auth.routes import build_resource_metadata_url, create_protected_resource_routes
from pydantic import AnyHttpUrl
from starlette.applications import Starlette
from starlette.requests import HTTPConnection
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from ethos_registry.mcp._gateway_access import Access
from ethos_registry.mcp._gateway_http import (
    Running,
    application,
    not_found,
    path_in,
    session_manager,
)
from ethos_registry.mcp._gateway_session import ServedPersonality
from ethos_registry.mcp._sdk_private import private_attribute
from ethos_registry.mcp._users import McpUsers
from ethos_registry.types._blocking import called
from ethos_registry.types._policy import Personality

_logger = logging.getLogger("ethos_registry")

MakeServed: TypeAlias = Callable[[Personality, Mapping[str, Any]], ServedPersonality]


class _ServedUser:
    """The server of one user and the task that owns its sessions."""

    __slots__ = ("_requests", "_sessions", "_stop", "ready", "served", "task")

    def __init__(self, served: ServedPersonality) -> None:
        self.served = served
        self._sessions = session_manager(served)
        self._requests = 0
        self.ready, self._stop = asyncio.Event(), asyncio.Event()
        self.task = asyncio.get_running_loop().create_task(self._run())

    async def _run(self) -> None:
        try:
            async with self._sessions.run():
                self.ready.set()
                await self._stop.wait()
        finally:
            self.ready.set()

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._requests += 1
        try:
            await self.ready.wait()
            await self._sessions.handle_request(scope, receive, send)
        finally:
            self._requests -= 1

    @property
    def is_idle(self) -> bool:
        """Whether it has no session and no request."""
        feature = "making room for other users of a gateway"
        sessions = private_attribute(self._sessions, "_server_instances", feature)
        return not self._requests and sessions is not None and not sessions

    async def close(self) -> None:
        await self.served.stop()
        self._stop.set()
        await asyncio.wait([self.task])


class ServedUsers:
    """Verifies the token of each request and finds the server of its user."""

    def __init__(self, users: McpUsers, make: MakeServed) -> None:
        self._users = users
        self._make = make
        resource = None if users.resource_url is None else AnyHttpUrl(users.resource_url)
        self._resource = resource
        checked = resource if users.checks_resource else None
        self._backend = BearerAuthBackend(users.verifier, resource_server_url=checked)
        self._found: dict[tuple[Any, ...], _ServedUser] = {}

    @property
    def served(self) -> list[ServedPersonality]:
        """The servers of the users who have sent a request."""
        return [one.served for one in self._found.values()]

    def app(self, access: Access, running: Running) -> Starlette:
        """An application of `/mcp`, where each user has its own tools."""
        blocks: list[Running] = [running, lambda: contextlib.aclosing(self)]
        return application(access, self._find, blocks, self._routes())

    def _routes(self) -> list[Route]:
        """The metadata by which a client finds the authorization server (RFC 9728)."""
        if self._resource is None or self._users.issuer_url is None:
            return []
        return create_protected_resource_routes(
            self._resource,
            [AnyHttpUrl(self._users.issuer_url)],
            list(self._users.required_scopes) or None,
        )

    async def _find(self, scope: Scope) -> ASGIApp:
        """What serves the user who sends a request, or the refusal of the request."""
        if path_in(scope) != "/mcp":
            return not_found(["/mcp"])
        connection = HTTPConnection(scope)
        try:
            verified = await self._backend.authenticate(connection)
        except Exception:
            _logger.exception("the verifier of tokens raised")
            verified = None
        if verified is None:
            return self._refusal(401, "invalid_token", "A valid bearer token is required")
        scope["auth"], scope["user"] = verified
        token = verified[1].access_token
        missing = [each for each in self._users.required_scopes if each not in token.scopes]
        if missing:
            return self._refusal(403, "insufficient_scope", f"Required scope: {missing[0]}")
        try:
            personality = called("`personality_of`", self._users.personality_of, token)
            fields: Mapping[str, Any] = {}
            if self._users.context_of is not None:
                fields = called("`context_of`", self._users.context_of, token)
            principal = principal_components(token)
            if not isinstance(personality, Personality):
                await self._end(principal)
                return self._refusal(403, "access_denied", "This user may use no tools")
            return await self._user(principal, personality, fields)
        except Exception:
            _logger.exception("the policy of a user raised")
            return self._refusal(403, "access_denied", "This user may use no tools")

    async def _user(
        self, principal: tuple[Any, ...], personality: Personality, fields: Mapping[str, Any]
    ) -> ASGIApp:
        while True:
            found = self._found.get(principal)
            if found is not None and found.served.personality == personality:
                return found.handle
            if found is not None:
                await self._end(principal)  # the user's rights have changed
            elif len(self._found) < self._users.max_users:
                break
            elif idle := next((key for key, one in self._found.items() if one.is_idle), None):
                await self._end(idle)
            else:
                return PlainTextResponse("Too many users\n", 503)
        user = ":".join(str(part) for part in principal if part is not None)
        served = self._make(personality, {"session_key": f"mcp:{user}", **fields})
        found = self._found[principal] = _ServedUser(served)
        return found.handle

    async def _end(self, principal: tuple[Any, ...]) -> None:
        found = self._found.pop(principal, None)
        if found is not None:
            await found.close()

    def _refusal(self, status: int, error: str, description: str) -> Response:
        header = f'Bearer error="{error}", error_description="{description}"'
        if self._resource is not None and self._users.issuer_url is not None:
            header += f', resource_metadata="{build_resource_metadata_url(self._resource)}"'
        body = json.dumps({"error": error, "error_description": description})
        headers = {"WWW-Authenticate": header}
        return Response(body, status, headers, media_type="application/json")

    async def aclose(self) -> None:
        found, self._found = list(self._found.values()), {}
        await asyncio.gather(*(one.close() for one in found), return_exceptions=True)
