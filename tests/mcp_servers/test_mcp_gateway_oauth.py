"""The gateway as an OAuth resource server, with the SDK's client and authorization server."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import socket
import time
from collections.abc import AsyncIterator
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from ethos_registry import Personality, Tool, ToolContext, ToolRegistry, ok
from ethos_registry.mcp import McpGateway, McpUsers

pytest.importorskip("mcp", reason="the gateway needs the extra mcp")

import httpx2
from mcp.client import Client
from mcp.client.auth import OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.server.auth.provider import (
    AccessToken,
    AuthorizationCode,
    AuthorizationParams,
    construct_redirect_uri,
)
from mcp.server.auth.routes import create_auth_routes
from mcp.server.auth.settings import ClientRegistrationOptions
from mcp.shared.auth import OAuthClientInformationFull, OAuthClientMetadata, OAuthToken
from pydantic import AnyHttpUrl
from starlette.applications import Starlette

from ethos_registry.mcp._gateway_http import bound_socket, serve_app

SCOPE = "tools"


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port


class AuthorizationServer:
    """Logs everyone in as `ada`; verifies its own tokens."""

    def __init__(self) -> None:
        self.clients: dict[str, OAuthClientInformationFull] = {}
        self.codes: dict[str, AuthorizationCode] = {}
        self.tokens: dict[str, AccessToken] = {}

    async def get_client(self, client_id: str) -> OAuthClientInformationFull | None:
        return self.clients.get(client_id)

    async def register_client(self, client_info: OAuthClientInformationFull) -> None:
        self.clients[str(client_info.client_id)] = client_info

    async def authorize(
        self, client: OAuthClientInformationFull, params: AuthorizationParams
    ) -> str:
        code = AuthorizationCode(
            code=secrets.token_hex(16),
            scopes=params.scopes or [SCOPE],
            expires_at=time.time() + 60,
            client_id=str(client.client_id),
            code_challenge=params.code_challenge,
            redirect_uri=params.redirect_uri,
            redirect_uri_provided_explicitly=params.redirect_uri_provided_explicitly,
            resource=params.resource,
            subject="ada",
        )
        self.codes[code.code] = code
        return construct_redirect_uri(str(params.redirect_uri), code=code.code, state=params.state)

    async def load_authorization_code(
        self, client: OAuthClientInformationFull, authorization_code: str
    ) -> AuthorizationCode | None:
        return self.codes.get(authorization_code)

    async def exchange_authorization_code(
        self, client: OAuthClientInformationFull, authorization_code: AuthorizationCode
    ) -> OAuthToken:
        del self.codes[authorization_code.code]
        token = AccessToken(
            token=secrets.token_hex(16),
            client_id=authorization_code.client_id,
            scopes=authorization_code.scopes,
            expires_at=int(time.time()) + 600,
            resource=authorization_code.resource,
            subject=authorization_code.subject,
        )
        self.tokens[token.token] = token
        return OAuthToken(access_token=token.token, expires_in=600, scope=SCOPE)

    async def verify_token(self, token: str) -> AccessToken | None:
        return self.tokens.get(token)

    async def load_refresh_token(self, *details: Any) -> None:
        return None

    async def load_access_token(self, token: str) -> AccessToken | None:
        return self.tokens.get(token)


class Storage:
    tokens: OAuthToken | None = None
    client_info: OAuthClientInformationFull | None = None

    async def get_tokens(self) -> OAuthToken | None:
        return self.tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self.tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return self.client_info

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self.client_info = client_info


@contextlib.asynccontextmanager
async def served(app: Starlette, port: int) -> AsyncIterator[None]:
    closing = asyncio.Event()
    task = asyncio.create_task(serve_app(app, bound_socket("127.0.0.1", port), closing))
    try:
        yield
    finally:
        closing.set()
        await task


def browser(storage: Storage, url: str) -> OAuthClientProvider:
    """A client whose user agrees at once."""
    from mcp.shared.auth import AuthorizationCodeResult

    answer: dict[str, list[str]] = {}

    async def redirect(address: str) -> None:
        async with httpx2.AsyncClient() as client:
            response = await client.get(address, follow_redirects=False)
        answer.update(parse_qs(urlsplit(response.headers["location"]).query))

    async def callback() -> AuthorizationCodeResult:
        return AuthorizationCodeResult(
            code=answer["code"][0],
            state=answer["state"][0],
            iss=answer.get("iss", [None])[0],
        )

    metadata = OAuthClientMetadata.model_validate(
        {"client_name": "test", "redirect_uris": ["http://127.0.0.1:1/callback"], "scope": SCOPE}
    )
    return OAuthClientProvider(url, metadata, storage, redirect, callback)


async def test_the_sdk_client_logs_in_and_calls_by_the_gates_of_its_user() -> None:
    issuer, resource = f"http://127.0.0.1:{free_port()}", f"http://127.0.0.1:{free_port()}/mcp"
    server = AuthorizationServer()
    options = ClientRegistrationOptions(enabled=True, valid_scopes=[SCOPE], default_scopes=[SCOPE])
    routes = create_auth_routes(
        server,  # type: ignore[arg-type]
        AnyHttpUrl(issuer),
        client_registration_options=options,
    )

    def whoami(args: Any, context: ToolContext) -> Any:
        return ok(f"{context.personality_id}")

    registry = ToolRegistry(
        [Tool(name, "", {"type": "object"}, whoami) for name in ("secret", "whoami")]
    )
    users = McpUsers(
        verifier=server,
        personality_of=lambda token: Personality(token.subject, toolset=["whoami"]),
        resource_url=resource,
        issuer_url=issuer,
        required_scopes=[SCOPE],
    )
    app = McpGateway(registry, Personality("unused", toolset=[])).http_app(users=users)
    storage = Storage()
    async with (
        served(Starlette(routes=routes), int(urlsplit(issuer).port or 0)),
        served(app, int(urlsplit(resource).port or 0)),
        httpx2.AsyncClient(auth=browser(storage, resource), timeout=60) as http,
        Client(streamable_http_client(resource, http_client=http)) as client,
    ):
        assert [tool.name for tool in (await client.list_tools()).tools] == ["whoami"]
        result = await client.call_tool("whoami", {})
        assert result.content[0].text == "ada"
        assert (await client.call_tool("secret", {})).is_error
    assert storage.tokens is not None
    assert server.tokens[storage.tokens.access_token].resource == resource
